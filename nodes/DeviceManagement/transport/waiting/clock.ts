import { sleep } from 'n8n-workflow';

import { Failure } from '../../core/failure';

/** Time, chance and waiting, which tests replace. */
export interface Clock {
	/** Milliseconds since the process began, for waits and ages inside the process. It never goes back, as the date may. */
	now(): number;
	/** Milliseconds since the epoch, for what comes from outside or outlasts the process. It may be set back. */
	date(): number;
	random(): number;
	/** Resolves after the given milliseconds, or as soon as `end` is aborted. */
	sleep(ms: number, end: AbortSignal): Promise<void>;
	timeout(ms: number): AbortSignal;
}

export const systemClock: Clock = {
	now: () => Math.floor(performance.now()),
	date: () => Date.now(),
	random: () => Math.random(),
	timeout: (ms) => AbortSignal.timeout(ms),
	sleep: async (ms, end) => await beforeEnd(end, sleep(ms)),
};

let current = systemClock;

/** Returns the clock of the nodes and the credential. n8n constructs them, so the clock can't be passed to them. */
export function currentClock(): Clock {
	return current;
}

/** Replaces the clock, for tests. Returns a function that restores the previous one. */
export function replaceClock(clock: Clock): () => void {
	const before = current;
	current = clock;
	return () => void (current = before);
}

/** What to call at the end of a signal. Node.js warns of a leak if a signal has many listeners, so each has one. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

function stopAll(this: AbortSignal): void {
	for (const stop of waiting.get(this) ?? []) stop();
}

/** Calls a function when the signal is aborted, or at once if it is aborted already. Returns a function that ends the wait. */
export function onEnd(end: AbortSignal, stop: () => void): () => void {
	const stops = waiting.get(end) ?? new Set();
	waiting.set(end, stops.add(stop));
	end.addEventListener('abort', stopAll);
	if (end.aborted) stop();
	return () => {
		// A timeout or a combined signal stays in memory while it has a listener.
		if (stops.delete(stop) && stops.size === 0) end.removeEventListener('abort', stopAll);
	};
}

/** Returns the promise's value, or undefined if the end comes first. It then ignores the promise's error. */
export async function beforeEnd<T>(end: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
	let forget = () => {};
	const ended = new Promise<undefined>((resolve) => {
		forget = onEnd(end, () => resolve(undefined));
	});
	return await Promise.race([ended, promise]).finally(forget);
}

/** Returns why an execution ended: a deadline has its own error, n8n's stop button has none. */
export function whyEnded(end: AbortSignal): Failure {
	if (end.reason instanceof Failure) return end.reason;
	// n8n recognizes a stopped execution by this word.
	const message = 'The execution was canceled';
	const remedy = 'Nothing more was sent to the platform. You can run the workflow again.';
	return new Failure({ kind: 'cancelled', cause: 'unknown', message, remedy });
}
