import { setImmediate } from 'node:timers/promises';

import type { Clock } from '../nodes/DeviceManagement/core/retry.ts';

/** Time that stands still until nobody has anything left to do, and then jumps to what happens next. */
export class VirtualTime implements Clock {
	private at: number;
	private events: Array<{ at: number; happen(): void }> = [];

	/**
	 * @param begin milliseconds since the epoch
	 * @param random chance, from 0 to 1
	 */
	constructor(
		begin = 0,
		readonly random: () => number = () => 0.5,
	) {
		this.at = begin;
	}

	now = (): number => this.at;

	/** Has something happen after so many milliseconds. */
	after(ms: number, happen: () => void): void {
		const at = this.at + Math.max(0, ms);
		// What is set for the same moment happens in the order in which it was set.
		const later = this.events.findIndex((event) => event.at > at);
		this.events.splice(later === -1 ? this.events.length : later, 0, { at, happen });
	}

	sleep = async (ms: number, end?: AbortSignal): Promise<void> =>
		await new Promise((resolve) => {
			if (end?.aborted === true) return resolve();
			this.after(ms, resolve);
			// A signal of its own: Node.js warns of a leak where many wait on one.
			if (end !== undefined) AbortSignal.any([end]).addEventListener('abort', () => resolve(), { once: true });
		});

	timeout = (ms: number): AbortSignal => {
		const controller = new AbortController();
		this.after(ms, () => controller.abort());
		return controller.signal;
	};

	/** Lets time pass until nothing is to happen any more, or for so many milliseconds. */
	async run(ms = Infinity): Promise<void> {
		const end = this.at + ms;
		for (;;) {
			await setImmediate();
			if ((this.events[0]?.at ?? Infinity) <= end && this.step()) continue;
			if (end < Infinity) this.at = end;
			return;
		}
	}

	/**
	 * Lets time pass until the promise has settled.
	 * @throws when it waits for something that never happens
	 */
	async until(promise: Promise<unknown>): Promise<void> {
		let settled = false;
		const settle = () => void (settled = true);
		promise.then(settle, settle);
		for (;;) {
			await setImmediate();
			if (settled) return;
			if (!this.step()) throw new Error('Somebody waits for something that never happens');
		}
	}

	private step(): boolean {
		const next = this.events.shift();
		if (next === undefined) return false;
		this.at = next.at;
		next.happen();
		return true;
	}
}
