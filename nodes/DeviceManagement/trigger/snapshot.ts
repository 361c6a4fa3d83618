/**
 * Tells which watched values changed, and which devices are missing, from a list of devices and what is remembered of them. A new
 * value that has to hold is remembered beside the old one until then. It does not find out whether a missing device is removed.
 */
import type { Device } from '../core/device';
import type { Change } from './events';
import { type Code, joinCode, type Kept, splitCode } from './values';
import type { WatchedField } from './watched';

/** A new value that has to hold for a while before it is reported. */
export interface Hold {
	readonly sn: string;
	/** Position of the field. */
	readonly field: number;
	readonly value: Kept;
	/** When it was first seen, by this machine's clock in seconds. */
	readonly since: number;
}

/** What is remembered of the devices that are watched for changes or removal. */
export interface Snapshot {
	/** By serial number: the values as they were last reported or first met. */
	readonly devices: ReadonlyMap<string, Code>;
	readonly holds: readonly Hold[];
}

/** A device as a list showed it. */
export interface ListedDevice {
	readonly sn: string;
	readonly code: Code;
	/** The record, where a value differs from the one that is remembered. */
	readonly device?: Device;
}

export interface DeviceList {
	readonly devices: readonly ListedDevice[];
	/** Whether it surely holds every device. */
	readonly complete: boolean;
}

export interface SnapshotOptions {
	readonly fields: readonly WatchedField[];
	/** This machine's clock in seconds. */
	readonly now: number;
	/** How long a new value has to hold, in seconds. */
	readonly holdSeconds: number;
	/** Serial numbers of devices that are reported as created: nothing else is said of them. */
	readonly created: ReadonlySet<string>;
}

/**
 * Compares a list of devices with what is remembered of them. A device that is met for the first time has no previous value
 * and gives no change.
 * @returns also the devices that are not on a complete list: the platform has to be asked before one counts as removed
 */
export function compareSnapshot(
	before: Snapshot | undefined,
	list: DeviceList,
	options: SnapshotOptions,
): { after: Snapshot; changes: Change[]; missing: string[] } {
	const devices = new Map(before?.devices);
	const listed = onePerSerialNumber(list.devices);
	const heldBefore = new Map(before?.holds.map((hold) => [keyOf(hold), hold]));
	const holds = (before?.holds ?? []).filter(({ sn }) => !listed.has(sn));
	const changes: Change[] = [];
	for (const [sn, device] of listed) {
		const last = devices.get(sn);
		if (last === device.code) continue;
		devices.set(sn, device.code);
		if (last === undefined || options.created.has(sn)) continue;
		const compared = compareDevice(device, last, heldBefore, options);
		devices.set(sn, compared.code);
		holds.push(...compared.held);
		changes.push(...compared.reported);
	}
	// Never from an empty list: it is more likely to be wrong than all devices are to be gone at once.
	const tells = list.complete && listed.size > 0;
	const missing = tells ? [...devices.keys()].filter((sn) => !listed.has(sn)) : [];
	// Always in the same order, so that the state has the same text.
	holds.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
	return { after: { devices, holds }, changes, missing };
}

/** Forgets devices that are removed, or that are no longer on the list. */
export function forget(before: Snapshot, serialNumbers: Iterable<string>): Snapshot {
	const gone = new Set(serialNumbers);
	const devices = new Map(before.devices);
	for (const sn of gone) devices.delete(sn);
	return { devices, holds: before.holds.filter(({ sn }) => !gone.has(sn)) };
}

function compareDevice(
	{ sn, code, device }: ListedDevice,
	last: Code,
	heldBefore: ReadonlyMap<string, Hold>,
	{ fields, now, holdSeconds }: SnapshotOptions,
): { code: Code; held: Hold[]; reported: Change[] } {
	const values = splitCode(last);
	const held: Hold[] = [];
	const reported: Change[] = [];
	for (const [position, current] of splitCode(code).entries()) {
		const [field, previous] = [fields[position], values[position]];
		if (current === previous || previous === undefined || field === undefined || device === undefined) continue;
		const hold = heldBefore.get(keyOf({ sn, field: position }));
		// A clock that was set back must not make a value hold for ever.
		const since = hold?.value === current ? Math.min(hold.since, now) : now;
		if (now - since < holdSeconds) {
			held.push({ sn, field: position, value: current, since });
		} else {
			reported.push({ sn, device, field, previous, current });
			values[position] = current;
		}
	}
	return { code: joinCode(values), held, reported };
}

function keyOf({ sn, field }: Pick<Hold, 'sn' | 'field'>): string {
	return `${field} ${sn}`;
}

/**
 * Each serial number once. Where two devices have the same one, the same of them counts whatever the list's order:
 * otherwise each poll would report a change.
 */
function onePerSerialNumber(devices: readonly ListedDevice[]): ReadonlyMap<string, ListedDevice> {
	const chosen = new Map<string, ListedDevice>();
	for (const device of devices) {
		const other = chosen.get(device.sn);
		if (other === undefined || device.code < other.code) chosen.set(device.sn, device);
	}
	return chosen;
}
