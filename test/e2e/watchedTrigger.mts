import assert from 'node:assert/strict';

import type { Device, EmbeddedPlatform } from '../../testbed/platform/server.mts';
import { until } from './runs.mts';

/** Requests that are further apart belong to different polls. */
const BETWEEN_POLLS_MS = 15_000;

/** The platform of a published `triggerWorkflow`, and what the workflow told it: the events that started executions. */
export class WatchedTrigger {
	/** The events that have to have started an execution by now, like `deviceCreated RT00000001`. */
	readonly expected: string[] = [];
	private readonly untouched: Device[];

	/** @param name for messages */
	constructor(
		readonly platform: EmbeddedPlatform,
		private readonly name = 'the trigger',
	) {
		this.untouched = [...platform.fleet.devices];
	}

	/** A device that was there from the start and that nothing changed so far. */
	take(): Device {
		const device = this.untouched.pop();
		assert(device, 'the fleet is too small');
		return device;
	}

	/** A device gets the status 77. */
	changeStatus(): void {
		const { sn } = this.take();
		this.platform.fleet.update(sn, { onlineStatus: 77 });
		this.expected.push(`onlineStatusChanged ${sn}`);
	}

	addDevice(): void {
		this.expected.push(`deviceCreated ${this.platform.fleet.add().sn}`);
	}

	/** Both. */
	change(): void {
		this.changeStatus();
		this.addDevice();
	}

	/** The events that started executions. */
	reported() {
		return this.platform.requestsOf('other').map(({ query: { event, sn, eventId }, at }) => ({
			event: `${String(event)} ${String(sn)}`,
			eventId: String(eventId),
			at,
		}));
	}

	/** Each expected event was reported once, and nothing else. */
	assertReported(): void {
		assert.deepEqual(this.events().sort(), this.expected.toSorted());
	}

	/** Waits for what is expected, and checks that it came once. */
	async reportsAll(): Promise<void> {
		const isThere = () => this.expected.every((event) => this.events().includes(event));
		await until(`${this.name}: not reported: ${this.expected.join(', ')}`, isThere);
		this.assertReported();
	}

	/** Waits for further polls to begin. What the last of them reports may come later. */
	async polls(count: number): Promise<void> {
		const before = this.polled();
		for (let further = 1; further <= count; further++) {
			await until(`${this.name} does not poll`, () => this.polled() >= before + further);
		}
	}

	private events(): string[] {
		return this.reported().map(({ event }) => event);
	}

	private polled(): number {
		const times = this.platform.requestsOf('list').map(({ at }) => at);
		return times.filter((at, index) => at - (times[index - 1] ?? -Infinity) > BETWEEN_POLLS_MS).length;
	}
}
