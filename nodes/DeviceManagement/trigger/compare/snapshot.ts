/**
 * Compares a list of devices with the remembered values, and returns the changes. With 'For At Least', a
 * new value is remembered beside the old one until it has lasted. It doesn't find out which devices are removed.
 */
import type { Device } from '../../core/device';
import type { OwnFilters } from '../../core/ownFilters';
import type { Change } from './events';
import { hasText, joinKept, type Kept, type KeptValues, partOf, splitKept, textOf, UNREPORTED } from './kept';
import { asksForState, type ChangeRule, isAskedFor, leadsToRule } from './rules';
import type { WatchedField } from './watched';

/** How long a device that is no longer listed stays remembered, in seconds. */
export const REMEMBERED_SECONDS = 3600;

/** A new value that has not lasted long enough to be reported. */
interface Hold {
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
	/** Which of them are no longer listed, and since when, by this machine's clock in seconds. */
	readonly away: ReadonlyMap<string, number>;
	readonly holds: readonly Hold[];
}

export interface ListedDevice {
	readonly sn: string;
	readonly values: KeptValues;
	/** The record, only if a value differs from the remembered one, or from {@link firstValues}. */
	readonly device?: Device;
}

/** Marks the values of a device that is listed, but doesn't match the node's own filters. No kept value is a list. */
export function markOutside(values: KeptValues): KeptValues {
	return joinKept([...splitKept(values), '[]']);
}

export function isOutside(values: KeptValues): boolean {
	return values.endsWith('[]]');
}

/** What a poll read of the devices that match the filters. */
export interface DeviceList {
	readonly devices: readonly ListedDevice[];
	/** Serial numbers of remembered devices that the platform no longer has. */
	readonly removed: readonly string[];
	/** Serial numbers of other remembered devices: they left the filters, or removals are not reported. They stay remembered for an hour. */
	readonly unlisted: readonly string[];
}

export interface SnapshotOptions {
	readonly fields: readonly WatchedField[];
	readonly rules: readonly ChangeRule[];
	readonly own?: OwnFilters | undefined;
	/** How long a new value must last. */
	readonly holdSeconds: number;
	/** This machine's clock in seconds. */
	readonly now: number;
	/** Whether this is the first poll of a process. n8n may have lost what quiet polls saw. */
	readonly isFirstOfProcess: boolean;
	/** Whether changes that the rules ask for stay held, because n8n may not take their events. */
	readonly holdsAsked?: boolean;
}

/** Returns a snapshot without the devices that have not been listed for an hour, which may start again now. */
export function forgetAway(snapshot: Snapshot, now: number, startsAgain = false): Snapshot {
	if (snapshot.away.size === 0) return snapshot;
	const devices = new Map(snapshot.devices);
	const away = new Map<string, number>();
	for (const [sn, saved] of snapshot.away) {
		// If the clock was set back, the hour must not become longer.
		const since = startsAgain ? now : Math.min(saved, now);
		if (now - since < REMEMBERED_SECONDS) away.set(sn, since);
		else devices.delete(sn);
	}
	return { ...snapshot, devices, away };
}

/**
 * Returns what a new device is compared with: its own values, so that they are only recorded. A value that a rule asks for as a
 * state is still to be reported.
 * @param known what is remembered of the device anyway
 */
export function firstValues(
	values: KeptValues,
	{ fields, rules }: Pick<SnapshotOptions, 'fields' | 'rules'>,
	known = '[]',
): KeptValues {
	const remembered = splitKept(known);
	const first = (value: Kept, position: number) =>
		asksForState(rules, fields[position], value) ? (remembered[position] ?? UNREPORTED) : value;
	return joinKept(splitKept(values).map(first));
}

/**
 * Returns the new snapshot and the changes. Of a device that is seen for the first time, only states count.
 * @param created serial numbers of devices that are reported as created, of which also only states count
 */
export function compareSnapshot(
	before: Snapshot | undefined,
	list: DeviceList,
	options: SnapshotOptions,
	created: ReadonlySet<string> = new Set(),
): { after: Snapshot; changes: Change[] } {
	const devices = new Map(before?.devices);
	const away = new Map(before?.away);
	for (const sn of list.removed) for (const each of [devices, away]) each.delete(sn);
	for (const sn of list.unlisted) away.set(sn, away.get(sn) ?? options.now);
	// Of devices with one serial number, always the same one counts, otherwise each poll would report a change: one that matches the filters.
	const rankOf = ({ values }: ListedDevice) => `${isOutside(values)} ${values}`;
	const listed = new Map<string, ListedDevice>();
	for (const device of list.devices) {
		const other = listed.get(device.sn);
		if (other === undefined || rankOf(device) < rankOf(other)) listed.set(device.sn, device);
	}
	const heldBefore = new Map(before?.holds.map((hold) => [keyOf(hold), hold]));
	const holds = (before?.holds ?? []).filter(({ sn }) => devices.has(sn) && !away.has(sn) && !listed.has(sn));
	const changes: Change[] = [];
	for (const [sn, { values, device }] of listed) {
		const known = devices.get(sn);
		const isOut = isOutside(values);
		// When it matches the filters again, a state that was not reported is still to be reported.
		devices.set(sn, isOut ? firstValues(values, options, known) : values);
		away.delete(sn);
		// Without a record, there is nothing to report.
		if (device === undefined) continue;
		const last = known === undefined || created.has(sn) ? firstValues(values, options, known) : known;
		// Of a device that leaves the filters, only the change counts that made it leave.
		const counts = ({ name }: WatchedField) => !isOut || Object.hasOwn({ ...options.own }, name);
		const compared = compareDevice({ sn, values, device }, last, heldBefore, options, counts);
		const isGone = isOut && compared.held.length === 0;
		devices.set(sn, isGone ? firstValues(values, options, compared.values) : compared.values);
		holds.push(...compared.held);
		changes.push(...compared.reported);
	}
	// The same order each time, so that the state's text doesn't change.
	holds.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
	return { after: { devices, away, holds }, changes };
}

function compareDevice(
	{ sn, values: listed, device }: Required<ListedDevice>,
	last: KeptValues,
	heldBefore: ReadonlyMap<string, Hold>,
	{ fields, now, holdSeconds, rules, isFirstOfProcess, holdsAsked }: SnapshotOptions,
	counts: (field: WatchedField) => boolean,
): { values: KeptValues; held: Hold[]; reported: Change[] } {
	const values = splitKept(last).slice(0, fields.length);
	const held: Hold[] = [];
	const reported: Change[] = [];
	for (const [position, current] of splitKept(listed).entries()) {
		const [field, previous] = [fields[position], values[position]];
		if (previous === undefined || field === undefined) continue;
		values[position] = current;
		const { identify = field.read, name, key } = field;
		const text = textOf(identify(device, key), name);
		const isCurrent = (kept: Kept) => kept !== UNREPORTED && hasText(partOf(kept, 'id'), text, name);
		if (isCurrent(previous)) continue;
		const hold = heldBefore.get(keyOf({ sn, field: position }));
		// If the clock was set back, the wait must not become longer.
		const since = hold !== undefined && isCurrent(hold.value) ? Math.min(hold.since, now) : now;
		const change = { sn, device, field, previous, current };
		const hasLasted = now - since >= holdSeconds || (isFirstOfProcess && leadsToRule(rules, change));
		if (counts(field) && hasLasted && !(holdsAsked === true && isAskedFor(rules, change))) {
			reported.push(change);
			continue;
		}
		if (counts(field)) held.push({ sn, field: position, value: current, since });
		values[position] = previous;
	}
	return { values: joinKept(values), held, reported };
}

function keyOf({ sn, field }: Pick<Hold, 'sn' | 'field'>): string {
	return `${field} ${sn}`;
}
