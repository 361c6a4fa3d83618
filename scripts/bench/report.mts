import CliTable from 'cli-table3';

/** A table with a heading and an explanation. */
export interface Section {
	title: string;
	words: string;
	head: readonly string[];
	rows: readonly (readonly string[])[];
}

/** Returns a section as text for a terminal. */
export function asText({ title, words, head, rows }: Section): string {
	const table = new CliTable({
		head: [...head],
		style: { head: [], border: [], compact: true },
		colAligns: head.map((_, column) => (column === 0 ? 'left' : 'right')),
	});
	for (const row of rows) table.push([...row]);
	return `\n${title}\n${words === '' ? '' : `${words}\n`}${table.toString()}\n`;
}

export function asMarkdown({ title, words, head, rows }: Section): string {
	const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
	const rule = line(head.map((_, column) => (column === 0 ? '---' : '---:')));
	const paragraph = words === '' ? '' : `${words}\n\n`;
	return `## ${title}\n\n${paragraph}${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
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
