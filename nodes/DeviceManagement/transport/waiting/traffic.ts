/**
 * Retries the requests of one account where that may help, and pauses the account after a limit: HTTP 429, 503 or a `Retry-After`. For a
 * minute after a pause, its requests go one by one, each with its retries: those that were refused together would meet again. It
 * doesn't know what a request is, or which ones may be retried.
 */
import pLimit from 'p-limit';

import { Failure, type FailureDetails, isLimit, type Outcome, outcomeOf, timeInWords } from '../../core/failure';
import { beforeEnd, currentClock, whyEnded } from './clock';

/** Longest wait of one request for all its retries, and longest pause of an account. */
const LONGEST_WAIT_MS = 120_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_STEP_MS = 4000;
const CAREFUL_MS = 60_000;
/** A request that takes longer lets the next one begin. */
const SLOW_MS = 10_000;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;

interface Repetition {
	/** Most retries; 0 turns them off. */
	most: number;
	/** How many retries one after this failure counts for; Infinity if there must be none. */
	costOf(details: FailureDetails): number;
	/** Ends all waits. The next attempt then has to fail. */
	end: AbortSignal;
}

export const NOT_SENT = new Error('Not sent');

export class Traffic {
	private pausedUntil = -Infinity;
	/** Since when every response was a limit. */
	private refusedSince: number | undefined;
	/** What asked for the last pause, and when the platform expects requests again, which may be later than the pause ends. */
	private limit: { failure: Failure; endsAt: number } | undefined;
	private readonly oneByOne = pLimit(1);

	/**
	 * Returns the value of the first attempt that succeeds. Throws the last attempt's Failure, with the number of retries.
	 * @param attempt asks once more before it sends, because a pause may have begun during its own waits, and throws NOT_SENT if it may not
	 */
	async send<T>(attempt: (mayGo: () => boolean) => Promise<T>, { most, costOf, end }: Repetition): Promise<T> {
		let [retries, spent, waitedMs] = [0, 0, 0];
		const sendUntilPause = async (isAlone: boolean): Promise<{ value: T } | undefined> => {
			const mayGo = () => (isAlone ? !this.isPaused() : this.recentLimit() === undefined);
			while (isAlone || mayGo()) {
				waitedMs += await this.waitForPause(end);
				if (end.aborted) throw whyEnded(end);
				const outcome = await outcomeOf(attempt(mayGo));
				if (outcome.failure === NOT_SENT) continue;
				// A poll that ends has a failure of its own, with the status of the limit.
				if (!end.aborted) this.note(outcome, retries);
				if ('value' in outcome) return outcome;
				const { failure, details } = outcome;
				const cost = details === undefined || most === 0 ? Infinity : costOf(details);
				if (details === undefined || cost === Infinity) throw failure;
				if (spent + cost > most || waitedMs > LONGEST_WAIT_MS) throw gaveUp(details, retries);
				const backoffMs = isLimit(details) ? 0 : backoffAfter(spent);
				[waitedMs, spent, retries] = [waitedMs + backoffMs, spent + cost, retries + 1];
				if (backoffMs > 0) await currentClock().sleep(backoffMs, end);
			}
			return undefined;
		};
		for (;;) {
			const sent = (await sendUntilPause(false)) ?? (await this.inTurn(async () => await sendUntilPause(true), end));
			if (sent !== undefined) return sent.value;
		}
	}

	/** Runs a request after those that wait already. Returns undefined if its turn comes a minute after the pause: all may run then. */
	private async inTurn<T>(run: () => Promise<T>, end: AbortSignal): Promise<T | undefined> {
		let finished: Promise<T> | undefined;
		const turn = async () => {
			if (end.aborted || this.recentLimit() === undefined) return;
			finished = run();
			const slowMs = Math.max(0, this.pausedUntil - currentClock().now()) + SLOW_MS;
			await Promise.race([outcomeOf(finished), currentClock().sleep(slowMs, end)]);
		};
		await beforeEnd(end, this.oneByOne(turn));
		if (finished === undefined && end.aborted) throw whyEnded(end);
		return await finished;
	}

	/** Waits until no pause is left, or for the end. Returns how long. Throws a Failure `status` if nothing is sent before the pause ends. */
	async waitForPause(end: AbortSignal): Promise<number> {
		const clock = currentClock();
		const began = clock.now();
		while (this.isPaused() && !end.aborted) {
			this.refuseLongPause();
			await clock.sleep(this.pausedUntil - clock.now(), end);
		}
		return clock.now() - began;
	}

	private isPaused(): boolean {
		return currentClock().now() < this.pausedUntil;
	}

	/** Returns the failure that asked for the pause, in a pause or soon after it. */
	recentLimit(): Failure | undefined {
		return currentClock().now() > this.pausedUntil + CAREFUL_MS ? undefined : this.limit?.failure;
	}

	/** Throws a Failure if the pause is too long to wait for, or if the platform has refused everything for too long. */
	private refuseLongPause(): void {
		const { failure, endsAt = -Infinity } = this.limit ?? {};
		if (endsAt - (this.refusedSince ?? Infinity) <= LONGEST_WAIT_MS) return;
		const httpStatus = failure?.details.httpStatus;
		const retryAfterMs = endsAt - currentClock().now();
		const remedy = "Try again after that. If this happens often, lower 'Parallel Requests' under 'Options'.";
		const message = `The platform accepts no requests for ${timeInWords(retryAfterMs)} (HTTP ${httpStatus})`;
		throw new Failure({ kind: 'status', cause: 'platform', httpStatus, retryAfterMs, message, remedy });
	}

	private note({ failure, details }: Outcome<unknown>, retries: number): void {
		const clock = currentClock();
		if (details !== undefined && isLimit(details)) {
			if (this.recentLimit() === undefined) this.refusedSince = undefined;
			this.refusedSince ??= clock.now();
			// After HTTP 429, longer pauses would only let other processes come first again and again.
			const step =
				details.httpStatus === 429 ? FIRST_PAUSE_MS : Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_STEP_MS);
			const retryAfterMs = Math.max(details.retryAfterMs ?? step, FIRST_PAUSE_MS);
			const endsAt = Math.max(this.pausedUntil, clock.now() + retryAfterMs + (clock.random() * step) / 2);
			this.limit = { failure: new Failure({ ...details, retryAfterMs }), endsAt };
			this.pausedUntil = Math.min(endsAt, Math.max(this.pausedUntil, clock.now() + LONGEST_WAIT_MS));
		} else if (failure === undefined || details?.httpStatus !== undefined) {
			this.refusedSince = undefined;
		}
	}
}

/** Half of the wait is random, so that requests that failed together aren't retried together. */
function backoffAfter(retries: number): number {
	const step = Math.min(FIRST_BACKOFF_MS * 2 ** retries, LONGEST_BACKOFF_MS);
	return Math.round((step / 2) * (1 + currentClock().random()));
}

function gaveUp(details: FailureDetails, retries: number): Failure {
	const tried = retries === 0 ? '' : `, also after ${retries === 1 ? 'one retry' : `${retries} retries`}`;
	return new Failure({ ...details, message: `${details.message}${tried}` });
}
