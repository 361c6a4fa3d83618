/**
 * How many requests of an account may run at the same time after a limit, and whose turn it is: 2 after the first pause, half as many
 * after each further one, 1/8 more after each other response. Retries come first, and executions take turns. It knows nothing of pauses:
 * rateLimit.ts narrows, widens and opens it.
 */
import { beforeEnd } from './clock';

/** Requests at the same time after the first pause. */
const FIRST_WIDTH = 2;
const GROWTH_PER_RESPONSE = 1 / 8;
/** Requests of one execution before the next one has its turn: as many as a list usually sends at once. */
const REQUESTS_PER_TURN = 8;

/** Runs a function once the execution may send one more request. */
export type Slots = <T>(send: () => Promise<T>) => Promise<T>;

export class Window {
	/** Most requests at the same time, and those that have a place. */
	private width = Infinity;
	private inFlight = 0;
	private readonly queue: Array<{ attempts: number; turn: number; start(): void }> = [];
	/** The turn of the request that left the queue last, and of each execution's last request. */
	private turn = 0;
	private readonly turns = new WeakMap<Slots, number>();

	isOpen(): boolean {
		return this.width === Infinity;
	}

	/** Lets all requests run, also those that wait. */
	open(): void {
		this.width = Infinity;
		this.admit();
	}

	/** Halves the window; to one request if `toOne`. Requests that have a place keep it. */
	narrow(toOne: boolean): void {
		this.width = toOne ? 1 : this.isOpen() ? FIRST_WIDTH : Math.max(1, this.width / 2);
	}

	widen(): void {
		this.width += GROWTH_PER_RESPONSE;
		this.admit();
	}

	/**
	 * Waits for a place, or for the end. Returns a function that leaves it.
	 * @param attempts how often the request was sent before
	 * @param slots those of its execution
	 * @param beforeNext ends before the next request takes the place: retries are in the queue only after a pause
	 */
	async enter(attempts: number, slots: Slots, end: AbortSignal, beforeNext: () => Promise<void>): Promise<() => void> {
		let leave = () => {};
		const left = new Promise<void>((resolve) => (leave = resolve));
		const turn = Math.max(Math.floor(this.turn) + 1, (this.turns.get(slots) ?? 0) + 1 / REQUESTS_PER_TURN);
		if (attempts === 0) this.turns.set(slots, turn);
		const started = new Promise<void>((start) => this.queue.push({ attempts, turn, start }));
		this.queue.sort((one, other) => other.attempts - one.attempts || one.turn - other.turn);
		void Promise.all([started, left]).then(async () => {
			await beforeNext();
			this.inFlight--;
			this.admit();
		});
		this.admit();
		await beforeEnd(end, started);
		if (end.aborted) leave();
		return leave;
	}

	private admit(): void {
		while (this.inFlight + 1 <= this.width && this.queue.length > 0) {
			this.inFlight++;
			const next = this.queue.shift();
			if (next?.attempts === 0) this.turn = next.turn;
			next?.start();
		}
	}
}
