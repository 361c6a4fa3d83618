/**
 * Retries failed reads with exponential backoff, until a number of retries or a total wait. If the account pauses, only the total
 * counts the pause: the rate limit waits, because the pause is for all requests of the account. It doesn't know what a request is,
 * or which ones may be retried.
 */
import { Failure, type FailureDetails } from '../../core/failure';
import { currentClock } from './clock';

/** Longest total wait between the attempts of one request, and longest pause for an account, in milliseconds. */
export const LONGEST_WAIT_MS = 120_000;
const FIRST_WAIT_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
/** A smaller number in `Retry-After` is a wait; this one would last 31 years. Unix times are in seconds or milliseconds. */
const FIRST_UNIX_TIME = 1e9;

/**
 * Returns the value of the first attempt that succeeds. It doesn't begin a wait that exceeds the limit.
 * @param attempt throws a Failure that is `temporary` if a retry may help
 * @param maxRetries after the first attempt; 0 turns retries off
 * @param end ends a wait early; the next attempt then has to fail
 * @param costOf how many retries it costs to repeat the attempt after such a failure; Infinity if it must not be repeated
 * @throws the last attempt's Failure, with the number of retries in its message
 */
export async function withRetries<T>(
	attempt: () => Promise<T>,
	maxRetries: number,
	end: AbortSignal,
	costOf: (details: FailureDetails) => number,
): Promise<T> {
	const clock = currentClock();
	let [waitedMs, spent] = [0, 0];
	for (let retries = 0; ; retries++) {
		const outcome = await outcomeOf(attempt());
		if ('value' in outcome) return outcome.value;
		const { failure, details } = outcome;
		if (details === undefined || maxRetries === 0) throw failure;
		const { temporary = false, retryable = temporary, pauseMs } = details;
		const cost = costOf(details);
		if (!retryable || cost === Infinity) throw failure;
		if (spent + cost > maxRetries) throw gaveUp(details, retries, '');
		const waitMs = pauseMs ?? backoffMs(spent, clock.random());
		spent += cost;
		waitedMs += waitMs;
		if (waitedMs > LONGEST_WAIT_MS) {
			const next = `; the next try would be in ${timeInWords(waitMs)}, and the node waits at most two minutes in all`;
			throw gaveUp(details, retries, next);
		}
		if (pauseMs === undefined) await clock.sleep(waitMs, end);
	}
}

type Outcome<T> =
	| { value: T; failure?: undefined; details?: undefined }
	| { failure: unknown; details?: FailureDetails };

/** Returns the promise's value, or its error and a Failure's details. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<Outcome<T>> {
	return await promise.then(
		(value) => ({ value }),
		(failure: unknown) => (failure instanceof Failure ? { failure, details: failure.details } : { failure }),
	);
}

/** Returns the wait before a retry in milliseconds. Half of it is random, so that requests that failed together are not retried together. */
function backoffMs(retries: number, chance: number): number {
	const step = Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_BACKOFF_MS);
	return Math.round(step / 2 + (step / 2) * chance);
}

/** Returns the wait that `Retry-After` (seconds, a date or a Unix time) asks for, in milliseconds; undefined for none. `date` is the `Date` header. */
export function parseRetryAfter(header: unknown, date: unknown, nowMs: number): number | undefined {
	if (typeof header !== 'string') return undefined;
	const text = header.trim();
	const number = /^\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : NaN;
	if (number < FIRST_UNIX_TIME) return Math.round(number * 1000) || undefined;
	const unixMs = number < 100 * FIRST_UNIX_TIME ? number * 1000 : number;
	// The platform's clock may differ from n8n's.
	const waitMs = Math.round((unixMs || timeOf(text)) - (timeOf(date) || nowMs));
	return waitMs > 0 ? waitMs : undefined;
}

/** Returns the time in a header; NaN if it has none. */
function timeOf(header: unknown): number {
	// Date.parse would accept '-5' as a date, too.
	return typeof header === 'string' && /^[A-Za-z]{3,9},? /.test(header) ? Date.parse(header) : NaN;
}

/** Returns a time span for messages, in seconds or minutes, rounded up. */
export function timeInWords(ms: number): string {
	const [count, unit] = ms <= 60_000 ? [Math.ceil(ms / 1000), 'second'] : [Math.ceil(ms / 60_000), 'minute'];
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function gaveUp(details: FailureDetails, retries: number, next: string): Failure {
	const tried = retries === 0 ? '' : `, also after ${retries === 1 ? 'one retry' : `${retries} retries`}`;
	return new Failure({ ...details, retryable: false, message: `${details.message}${tried}${next}` });
}
