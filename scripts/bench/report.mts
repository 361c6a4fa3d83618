import CliTable from 'cli-table3';
import { cpus, totalmem } from 'node:os';

/** A table with a heading and an explanation. */
export interface Section {
	title: string;
	words: string;
	head: readonly string[];
	rows: readonly (readonly string[])[];
}

/** Shows the progress in one line of the terminal. Without a terminal it prints nothing, to keep logs short. */
export function tell(step: string): void {
	const { stderr } = process;
	if (stderr.isTTY) stderr.write(`\r\x1b[K${step.slice(0, stderr.columns - 1)}`);
}

/** Prints a section as text for a terminal. */
export function print({ title, words, head, rows }: Section): void {
	const table = new CliTable({
		head: [...head],
		style: { head: [], border: [], compact: true },
		colAligns: head.map((_, column) => (column === 0 ? 'left' : 'right')),
	});
	for (const row of rows) table.push([...row]);
	tell('');
	process.stdout.write(`\n${title}\n${words}\n${table.toString()}\n`);
}

/** Returns a section as Markdown. */
export function asMarkdown({ title, words, head, rows }: Section): string {
	const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
	const rule = line(head.map((_, column) => (column === 0 ? '---' : '---:')));
	return `### ${title}\n\n${words}\n\n${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
}

/** Returns the processors and the memory of this machine, as text. */
export function machine(): string {
	return `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 1024 ** 3)} GB`;
}

export function duration(milliseconds: number): string {
	return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function ratio(value: number): string {
	return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)}×`;
}

export function megabytes(bytes: number): string {
	return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`;
}

export function count(value: number): string {
	return value.toLocaleString('en');
}
