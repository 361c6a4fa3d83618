/**
 * The measured figures that pages and charts share. Each measuring command writes them as JSON to `docs/figures/`, and as
 * tables into a page; `npm run charts` draws the JSON. Nothing is measured here.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { checkout } from '../testbed/checkout.mts';
import { asMarkdown, type Section } from './bench/report.mts';

const measurement = { way: z.string(), devices: z.number() };

/** What `npm run bench` measures. */
const performanceSchema = z.object({
	lists: z.array(z.object({ ...measurement, tls: z.boolean(), milliseconds: z.number() })),
	polls: z.array(z.object({ ...measurement, requests: z.number(), milliseconds: z.number() })),
});

/** What `npm run scaling` measures of one way and fleet. */
const outcomeSchema = z.union([
	z.object({ outOfMemory: z.literal(true) }),
	z.object({
		milliseconds: z.number(),
		/** Most memory of a worker. */
		workerBytes: z.number(),
		executionBytes: z.number(),
	}),
]);
const fleetsSchema = z.object({ runs: z.array(z.object(measurement).and(outcomeSchema)) });

export type PerformanceFigures = z.infer<typeof performanceSchema>;
export type FleetFigures = z.infer<typeof fleetsSchema>;
export type FleetOutcome = z.infer<typeof outcomeSchema>;

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
	const content = [...(words === '' ? [] : [words]), ...sections.map(asMarkdown)].join('\n');
	await writeFile(file, `${before}${begin}\n\n${content}\n${end}${after}`);
	process.stdout.write(`\nWritten to ${page}\n`);
}
