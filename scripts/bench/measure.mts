import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects garbage before each run, so that no run pays for the one before. */
const collectGarbage: () => void = runInNewContext('gc');

/** One thing to measure. */
export interface Case {
	name: string;
	/** Expected time in milliseconds. It decides how often the case runs. */
	expectedMs: number;
	run(): Promise<unknown>;
}

/** The time of a case. */
export interface Timing {
	/** Milliseconds; undefined if the case was left out because it takes too long. */
	median: number | undefined;
	runs: number;
}

export interface Pace {
	/** How often a case runs at most. */
	runs: number;
	/** Longest time for all runs of a case. A longer case runs less often, but at least once. */
	budgetMs: number;
	/** A case that takes longer than this is left out. */
	longestMs: number;
}

/**
 * Runs cases in rounds, each case once per round, so that other load on the machine affects all of them equally.
 */
export async function measure(
	cases: readonly Case[],
	pace: Pace,
	tell: (words: string) => void,
): Promise<Map<string, Timing>> {
	const times = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
	for (let round = 0; round < pace.runs; round++) {
		for (const { name, expectedMs, run } of cases) {
			const most = Math.max(1, Math.floor(pace.budgetMs / expectedMs));
			if (expectedMs > pace.longestMs || round >= most) continue;
			tell(`round ${round + 1} of ${pace.runs} · ${name}`);
			collectGarbage();
			const began = performance.now();
			await run();
			times.get(name)?.push(performance.now() - began);
		}
	}
	return new Map([...times].map(([name, taken]) => [name, { median: median(taken), runs: taken.length }]));
}

function median(values: readonly number[]): number | undefined {
	const sorted = [...values].sort((one, other) => one - other);
	const middle = sorted[Math.floor(sorted.length / 2)];
	const before = sorted[sorted.length / 2 - 1];
	return middle === undefined || before === undefined ? middle : (before + middle) / 2;
}
