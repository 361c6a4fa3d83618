/** n8n's scanner, and what its output says. */

/** The newest available version. The text of its output is checked, so another version may need other texts. */
export const SCANNER = '@n8n/scan-community-package@0.32.0';

/** Whether the output says that this version passed, and has no failure. */
export function hasPassed(output: string, name: string, version: string): boolean {
	const lines = output.split(/\r?\n/).map((line) => line.trim());
	const passed = `✅ Package ${name}@${version} has passed all security checks`;
	return lines.includes(passed) && !lines.some((line) => line.startsWith('❌') || line.startsWith('Analysis failed'));
}
