/**
 * Compares a list of devices with the remembered values, and returns the changes. With 'For At Least', a
 * new value is remembered beside the old one until it has lasted. It doesn't find out which devices are removed.
 */
import type { Device } from '../../core/device';
import type { TriggerParameters } from '../form';
import type { Change } from './events';
import { joinKept, type Kept, type KeptValues, partOf, splitKept } from './kept';
import { isAskedFor, leadsToRule } from './rules';

/** A new value that has not lasted long enough to be reported. */
export interface Hold {
	readonly sn: string;
	/** Position of the field. */
	readonly field: number;
	readonly value: Kept;
	/** When it was first seen, by this machine's clock in seconds. */
	readonly since: number;
}

/** What is remembered of the watched devices. */
export interface Snapshot {
	/** By serial number: the values that the next poll compares with, which are those before a hold. */
	readonly devices: ReadonlyMap<string, KeptValues>;
	readonly holds: readonly Hold[];
}

export interface ListedDevice {
	readonly sn: string;
	readonly values: KeptValues;
	/** The record, only if a value differs from the remembered one. */
	readonly device?: Device;
}

/** What a poll read of the devices that match the filters. */
export interface DeviceList {
	readonly devices: readonly ListedDevice[];
	/** Serial numbers of remembered devices that the platform no longer has. */
	readonly removed: readonly string[];
	/** Serial numbers of other remembered devices that the trigger forgets: they left the filters, or removals are not reported. */
	readonly unlisted: readonly string[];
}

export interface SnapshotOptions extends Pick<TriggerParameters, 'fields' | 'holdSeconds' | 'rules'> {
	/** This machine's clock in seconds. */
	readonly now: number;
	/** Whether this is the first poll of a process. n8n may have lost what quiet polls saw. */
	readonly isFirstOfProcess: boolean;
	/** Whether changes that the rules ask for stay held, because n8n may not take their events. */
	readonly holdsAsked?: boolean;
}

/**
 * Returns the new snapshot and the changes. A device that is seen for the first time has no change.
 * @param created serial numbers of devices that are reported as created, whose changes are not reported
 */
export function compareSnapshot(
	before: Snapshot | undefined,
	list: DeviceList,
	options: SnapshotOptions,
	created: ReadonlySet<string> = new Set(),
): { after: Snapshot; changes: Change[] } {
	const devices = new Map(before?.devices);
	for (const sn of [...list.removed, ...list.unlisted]) devices.delete(sn);
	// Of devices with one serial number, always the same one counts. Otherwise each poll would report a change.
	const listed = new Map<string, ListedDevice>();
	for (const device of list.devices) {
		const other = listed.get(device.sn);
		if (other === undefined || device.values < other.values) listed.set(device.sn, device);
	}
	const heldBefore = new Map(before?.holds.map((hold) => [keyOf(hold), hold]));
	const holds = (before?.holds ?? []).filter(({ sn }) => devices.has(sn) && !listed.has(sn));
	const changes: Change[] = [];
	for (const [sn, { values, device }] of listed) {
		const last = devices.get(sn);
		devices.set(sn, values);
		// Without a record, the device has the remembered values.
		if (last === undefined || device === undefined || created.has(sn)) continue;
		const compared = compareDevice({ sn, values, device }, last, heldBefore, options);
		devices.set(sn, compared.values);
		holds.push(...compared.held);
		changes.push(...compared.reported);
	}
	// The same order each time, so that the state's text doesn't change.
	holds.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
	return { after: { devices, holds }, changes };
}

function compareDevice(
	{ sn, values: listed, device }: Required<ListedDevice>,
	last: KeptValues,
	heldBefore: ReadonlyMap<string, Hold>,
	{ fields, now, holdSeconds, rules, isFirstOfProcess, holdsAsked }: SnapshotOptions,
): { values: KeptValues; held: Hold[]; reported: Change[] } {
	const values = splitKept(last);
	const held: Hold[] = [];
	const reported: Change[] = [];
	for (const [position, current] of splitKept(listed).entries()) {
		const [field, previous] = [fields[position], values[position]];
		if (previous === undefined || field === undefined) continue;
		values[position] = current;
		const id = partOf(current, 'id');
		if (partOf(previous, 'id') === id) continue;
		const hold = heldBefore.get(keyOf({ sn, field: position }));
		// If the clock was set back, the wait must not become longer.
		const since = hold !== undefined && partOf(hold.value, 'id') === id ? Math.min(hold.since, now) : now;
		const change = { sn, device, field, previous, current };
		const counts = now - since >= holdSeconds || (isFirstOfProcess && leadsToRule(rules, change));
		if (counts && !(holdsAsked === true && isAskedFor(rules, change))) {
			reported.push(change);
			continue;
		}
		held.push({ sn, field: position, value: current, since });
		values[position] = previous;
	}
	return { values: joinKept(values), held, reported };
}

function keyOf({ sn, field }: Pick<Hold, 'sn' | 'field'>): string {
	return `${field} ${sn}`;
}
