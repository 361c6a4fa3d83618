import { Failure } from './failure';

/** Time, chance and waiting, so that tests can stand in for them. */
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

/** Whether an HTTP status says "not now" rather than "no". */
export function isWorthRepeating(status: number): boolean {
	return WORTH_REPEATING.has(status);
}

/**
 * Runs an attempt, and again after a wait for as long as its failure is retryable and the limits allow.
 * A wait that the platform asked for is kept to; one that would go beyond the limit ends the attempts at once.
 * @param attempt one try, told how many came before; it throws a Failure whose `retryable` says whether another one may help
 * @param end ends a wait early; the attempt after it has to notice by itself
 * @returns what the first successful attempt returned
 * @throws the last attempt's Failure, its message extended by how often it was tried
 */
export async function withRetries<T>(
	attempt: (before: number) => Promise<T>,
	limits: RetryLimits,
	clock: Pick<Clock, 'random' | 'sleep'>,
	end?: AbortSignal,
): Promise<T> {
	let waitedMs = 0;
	for (let retries = 0; ; retries++) {
		const outcome = await attempt(retries).then(
			(value) => ({ value }),
			(failure: unknown) => ({ failure }),
		);
		if ('value' in outcome) return outcome.value;
		const { failure } = outcome;
		if (!(failure instanceof Failure) || failure.details.retryable !== true) throw failure;
		if (limits.maxRetries === 0) throw failure;
		if (retries >= limits.maxRetries) throw gaveUp(failure, retries);
		const waitMs = failure.details.retryAfterMs ?? backoffMs(retries, clock.random());
		if (waitedMs + waitMs > limits.maxWaitMs) throw tooLongToWait(failure, retries, waitMs);
		await clock.sleep(waitMs, end);
		waitedMs += waitMs;
	}
}

/**
 * Exponential backoff with jitter: half of the step is certain, half is chance, so that many callers
 * that failed together do not come back together.
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

/**
 * A time as messages show it. Not in ISO 8601: n8n's editor takes the hyphens out of what it shows.
 * @param ms since the epoch; what lies beyond the last date there is counts as that date
 */
export function timeInWords(ms: number): string {
	return new Date(Math.min(ms, 8.64e15)).toUTCString();
}

function gaveUp(failure: Failure, retries: number): Failure {
	return new Failure({
		...failure.details,
		retryable: false,
		message: `${failure.message}, also after ${retries === 1 ? 'one retry' : `${retries} retries`}`,
	});
}

function tooLongToWait(failure: Failure, retries: number, waitMs: number): Failure {
	const tried = retries === 0 ? '' : `, also after ${retries === 1 ? 'one retry' : `${retries} retries`}`;
	return new Failure({
		...failure.details,
		retryable: false,
		message: `${failure.message}${tried}; the next try would be in ${Math.ceil(waitMs / 1000)} seconds, which is longer than this node waits`,
	});
}
