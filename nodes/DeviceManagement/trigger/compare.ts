/**
 * Compares the old state with what a poll read, and returns the new state and the events. recent.ts and snapshot.ts compare the
 * parts. Nothing is read or written here.
 */
import { serialNumberOf } from '../core/device';
import { type ChangeRule, changedEvent, type DeviceEvent, isAskedFor, removedEvent, timeEvent } from './events';
import { compareRecent, type Reading, type Recent } from './recent';
import { compareSnapshot, type DeviceList, forget } from './snapshot';
import type { State } from './state';
import { type TimeField, TIMES, type WatchedField } from './watched';

/** What one poll read from the platform. Parts that are not watched are undefined. */
export interface Seen {
	readonly readings: ReadonlyMap<TimeField, Reading>;
	/** All devices that match the filters. */
	readonly list: DeviceList | undefined;
}

export interface Outcome {
	readonly state: State;
	readonly events: readonly DeviceEvent[];
	/** Serial numbers of devices that may be removed: the poll has to request each from the platform. */
	readonly missing: readonly string[];
}

export interface Task {
	readonly fields: readonly WatchedField[];
	readonly rules: readonly ChangeRule[];
	readonly holdSeconds: number;
	readonly fingerprint: string;
	/** This machine's clock in seconds. */
	readonly now: number;
	/** The number of a new baseline. */
	readonly firstNumber: number;
}

/**
 * Returns the new state, the events, and the devices that may be removed.
 * @param before a state with the same fingerprint; undefined for a baseline, which has no events
 */
export function compare(before: State | undefined, seen: Seen, task: Task): Outcome {
	const number = before?.number ?? task.firstNumber;
	const recent = new Map<TimeField, Recent>();
	const events: DeviceEvent[] = [];
	const reported = new Set<string>();
	for (const time of TIMES) {
		const reading = seen.readings.get(time.field);
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
	const list = seen.list && compareSnapshot(before?.snapshot, seen.list, { ...task, created });
	const changes = list?.changes.filter((change) => isAskedFor(task.rules, change)) ?? [];
	events.push(...changes.map((change) => changedEvent(change, number)));
	const { fingerprint } = task;
	const state = { fingerprint, number: number + Math.min(events.length, 1), recent, snapshot: list?.after };
	return { state, events, missing: list?.missing ?? [] };
}

/**
 * Adds the events of removed devices, and forgets the devices that are no longer listed.
 * @param before the state that was compared with
 * @param removed serial numbers that the platform does not have
 * @param unlisted serial numbers of devices that exist but no longer match the filters
 */
export function settleMissing(
	{ state, events }: Outcome,
	{ removed, unlisted }: { removed: readonly string[]; unlisted: readonly string[] },
	before: State | undefined,
	fields: readonly WatchedField[],
): Pick<Outcome, 'state' | 'events'> {
	if (before?.snapshot === undefined || state.snapshot === undefined) return { state, events };
	const { devices } = before.snapshot;
	const all = [...events, ...removed.map((sn) => removedEvent(sn, devices.get(sn) ?? '[]', fields, before.number))];
	const snapshot = forget(state.snapshot, [...removed, ...unlisted]);
	return { state: { ...state, snapshot, number: before.number + Math.min(all.length, 1) }, events: all };
}
