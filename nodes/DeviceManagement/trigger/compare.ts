import { type Device, serialNumberOf } from '../core/device';
import {
	type Change,
	changedEvent,
	createdEvent,
	type DeviceEvent,
	isAskedFor,
	removedEvent,
	updatedEvent,
} from './events';
import type { FleetEntry } from './fleet';
import { type DeviceRow, IDENTITY_LENGTH, type TimeField } from './newest';
import type { Observation } from './observe';
import type { TriggerParameters } from './parameters';
import { compareRecent, type Recent, type TimedRow } from './recent';
import { compareSnapshot, emptySnapshot, forget, type Snapshot, type ValueChange, type Whereabouts } from './snapshot';
import type { Fingerprint, State } from './state';

/** What a comparison came to. */
export interface Outcome {
	/** The same object as before where nothing changed. */
	readonly state: State;
	readonly events: readonly DeviceEvent[];
	/** Serial numbers of devices that may be removed: each has to be looked at before it counts as such. */
	readonly missing: readonly string[];
}

/** What stands over a comparison. */
export interface Task {
	readonly parameters: TriggerParameters;
	readonly fingerprint: Fingerprint;
	/** This machine's clock in seconds. */
	readonly now: number;
	/** The least number that a baseline has. */
	readonly firstNumber: number;
}

/**
 * Compares what a poll saw with what is remembered.
 * @param before a state of the same fingerprint; undefined for a baseline, which has no events
 */
export function compare(before: State | undefined, seen: Pick<Observation, 'newest' | 'list'>, task: Task): Outcome {
	const { parameters, fingerprint, now } = task;
	const newest = (field: TimeField, last: Recent | undefined) => {
		const rows = seen.newest[field];
		if (rows === undefined) return undefined;
		const { steady, newestMet = -Infinity } = rows;
		const compared = compareRecent(last, rows.rows, { now, steady, newestMet, identityLength: IDENTITY_LENGTH[field] });
		return { after: compared.after, fresh: compared.fresh.filter(({ id }) => !rows.outside.has(id)) };
	};
	const created = newest('createTime', before?.created);
	const updated = newest('updateTime', before?.updated);
	const newIds = new Set(created?.fresh.map(({ id }) => id));
	const number = before?.number ?? task.firstNumber;
	// Nothing else is said of a device that is new.
	const edited = updated?.fresh.filter(({ id }) => !newIds.has(id)) ?? [];
	const metAt = edited.length === 0 ? new Set<string>() : devicesAtTimes(before?.updated);
	const events = [
		...reported(created?.fresh ?? [], ({ id }, device) => createdEvent(id, device)),
		...reported(edited, (row, device) => updatedEvent(row.id, device, metAt.has(deviceAtTime(row)) ? number : undefined)),
	];
	const shared = parameters.fields.filter((field) => !field.startsWith('attributes.')).length;
	const compared =
		seen.list === undefined
			? undefined
			: compareSnapshot(before?.snapshot ?? emptySnapshot(shared), seen.list, {
					now,
					holdSeconds: parameters.holdSeconds,
					created: new Set(created?.fresh.flatMap(({ device }) => (device === undefined ? [] : serialNumberOf(device)))),
				});
	for (const change of changesIn(compared?.changes ?? [], parameters)) events.push(changedEvent(change, number));

	const parts = {
		...(created === undefined ? {} : { created: created.after }),
		...(updated === undefined ? {} : { updated: updated.after }),
		...(compared === undefined ? {} : { snapshot: compared.after }),
	};
	const state = changedState(before, { fingerprint, number, ...parts });
	return { state: events.length > 0 ? { ...state, number: number + 1 } : state, events, missing: compared?.missing ?? [] };
}

/**
 * Adds what reading the missing devices said to an outcome.
 * @param before the state that the outcome was compared from
 */
export function settleMissing(
	{ state, events, missing }: Outcome,
	whereabouts: ReadonlyMap<string, Whereabouts>,
	before: State | undefined,
	parameters: TriggerParameters,
): Outcome {
	if (before?.snapshot === undefined || state.snapshot === undefined) return { state, events, missing };
	const { devices } = before.snapshot;
	const removed = missing
		.filter((sn) => whereabouts.get(sn) === 'removed' && parameters.events.has('deviceRemoved'))
		.map((sn) => removedEvent(sn, devices.get(sn) ?? '', parameters.fields, before.number));
	const snapshot: Snapshot = forget(state.snapshot, whereabouts);
	const all = [...events, ...removed];
	const after = snapshot === state.snapshot ? state : { ...state, snapshot };
	return { state: all.length === 0 ? after : { ...after, number: before.number + 1 }, events: all, missing: [] };
}

function reported(rows: readonly DeviceRow[], report: (row: DeviceRow, device: Device) => DeviceEvent) {
	return rows.flatMap((row) => (row.device === undefined ? [] : [report(row, row.device)]));
}

function devicesAtTimes(recent: Recent | undefined): Set<string> {
	return new Set(Array.from(recent?.rows ?? [], ([digest, time]) => deviceAtTime({ digest, time })));
}

/** What tells a device, and the update time that it was met with. */
function deviceAtTime({ digest, time }: TimedRow): string {
	return `${digest.slice(0, IDENTITY_LENGTH.updateTime)} ${time}`;
}

function changesIn(changes: readonly ValueChange<FleetEntry>[], { fields, rules }: TriggerParameters): Change[] {
	return changes
		.flatMap(({ device: { sn, device }, field: position, previous, current }): Change[] => {
			const field = fields[position];
			return field === undefined || device === undefined ? [] : [{ sn, device, field, previous, current }];
		})
		.filter((change) => isAskedFor(rules, change));
}

/** The state before, itself, where no part of it changed. */
function changedState(before: State | undefined, after: State): State {
	const same =
		before !== undefined &&
		before.created === after.created &&
		before.updated === after.updated &&
		before.snapshot === after.snapshot;
	return same ? before : after;
}
