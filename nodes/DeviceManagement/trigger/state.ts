import { z } from 'zod/v4';

import type { Recent } from './recent';
import type { Snapshot } from './snapshot';
import { splitCode } from './values';

/** All that a poll remembers for the next one. */
export interface State {
	/** A digest of what the state belongs to: a state of anything else is not compared with. */
	readonly fingerprint: string;
	/** Rises with every poll that reports something, and with every baseline. */
	readonly number: number;
	readonly created: Recent | undefined;
	readonly updated: Recent | undefined;
	readonly snapshot: Snapshot | undefined;
}

const whole = z.number().int().safe();

const recentSchema = z.strictObject({
	newest: whole.nullable(),
	/** By the time in seconds: what tells the devices from others. */
	rows: z.record(z.string().regex(/^-?\d+$/), z.array(z.string())),
});

const storedSchema = z.strictObject({
	format: z.literal(1),
	number: whole,
	fingerprint: z.string(),
	created: recentSchema.optional(),
	updated: recentSchema.optional(),
	/** By the code of their values: the serial numbers. */
	devices: z.record(z.string(), z.array(z.string())).optional(),
	holds: z.array(z.strictObject({ sn: z.string(), field: whole.nonnegative(), value: z.string(), since: whole })),
});

/**
 * Writes a state as one text: n8n loads a string sixty times as fast as nested objects. A state that did not change gives
 * the same text again.
 */
export function encodeState({ fingerprint, number, created, updated, snapshot }: State): string {
	return JSON.stringify({
		format: 1,
		number,
		fingerprint,
		created: created && { newest: created.newest, rows: groupByValue(created.rows) },
		updated: updated && { newest: updated.newest, rows: groupByValue(updated.rows) },
		devices: snapshot && groupByValue(snapshot.devices),
		holds: snapshot?.holds ?? [],
	});
}

/** Reads a state; undefined where the text is none, or one of another format. */
export function decodeState(text: string | undefined): State | undefined {
	try {
		const { fingerprint, number, created, updated, devices, holds } = storedSchema.parse(JSON.parse(text ?? ''));
		Object.keys(devices ?? {}).forEach(splitCode);
		return {
			fingerprint,
			number,
			created: created && { newest: created.newest, rows: ungroup(created.rows, Number) },
			updated: updated && { newest: updated.newest, rows: ungroup(updated.rows, Number) },
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
