import { Fleet, type Device, timeText } from '../platform/fleet.mts';
import { EmbeddedPlatform } from '../platform/server.mts';
import { stopClock } from '../virtualTime.mts';
import { SAMPLES } from './samples.mts';

export const START = Date.UTC(2026, 2, 29, 0, 30);
export const MINUTE = 60_000;
const TEMPLATE = Fleet.seeded({ size: 1, seed: 3 }).at(0);

/** The platform and the time, for random tests of the trigger. */
export class World {
	now = START;
	/** How far the platform's clock is ahead, in minutes. */
	skew = 0;
	private nextDevice = 0;
	readonly fleet = new Fleet([]);
	readonly platform = new EmbeddedPlatform({ fleet: this.fleet });
	/** Responses wait for it. */
	held: Promise<void> | undefined;
	/** The list request of a poll that fails, counted from 1. */
	failAt: number | undefined;
	/** Whether the platform doesn't say what became of a missing device. */
	refusesMissing = false;

	constructor() {
		const { settings } = this.platform;
		settings.beforeAnswer = async () => await this.held;
		settings.fault = ({ kind }) => {
			if (kind === 'sn') return this.refusesMissing ? { code: 10018 } : undefined;
			return this.failAt !== undefined && --this.failAt === 0 ? { status: 503 } : undefined;
		};
		for (let count = 0; count < 5; count++) this.add(600 - 100 * count);
	}

	/** The platform's time, so many minutes ago. */
	time(minutesAgo = 0): string {
		return timeText(this.now + (this.skew - minutesAgo) * MINUTE);
	}

	/** A new device that says it is so many minutes old, at some position of the platform's own order. */
	add(minutesAgo: number, position = 0, sn = `SN-${this.nextDevice}`): void {
		const number = this.nextDevice++;
		const device = {
			...TEMPLATE,
			...{ id: `id${number}`, sn, onlineStatus: number % 2, status: number % 3 },
			attributes: number % 2 === 0 ? { firmware: '1' } : {},
			...SAMPLES.groupChanged.changes[number % 2],
			tags: number % 3 === 0 ? [] : ['a'],
			createTime: this.time(minutesAgo),
			updateTime: number % 4 === 0 ? this.time(minutesAgo) : null,
		};
		this.fleet.add(device, position % (this.fleet.size + 1));
	}

	/** @param isDated whether the device's update time shows it */
	edit(position: number, changes: Partial<Device>, isDated = true): void {
		const device = this.at(position);
		if (device !== undefined) this.fleet.update(device.sn, { ...changes, ...(isDated && { updateTime: this.time() }) });
	}

	remove(position: number): Device | undefined {
		const device = this.at(position);
		return device && this.fleet.remove(device.sn);
	}

	/** The device at a position, if there are any. */
	private at(position: number): Device | undefined {
		return this.fleet.size === 0 ? undefined : this.fleet.at(position % this.fleet.size);
	}
}

/** Something happens in a new world, by its time. */
export async function inWorld(happen: (world: World) => Promise<void>): Promise<void> {
	const world = new World();
	const putClockBack = stopClock(world);
	await happen(world).finally(putClockBack);
}
