import { setImmediate } from 'node:timers/promises';

import { beforeEnd, type Clock, replaceClock } from '../nodes/DeviceManagement/transport/waiting/clock.ts';

/** A clock that jumps to the next event when nothing is left to do now. */
export class VirtualTime implements Clock {
	private at = 0;
	private readonly events: Array<{ at: number; happen(): void }> = [];

	/** @param random chance, from 0 to 1 */
	constructor(readonly random: () => number = () => 0.5) {}

	now = (): number => this.at;

	date = (): number => 1_700_000_000_000 + this.at;

	/** Schedules an event after so many milliseconds. */
	after(ms: number, happen: () => void): void {
		this.events.push({ at: this.at + Math.max(0, ms), happen });
		// Sorting is stable: events at the same time happen in the order in which they were scheduled.
		this.events.sort((one, other) => one.at - other.at);
	}

	sleep = async (ms: number, end?: AbortSignal): Promise<void> => {
		if (end?.aborted === true) return;
		const passed = new Promise<void>((resolve) => this.after(ms, resolve));
		await (end === undefined ? passed : beforeEnd(end, passed));
	};

	timeout = (ms: number): AbortSignal => {
		const controller = new AbortController();
		this.after(ms, () => controller.abort());
		return controller.signal;
	};

	/** Moves the time for so many milliseconds. */
	async run(ms: number): Promise<void> {
		await this.until(this.sleep(ms));
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
			const next = this.events.shift();
			if (next === undefined) throw new Error('The promise waits for an event that never happens');
			this.at = next.at;
			next.happen();
		}
		return await promise;
	}
}

/**
 * Stops the clock of the nodes: it shows `clock.now`, which a test moves. The node's waits move it too, and take no time. Timeouts
 * never occur. Returns a function that restores the clock before.
 */
export function stopClock(clock: { now: number }): () => void {
	const began = clock.now;
	return replaceClock({
		now: () => clock.now - began,
		date: () => clock.now,
		random: () => 0.5,
		sleep: async (ms) => void (clock.now += Math.max(0, ms)),
		timeout: () => new AbortController().signal,
	});
}
