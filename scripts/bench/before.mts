import type { Readers } from './contenders.mts';
import { measure } from './measure.mts';
import { LATENCY_MS, type Platforms, type Served } from './platforms.mts';
import { count, duration, ratio, type Section } from './report.mts';

/**
 * Compares this version with another checkout of the package, in the same run.
 * @param before the package of the other checkout, in a separate engine
 */
export async function compareWithBefore(
	readers: Readers,
	before: Readers,
	platforms: Platforms,
	runs: number,
): Promise<Section> {
	const list = (size: number, pageSize?: number) => ({
		name: `${count(size)} devices, ${pageSize === undefined ? 'defaults' : `${count(pageSize)} per page`}`,
		size,
		run: async (version: Readers, fleet: Served) =>
			await version.list({ kind: 'node', ...(pageSize === undefined ? {} : { pageSize }) }, fleet),
	});
	const tasks = [
		...[list(1_000), list(10_000), list(10_000, 100), list(100_000), list(100_000, 2_000)],
		{
			name: 'Get for 1,000 items',
			size: 1_000,
			run: async (version: Readers, fleet: Served) => await version.get(fleet),
		},
	];
	const rows: string[][] = [];
	for (const latencyMs of [LATENCY_MS, 0]) {
		for (const { name, size, run } of tasks) {
			const what = `${name}, ${latencyMs} ms latency`;
			const fleet = platforms.of(size, { latencyMs });
			const cases = [
				{ name: 'this version', run: async () => await run(readers, fleet) },
				{ name: 'previous version', run: async () => await run(before, fleet) },
			];
			const [ours = NaN, theirs = NaN] = (await measure(cases, runs, what)).values();
			rows.push([what, duration(ours), duration(theirs), ratio(ours / theirs)]);
		}
	}
	return {
		title: 'Compared with the previous version',
		words: 'Both versions ran in turns. With a ratio below 1.00×, this version is faster.',
		head: ['', 'this version', 'previous version', 'ratio'],
		rows,
	};
}
