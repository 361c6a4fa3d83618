import { asText, type Section } from './report.mts';

/** Prints a table at once, and returns it. */
export function print(section: Section): Section {
	tell('');
	process.stdout.write(asText(section));
	return section;
}

/** Shows the progress in one line of the terminal. Without a terminal it prints nothing, to keep logs short. */
export function tell(step: string): void {
	const { stderr } = process;
	if (stderr.isTTY) stderr.write(`\r\x1b[K${step.slice(0, stderr.columns - 1)}`);
}
