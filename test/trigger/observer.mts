import type { Device, Fleet } from '../../testbed/platform/fleet.mts';
import { samplesOf } from './samples.mts';

/** What the trigger of a sequence is set to. */
export interface Setting {
	events: readonly string[];
	/** Only devices with this tag. */
	tag: string | undefined;
	/** Only devices with this status, which may be watched, too. */
	status: number | undefined;
	holdMinutes: number;
	/** Reports only these changes of the online status; an empty text is any value. With `to` and without `from`, it asks for a state. */
	rule: { from: string; to: string } | undefined;
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
	/** Whether it may also come later: more rows are known than fit on a page, and one of them is late. */
	mayWait?: boolean;
}

/** What an observer remembers. It is never changed: a new one takes its place. */
export interface Memory extends Values {
	fingerprint: string;
	number: number;
	/** By device: the times that were met, and when a time was met that was not told at once. */
	created: Times;
	updated: Times;
}

/** Of each device. */
interface Values {
	values: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
	holds: ReadonlyMap<string, Held>;
	/** Devices that are no longer listed, and since when. They are forgotten after an hour. */
	away: ReadonlyMap<string, number>;
}

/** By field: a value that has not lasted. */
type Held = Map<string, { value: unknown; since: number }>;

/** A state that is still to be told. Users see it as null. */
const UNTOLD = Symbol('untold');

interface Times {
	/** The newest time of the whole fleet so far. */
	newest: number;
	met: ReadonlyMap<string, string>;
	waiting: ReadonlyMap<string, number>;
}

/** When a change was last told, also where n8n did not take it. */
export type LastTold = Map<string, number>;

const LONGEST_KNOWN = 100;
const HOURS = 3600;

/** What a filter leaves of the fleet. */
function listed(fleet: Fleet, { tag, status }: Setting): Device[] {
	return fleet.devices.filter(
		(device) => (tag === undefined || device.tags.includes(tag)) && (status === undefined || device.status === status),
	);
}

/** What an observer sees besides the devices. */
interface Around {
	fleet: Fleet;
	setting: Setting;
	lastTold: LastTold;
	/** Whether rows within two hours may not fit on a page, so that a late one may come an hour later. */
	smallPages: boolean;
	/** Whether the process looks for the first time. */
	isFirst: boolean;
	/** Whether n8n forgets in a restart what quiet polls saw, so that held values start again. */
	isInMemory: boolean;
	/** Whether the platform doesn't say what became of a missing device. */
	refusesMissing: boolean;
}

/** One look: at what it is compared with, and what it has to tell. */
interface Look extends Around {
	/** What is remembered of this trigger; undefined in a baseline. */
	known: Memory | undefined;
	number: number;
	/** Seconds. */
	now: number;
	/** Event and serial number of what the trigger told. */
	came: ReadonlySet<string>;
	changes: Change[];
	/** Only states are told of a device that is new. */
	isCreated(device: Device): boolean;
}

/**
 * What a poll has to tell of a fleet, by what users are promised: a device is new or edited if it meets the filters, if its time
 * was not met yet, and if that is at most two hours before the newest time of the fleet; a value changed; a device that
 * appears has a state that a rule asks for; a device that was watched is no longer there.
 * @param before undefined for an observer who looks for the first time
 * @param now seconds
 * @param items what the trigger told: of changes that may come later, the observer remembers those that came
 * @returns what has to be told, what the observer then remembers, and what if n8n did not take it: it is still to be told
 */
export function look(around: Around, before: Memory | undefined, now: number, items: readonly Told[]) {
	const { events, tag, status } = around.setting;
	const fingerprint = JSON.stringify([[...events].sort(), tag, status]);
	const known = before?.fingerprint === fingerprint ? before : undefined;
	const number = known?.number ?? Math.max(now, (before?.number ?? 0) + 1);
	const came = new Set(items.map(({ event, sn }) => `${event} ${sn}`));
	const isCreated = ({ sn }: Device) => known !== undefined && came.has(`deviceCreated ${sn}`);
	const one: Look = { ...around, known, number, now, came, changes: [], isCreated };
	const created = lookAtTimes(one, 'deviceCreated', 'createTime', known?.created);
	const updated = lookAtTimes(one, 'deviceUpdated', 'updateTime', known?.updated);
	const { untaken, ...kept } = lookAtValues(one);
	const after: Memory = { fingerprint, number: number + Math.min(items.length, 1), created, updated, ...kept };
	return { changes: one.changes, after, untaken: known && { ...known, ...untaken } };
}

/** Adds the devices that are new or edited by one of their times. */
function lookAtTimes(one: Look, event: string, field: 'createTime' | 'updateTime', times: Times | undefined): Times {
	const { fleet, setting, lastTold, smallPages, known, now, came, changes } = one;
	const met = new Map(times?.met);
	const waiting = new Map<string, number>();
	if (!setting.events.includes(event)) return { newest: times?.newest ?? -Infinity, met, waiting };
	for (const device of listed(fleet, setting)) {
		const { id, sn, [field]: time } = device;
		if (time === null || secondsOf(time) === -Infinity || met.get(id) === time) continue;
		const change = `${event} ${id} ${time}`;
		const since = Math.max(times?.waiting.get(change) ?? now, lastTold.get(change) ?? -Infinity);
		const isLate = secondsOf(time) < (times?.newest ?? -Infinity) - 2 * HOURS;
		const isTold = came.has(`${event} ${sn}`);
		const mayBeTold = !isLate || (smallPages && (isTold || times?.waiting.has(change) === true));
		const mayWait = smallPages && now - since < HOURS;
		const isHidden = event === 'deviceUpdated' && one.isCreated(device);
		if (known === undefined || !mayBeTold || !mayWait || isTold || isHidden) met.set(id, time);
		else waiting.set(change, since);
		if (known === undefined || !mayBeTold) continue;
		if (!isHidden) changes.push({ told: { event, sn }, change, mayWait });
		if (isTold) lastTold.set(change, now);
	}
	const newest = Math.max(times?.newest ?? -Infinity, ...fleet.devices.map((device) => secondsOf(device[field])));
	return { newest, met, waiting };
}

/** Adds the changes of watched values, and devices that are removed. */
function lookAtValues(one: Look): Values & { untaken: Values } {
	const { fleet, setting, known, now, number, changes, isFirst, isInMemory, refusesMissing } = one;
	const { events } = setting;
	const values = new Map(known?.values);
	const holds = new Map(isFirst && isInMemory ? [] : known?.holds);
	// In a restart, n8n may forget that a missing device came back.
	const away = new Map([...(known?.away ?? [])].map(([sn, since]) => [sn, isFirst ? now : since]));
	for (const [sn] of [...away].filter(([, since]) => now - since >= HOURS)) {
		values.delete(sn);
		away.delete(sn);
	}
	const untaken = { values: new Map(values), holds: new Map(holds), away: new Map(away) };
	const isFirstList = values.size === 0;
	const watches = samplesOf(events).length > 0 || events.includes('deviceRemoved');
	const list = watches ? listed(fleet, setting) : [];
	for (const device of list) {
		const { sn } = device;
		const { last, kept, held, told } = lookAtDevice(one, device, values.get(sn), holds.get(sn), isFirstList);
		values.set(sn, kept);
		away.delete(sn);
		holds.delete(sn);
		if (held.size > 0) holds.set(sn, held);
		if (one.isCreated(device)) continue;
		untaken.away.delete(sn);
		untaken.values.set(sn, new Map([...kept, ...[...told.keys()].map((field) => [field, last.get(field)] as const)]));
		untaken.holds.set(sn, new Map([...held, ...told]));
	}
	const here = new Set(list.map(({ sn }) => sn));
	for (const sn of list.length === 0 ? [] : [...values.keys()].filter((sn) => !here.has(sn) && !away.has(sn))) {
		if (refusesMissing && events.includes('deviceRemoved')) continue;
		holds.delete(sn);
		if (fleet.get(sn) !== undefined || !events.includes('deviceRemoved')) {
			for (const each of [away, untaken.away]) each.set(sn, now);
			untaken.holds.delete(sn);
			continue;
		}
		values.delete(sn);
		changes.push({ told: { event: 'deviceRemoved', sn }, change: JSON.stringify([sn, number]) });
	}
	return { values, holds, away, untaken };
}

/** Adds the changes of a device. Returns what it was compared with, and what is then known, held and told. */
function lookAtDevice(
	{ setting, number, now, changes, isFirst, isCreated }: Look,
	device: Device,
	remembered: ReadonlyMap<string, unknown> | undefined,
	holds: Held | undefined,
	isFirstList: boolean,
) {
	const { events, holdMinutes, rule } = setting;
	const isMet = (wanted: string, value: unknown) => wanted === '' || String(value) === wanted;
	const asksForState = (field: string, value: unknown) =>
		field === 'onlineStatus' && rule?.from === '' && rule.to !== '' && isMet(rule.to, value);
	const current = samplesOf(events).map(({ event, field, valueOf }) => ({ event, field, value: valueOf(device) }));
	const first = current.map(({ field, value }): [string, unknown] => {
		const isState = !isFirstList && asksForState(field, value);
		return [field, isState ? (remembered?.get(field) ?? UNTOLD) : value];
	});
	const last = isCreated(device) || remembered === undefined ? new Map(first) : remembered;
	const kept = new Map(last);
	const held: Held = new Map();
	const told: Held = new Map();
	for (const { event, field, value } of current) {
		const previous = last.get(field);
		if (value === previous) continue;
		const hold = holds?.get(field);
		const since = hold?.value === value ? (hold?.since ?? now) : now;
		const own = field === 'onlineStatus' ? rule : undefined;
		const isAsked =
			previous === UNTOLD
				? asksForState(field, value)
				: own === undefined || (isMet(own.from, previous) && isMet(own.to, value));
		// n8n may have lost that the value came before the restart.
		const countsAtOnce = isFirst && !isAsked && own !== undefined && isMet(own.from, value);
		if (now - since < holdMinutes * 60 && !countsAtOnce) {
			held.set(field, { value, since });
			continue;
		}
		kept.set(field, value);
		if (!isAsked) continue;
		told.set(field, { value, since });
		changes.push({
			told: { event, sn: device.sn, field, previous: shown(previous), current: value },
			change: JSON.stringify([device.sn, field, previous === UNTOLD ? 'untold' : previous, value, number]),
		});
	}
	return { last, kept, held, told };
}

const shown = (value: unknown) =>
	value === UNTOLD || (typeof value === 'string' && value.length > LONGEST_KNOWN) ? null : value;

/** A date in another format counts as missing. */
export const secondsOf = (time: string | null) =>
	time !== null && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time)
		? Date.parse(`${time.replace(' ', 'T')}Z`) / 1000
		: -Infinity;
