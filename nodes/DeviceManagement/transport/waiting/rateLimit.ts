/**
 * Waits for the pauses that the platform asks for (`Retry-After`), for all requests of one account. A pause delays every request;
 * afterwards a window limits the requests at the same time: 2 after the first pause, half as many after each further pause, 1/8 more
 * after each response. It sends retries first, and executions take turns, but it does not retry.
 */
import { Failure } from '../../core/failure';
import { beforeEnd, type Clock } from './clock';
import { LONGEST_WAIT_MS, timeInWords } from './retry';

/** Requests at the same time after the first pause. */
const FIRST_WINDOW = 2;
const GROWTH_PER_RESPONSE = 1 / 8;
/** Time without a new pause after which requests are no longer limited. */
const QUIET_MS = 60_000;
/** A request that takes longer, with its wait for a slot, no longer counts for the window. */
const SLOW_MS = 10_000;
/** Requests of one execution before the next one has its turn: as many as a list usually sends at once. */
const REQUESTS_PER_TURN = 8;

/** Runs a function once the execution may send one more request. */
type Slots = <T>(send: () => Promise<T>) => Promise<T>;
const FREE: Slots = async (send) => await send();

export class RateLimit {
	private pausedUntil = -Infinity;
	/** The end of the pause by the platform's header; later than `pausedUntil` if the pause is too long for the node. */
	private namedUntil = -Infinity;
	private askedBy: Failure | undefined;
	private pauses = 0;
	private window = Infinity;
	private inFlight = 0;
	private readonly queue: Array<{ attempts: number; turn: number; start(): void }> = [];
	/** The turn of the request that left the queue last, and of each execution's last request: executions take turns. */
	private turn = 0;
	private readonly turns = new WeakMap<Slots, number>();

	/**
	 * Runs a request once the window has a place, no pause is left and its execution has a slot. The slot comes last: other accounts
	 * and retries may need it during a pause.
	 * @param end ends the wait; `run` must check it, too
	 * @param attempts how often the request was sent before
	 * @throws Failure `status` if the platform asked for a pause that is too long, and what `run` throws
	 */
	async pass<T>(run: () => Promise<T>, clock: Clock, end: AbortSignal, attempts = 0, slots = FREE): Promise<T> {
		for (;;) {
			if (clock.now() > this.pausedUntil + QUIET_MS) this.window = Infinity;
			this.admit();
			const place = this.window < Infinity ? new AbortController() : undefined;
			if (place !== undefined) await this.enter(place, clock, end, attempts, slots);
			try {
				await this.waitForPause(clock, end);
				if (place !== undefined) {
					clock.timeout(SLOW_MS).addEventListener('abort', () => place.abort(), { signal: place.signal });
				}
				const sent = await slots(async () => {
					// A pause may have begun during the wait for the slot.
					const mustWait = clock.now() < this.pausedUntil || (place === undefined && this.window < Infinity);
					return mustWait && !end.aborted ? undefined : { response: await this.afterPause(run, clock, end) };
				});
				if (sent !== undefined) return sent.response;
			} finally {
				place?.abort();
			}
		}
	}

	/** Runs a request once no pause is left. A sign-in calls it without the window, because other requests wait for its token. */
	async afterPause<T>(run: () => Promise<T>, clock: Pick<Clock, 'now' | 'sleep'>, end: AbortSignal): Promise<T> {
		await this.waitForPause(clock, end);
		const sentAfter = this.pauses;
		const response = await run().catch((thrown: unknown) => {
			if (thrown instanceof Failure && thrown.details.temporary === true) this.pause(thrown, sentAfter, clock.now());
			throw thrown;
		});
		if (sentAfter === this.pauses) this.window += GROWTH_PER_RESPONSE;
		this.admit();
		return response;
	}

	private pause(failure: Failure, sentAfter: number, now: number): void {
		const { retryAfterMs = 0 } = failure.details;
		if (retryAfterMs <= 0) return;
		// A request that was sent before the last pause doesn't shrink the window again.
		if (sentAfter === this.pauses) {
			this.pauses++;
			this.window = this.window === Infinity ? FIRST_WINDOW : Math.max(1, this.window / 2);
		}
		if (now + retryAfterMs < this.pausedUntil) return;
		this.pausedUntil = now + Math.min(retryAfterMs, LONGEST_WAIT_MS);
		this.namedUntil = now + retryAfterMs;
		this.askedBy = failure;
	}

	/**
	 * Waits until no pause is left, or for the end.
	 * @throws Failure `status` if the platform asked for a pause that is too long
	 */
	async waitForPause(clock: Pick<Clock, 'now' | 'sleep'>, end: AbortSignal): Promise<void> {
		const latest = clock.now() + LONGEST_WAIT_MS;
		for (let left; (left = this.pausedUntil - clock.now()) > 0 && !end.aborted; await clock.sleep(left, end)) {
			if (this.namedUntil > latest) throw this.tooLong(this.namedUntil - clock.now());
		}
	}

	/** Waits for a place in the window, or for the end. An abort of `place` frees it. */
	private async enter(place: AbortController, clock: Clock, end: AbortSignal, attempts: number, slots: Slots) {
		const left = new Promise<void>((resolve) => place.signal.addEventListener('abort', () => resolve()));
		const turn = Math.max(Math.floor(this.turn) + 1, (this.turns.get(slots) ?? 0) + 1 / REQUESTS_PER_TURN);
		if (attempts === 0) this.turns.set(slots, turn);
		const started = new Promise<void>((start) => this.queue.push({ attempts, turn, start }));
		this.queue.sort((one, other) => other.attempts - one.attempts || one.turn - other.turn);
		void Promise.all([started, left]).then(async () => {
			// The next request is chosen after the pause, when retries are in the queue, too.
			await this.waitForPause(clock, end).catch(() => {});
			this.inFlight--;
			this.admit();
		});
		this.admit();
		await beforeEnd(end, started);
		if (end.aborted) place.abort();
	}

	private admit(): void {
		while (this.inFlight + 1 <= this.window && this.queue.length > 0) {
			this.inFlight++;
			const next = this.queue.shift();
			if (next?.attempts === 0) this.turn = next.turn;
			next?.start();
		}
	}

	private tooLong(leftMs: number): Failure {
		return new Failure({
			kind: 'status',
			cause: 'platform',
			...this.askedBy?.details,
			message: `The platform asked for a pause that ends in ${timeInWords(leftMs)}, so the node sent nothing`,
			remedy:
				"Run the workflow again after that time. To send fewer requests at once, lower 'Parallel Requests' under 'Options'.",
			retryable: false,
		});
	}
}
