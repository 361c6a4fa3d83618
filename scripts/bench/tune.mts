import type { Readers } from './contenders.mts';
import { type Case, measure, type Pace } from './measure.mts';
import { expectedMs, inWords, longestMs } from './plan.mts';
import type { Platforms } from './platforms.mts';
import { print, tell } from './progress.mts';
import type { Contender } from './protocol.mts';
import { count, duration, ratio, type Section } from './report.mts';

/** Compares page sizes and numbers of parallel requests, to choose the defaults. */
export async function tune(
	readers: Readers,
	platforms: Platforms,
	{ runs, quick }: { runs: number; quick: boolean },
): Promise<Section[]> {
	const pace: Pace = { runs: quick ? 1 : Math.min(runs, 3), budgetMs: quick ? 1 : 8_000, longestMs };
	const pageSizes = [100, 200, 500, 1000, 2000];
	const parallels = [1, 2, 4, 6, 8, 12, 16];
	const sections: Section[] = [];
	for (const latencyMs of [50, 0]) {
		for (const size of [10_000, 100_000]) {
			await platforms.setLatency(latencyMs);
			const fleet = platforms.of(size, false);
			const cases = pageSizes.flatMap((pageSize) =>
				parallels.map((parallel): Case => {
					const contender: Contender = { kind: 'node', pageSize, parallel };
					return {
						name: `${pageSize} × ${parallel}`,
						expectedMs: expectedMs(contender, { size, latencyMs, tls: false }),
						run: async () => await readers.list(contender, fleet),
					};
				}),
			);
			const about = `${count(size)} devices, ${inWords(latencyMs, false)}`;
			const timings = await measure(cases, pace, (step) => tell(`${about} · ${step}`));
			const best = Math.min(...[...timings.values()].map(({ median }) => median ?? Infinity));
			sections.push(
				print({
					title: `Page size and parallel requests, ${about}`,
					words: `Time as a multiple of the best, which took ${duration(best)}.`,
					head: ['page size', ...parallels.map((parallel) => `${parallel} at once`)],
					rows: pageSizes.map((pageSize) => [
						count(pageSize),
						...parallels.map((parallel) => {
							const median = timings.get(`${pageSize} × ${parallel}`)?.median;
							return median === undefined ? '–' : ratio(median / best);
						}),
					]),
				}),
			);
		}
	}
	return sections;
}
