import { asText, type Section } from './report.mts';

/** Prints a table as soon as it is there, and returns it. */
export function print(section: Section): Section {
	tell('');
	process.stdout.write(asText(section));
	return section;
}

/** One line that is rewritten on a terminal; without one nothing, for a log would be full of it. */
export function tell(step: string): void {
	const { stderr } = process;
	if (stderr.isTTY) stderr.write(`\r\x1b[K${step.slice(0, stderr.columns - 1)}`);
}
