import { Readers } from './contenders.mts';
import { type Case, measure, type Pace, type Timing } from './measure.mts';
import { expectedMs, inWords, longestMs } from './plan.mts';
import type { Platforms } from './platforms.mts';
import { print, tell } from './progress.mts';
import type { Contender } from './protocol.mts';
import { count, duration, ratio, type Section } from './report.mts';

const OURS = 'this version';
const THEIRS = 'previous version';

/** One comparison: a list of `size` devices, or one Get for each of 1,000 items. */
interface Task {
	name: string;
	size: number;
	contender: Contender;
	run(readers: Readers, contender: Contender): Promise<unknown>;
}

/**
 * Compares this version with another checkout of the package, in the same run.
 * @param before the package of the other checkout, in a separate engine
 */
export async function compareWithBefore(
	readers: Readers,
	before: Readers,
	platforms: Platforms,
	{ runs }: { runs: number },
): Promise<Section> {
	const pace: Pace = { runs: Math.max(runs, 5), budgetMs: 40_000, longestMs };
	const list = (size: number, pageSize?: number): Task => ({
		name: `${count(size)} devices, ${pageSize === undefined ? 'defaults' : `${count(pageSize)} per page`}`,
		size,
		contender: { kind: 'node', ...(pageSize === undefined ? {} : { pageSize }) },
		run: async (who, contender) => await who.list(contender, platforms.of(size, false)),
	});
	const tasks: readonly Task[] = [
		list(1_000),
		list(10_000),
		list(10_000, 100),
		list(100_000),
		list(100_000, 2_000),
		{
			name: 'Get for 1,000 items',
			size: 1_000,
			contender: { kind: 'node', pageSize: 1 },
			run: async (who, contender) => await who.get(contender, platforms.of(1_000, false)),
		},
	];
	const rows: string[][] = [];
	for (const latencyMs of [50, 0]) {
		await platforms.setLatency(latencyMs);
		for (const { name, size, contender, run } of tasks) {
			const expected = expectedMs(contender, { size, latencyMs, tls: false });
			const cases: Case[] = [
				{ name: OURS, expectedMs: expected, run: async () => await run(readers, contender) },
				{ name: THEIRS, expectedMs: expected, run: async () => await run(before, contender) },
			];
			const measured = await measure(cases, pace, (step) => tell(`${name}, ${inWords(latencyMs, false)} · ${step}`));
			rows.push([`${name}, ${inWords(latencyMs, false)}`, ...figures(measured)]);
		}
	}
	return print({
		title: 'Compared with the previous version',
		words:
			'Both versions ran in turns, in the same run. The table has the medians. With a ratio below 1.00×, this version is faster.',
		head: ['', OURS, THEIRS, 'ratio'],
		rows,
	});
}

function figures(measured: ReadonlyMap<string, Timing>): string[] {
	const [ours, theirs] = [OURS, THEIRS].map((name) => measured.get(name)?.median ?? NaN);
	return [duration(ours ?? NaN), duration(theirs ?? NaN), ratio((ours ?? NaN) / (theirs ?? NaN))];
}
