import { z } from 'zod/v4';

import type { Recent } from './recent';
import type { Snapshot } from './snapshot';
import { splitCode } from './values';
import { type TimeField, TIMES } from './watched';

/** All that a poll remembers for the next one. */
export interface State {
	/** A digest of what the state belongs to: a state of anything else is not compared with. */
	readonly fingerprint: string;
	/** Rises with every poll that reports something, and with every baseline. */
	readonly number: number;
	/** By the times that are watched. */
	readonly recent: ReadonlyMap<TimeField, Recent>;
	readonly snapshot: Snapshot | undefined;
}

const whole = z.number().int().safe();

const recentSchema = z.strictObject({
	field: z.enum(TIMES.map(({ field }) => field)),
	newest: whole.nullable(),
	/** By the time in seconds: what tells the devices from others. */
	rows: z.record(z.string().regex(/^-?\d+$/), z.array(z.string())),
});

const storedSchema = z.strictObject({
	format: z.literal(1),
	number: whole,
	fingerprint: z.string(),
	recent: z.array(recentSchema),
	/** By the code of their values: the serial numbers. */
	devices: z.record(z.string(), z.array(z.string())).optional(),
	holds: z.array(z.strictObject({ sn: z.string(), field: whole.nonnegative(), value: z.string(), since: whole })),
});

/**
 * Writes a state as one text: n8n loads a string sixty times as fast as nested objects. A state that did not change gives
 * the same text again.
 */
export function encodeState({ fingerprint, number, recent, snapshot }: State): string {
	return JSON.stringify({
		format: 1,
		number,
		fingerprint,
		recent: [...recent].map(([field, { newest, rows }]) => ({ field, newest, rows: groupByValue(rows) })),
		devices: snapshot && groupByValue(snapshot.devices),
		holds: snapshot?.holds ?? [],
	});
}

/** Reads a state; undefined where the text is none, or one of another format. */
export function decodeState(text: string | undefined): State | undefined {
	try {
		const { fingerprint, number, recent, devices, holds } = storedSchema.parse(JSON.parse(text ?? ''));
		Object.keys(devices ?? {}).forEach(splitCode);
		return {
			fingerprint,
			number,
			recent: new Map(recent.map(({ field, newest, rows }) => [field, { newest, rows: ungroup(rows, Number) }])),
			snapshot: devices && { devices: ungroup(devices, String), holds },
		};
	} catch {
		return undefined;
	}
}

/** The keys of a map by their value, so that a value which many share is written once. */
function groupByValue(map: ReadonlyMap<string, string | number>): Record<string, string[]> {
	const groups: Record<string, string[]> = {};
	for (const [key, value] of map) (groups[value] ??= []).push(key);
	return groups;
}

function ungroup<Value>(groups: Record<string, string[]>, read: (text: string) => Value): Map<string, Value> {
	return new Map(Object.entries(groups).flatMap(([text, keys]) => keys.map((key) => [key, read(text)] as const)));
}
