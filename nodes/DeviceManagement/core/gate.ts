import { Failure } from './failure';
import { type Clock, timeInWords } from './retry';

/** Longest wait that is kept to, and longest time that a longer one is remembered, in milliseconds. */
export const LONGEST_HOLD_MS = 120_000;
/** Requests that may be under way at once right after a wait. */
const FIRST_BACK = 2;
/** The most of them until the wait is so long ago. */
const MOST_BACK = 8;
const CAUTIOUS_MS = 10_000;
/** Afterwards twice as many every second, for so long. */
const DOUBLES_EVERY_MS = 1000;
const OPENING_MS = 10_000;
/** How often it is seen whether time has made room. */
const LOOK_EVERY_MS = 250;

/**
 * Where all requests of one account pass. When the platform asks to wait (`Retry-After`), it holds everyone back, not only
 * the one request that was told, and lets them through a few at a time afterwards: two at first, one more for each that was
 * answered, eight at most in the first ten seconds (half as many after each wait that follows another), and from then on
 * twice as many each second. Who was refused more often goes first, so that nobody is refused again and again while others
 * pass; then who came first.
 */
export class Gate {
	private closedUntil = -Infinity;
	/** The HTTP status that the last wait came with. */
	private askedBy: number | undefined;
	/** A wait that is longer than anybody waits: until when whoever asks is told so, and what the platform named. */
	private refusal: { until: number; named: number } | undefined;
	private under = 0;
	private width = FIRST_BACK;
	/** The most after the last wait: fewer where waits follow each other, because others ask, too. */
	private most = MOST_BACK;
	/** How many waits there were: only what was sent after the last one widens the way back. */
	private holds = 0;
	private arrivals = 0;
	/** Whoever has not come through yet. */
	private readonly waiting = new Set<Waiter>();
	/** Those of them whose turn depends on others, in the order of their turns. */
	private queue: Array<Waiter & { next: () => void }> = [];
	private isWatched = false;

	/**
	 * Runs a request when its turn comes.
	 * @param end ends the waiting; what is run then has to notice by itself
	 * @param refusals how often it was tried before
	 * @returns what `run` returns
	 * @throws Failure `status` when the platform asked for a longer wait than anybody waits, and what `run` throws
	 */
	async pass<T>(
		run: () => Promise<T>,
		clock: Pick<Clock, 'now' | 'sleep'>,
		end: AbortSignal,
		refusals = 0,
	): Promise<T> {
		let sentAfter: number | undefined;
		try {
			await this.enter({ refusals, arrival: this.arrivals++ }, clock, end);
			sentAfter = this.holds;
			return await run();
		} finally {
			if (sentAfter !== undefined) {
				this.under--;
				if (sentAfter === this.holds && !end.aborted) this.width++;
			}
			this.callNext();
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
		if (now > this.closedUntil + CAUTIOUS_MS) this.most = MOST_BACK;
		else if (now > this.closedUntil) this.most = Math.max(1, this.most / 2);
		this.closedUntil = Math.max(this.closedUntil, until);
		this.width = FIRST_BACK;
		this.holds++;
	}

	private async enter(waiter: Waiter, clock: Pick<Clock, 'now' | 'sleep'>, end: AbortSignal): Promise<void> {
		const latest = clock.now() + LONGEST_HOLD_MS;
		this.waiting.add(waiter);
		try {
			while (!end.aborted) {
				this.forgetWhenSetBack(clock.now());
				this.refuseWhileAskedTo(clock.now());
				const waitMs = this.closedUntil - clock.now();
				if (waitMs > 0) {
					if (this.closedUntil > latest) throw heldBack(this.closedUntil, this.askedBy);
					await clock.sleep(waitMs, end);
				} else if (!this.hasRoomFor(waiter, clock.now())) {
					await this.turn(waiter, clock, end);
				} else {
					break;
				}
			}
		} finally {
			this.waiting.delete(waiter);
		}
		// At once: whoever waits for the same moment looks next.
		this.under++;
		// Whoever came for its turn before the one ahead of it waits for it.
		if (this.under < this.room(clock.now())) this.callNext();
	}

	private hasRoomFor(waiter: Waiter, now: number): boolean {
		const room = this.room(now);
		if (room === Infinity) return true;
		if (this.under >= room) return false;
		for (const other of this.waiting) if (isAhead(other, waiter)) return false;
		return true;
	}

	/** How many may be under way at once. */
	private room(now: number): number {
		const openingMs = now - this.closedUntil - CAUTIOUS_MS;
		if (openingMs <= 0) return Math.min(this.width, this.most);
		return openingMs > OPENING_MS ? Infinity : this.most * 2 ** Math.ceil(openingMs / DOUBLES_EVERY_MS);
	}

	private callNext(): void {
		this.queue.shift()?.next();
	}

	private refuseWhileAskedTo(now: number): void {
		if (this.refusal === undefined) return;
		if (now < this.refusal.until) throw heldBack(this.refusal.named, this.askedBy);
		this.refusal = undefined;
	}

	/** After a clock was set back, a wait of the past would lie ahead, for as long as nobody asked to wait. */
	private forgetWhenSetBack(now: number): void {
		if (this.closedUntil <= now + LONGEST_HOLD_MS) return;
		this.closedUntil = -Infinity;
		this.refusal = undefined;
	}

	private async turn(waiter: Waiter, clock: Pick<Clock, 'now' | 'sleep'>, end: AbortSignal): Promise<void> {
		await new Promise<void>((resolve) => {
			const own = AbortSignal.any([end]);
			const next = () => {
				own.removeEventListener('abort', leave);
				resolve();
			};
			const entry = { ...waiter, next };
			const leave = () => {
				this.queue = this.queue.filter((other) => other !== entry);
				resolve();
			};
			own.addEventListener('abort', leave, { once: true });
			this.queue.splice(this.queue.findLastIndex((other) => isAhead(other, waiter)) + 1, 0, entry);
			if (!this.isWatched) void this.watch(clock);
		});
	}

	/** Calls those who wait for their turn as time makes room for them: those before them may take long. */
	private async watch(clock: Pick<Clock, 'now' | 'sleep'>): Promise<void> {
		this.isWatched = true;
		while (this.queue.length > 0) {
			await clock.sleep(LOOK_EVERY_MS);
			if (this.under < this.room(clock.now())) this.callNext();
		}
		this.isWatched = false;
	}
}

interface Waiter {
	/** How often the platform refused it before. */
	readonly refusals: number;
	/** Rises from one to the next. */
	readonly arrival: number;
}

/** Whether it is one's turn before the other's: who was refused more often, and then who came first. */
function isAhead(one: Waiter, other: Waiter): boolean {
	return one.refusals > other.refusals || (one.refusals === other.refusals && one.arrival < other.arrival);
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
