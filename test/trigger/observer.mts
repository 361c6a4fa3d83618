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
export interface Memory {
	fingerprint: string;
	number: number;
	/** By device: the times that were met, and when a time was met that was not told at once. */
	created: Times;
	updated: Times;
	values: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
	holds: ReadonlyMap<string, ReadonlyMap<string, { value: unknown; since: number }>>;
	/** Devices that are no longer listed, and since when. They are forgotten after an hour. */
	away: ReadonlyMap<string, number>;
}

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
export function listed(fleet: Fleet, { tag, status }: Setting): Device[] {
	return fleet.devices.filter(
		(device) => (tag === undefined || device.tags.includes(tag)) && (status === undefined || device.status === status),
	);
}

interface Around {
	fleet: Fleet;
	setting: Setting;
	lastTold: LastTold;
	smallPages: boolean;
	isFirst: boolean;
	isInMemory: boolean;
	refusesMissing: boolean;
}

/**
 * What a poll has to tell of a fleet, by what users are promised: a device is new or edited if it meets the filters, if its time
 * was not met yet, and if that is at most two hours before the newest time of the fleet; a value changed; a device that
 * appears has a state that a rule asks for; a device that was watched is no longer there.
 * @param before undefined for an observer who looks for the first time
 * @param now seconds
 * @param items what the trigger told: of changes that may come later, the observer remembers those that came
 * @param isFirst whether the process looks for the first time
 * @param isInMemory whether n8n forgets in a restart what quiet polls saw, so that held values start again
 * @param refusesMissing whether the platform doesn't say what became of a missing device
 * @param smallPages whether rows within two hours may not fit on a page, so that a late one may come an hour later
 * @returns what has to be told, what the observer then remembers, and what if n8n did not take it: it is still to be told
 */
export function look(
	{ fleet, setting, lastTold, smallPages, ...process }: Around,
	before: Memory | undefined,
	now: number,
	items: readonly Told[],
): { changes: Change[]; after: Memory; untaken: Memory | undefined } {
	const { events, tag, status } = setting;
	const fingerprint = JSON.stringify([[...events].sort(), tag, status]);
	const known = before?.fingerprint === fingerprint ? before : undefined;
	const number = known?.number ?? Math.max(now, (before?.number ?? 0) + 1);
	const came = new Set(items.map(({ event, sn }) => `${event} ${sn}`));
	const changes: Change[] = [];
	const lookAt = (
		event: string,
		field: 'createTime' | 'updateTime',
		times: Times | undefined,
		isHidden: (device: Device) => boolean,
	) => {
		const met = new Map(times?.met);
		const waiting = new Map<string, number>();
		let newest = times?.newest ?? -Infinity;
		for (const device of events.includes(event) ? fleet.devices : [])
			newest = Math.max(newest, secondsOf(device[field]));
		for (const device of events.includes(event) ? listed(fleet, setting) : []) {
			const time = device[field];
			if (time === null || secondsOf(time) === -Infinity || met.get(device.id) === time) continue;
			const change = `${event} ${device.id} ${time}`;
			const since = Math.max(times?.waiting.get(change) ?? now, lastTold.get(change) ?? -Infinity);
			const isLate = secondsOf(time) < (times?.newest ?? -Infinity) - 2 * HOURS;
			const isTold = came.has(`${event} ${device.sn}`);
			if (known === undefined || (isLate && !(smallPages && (isTold || times?.waiting.has(change))))) {
				met.set(device.id, time);
				continue;
			}
			const mayWait = smallPages && now - since < HOURS;
			if (!isHidden(device)) changes.push({ told: { event, sn: device.sn }, change, mayWait });
			if (!mayWait || isTold || isHidden(device)) met.set(device.id, time);
			else waiting.set(change, since);
			if (isTold) lastTold.set(change, now);
		}
		return { newest, met, waiting };
	};
	const created = lookAt('deviceCreated', 'createTime', known?.created, () => false);
	// Only states are told of a device that is new.
	const isCreated = ({ sn }: Device) => known !== undefined && came.has(`deviceCreated ${sn}`);
	const updated = lookAt('deviceUpdated', 'updateTime', known?.updated, isCreated);
	const seen = lookAtValues(fleet, setting, known, { ...process, now, number, isCreated, changes });
	const { untaken, ...kept } = seen;
	const after = { fingerprint, number: number + (items.length > 0 ? 1 : 0), created, updated, ...kept };
	return { changes, after, untaken: known && { ...known, ...untaken } };
}

/** Adds the changes of watched values, and devices that are removed. */
function lookAtValues(
	fleet: Fleet,
	setting: Setting,
	known: Memory | undefined,
	{
		now,
		number,
		isCreated,
		changes,
		isFirst,
		isInMemory,
		refusesMissing,
	}: Pick<Around, 'isFirst' | 'isInMemory' | 'refusesMissing'> & {
		now: number;
		number: number;
		isCreated: (device: Device) => boolean;
		changes: Change[];
	},
): Pick<Memory, 'values' | 'holds' | 'away'> & { untaken: Pick<Memory, 'values' | 'holds' | 'away'> } {
	const { events, holdMinutes, rule } = setting;
	const fields = samplesOf(events);
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
	const isMet = (wanted: string, one: unknown) => wanted === '' || String(one) === wanted;
	const asksForState = (field: string, value: unknown) =>
		field === 'onlineStatus' && rule?.from === '' && rule.to !== '' && isMet(rule.to, value);
	const list = fields.length > 0 || events.includes('deviceRemoved') ? listed(fleet, setting) : [];
	for (const device of list) {
		const { sn } = device;
		const current = new Map(fields.map(({ field, valueOf }) => [field, valueOf(device)]));
		const remembered = values.get(sn);
		const isState = ([field, value]: [string, unknown]) => !isFirstList && asksForState(field, value);
		const states = [...current].filter(isState).map(([field]) => [field, remembered?.get(field) ?? UNTOLD] as const);
		const last = isCreated(device) || remembered === undefined ? new Map([...current, ...states]) : remembered;
		const kept = new Map(last);
		const held = new Map<string, { value: unknown; since: number }>();
		const told = new Map<string, { value: unknown; since: number }>();
		for (const { event, field } of fields) {
			const value = current.get(field);
			const previous = last.get(field);
			if (value === previous) continue;
			const hold = holds.get(sn)?.get(field);
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
				told: { event, sn, field, previous: shown(previous), current: value },
				change: JSON.stringify([sn, field, previous === UNTOLD ? 'untold' : previous, value, number]),
			});
		}
		values.set(sn, kept);
		away.delete(sn);
		holds.delete(sn);
		if (held.size > 0) holds.set(sn, held);
		if (isCreated(device)) continue;
		untaken.away.delete(sn);
		untaken.values.set(sn, new Map([...kept, ...[...told.keys()].map((field) => [field, last.get(field)] as const)]));
		untaken.holds.set(sn, new Map([...held, ...told]));
	}
	const here = new Set(list.map(({ sn }) => sn));
	for (const sn of list.length === 0 ? [] : [...values.keys()].filter((one) => !here.has(one) && !away.has(one))) {
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

const shown = (value: unknown) =>
	value === UNTOLD || (typeof value === 'string' && value.length > LONGEST_KNOWN) ? null : value;
/** A date in another format counts as missing. */
export const secondsOf = (time: string | null) =>
	time !== null && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time)
		? Date.parse(`${time.replace(' ', 'T')}Z`) / 1000
		: -Infinity;
