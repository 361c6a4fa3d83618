import { Failure } from './failure';
import { type Clock, timeInWords } from './retry';

/** Longest wait that is kept to, and longest time that a longer one is remembered, in milliseconds. */
export const LONGEST_HOLD_MS = 120_000;
/** Requests that may be under way at once right after a wait. */
const FIRST_BACK = 2;
/** The most of them until the wait is so long ago. */
const MOST_BACK = 8;
const CAUTIOUS_MS = 10_000;

/**
 * Where all requests of one account pass. When the platform asks to wait (`Retry-After`), it holds everyone back, not only
 * the one request that was told, and lets them through a few at a time afterwards: two at first, one more for each that was
 * answered, eight at most in the first ten seconds.
 */
export class Gate {
	private closedUntil = -Infinity;
	/** The HTTP status that the last wait came with. */
	private askedBy: number | undefined;
	/** A wait that is longer than anybody waits: until when whoever asks is told so, and what the platform named. */
	private refusal: { until: number; named: number } | undefined;
	private under = 0;
	private width = Infinity;
	/** How many waits there were: only what was sent after the last one widens the way back. */
	private holds = 0;
	private queue: Array<() => void> = [];

	/**
	 * Runs a request when its turn comes.
	 * @param end ends the waiting; what is run then has to notice by itself
	 * @returns what `run` returns
	 * @throws Failure `status` when the platform asked for a longer wait than anybody waits, and what `run` throws
	 */
	async pass<T>(run: () => Promise<T>, clock: Pick<Clock, 'now' | 'sleep'>, end: AbortSignal): Promise<T> {
		let sentAfter: number | undefined;
		try {
			await this.enter(clock, end);
			sentAfter = this.holds;
			return await run();
		} finally {
			if (sentAfter !== undefined) {
				this.under--;
				if (sentAfter === this.holds) this.width++;
			}
			// One that was answered makes room for itself and, while the way back is narrow, for one more.
			for (const next of this.queue.splice(0, 2)) next();
		}
	}

	/**
	 * Holds everyone back from now on, as an answer asked for.
	 * @param waitMs how long it asked to wait
	 * @param httpStatus the answer's own
	 */
	hold(waitMs: number, httpStatus: number | undefined, now: number): void {
		if (waitMs <= 0) return;
		const until = now + Math.min(waitMs, LONGEST_HOLD_MS);
		if (waitMs > LONGEST_HOLD_MS) this.refusal = { until, named: now + waitMs };
		this.askedBy = httpStatus;
		this.closedUntil = Math.max(this.closedUntil, until);
		this.width = FIRST_BACK;
		this.holds++;
	}

	private async enter(clock: Pick<Clock, 'now' | 'sleep'>, end: AbortSignal): Promise<void> {
		const latest = clock.now() + LONGEST_HOLD_MS;
		while (!end.aborted) {
			this.refuseWhileAskedTo(clock.now());
			const waitMs = this.closedUntil - clock.now();
			if (waitMs > 0) {
				if (this.closedUntil > latest) throw heldBack(this.closedUntil, this.askedBy);
				await clock.sleep(waitMs, end);
			} else if (this.under >= this.widthAt(clock.now())) {
				await this.turn(end);
			} else {
				break;
			}
		}
		// At once: whoever waits for the same moment looks next.
		this.under++;
	}

	private widthAt(now: number): number {
		if (now > this.closedUntil + CAUTIOUS_MS) this.width = Infinity;
		return Math.min(this.width, this.width === Infinity ? Infinity : MOST_BACK);
	}

	private refuseWhileAskedTo(now: number): void {
		if (this.refusal === undefined) return;
		if (now < this.refusal.until) throw heldBack(this.refusal.named, this.askedBy);
		this.refusal = undefined;
	}

	private async turn(end: AbortSignal): Promise<void> {
		await new Promise<void>((resolve) => {
			const own = AbortSignal.any([end]);
			const next = () => {
				own.removeEventListener('abort', leave);
				resolve();
			};
			const leave = () => {
				this.queue = this.queue.filter((other) => other !== next);
				resolve();
			};
			own.addEventListener('abort', leave, { once: true });
			this.queue.push(next);
		});
	}
}

function heldBack(until: number, httpStatus: number | undefined): Failure {
	return new Failure({
		kind: 'status',
		cause: 'platform',
		message: `The platform asked for a pause until ${timeInWords(until)}, so nothing was sent`,
		remedy: "Run the workflow again after that time. To ask the platform for less at once, lower 'Parallel Requests' under 'Options'.",
		...(httpStatus === undefined ? {} : { httpStatus }),
		retryable: false,
	});
}
