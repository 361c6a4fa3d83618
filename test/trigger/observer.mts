import type { Device, Fleet } from '../../testbed/platform/fleet.mts';
import { samplesOf } from './samples.mts';

type Rule = { from: string; to: string };

/** What the trigger of a sequence is set to. */
export interface Setting {
	events: readonly string[];
	/** Only devices with this tag. */
	tag: string | undefined;
	/** Filters that the node checks itself. */
	own?: { group?: string; onlineStatus?: number } | undefined;
	/** How long a value must last, what a rule asks for, and what the first poll does. The observer knows none: see stories.test.mts. */
	holdMinutes?: number;
	firstPoll?: 'report';
	rule?: Rule | Rule[] | undefined;
}

/** An event, as an observer tells it. */
export interface Told {
	event: string;
	sn: string;
	field?: string;
	previous?: unknown;
	current?: unknown;
}

/** An event that has to come, and what tells the change from every other one. */
export interface Change {
	told: Told;
	change: string;
}

/** What an observer remembers. It is never changed: a new one takes its place. */
export interface Memory extends Values {
	fingerprint: string;
	number: number;
	created: Times;
	updated: Times;
}

/** Of each device. */
interface Values {
	values: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
	/** Devices that are no longer listed, and since when. They are forgotten after an hour. */
	away: ReadonlyMap<string, number>;
	/** Devices that are listed, but don't match the node's own filters. */
	outside: ReadonlySet<string>;
}

interface Times {
	/** The newest time of the whole fleet so far. */
	newest: number;
	/** By device: the last time that was met. */
	met: ReadonlyMap<string, string>;
}

const LONGEST_KNOWN = 100;
const HOURS = 3600;

/** One look: at what it is compared with, and what it has to tell. */
interface Look {
	fleet: Fleet;
	setting: Setting;
	/** What is remembered of this trigger; undefined in a baseline. */
	known: Memory | undefined;
	/** Seconds. */
	now: number;
	number: number;
	/** Whether the process looks for the first time. */
	isFirst: boolean;
	/** When the process last found a missing device. */
	found: ReadonlyMap<string, number>;
	/** Whether the platform doesn't say what became of a missing device. */
	refusesMissing: boolean;
	changes: Change[];
}

/**
 * What a poll has to tell of a fleet, by what users are promised: a device is new or edited if it has the tag, if its time was not
 * met yet, and if that is at most two hours before the newest time of the fleet; a value changed; a watched device was removed.
 * @param before undefined for an observer who looks for the first time
 * @returns what has to be told, what the observer then remembers, and what if n8n did not take it: it is still to be told
 */
export function look(
	around: Pick<Look, 'fleet' | 'setting' | 'now' | 'isFirst' | 'found' | 'refusesMissing'>,
	before: Memory | undefined,
) {
	const { setting, now } = around;
	const fingerprint = JSON.stringify([[...setting.events].sort(), setting.tag, setting.own]);
	const known = before?.fingerprint === fingerprint ? before : undefined;
	const number = known?.number ?? Math.max(now, (before?.number ?? 0) + 1);
	const one: Look = { ...around, known, number, changes: [] };
	const created = lookAtTimes(one, 'deviceCreated', 'createTime', known?.created, new Set());
	// Of a new device, nothing else is told.
	const isNew = new Set(one.changes.map(({ told }) => told.sn));
	const updated = lookAtTimes(one, 'deviceUpdated', 'updateTime', known?.updated, isNew);
	const { untaken, ...kept } = lookAtValues(one, isNew);
	const after: Memory = { fingerprint, number: number + Math.min(one.changes.length, 1), created, updated, ...kept };
	return { changes: one.changes, after, untaken: known && { ...known, ...untaken } };
}

const listed = ({ fleet, setting: { tag } }: Look): Device[] =>
	fleet.devices.filter((device) => tag === undefined || device.tags.includes(tag));

const matches = ({ setting: { own = {} } }: Look, { group, onlineStatus }: Device) =>
	(own.group === undefined || own.group.trim().toLowerCase() === group.name.toLowerCase()) &&
	(own.onlineStatus === undefined || own.onlineStatus === onlineStatus);

/** Adds the devices that are new or edited by one of their times. */
function lookAtTimes(
	one: Look,
	event: string,
	field: 'createTime' | 'updateTime',
	times: Times = { newest: -Infinity, met: new Map() },
	isNew: ReadonlySet<string>,
): Times {
	const { fleet, setting, known, changes } = one;
	if (!setting.events.includes(event)) return times;
	const met = new Map(times.met);
	for (const device of listed(one).filter((each) => matches(one, each))) {
		const { id, sn, [field]: time } = device;
		if (time === null || met.get(id) === time) continue;
		met.set(id, time);
		const isLate = secondsOf(time) < times.newest - 2 * HOURS;
		if (known === undefined || isLate || isNew.has(sn)) continue;
		changes.push({ told: { event, sn }, change: `${event} ${id} ${time}` });
	}
	const newest = Math.max(times.newest, ...fleet.devices.map((device) => secondsOf(device[field])));
	return { newest, met };
}

/** Adds the changes of watched values, and devices that are removed. */
function lookAtValues(one: Look, isNew: ReadonlySet<string>): Values & { untaken: Values } {
	const { fleet, setting, known, now, number, changes, isFirst, found, refusesMissing } = one;
	const reportsRemoved = setting.events.includes('deviceRemoved');
	const samples = samplesOf(setting.events);
	const values = new Map(known?.values);
	// In a restart, n8n may forget that a missing device came back.
	const away = new Map([...(known?.away ?? [])].map(([sn, since]) => [sn, isFirst ? now : since]));
	const forgotten = [...away].filter(([, since]) => now - since >= HOURS);
	for (const [sn] of forgotten) for (const each of [values, away]) each.delete(sn);
	const outside = new Set(known?.outside);
	const untaken = { values: new Map(values), away: new Map(away), outside: new Set(outside) };
	const list = samples.length > 0 || reportsRemoved ? listed(one) : [];
	for (const device of list) {
		const { sn } = device;
		const last = isNew.has(sn) ? undefined : values.get(sn);
		const current = new Map(samples.map(({ field, valueOf }) => [field, valueOf(device)]));
		const isOut = !matches(one, device);
		let isTold = false;
		for (const { event, field } of samples) {
			const [previous, value] = [last?.get(field), current.get(field)];
			if (last === undefined || previous === value) continue;
			if (isOut && (outside.has(sn) || !Object.hasOwn({ ...setting.own }, field))) continue;
			isTold = true;
			const told = { event, sn, field, previous: shown(previous), current: value };
			changes.push({ told, change: JSON.stringify([sn, field, previous, value, number]) });
		}
		values.set(sn, current);
		away.delete(sn);
		outside[isOut ? 'add' : 'delete'](sn);
		if (isNew.has(sn)) continue;
		untaken.values.set(sn, isOut && !isTold ? current : (last ?? current));
		untaken.outside[isOut && !isTold ? 'add' : 'delete'](sn);
		untaken.away.delete(sn);
	}
	const here = new Set(list.map(({ sn }) => sn));
	/** Minutes after which a missing device is looked for again. */
	const isDue = (sn: string, since = away.get(sn) ?? -HOURS) =>
		!away.has(sn) || [2, 6, 50].some((wait) => since + 60 * wait <= now && since + 60 * wait > (found.get(sn) ?? 0));
	const missing = list.length === 0 ? [] : [...values.keys()].filter((sn) => !here.has(sn) && isDue(sn));
	const mayBeRemoved = (sn: string) => reportsRemoved && !outside.has(sn);
	for (const sn of missing.filter((one) => !refusesMissing || !mayBeRemoved(one))) {
		if (fleet.get(sn) !== undefined || !mayBeRemoved(sn)) {
			for (const each of [away, untaken.away]) each.set(sn, each.get(sn) ?? now);
			continue;
		}
		for (const each of [values, away, outside]) each.delete(sn);
		changes.push({ told: { event: 'deviceRemoved', sn }, change: JSON.stringify([sn, number]) });
	}
	return { values, away, outside, untaken };
}

const shown = (value: unknown) => (typeof value === 'string' && value.length > LONGEST_KNOWN ? null : value);

const secondsOf = (time: string | null) =>
	time === null ? -Infinity : Date.parse(`${time.replace(' ', 'T')}Z`) / 1000;
