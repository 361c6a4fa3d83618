/** n8n's scanner, and how its words are read. */

/** The newest that could be installed; its output is read by its words, so another version may need other words. */
export const SCANNER = '@n8n/scan-community-package@0.32.0';

/** Whether the scanner said of this version that it has passed, and of nothing that it has failed. */
export function hasPassed(output: string, name: string, version: string): boolean {
	const lines = output.split(/\r?\n/).map((line) => line.trim());
	const passed = `✅ Package ${name}@${version} has passed all security checks`;
	return lines.includes(passed) && !lines.some((line) => line.startsWith('❌') || line.startsWith('Analysis failed'));
}
