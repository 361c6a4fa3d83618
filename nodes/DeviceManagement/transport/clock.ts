import { sleep } from 'n8n-workflow';

import { cancelledFailure, Failure } from '../core/failure';
import type { Clock } from '../core/retry';

/** n8n's own sleep can't be ended. In short steps, no timer outlasts a stopped execution for long. */
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

/** Returns the clock of nodes and the credential. n8n constructs both, so it can't be passed to them. */
export function currentClock(): Clock {
	return current;
}

/** Replaces the system's clock, for tests. Returns the function that restores the one before. */
export function replaceClock(clock: Clock): () => void {
	const before = current;
	current = clock;
	return () => {
		current = before;
	};
}

/** Returns the promise's value, or undefined when the end comes first. It then ignores what the promise throws. */
export async function beforeEnd<T>(end: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
	// A signal for this call only: Node.js warns of a leak where many wait on one.
	const own = AbortSignal.any([end]);
	let stop = () => {};
	const ended = new Promise<undefined>((resolve) => {
		stop = () => resolve(undefined);
		if (own.aborted) stop();
		own.addEventListener('abort', stop, { once: true });
	});
	try {
		return await Promise.race([ended, promise]);
	} finally {
		own.removeEventListener('abort', stop);
	}
}

/** Returns the error of a request after the end: a deadline has its own words, n8n's stop button has none. */
export function whyEnded(end: AbortSignal): Failure {
	return end.reason instanceof Failure ? end.reason : cancelledFailure();
}
