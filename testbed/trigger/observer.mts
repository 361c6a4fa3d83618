import type { Device, Fleet } from '../platform/fleet.mts';
import { type Level, type Limit, lookAtLevel } from './crossings.mts';
import { samplesOf } from './samples.mts';

type Rule = { from: string; to: string };

/** What the trigger of a sequence is set to. */
export interface Setting {
	events: readonly string[];
	/** Only devices with this tag. */
	tag: string | undefined;
	/** Filters that the node checks itself. */
	own?: { group?: string; onlineStatus?: number } | undefined;
	/** What is watched of the attribute `battery`, with its event. */
	limits?: readonly Limit[] | undefined;
	/** How long a value must last, and what the first poll does. The observer knows it of the battery only. */
	holdMinutes?: number;
	firstPoll?: 'report' | undefined;
	/** What a rule asks for. The observer doesn't know it: see stories.test.mts. */
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
export interface Memory {
	fingerprint: string;
	number: number;
	/** Devices that were created earlier count as known. */
	since: string;
	/** The newest date of a device so far. */
	newest: string;
	devices: ReadonlyMap<string, Known>;
}

/** Of a device. */
interface Known {
	values: ReadonlyMap<string, unknown>;
	level?: Level | undefined;
	/** Whether it doesn't match the node's own filters, and whether it ever did. */
	place: 'inside' | 'left' | 'never in';
	/** Since when it is no longer listed, when it is looked for again, and the newest date of a device at that time. */
	away?: { since: number; next: number; newest: string };
}

const LONGEST_KNOWN = 100;
const DAY = 86_400;

/** One look: at what it is compared with, and what it has to tell. */
interface Look {
	fleet: Fleet;
	setting: Setting;
	/** Seconds. */
	now: number;
	/** Whether this is the first look of a process. */
	isFresh: boolean;
	/** Whether the platform doesn't say what became of a missing device. */
	refusesMissing: boolean;
}

/**
 * What a poll has to tell of a fleet, by what users are promised: a device is new if it matches the filters for the first time, and was
 * created since the trigger began, or if it was missing and is created since then; a value or its update time changed; a watched device was removed.
 * @param before undefined for an observer who looks for the first time
 * @returns what has to be told, and what the observer then remembers
 */
export function look(one: Look, before: Memory | undefined): { changes: Change[]; after: Memory } {
	const { fleet, setting, now } = one;
	const fingerprint = JSON.stringify([[...setting.events].sort(), setting.tag, setting.own]);
	const known = before?.fingerprint === fingerprint ? before : undefined;
	const number = known?.number ?? Math.max(now, (before?.number ?? 0) + 1);
	const list = fleet.devices.filter(({ tags }) => setting.tag === undefined || tags.includes(setting.tag));
	const dates = list.map(({ createTime }) => createTime);
	const [newest = ''] = [known?.newest ?? '', ...dates].sort().slice(-1);
	const yesterday = new Date(1000 * (now - DAY)).toISOString().slice(0, 10);
	const since = known?.since ?? (newest !== '' && newest < yesterday ? newest : yesterday);
	const devices = new Map(known?.devices);
	const isFirstList = devices.size === 0;
	const changes: Change[] = [];
	for (const device of list) {
		const last = devices.get(device.sn);
		devices.set(device.sn, lookAt(device, last, { ...one, number, since: known && since, isFirstList }, changes));
	}
	const here = new Set(list.map(({ sn }) => sn));
	for (const [sn, last] of list.length === 0 ? [] : devices) {
		if (here.has(sn)) continue;
		const after = lookFor(sn, { ...last, level: withoutPending(last.level) }, newest, one);
		if (after === undefined) {
			devices.delete(sn);
			changes.push({ told: { event: 'deviceRemoved', sn }, change: JSON.stringify([sn, number]) });
		} else devices.set(sn, after);
	}
	return { changes, after: { fingerprint, number: number + Math.min(changes.length, 1), since, newest, devices } };
}

/** Adds the changes of a listed device, and returns what is then known of it. */
function lookAt(
	device: Device,
	last: Known | undefined,
	one: Look & { number: number; since: string | undefined; isFirstList: boolean },
	changes: Change[],
): Known {
	const { events, own = {}, holdMinutes = 0 } = one.setting;
	const { number, since } = one;
	const { sn, group, onlineStatus, createTime, updateTime } = device;
	const isInside =
		(own.group === undefined || own.group.trim().toLowerCase() === group.name.toLowerCase()) &&
		(own.onlineStatus === undefined || own.onlineStatus === onlineStatus);
	const wasMissing = last?.away !== undefined && createTime > last.away.newest;
	const isNew = last === undefined || last.place === 'never in' ? createTime >= (since ?? '') : wasMissing;
	const isCreated = since !== undefined && isInside && isNew && events.includes('deviceCreated');
	if (isCreated) changes.push({ told: { event: 'deviceCreated', sn }, change: `created ${sn} ${createTime}` });
	const wasInside = last?.place === 'inside';
	const values = new Map(last?.values);
	// A value that has to last is the battery alone.
	const watched = samplesOf(holdMinutes > 0 ? [] : events).map(({ event, field, valueOf }) => ({
		event,
		field,
		value: valueOf(device),
	}));
	if (events.includes('deviceUpdated'))
		watched.push({ event: 'deviceUpdated', field: 'updateTime', value: updateTime });
	for (const { event, field, value } of watched) {
		const isOwn = Object.hasOwn(own, field);
		if (!isInside && !isOwn) continue;
		const previous = values.get(field);
		const isEdit = event === 'deviceUpdated' && since !== undefined && String(value ?? '') >= since;
		const isKnown = (values.has(field) || isEdit) && !isCreated;
		values.set(field, value);
		if (!isKnown || previous === value || (!isInside && !wasInside)) continue;
		const told = { event, sn, ...(event !== 'deviceUpdated' && { field, previous: shown(previous), current: value }) };
		const ofTime = event === 'deviceUpdated' ? [event, sn, value] : [sn, field, previous, value, number];
		changes.push({ told, change: JSON.stringify(ofTime) });
	}
	const level = isInside
		? levelOf(device, isCreated ? undefined : last?.level, one, changes)
		: withoutPending(last?.level);
	return { values, level, place: isInside ? 'inside' : wasInside ? 'left' : (last?.place ?? 'never in') };
}

/** Adds the crossing of a limit, and returns what is then known of the battery. */
function levelOf(
	{ sn, attributes }: Device,
	known: Level | undefined,
	one: Look & { number: number; isFirstList: boolean },
	changes: Change[],
): Level | undefined {
	const { events, limits = [], holdMinutes = 0, firstPoll } = one.setting;
	if (limits.length === 0 || !events.includes('attributeChanged')) return known;
	const value = attributes['battery'] ?? null;
	const isRecorded = one.isFirstList && firstPoll !== 'report';
	const seen = lookAtLevel(value, known, { ...one, limits, holdSeconds: holdMinutes * 60, isRecorded });
	const [field, previous] = ['attributes.battery', known?.shown ?? null];
	const told = { event: 'attributeChanged', sn, field, previous, current: value };
	if (seen.hasCrossed) changes.push({ told, change: JSON.stringify([sn, field, previous, value, one.number]) });
	return seen.level;
}

/** Looks for a device that the list lacks, and returns what is then known of it; undefined if it was removed. */
function lookFor(
	sn: string,
	last: Known,
	newest: string,
	{ fleet, setting, now, refusesMissing }: Look,
): Known | undefined {
	const away = last.away ?? { since: now, next: 0, newest };
	const { since, next } = away;
	const isLookedFor = setting.events.includes('deviceRemoved') && last.place === 'inside' && next <= now;
	if (!isLookedFor || refusesMissing) return { ...last, away };
	return fleet.get(sn) && { ...last, away: { ...away, next: now + Math.max(60, now - since) } };
}

/** What leaves the filters or the list has to last again when it is back. A state that was never reported is forgotten. */
const withoutPending = (level: Level | undefined) =>
	level === undefined || (level.pending !== undefined && level.shown === undefined)
		? undefined
		: { shown: level.shown, beyond: level.beyond };

const shown = (value: unknown) => (typeof value === 'string' && value.length > LONGEST_KNOWN ? null : value);
