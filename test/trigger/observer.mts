import type { Device, Fleet } from '../../testbed/platform/fleet.mts';

/** What the trigger of a sequence is set to. */
export interface Setting {
	events: readonly string[];
	/** Only devices with this tag. */
	tag: string | undefined;
	/** Only devices with this status, which may be watched, too. */
	status: number | undefined;
	holdMinutes: number;
	/** Reports changes of the online status only to this value. */
	onlyTo: string | undefined;
}

/** An event as somebody who sees everything would tell it, and what tells the change from every other one. */
export interface Told {
	event: string;
	sn: string;
	field?: string;
	previous?: unknown;
	current?: unknown;
	change: string;
}

/** What a perfect observer remembers. It is never changed: a new one takes its place. */
export interface Memory {
	fingerprint: string;
	number: number;
	created: ReadonlySet<string>;
	updated: ReadonlyMap<string, string>;
	values: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
	holds: ReadonlyMap<string, ReadonlyMap<string, { value: unknown; since: number }>>;
	absent: ReadonlySet<string>;
}

/** Longer values are remembered by a digest alone. */
const LONGEST_KNOWN = 10;

/** What a filter leaves of the fleet. */
export function listed(fleet: Fleet, { tag, status }: Setting): Device[] {
	return fleet.devices.filter(
		(device) => (tag === undefined || device.tags.includes(tag)) && (status === undefined || device.status === status),
	);
}

/**
 * Looks at the platform, as a perfect observer would who is told nothing but what a poll shows: with sets of everything
 * instead of watermarks, digests and codes.
 * @param before undefined for somebody who looks for the first time
 * @param now seconds
 */
export function look(
	fleet: Fleet,
	setting: Setting,
	before: Memory | undefined,
	now: number,
): { told: Told[]; after: Memory } {
	const { events, tag, status } = setting;
	const fingerprint = JSON.stringify([[...events].sort(), tag, status]);
	const known = before?.fingerprint === fingerprint ? before : undefined;
	const number = known?.number ?? Math.max(now, (before?.number ?? 0) + 1);
	const inFilter = new Set(listed(fleet, setting).map(({ id }) => id));
	const told: Told[] = [];

	const created = new Set(known?.created);
	const updated = new Map(known?.updated);
	const justCreated = new Set<string>();
	for (const device of fleet.devices) {
		const isNew = events.includes('deviceCreated') && !created.has(device.id);
		if (events.includes('deviceCreated')) created.add(device.id);
		if (isNew && known !== undefined && inFilter.has(device.id)) {
			justCreated.add(device.sn);
			told.push({ event: 'deviceCreated', sn: device.sn, change: `${device.id} ${device.createTime}` });
		}
		if (!events.includes('deviceUpdated') || device.updateTime === null) continue;
		const version = JSON.stringify({ ...device, onlineStatus: 0, status: 0 });
		const last = updated.get(device.id);
		const wasEdited = last !== version;
		const atSameTime = last !== undefined && JSON.parse(last).updateTime === device.updateTime;
		updated.set(device.id, version);
		if (wasEdited && known !== undefined && inFilter.has(device.id) && !justCreated.has(device.sn)) {
			const change = atSameTime ? JSON.stringify([version, number]) : version;
			told.push({ event: 'deviceUpdated', sn: device.sn, change });
		}
	}

	const fields = fieldsOf(setting);
	const watches = fields.length > 0 || events.includes('deviceRemoved');
	const values = new Map(known?.values);
	const holds = new Map(known?.holds);
	let absent = new Set(known?.absent);
	const list = watches ? listed(fleet, setting) : [];
	for (const device of list) {
		const { sn } = device;
		absent.delete(sn);
		const current = valuesOf(device, fields);
		const last = values.get(sn);
		if (last === undefined || justCreated.has(sn)) {
			values.set(sn, current);
			holds.delete(sn);
			continue;
		}
		const kept = new Map(last);
		const held = new Map<string, { value: unknown; since: number }>();
		for (const field of fields) {
			const value = current.get(field);
			const previous = last.get(field);
			if (value === previous) continue;
			const hold = holds.get(sn)?.get(field);
			const since = hold?.value === value ? hold?.since ?? now : now;
			if (now - since < setting.holdMinutes * 60) {
				held.set(field, { value, since });
				continue;
			}
			kept.set(field, value);
			if (field === 'onlineStatus' && setting.onlyTo !== undefined && String(value) !== setting.onlyTo) continue;
			told.push({
				event: field === 'onlineStatus' ? 'onlineStatusChanged' : field === 'status' ? 'statusChanged' : 'attributeChanged',
				sn,
				field,
				previous: typeof previous === 'string' && previous.length > LONGEST_KNOWN ? null : previous,
				current: value,
				change: JSON.stringify([sn, field, previous, value, number]),
			});
		}
		values.set(sn, kept);
		if (held.size > 0) holds.set(sn, held);
		else holds.delete(sn);
	}
	if (list.length > 0) {
		const here = new Set(list.map(({ sn }) => sn));
		const missing = [...values.keys()].filter((sn) => !here.has(sn));
		for (const sn of missing.filter((one) => absent.has(one))) {
			const isGone = fleet.get(sn) === undefined;
			values.delete(sn);
			holds.delete(sn);
			if (isGone && events.includes('deviceRemoved')) {
				told.push({ event: 'deviceRemoved', sn, change: JSON.stringify([sn, number]) });
			}
		}
		absent = new Set(missing.filter((sn) => values.has(sn)));
	}
	const after = { fingerprint, number: number + (told.length > 0 ? 1 : 0), created, updated, values, holds, absent };
	return { told, after };
}

/** Whether two memories are of the same things. */
export function remembersTheSame(one: Memory, other: Memory): boolean {
	return plain(one) === plain(other);
}

function plain({ fingerprint, number, created, updated, values, holds, absent }: Memory): string {
	return JSON.stringify([
		fingerprint,
		number,
		[...created].sort(),
		[...updated].sort(),
		[...values].map(([sn, fields]) => [sn, ...fields]).sort(),
		[...holds].map(([sn, fields]) => [sn, ...fields]).sort(),
		[...absent].sort(),
	]);
}

function fieldsOf({ events }: Setting): string[] {
	return [
		...(events.includes('onlineStatusChanged') ? ['onlineStatus'] : []),
		...(events.includes('statusChanged') ? ['status'] : []),
		...(events.includes('attributeChanged') ? ['attributes.firmware'] : []),
	];
}

function valuesOf(device: Device, fields: readonly string[]): Map<string, unknown> {
	return new Map(
		fields.map((field) => [
			field,
			field === 'onlineStatus' ? device.onlineStatus : field === 'status' ? device.status : (device.attributes['firmware'] ?? null),
		]),
	);
}
