import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { tell } from './report.mts';

setFlagsFromString('--expose-gc');
/** Collects garbage before each run, so that no run pays for the one before. */
const collectGarbage: () => void = runInNewContext('gc');

/** A case that took so long in all its runs does not run again. */
const ENOUGH_MS = 20_000;

/** One thing to measure. */
export interface Case {
	name: string;
	run(): Promise<unknown>;
}

/**
 * Runs cases in rounds, each case once per round, so that other load on the machine affects all of them equally.
 * @param runs how often a case runs at most
 * @returns the median time of each case, in milliseconds
 */
export async function measure(cases: readonly Case[], runs: number, about: string): Promise<Map<string, number>> {
	const times = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
	for (let round = 1; round <= runs; round++) {
		for (const { name, run } of cases) {
			const taken = times.get(name) ?? [];
			if (taken.reduce((sum, time) => sum + time, 0) > ENOUGH_MS) continue;
			tell(`${about} · round ${round} of ${runs} · ${name}`);
			collectGarbage();
			const began = performance.now();
			await run();
			taken.push(performance.now() - began);
		}
	}
	return new Map([...times].map(([name, taken]) => [name, median(taken)]));
}

function median(values: readonly number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const middle = (sorted.length - 1) / 2;
	return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}
