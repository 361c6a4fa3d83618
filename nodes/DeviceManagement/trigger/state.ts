import { z } from 'zod/v4';

import { canonicalJson, digest, DIGEST_LENGTH } from './digest';
import type { Recent } from './recent';
import type { Hold, Snapshot } from './snapshot';
import { type Code, escapeText, unescapeText } from './values';

/** What a state belongs to, each part as a digest. A state of anything else is not compared with. */
export interface Fingerprint {
	readonly workflow: string;
	/** The events, and the watched attributes. */
	readonly events: string;
	readonly filters: string;
	/** The platform, and who asks it: never a secret, nor a digest of one. */
	readonly account: string;
}

/** All that a poll remembers for the next one. */
export interface State {
	readonly fingerprint: Fingerprint;
	/** Rises with every poll that reports something, and with every baseline. */
	readonly number: number;
	readonly created?: Recent;
	readonly updated?: Recent;
	readonly snapshot?: Snapshot;
}

const FORMAT = 1;

/** The digest of a part of the fingerprint. */
export function fingerprintOf(part: unknown): string {
	return digest(canonicalJson(part));
}

/** The parts in which two fingerprints differ. */
export function differences(one: Fingerprint, other: Fingerprint): Array<keyof Fingerprint> {
	const parts = ['workflow', 'events', 'filters', 'account'] as const;
	return parts.filter((part) => one[part] !== other[part]);
}

/**
 * Writes a state as one text, which n8n's database loads in a fraction of the time of nested objects. A state that was
 * read and not changed gives the same text again.
 */
export function encodeState({ fingerprint, number, created, updated, snapshot }: State): string {
	const stored: Stored = {
		format: FORMAT,
		fingerprint: { ...fingerprint },
		number,
		...(created === undefined ? {} : { created: encodeRecent(created) }),
		...(updated === undefined ? {} : { updated: encodeRecent(updated) }),
		...(snapshot === undefined
			? {}
			: {
					shared: snapshot.shared,
					devices: encodeDevices(snapshot.devices, snapshot.shared),
					holds: encodeHolds(snapshot.holds),
					absent: encodeList(snapshot.absent),
				}),
	};
	return JSON.stringify(stored);
}

/** Reads a state; undefined where the text is none, or one of another format. */
export function decodeState(text: unknown): State | undefined {
	const parsed = storedSchema.safeParse(parse(text));
	if (!parsed.success) return undefined;
	const { fingerprint, number, created, updated, shared, devices, holds, absent } = parsed.data;
	return {
		fingerprint,
		number,
		...(created === undefined ? {} : { created: decodeRecent(created) }),
		...(updated === undefined ? {} : { updated: decodeRecent(updated) }),
		...(devices === undefined
			? {}
			: {
					snapshot: {
						shared,
						devices: decodeDevices(devices),
						holds: decodeHolds(holds),
						absent: new Set(decodeList(absent)),
					},
				}),
	};
}

const whole = z.number().int().safe();

const recentSchema = z.strictObject({
	watermark: whole.nullable(),
	risenAt: whole,
	/** By seconds below the watermark: all digests of that second, one behind the other. */
	rows: z.record(z.string().regex(/^-?\d+$/), z.string().regex(new RegExp(`^([\\w-]{${DIGEST_LENGTH}})*$`))),
	/** Only where it is so. */
	incomplete: z.literal(true).optional(),
});

type StoredRecent = z.infer<typeof recentSchema>;

/** Serial numbers, escaped, with spaces between. */
const listSchema = z.string();

const storedSchema = z.strictObject({
	format: z.literal(FORMAT),
	fingerprint: z.strictObject({ workflow: z.string(), events: z.string(), filters: z.string(), account: z.string() }),
	number: whole,
	created: recentSchema.optional(),
	updated: recentSchema.optional(),
	shared: whole.nonnegative().default(0),
	/** By the values that devices share: each serial number, with what of its values is its own. */
	devices: z.record(z.string(), listSchema).optional(),
	holds: z
		.array(z.strictObject({ field: whole.nonnegative(), part: z.string().regex(/^[=#]/), since: whole, devices: listSchema }))
		.default([]),
	absent: listSchema.default(''),
});

type Stored = z.input<typeof storedSchema>;

function parse(text: unknown): unknown {
	try {
		return typeof text === 'string' ? JSON.parse(text) : undefined;
	} catch {
		return undefined;
	}
}

function encodeRecent({ watermark, risenAt, rows, incomplete }: Recent): StoredRecent {
	const newestFirst = [...rows].sort(([, one], [, other]) => other - one);
	const bySecond = new Map<number, string[]>();
	for (const [row, time] of newestFirst) {
		const second = (watermark ?? 0) - time;
		const others = bySecond.get(second);
		if (others === undefined) bySecond.set(second, [row]);
		else others.push(row);
	}
	return {
		watermark,
		risenAt,
		rows: Object.fromEntries([...bySecond].map(([second, digests]) => [second, digests.sort().join('')])),
		...(incomplete === true ? { incomplete } : {}),
	};
}

function decodeRecent({ watermark, risenAt, rows, incomplete }: StoredRecent): Recent {
	const times = new Map<string, number>();
	for (const [second, digests] of Object.entries(rows)) {
		for (let at = 0; at < digests.length; at += DIGEST_LENGTH) {
			times.set(digests.slice(at, at + DIGEST_LENGTH), (watermark ?? 0) - Number(second));
		}
	}
	return { watermark, risenAt, rows: times, ...(incomplete === true ? { incomplete } : {}) };
}

/** Statuses have few values that many devices share, so they stand once before all of these; attributes with each device. */
function encodeDevices(devices: ReadonlyMap<string, Code>, shared: number): Record<string, string> {
	const groups = new Map<string, string[]>();
	for (const [sn, code] of devices) {
		const end = endOfPart(code, shared);
		const entry = escapeText(sn) + code.slice(end);
		const others = groups.get(code.slice(0, end));
		if (others === undefined) groups.set(code.slice(0, end), [entry]);
		else others.push(entry);
	}
	return Object.fromEntries([...groups].map(([values, entries]) => [values, entries.join(' ')]));
}

function decodeDevices(groups: Record<string, string>): Map<string, Code> {
	const devices = new Map<string, Code>();
	for (const [values, entries] of Object.entries(groups)) {
		const withOwn = /[=#]/.test(entries);
		for (const entry of entries.split(' ')) {
			const end = withOwn ? entry.search(/[=#]/) : -1;
			if (end < 0) devices.set(unescapeText(entry), values);
			else devices.set(unescapeText(entry.slice(0, end)), values + entry.slice(end));
		}
	}
	return devices;
}

/** Where so many parts of a code end. */
function endOfPart(code: Code, parts: number): number {
	let met = 0;
	for (let at = 0; at < code.length; at++) {
		if ((code[at] === '=' || code[at] === '#') && met++ === parts) return at;
	}
	return code.length;
}

function encodeHolds(holds: Snapshot['holds']): Stored['holds'] {
	const groups = new Map<string, { field: number; part: string; since: number; devices: string[] }>();
	for (const [sn, fields] of holds) {
		for (const [field, { part, since }] of fields) {
			const key = `${field} ${since} ${part}`;
			const group = groups.get(key) ?? { field, part, since, devices: [] };
			group.devices.push(escapeText(sn));
			groups.set(key, group);
		}
	}
	return [...groups.values()].map((group) => ({ ...group, devices: group.devices.join(' ') }));
}

function decodeHolds(groups: z.output<typeof storedSchema>['holds']): Snapshot['holds'] {
	const holds = new Map<string, Map<number, Hold>>();
	for (const { field, part, since, devices } of groups) {
		for (const sn of decodeList(devices)) {
			const fields = holds.get(sn) ?? new Map<number, Hold>();
			fields.set(field, { part, since });
			holds.set(sn, fields);
		}
	}
	return holds;
}

function encodeList(serialNumbers: Iterable<string>): string {
	return Array.from(serialNumbers, escapeText).join(' ');
}

function decodeList(list: string): string[] {
	return list === '' ? [] : list.split(' ').map(unescapeText);
}
