import { type Code, partsOf } from './values';

/** A new value that has to hold for a while before it is reported. */
export interface Hold {
	/** The code of the new value. */
	readonly part: string;
	/** When it was first seen, by this machine's clock in seconds. */
	readonly since: number;
}

/** What is remembered of the devices that are watched for changes or removal, by serial number. */
export interface Snapshot {
	/** How many of the fields have values that many devices share; they come first. */
	readonly shared: number;
	/** The values as they were last reported or met. */
	readonly devices: ReadonlyMap<string, Code>;
	/** New values that have not held long enough, by the position of their field. */
	readonly holds: ReadonlyMap<string, ReadonlyMap<number, Hold>>;
	/** Devices that the last complete list did not hold. */
	readonly absent: ReadonlySet<string>;
}

/** A device as a list showed it. */
export interface ListedDevice {
	readonly sn: string;
	readonly code: Code;
}

/** What a list says. */
export interface DeviceList<Listed extends ListedDevice> {
	readonly devices: readonly Listed[];
	/** Whether it surely holds every device. */
	readonly complete: boolean;
}

/** A value that changed, and held. */
export interface ValueChange<Listed extends ListedDevice> {
	readonly device: Listed;
	/** Position of the field. */
	readonly field: number;
	readonly previous: string;
	readonly current: string;
}

export interface SnapshotOptions {
	/** This machine's clock in seconds. */
	readonly now: number;
	/** How long a new value has to hold, in seconds. */
	readonly holdSeconds: number;
	/** Serial numbers of devices that are reported as created: nothing else is said of them. */
	readonly created: ReadonlySet<string>;
}

export interface Comparison<Listed extends ListedDevice> {
	/** The same object where nothing changed. */
	readonly after: Snapshot;
	readonly changes: ValueChange<Listed>[];
	/** Devices that are missing from two complete lists in a row: each has to be looked at before it counts as removed. */
	readonly missing: string[];
}

/** What reading a missing device by its serial number said. */
export type Whereabouts = 'removed' | 'elsewhere' | 'unknown';

/** What is remembered before any list was read. */
export function emptySnapshot(shared: number): Snapshot {
	return { shared, devices: new Map(), holds: new Map(), absent: new Set() };
}

/**
 * Compares a list of devices with what is remembered of them. A device met for the first time has no previous value and
 * gives no change.
 */
export function compareSnapshot<Listed extends ListedDevice>(
	before: Snapshot,
	list: DeviceList<Listed>,
	options: SnapshotOptions,
): Comparison<Listed> {
	const draft = new Draft(before);
	const changes: ValueChange<Listed>[] = [];
	let known = 0;
	for (const device of onePerSerialNumber(list.devices)) {
		const last = draft.before.devices.get(device.sn);
		if (last !== undefined) known++;
		if (last === device.code) {
			draft.drop('holds', device.sn);
		} else if (last === undefined || options.created.has(device.sn)) {
			draft.devices.set(device.sn, device.code);
			draft.drop('holds', device.sn);
		} else {
			changes.push(...changesOf(draft, device, last, options));
		}
	}
	const everyoneIsHere = known === draft.before.devices.size && draft.before.absent.size === 0;
	const missing = everyoneIsHere ? [] : noteAbsent(draft, list);
	return { after: draft.result(), changes, missing };
}

/** Takes the devices out of a snapshot that are known to be removed, or to be outside of what the list shows. */
export function forget(before: Snapshot, whereabouts: ReadonlyMap<string, Whereabouts>): Snapshot {
	const draft = new Draft(before);
	for (const [sn, where] of whereabouts) {
		if (where === 'unknown') continue;
		draft.devices.delete(sn);
		draft.drop('holds', sn);
		draft.drop('absent', sn);
	}
	return draft.result();
}

/** Says which fields of one device changed for good, and remembers the others as held. */
function changesOf<Listed extends ListedDevice>(
	draft: Draft,
	device: Listed,
	last: Code,
	{ now, holdSeconds }: SnapshotOptions,
): ValueChange<Listed>[] {
	const previous = partsOf(last);
	const current = partsOf(device.code);
	const heldBefore = draft.before.holds.get(device.sn);
	const held = new Map<number, Hold>();
	const changes: ValueChange<Listed>[] = [];
	for (const [field, part] of current.entries()) {
		const old = previous[field] ?? '';
		if (part === old) continue;
		const hold = heldBefore?.get(field);
		// A clock that was set back must not make a value hold for ever.
		const since = hold?.part === part ? Math.min(hold.since, now) : now;
		if (now - since >= holdSeconds) {
			changes.push({ device, field, previous: old, current: part });
			previous[field] = part;
		} else {
			held.set(field, { part, since });
		}
	}
	if (changes.length > 0) draft.devices.set(device.sn, previous.join(''));
	draft.hold(device.sn, held);
	return changes;
}

/** Marks the devices that are not on the list, where it can be trusted, and says which of them were marked already. */
function noteAbsent(draft: Draft, { devices, complete }: DeviceList<ListedDevice>): string[] {
	const present = new Set(devices.map(({ sn }) => sn));
	for (const sn of draft.before.absent) {
		if (present.has(sn)) draft.drop('absent', sn);
	}
	// Never from an empty list: that all devices are gone at once is harder to believe than that the list is wrong.
	if (!complete || devices.length === 0) return [];
	const missing: string[] = [];
	for (const sn of draft.before.devices.keys()) {
		if (present.has(sn)) continue;
		if (draft.before.absent.has(sn)) missing.push(sn);
		else draft.absent.add(sn);
	}
	return missing;
}

/**
 * Each serial number once. Where two devices have the same one, always the same of them counts, whatever the list's order:
 * otherwise each poll would report a change.
 */
function onePerSerialNumber<Listed extends ListedDevice>(devices: readonly Listed[]): Iterable<Listed> {
	const chosen = new Map<string, Listed>();
	for (const device of devices) {
		const other = chosen.get(device.sn);
		if (other === undefined || device.code < other.code) chosen.set(device.sn, device);
	}
	return chosen.values();
}

/** A snapshot in the making. Each part is copied when it is first written to: on a quiet poll, none is. */
class Draft {
	private changed: { devices?: Map<string, Code>; holds?: Map<string, ReadonlyMap<number, Hold>>; absent?: Set<string> } = {};

	constructor(readonly before: Snapshot) {}

	get devices(): Map<string, Code> {
		return (this.changed.devices ??= new Map(this.before.devices));
	}

	get absent(): Set<string> {
		return (this.changed.absent ??= new Set(this.before.absent));
	}

	private get holds(): Map<string, ReadonlyMap<number, Hold>> {
		return (this.changed.holds ??= new Map(this.before.holds));
	}

	hold(sn: string, held: ReadonlyMap<number, Hold>): void {
		if (held.size === 0) this.drop('holds', sn);
		else if (!areSame(this.before.holds.get(sn), held)) this.holds.set(sn, held);
	}

	drop(part: 'holds' | 'absent', sn: string): void {
		if (this.before[part].has(sn)) this[part].delete(sn);
	}

	result(): Snapshot {
		if (Object.keys(this.changed).length === 0) return this.before;
		return { ...this.before, ...this.changed };
	}
}

function areSame(one: ReadonlyMap<number, Hold> | undefined, other: ReadonlyMap<number, Hold>): boolean {
	if (one?.size !== other.size) return false;
	return [...other].every(([field, { part, since }]) => one.get(field)?.part === part && one.get(field)?.since === since);
}
