/**
 * The measured figures that pages and charts share. Each measuring command prints tables, writes its figures as JSON to
 * `docs/figures/`, and its tables into a page; `npm run charts` draws the JSON. Nothing is measured here.
 */
import CliTable from 'cli-table3';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { checkout } from '../testbed/checkout.mts';

const measurement = { way: z.string(), devices: z.number() };

/** What `npm run bench` measures. */
export const performanceSchema = z.object({
	lists: z.array(z.object({ ...measurement, tls: z.boolean(), milliseconds: z.number() })),
	polls: z.array(z.object({ ...measurement, requests: z.number(), milliseconds: z.number() })),
});
export type Performance = z.infer<typeof performanceSchema>;

/** What `npm run scaling` measures of one way and fleet. */
const outcomeSchema = z.union([
	z.object({ outOfMemory: z.literal(true) }),
	// `workerBytes` is the most memory of a worker.
	z.object({ milliseconds: z.number(), workerBytes: z.number(), executionBytes: z.number() }),
]);
export const fleetsSchema = z.object({ runs: z.array(z.object(measurement).and(outcomeSchema)) });
export type Fleets = z.infer<typeof fleetsSchema>;
export type FleetOutcome = z.infer<typeof outcomeSchema>;

/** Reads the figures of the last measurement, `performance` or `fleets`. */
export async function readFigures<Figures>(name: string, schema: z.ZodType<Figures>): Promise<Figures> {
	return schema.parse(JSON.parse(await readFile(fileOf(name), 'utf8')));
}

/** Where a measurement goes: a file of figures, and the place between two marks of a page. */
export class Publication {
	private constructor(
		private readonly name: string,
		private readonly page: string,
		private readonly around: readonly [string, string],
	) {}

	/**
	 * Opens the page before a measurement that takes minutes.
	 * @throws Error if the page has not one place for figures
	 */
	static async open(name: string, page: string): Promise<Publication> {
		const [before, after, ...more] = (await readFile(join(checkout, page), 'utf8')).split(BETWEEN_MARKS);
		if (before === undefined || after === undefined || more.length > 0) {
			throw new Error(`${page} needs one place between <!-- figures --> and <!-- end of figures -->`);
		}
		return new Publication(name, page, [before, after]);
	}

	/** @param words Markdown before the tables */
	async write(figures: object, sections: readonly Section[], words: readonly string[] = []): Promise<void> {
		await writeFile(fileOf(this.name), `${JSON.stringify(figures, undefined, '\t')}\n`);
		const content = [...words, ...sections.map(asMarkdown)].join('\n');
		const [before, after] = this.around;
		const text = `${before}<!-- figures -->\n\n${content}\n<!-- end of figures -->${after}`;
		await writeFile(join(checkout, this.page), text);
		process.stdout.write(`\nWritten to ${this.page}. Now run npm run charts.\n`);
	}
}

const BETWEEN_MARKS = /<!-- figures -->[^]*?<!-- end of figures -->/;

function fileOf(name: string): string {
	return join(checkout, 'docs', 'figures', `${name}.json`);
}

/** A table with a heading and an explanation. */
export interface Section {
	title: string;
	words: string;
	head: readonly string[];
	rows: readonly (readonly string[])[];
}

/** Prints a section as text for a terminal. */
export function print({ title, words, head, rows }: Section): void {
	const colAligns = head.map((_, column) => (column === 0 ? 'left' : 'right'));
	const table = new CliTable({ head: [...head], style: { head: [], border: [], compact: true }, colAligns });
	for (const row of rows) table.push([...row]);
	tell('');
	process.stdout.write(`\n${title}\n${words}\n${table.toString()}\n`);
}

function asMarkdown({ title, words, head, rows }: Section): string {
	const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
	const rule = line(head.map((_, column) => (column === 0 ? '---' : '---:')));
	return `### ${title}\n\n${words}\n\n${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
}

/** Shows the progress in one line of the terminal. Without a terminal it prints nothing, to keep logs short. */
export function tell(step: string): void {
	const { stderr } = process;
	if (stderr.isTTY) stderr.write(`\r\x1b[K${step.slice(0, stderr.columns - 1)}`);
}

/** Returns the processors and the memory of this machine, as text. */
export function machine(): [processors: string, memory: string] {
	return [`${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`, `${Math.round(totalmem() / 1024 ** 3)} GB`];
}

export function duration(milliseconds: number): string {
	return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function megabytes(bytes: number): string {
	return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`;
}

export function count(value: number): string {
	return value.toLocaleString('en');
}
