/**
 * The measured figures that pages and charts share. Each measuring command writes them as JSON to `docs/figures/`, and as
 * tables into a page; `npm run charts` draws the JSON. Nothing is measured here.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod/v4';

import { checkout } from '../testbed/checkout.mts';
import { asMarkdown, type Section } from './bench/report.mts';

const measurement = { way: z.string(), devices: z.number() };

/** What `npm run bench` measures. */
const performanceSchema = z.object({
	lists: z.array(z.object({ ...measurement, latencyMs: z.number(), tls: z.boolean(), milliseconds: z.number() })),
	memory: z.array(z.object({ ...measurement, peakBytes: z.number(), outputBytes: z.number() })),
	polls: z.array(
		z.object({
			...measurement,
			requests: z.number(),
			/** Missing where no state is kept. */
			stateBytes: z.number().optional(),
			/** Missing where a poll would take too long. */
			milliseconds: z.number().optional(),
		}),
	),
});

/** What `npm run scaling` measures. */
const fleetsSchema = z.object({
	runs: z.array(
		z.union([
			z.object({ ...measurement, outOfMemory: z.literal(true) }),
			z.object({
				...measurement,
				milliseconds: z.number(),
				workerBytes: z.number(),
				executionBytes: z.number(),
				openedBytes: z.number(),
			}),
		]),
	),
});

export type PerformanceFigures = z.infer<typeof performanceSchema>;
export type FleetFigures = z.infer<typeof fleetsSchema>;

/** The figures of the last measurement, in a file of `docs/figures/`. */
class FiguresFile<Figures> {
	private readonly path: string;

	constructor(
		name: string,
		private readonly schema: z.ZodType<Figures>,
	) {
		this.path = join(checkout, 'docs', 'figures', name);
	}

	async read(): Promise<Figures> {
		return this.schema.parse(JSON.parse(await readFile(this.path, 'utf8')));
	}

	async write(figures: Figures): Promise<void> {
		await mkdir(dirname(this.path), { recursive: true });
		await writeFile(this.path, `${JSON.stringify(figures, undefined, '\t')}\n`);
	}
}

export const performanceFigures = new FiguresFile('performance.json', performanceSchema);
export const fleetFigures = new FiguresFile('fleets.json', fleetsSchema);

/**
 * Replaces what a page has between its marks `<!-- figures -->` and `<!-- end of figures -->`.
 * @param page path from the checkout's root
 * @param words Markdown before the tables
 * @throws Error if the page has no marks
 */
export async function writeBetweenMarks(page: string, words: string, sections: readonly Section[]): Promise<void> {
	const [begin, end] = ['<!-- figures -->', '<!-- end of figures -->'];
	const file = join(checkout, page);
	const [before, rest] = (await readFile(file, 'utf8')).split(begin);
	const after = rest?.split(end)[1];
	if (before === undefined || after === undefined) throw new Error(`${page} has no lines ${begin} and ${end}`);
	const tables = sections.map((section) => asMarkdown(section).replace(/^##/, '###'));
	const content = [...(words === '' ? [] : [words]), ...tables].join('\n');
	await writeFile(file, `${before}${begin}\n\n${content}\n${end}${after}`);
	process.stdout.write(`\nWritten to ${page}\n`);
}
