/**
 * Pauses an account after each limit: HTTP 429, 503 or a `Retry-After`. The pause has the named time, or 1 second; after HTTP 503 that
 * names none, 1, 2, then 4 seconds. Chance adds up to half. Afterwards a window limits the requests at the same time (window.ts). After
 * two minutes of pauses without another response, all requests fail during the next pause. It does not retry.
 */
import { Failure, type FailureDetails } from '../../core/failure';
import { currentClock, onEnd } from './clock';
import { LONGEST_WAIT_MS, outcomeOf, timeInWords } from './retry';
import { type Slots, Window } from './window';

const SHORTEST_PAUSE_MS = 1000;
/** Time without a new pause after which requests are no longer limited. */
const QUIET_MS = 60_000;
/** A request that takes longer, with its wait for a slot, gives its place in the window back. */
const SLOW_MS = 10_000;

/** Whether a response refuses a request because there are too many. The account then pauses. */
export function isLimit({ temporary, httpStatus, retryAfterMs = 0 }: FailureDetails): boolean {
	return temporary === true && (httpStatus === 429 || httpStatus === 503 || retryAfterMs > 0);
}

export class RateLimit {
	private pausedUntil = -Infinity;
	/** The end of the pause by the platform's header; later than `pausedUntil` if the pause is too long for the node. */
	private namedUntil = -Infinity;
	private askedBy: Failure | undefined;
	/** Pauses so far. A response to a request that was sent before the last one says nothing about it. */
	private pauses = 0;
	/** The time of all pauses since the last response that is no limit, or since a quiet minute. */
	private refusedMs = 0;
	/** Whether requests fail during the pause. */
	private refusesAll = false;
	private readonly window = new Window();

	/**
	 * Runs a request once the window has a place, no pause is left and its execution has a slot. The slot comes last: other accounts
	 * and retries may need it during a pause.
	 * @param end ends the wait; `run` must check it, too
	 * @param attempts how often the request was sent before
	 * @throws as {@link waitForPause}, and what `run` throws, a limit with its `pauseMs`
	 */
	async pass<T>(run: () => Promise<T>, end: AbortSignal, attempts: number, slots: Slots): Promise<T> {
		const clock = currentClock();
		for (;;) {
			if (this.recentLimit() === undefined) this.window.open();
			const noPause = async () => await this.waitForPause(end).catch(() => {});
			const leave = this.window.isOpen() ? undefined : await this.window.enter(attempts, slots, end, noPause);
			let forget: (() => void) | undefined;
			try {
				await this.waitForPause(end);
				forget = leave && onEnd(clock.timeout(SLOW_MS), leave);
				const sent = await slots(async () => {
					// A pause may have begun during the wait for the slot.
					const mustWait = clock.now() < this.pausedUntil || (leave === undefined && !this.window.isOpen());
					return mustWait && !end.aborted ? undefined : { response: await this.afterPause(run, end) };
				});
				if (sent !== undefined) return sent.response;
			} finally {
				forget?.();
				leave?.();
			}
		}
	}

	/** Runs a request once no pause is left. A sign-in calls it without the window, because other requests wait for its token. */
	async afterPause<T>(run: () => Promise<T>, end: AbortSignal): Promise<T> {
		await this.waitForPause(end);
		const sentAfter = this.pauses;
		const outcome = await outcomeOf(run());
		const { failure, details } = outcome;
		if (details !== undefined && isLimit(details)) throw this.pause(details, sentAfter === this.pauses);
		// After its end, an execution sends nothing, and the failure of a poll's deadline has the status of the limit.
		if (('value' in outcome || details?.httpStatus !== undefined) && !end.aborted) {
			[this.refusedMs, this.refusesAll] = [0, false];
			if (sentAfter === this.pauses) this.window.widen();
		}
		if ('value' in outcome) return outcome.value;
		throw failure;
	}

	/** Begins a pause, or extends it if it began after the request was sent. Returns the failure with the length of the pause. */
	private pause(details: FailureDetails, isNew: boolean): Failure {
		const now = currentClock().now();
		if (this.recentLimit() === undefined) this.refusedMs = 0;
		const { httpStatus, retryAfterMs = 0 } = details;
		// After HTTP 429, longer pauses would only let other processes, which were just served, come first again and again.
		const step = httpStatus === 429 || this.refusedMs < 1000 ? SHORTEST_PAUSE_MS : this.refusedMs < 3000 ? 2000 : 4000;
		const pauseMs = retryAfterMs > 0 ? Math.max(retryAfterMs, SHORTEST_PAUSE_MS) : isNew ? step : 0;
		if (isNew) {
			this.pauses++;
			this.refusesAll = this.refusedMs >= LONGEST_WAIT_MS;
			this.window.narrow(this.refusesAll);
		}
		const told = new Failure({ ...details, pauseMs: pauseMs || Math.max(0, this.pausedUntil - now) });
		const until = now + Math.min(pauseMs, LONGEST_WAIT_MS) + (isNew ? (currentClock().random() * step) / 2 : 0);
		if (until >= this.pausedUntil) {
			this.refusedMs += until - Math.max(now, this.pausedUntil);
			[this.pausedUntil, this.namedUntil, this.askedBy] = [until, now + pauseMs, told];
		}
		return told;
	}

	/** Returns the failure that asked for the pause, in a pause or within a minute after it. */
	recentLimit(): Failure | undefined {
		return currentClock().now() > this.pausedUntil + QUIET_MS ? undefined : this.askedBy;
	}

	/**
	 * Waits until no pause is left, or for the end.
	 * @throws Failure `status` if the pause is too long, or if the platform has refused every request for two minutes
	 */
	async waitForPause(end: AbortSignal): Promise<void> {
		const clock = currentClock();
		const latest = clock.now() + LONGEST_WAIT_MS;
		for (let left; (left = this.pausedUntil - clock.now()) > 0 && !end.aborted; await clock.sleep(left, end)) {
			if (this.refusesAll || this.namedUntil > latest) throw this.unsent();
		}
	}

	private unsent(): Failure {
		const now = currentClock().now();
		const message = this.refusesAll
			? `The platform has refused every request for two minutes, so the node sends nothing for ${timeInWords(this.pausedUntil - now)}`
			: `The platform asked for a pause that ends in ${timeInWords(this.namedUntil - now)}, so the node sent nothing`;
		return new Failure({
			kind: 'status',
			cause: 'platform',
			...this.askedBy?.details,
			message,
			remedy:
				"Run the workflow again after that time. To send fewer requests at once, lower 'Parallel Requests' under 'Options'.",
			retryable: false,
		});
	}
}
