/**
 * Makes a new state and the events in between of an old state and of what a poll saw. Each part has its own comparison, in recent.ts
 * and snapshot.ts. Nothing is read or written here.
 */
import { serialNumberOf } from '../core/device';
import {
	type Change,
	type ChangeRule,
	changedEvent,
	createdEvent,
	type DeviceEvent,
	isAskedFor,
	removedEvent,
	updatedEvent,
} from './events';
import { compareRecent, type Reading } from './recent';
import { compareSnapshot, type DeviceList, forget, type ValueChange } from './snapshot';
import type { State } from './state';
import type { WatchedField } from './watched';

/** What one poll saw of the platform. Parts that are not watched are undefined. */
export interface Seen {
	readonly created: Reading | undefined;
	readonly updated: Reading | undefined;
	/** All devices that meet the filters. */
	readonly list: DeviceList | undefined;
}

export interface Outcome {
	readonly state: State;
	readonly events: readonly DeviceEvent[];
	/** Serial numbers of devices that may be removed: the platform has to be asked for each. */
	readonly missing: readonly string[];
}

export interface Task {
	readonly fields: readonly WatchedField[];
	readonly rules: readonly ChangeRule[];
	readonly holdSeconds: number;
	readonly fingerprint: string;
	/** This machine's clock in seconds. */
	readonly now: number;
	/** The number that a baseline has. */
	readonly firstNumber: number;
}

/**
 * Compares what a poll saw with what is remembered.
 * @param before a state of the same fingerprint; undefined for a baseline, which has no events
 */
export function compare(before: State | undefined, seen: Seen, task: Task): Outcome {
	const number = before?.number ?? task.firstNumber;
	const created = seen.created && compareRecent(before?.created, seen.created);
	const updated = seen.updated && compareRecent(before?.updated, seen.updated);
	const fresh = created?.fresh ?? [];
	// Nothing else is said of a device that is new.
	const isNew = new Set(fresh.map(({ id }) => id));
	const edited = (updated?.fresh ?? []).filter(({ id }) => !isNew.has(id));
	const newDevices = new Set(fresh.flatMap(({ device }) => (device === undefined ? [] : serialNumberOf(device))));
	const list = seen.list && compareSnapshot(before?.snapshot, seen.list, { ...task, created: newDevices });
	const events = [
		...fresh.flatMap(({ id, device }) => (device === undefined ? [] : createdEvent(id, device))),
		...edited.flatMap(({ id, device }) => (device === undefined ? [] : updatedEvent(id, device))),
		...changesIn(list?.changes ?? [], task).map((change) => changedEvent(change, number)),
	];
	const parts = { created: created?.after, updated: updated?.after, snapshot: list?.after };
	const state = { fingerprint: task.fingerprint, number: events.length > 0 ? number + 1 : number, ...parts };
	return { state, events, missing: list?.missing ?? [] };
}

/**
 * Adds what the platform said of the missing devices.
 * @param before the state that the outcome was compared from
 * @param removed serial numbers that the platform does not have
 * @param elsewhere serial numbers of devices that are no longer on the list
 */
export function settleMissing(
	{ state, events }: Outcome,
	{ removed, elsewhere }: { removed: readonly string[]; elsewhere: readonly string[] },
	before: State | undefined,
	fields: readonly WatchedField[],
): Pick<Outcome, 'state' | 'events'> {
	if (before?.snapshot === undefined || state.snapshot === undefined) return { state, events };
	const { devices } = before.snapshot;
	const all = [...events, ...removed.map((sn) => removedEvent(sn, devices.get(sn) ?? '[]', fields, before.number))];
	const snapshot = forget(state.snapshot, [...removed, ...elsewhere]);
	return { state: { ...state, snapshot, number: before.number + Math.min(all.length, 1) }, events: all };
}

function changesIn(changes: readonly ValueChange[], { fields, rules }: Task): Change[] {
	return changes
		.flatMap(({ device: { sn, device }, field: position, previous, current }): Change[] => {
			const field = fields[position];
			return field === undefined || device === undefined ? [] : [{ sn, device, field, previous, current }];
		})
		.filter((change) => isAskedFor(rules, change));
}
