import { sleep } from 'n8n-workflow';

import { cancelledFailure, Failure } from '../core/failure';
import type { Clock } from '../core/retry';

/** Waiting is done in steps: n8n's own sleep can't be ended, and nothing should linger behind a stopped execution. */
const WAIT_STEP_MS = 250;

/** The time of the machine that n8n runs on. */
export const systemClock: Clock = {
	now: () => Date.now(),
	random: () => Math.random(),
	timeout: (ms) => AbortSignal.timeout(ms),
	async sleep(ms, end) {
		for (let left = ms; left > 0 && end?.aborted !== true; left -= WAIT_STEP_MS) {
			const step = sleep(Math.min(left, WAIT_STEP_MS));
			await (end === undefined ? step : beforeEnd(end, step));
		}
	},
};

let current = systemClock;

/** The clock that nodes and the credential run on. n8n makes both without asking anybody, so it can't be handed to them. */
export function currentClock(): Clock {
	return current;
}

/**
 * Puts another clock in the place of the system's, for tests.
 * @returns puts back the one before
 */
export function replaceClock(clock: Clock): () => void {
	const before = current;
	current = clock;
	return () => {
		current = before;
	};
}

/** The promise's value, or undefined when the end comes first. */
export async function beforeEnd<T>(end: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
	if (end.aborted) return undefined;
	// A signal of its own: Node.js warns of a leak where many wait on one.
	const own = AbortSignal.any([end]);
	let stop = () => {};
	const ended = new Promise<undefined>((resolve) => {
		stop = () => resolve(undefined);
		own.addEventListener('abort', stop, { once: true });
	});
	try {
		return await Promise.race([promise, ended]);
	} finally {
		own.removeEventListener('abort', stop);
	}
}

/** Why whoever is still asking after the end gets nothing: a deadline brings its own words, n8n's stop button has none. */
export function whyEnded(end: AbortSignal): Failure {
	return end.reason instanceof Failure ? end.reason : cancelledFailure();
}
