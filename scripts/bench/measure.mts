import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Called before each run, so that none pays for the one before it. */
const collectGarbage: () => void = runInNewContext('gc');

/** One thing to measure. */
export interface Case {
	name: string;
	/** Roughly how long it takes, in milliseconds: decides how often it runs. */
	expectedMs: number;
	run(): Promise<unknown>;
}

/** How long a case took. */
export interface Timing {
	/** Milliseconds; undefined when the case would have taken too long and was left out. */
	median: number | undefined;
	runs: number;
}

export interface Pace {
	/** How often a case runs at most. */
	runs: number;
	/** How long all runs of a case may take together before there are fewer of them; at least one is made. */
	budgetMs: number;
	/** A case that takes longer than this is left out. */
	longestMs: number;
}

/**
 * Runs cases side by side: one round after the other, each case once in a round, so that what else the machine does
 * meets all of them alike.
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
