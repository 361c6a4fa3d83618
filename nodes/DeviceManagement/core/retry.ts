import { Failure } from './failure';

/** Time, chance and waiting, which tests replace. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** From 0 (inclusive) to 1 (exclusive). */
	random(): number;
	/** Resolves after the given milliseconds, or as soon as `end` is aborted. */
	sleep(ms: number, end?: AbortSignal): Promise<void>;
	/** A signal that is aborted after the given milliseconds. */
	timeout(ms: number): AbortSignal;
}

export interface RetryLimits {
	/** How often a request is sent again after its first attempt; 0 turns retrying off. */
	maxRetries: number;
	/** Longest time spent waiting between the attempts of one request, in milliseconds, all waits together. */
	maxWaitMs: number;
}

const FIRST_WAIT_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
const WORTH_REPEATING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Whether a request that failed with this HTTP status may succeed later. */
export function isWorthRepeating(status: number): boolean {
	return WORTH_REPEATING.has(status);
}

/**
 * Runs an attempt, and again after a wait as long as its failure is retryable and the limits allow. It does not begin a wait
 * that is longer than the limit allows.
 * @param attempt throws a Failure whose `retryable` says whether a retry may help
 * @param end ends a wait early; the next attempt then has to fail
 * @returns what the first successful attempt returned
 * @throws the last attempt's Failure, its message extended by how often it was tried
 */
export async function withRetries<T>(
	attempt: () => Promise<T>,
	limits: RetryLimits,
	clock: Pick<Clock, 'random' | 'sleep'>,
	end?: AbortSignal,
): Promise<T> {
	let waitedMs = 0;
	for (let retries = 0; ; retries++) {
		const outcome = await outcomeOf(attempt());
		if ('value' in outcome) return outcome.value;
		const { failure } = outcome;
		if (!(failure instanceof Failure) || failure.details.retryable !== true) throw failure;
		if (limits.maxRetries === 0) throw failure;
		if (retries >= limits.maxRetries) throw gaveUp(failure, retries, '');
		const { retryAfterMs } = failure.details;
		const waitMs = retryAfterMs ?? backoffMs(retries, clock.random());
		waitedMs += waitMs;
		if (waitedMs > limits.maxWaitMs) {
			const next = `; the next try would be in ${Math.ceil(waitMs / 1000)} seconds, which is longer than this node waits`;
			throw gaveUp(failure, retries, next);
		}
		// The rate limit waits as long as the platform asked for, before the next attempt is sent.
		if (retryAfterMs === undefined) await clock.sleep(waitMs, end);
	}
}

/** Returns the promise's value, or what it was rejected with. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<{ value: T } | { failure: unknown }> {
	return await promise.then(
		(value) => ({ value }),
		(failure: unknown) => ({ failure }),
	);
}

/**
 * Returns the wait before a retry: exponential backoff, half of it random, so that requests that failed together do not return
 * together.
 * @param retries how many retries came before this one
 * @param chance from 0 to 1
 * @returns milliseconds, from 250 up to 20,000
 */
export function backoffMs(retries: number, chance: number): number {
	const step = Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_BACKOFF_MS);
	return Math.round(step / 2 + (step / 2) * chance);
}

/**
 * Reads a `Retry-After` header: seconds or a date; a date in the past means at once.
 * @returns milliseconds to wait; undefined for a missing header or one that is neither
 */
export function readRetryAfter(header: unknown, nowMs: number): number | undefined {
	if (typeof header !== 'string') return undefined;
	const text = header.trim();
	if (/^\d{1,15}(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
	// Only the HTTP date form: Date.parse would take a bare '-5' for a date, too.
	if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
	const at = Date.parse(text);
	return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** A time span as messages name it, in seconds or minutes; rounded up. */
export function timeInWords(ms: number): string {
	const [count, unit] = ms <= 60_000 ? [Math.ceil(ms / 1000), 'second'] : [Math.ceil(ms / 60_000), 'minute'];
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function gaveUp({ details }: Failure, retries: number, next: string): Failure {
	const tried = retries === 0 ? '' : `, also after ${retries === 1 ? 'one retry' : `${retries} retries`}`;
	return new Failure({ ...details, retryable: false, message: `${details.message}${tried}${next}` });
}
