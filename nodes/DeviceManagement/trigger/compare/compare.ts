import { serialNumberOf } from '../../core/device';
import { changedEvent, type DeviceEvent, isAskedFor, removedEvent, timeEvent } from './events';
import { compareRecent, type Reading, type Recent } from './recent';
import { compareSnapshot, type DeviceList, type SnapshotOptions } from './snapshot';
import type { State } from '../state';
import { type TimeField, TIMES } from './watched';

/** What one poll read from the platform. Parts that are not watched are undefined. */
export interface Seen {
	readonly readings: ReadonlyMap<TimeField, Reading>;
	readonly list: DeviceList | undefined;
}

/** What the form asks for, and what the new state has to contain. */
export interface Task extends Omit<SnapshotOptions, 'created'> {
	readonly fingerprint: string;
	/** The number of a new baseline. */
	readonly firstNumber: number;
}

/**
 * Compares the old state with what a poll read, and returns the new state and the events.
 * @param before a state with the same fingerprint; undefined for a baseline, which has no events
 */
export function compare(
	before: State | undefined,
	{ readings, list }: Seen,
	task: Task,
): { state: State; events: DeviceEvent[] } {
	const number = before?.number ?? task.firstNumber;
	const recent = new Map<TimeField, Recent>();
	const events: DeviceEvent[] = [];
	const reported = new Set<string>();
	for (const time of TIMES) {
		const reading = readings.get(time.field);
		if (reading === undefined) continue;
		const { after, newRows } = compareRecent(before?.recent.get(time.field), reading);
		recent.set(time.field, after);
		for (const { id, device } of newRows) {
			if (device !== undefined && !reported.has(id)) events.push(timeEvent(time, id, device));
			reported.add(id);
		}
	}
	// Changes of a new device are not reported.
	const created = new Set(
		events.flatMap(({ event, device }) => (event === 'deviceCreated' ? serialNumberOf(device) : [])),
	);
	const compared = list && compareSnapshot(before?.snapshot, list, { ...task, created });
	const changes = compared?.changes.filter((change) => isAskedFor(task.rules, change)) ?? [];
	for (const change of changes) events.push(changedEvent(change, number));
	for (const sn of list?.removed ?? []) {
		events.push(removedEvent(sn, before?.snapshot?.devices.get(sn) ?? '[]', task.fields, number));
	}
	const numbers = { number: number + Math.min(events.length, 1), writes: before?.writes };
	return { state: { fingerprint: task.fingerprint, ...numbers, recent, snapshot: compared?.after }, events };
}
