import { setImmediate } from 'node:timers/promises';

import type { Clock } from '../nodes/DeviceManagement/transport/waiting/clock.ts';

/** A clock that jumps to the next event when nothing is left to do now. */
export class VirtualTime implements Clock {
	private at = 0;
	private events: Array<{ at: number; happen(): void }> = [];

	/** @param random chance, from 0 to 1 */
	constructor(readonly random: () => number = () => 0.5) {}

	now = (): number => this.at;

	date = (): number => 1_700_000_000_000 + this.at;

	/** Schedules an event after so many milliseconds. */
	after(ms: number, happen: () => void): void {
		const at = this.at + Math.max(0, ms);
		// Events at the same time happen in the order in which they were scheduled.
		const later = this.events.findIndex((event) => event.at > at);
		this.events.splice(later === -1 ? this.events.length : later, 0, { at, happen });
	}

	sleep = async (ms: number, end?: AbortSignal): Promise<void> =>
		await new Promise((resolve) => {
			if (end?.aborted === true) return resolve();
			this.after(ms, resolve);
			// A separate signal: Node.js warns of a leak if many wait on one.
			if (end !== undefined) AbortSignal.any([end]).addEventListener('abort', () => resolve(), { once: true });
		});

	timeout = (ms: number): AbortSignal => {
		const controller = new AbortController();
		this.after(ms, () => controller.abort());
		return controller.signal;
	};

	/** Moves the time until no event is left, or for so many milliseconds. */
	async run(ms = Infinity): Promise<void> {
		const end = this.at + ms;
		do await setImmediate();
		while ((this.events[0]?.at ?? Infinity) <= end && this.step());
		if (end < Infinity) this.at = end;
	}

	/**
	 * Moves the time until the promise has settled, and returns its value.
	 * @throws what the promise throws, or if it waits for an event that never happens
	 */
	async until<T>(promise: Promise<T>): Promise<T> {
		let settled = false;
		const settle = () => void (settled = true);
		promise.then(settle, settle);
		for (await setImmediate(); !settled; await setImmediate()) {
			if (!this.step()) throw new Error('The promise waits for an event that never happens');
		}
		return await promise;
	}

	private step(): boolean {
		const next = this.events.shift();
		if (next === undefined) return false;
		this.at = next.at;
		next.happen();
		return true;
	}
}
