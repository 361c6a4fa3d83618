import { createHash } from 'crypto';

import type { Device } from '../../core/device';
import { isRecord, type JsonValue } from '../../core/json';
import { statusOf } from '../../core/ownFilters';
import type { WatchedField } from './watched';

/**
 * A remembered value as JSON text: a string, number, boolean or null as it is, `{"json":…}` for an object or a list, and
 * `{"digest":"…"}` for a value that is too long. Equal values have equal texts. If something else is compared than what users see, it
 * is `{"id":…,"shown":…}`, two kept values.
 */
export type Kept = string;

/** The kept values of a device's watched fields as a JSON list. Equal values have equal texts. */
export type KeptValues = string;

/** Remembered instead of a value that was not reported yet. It differs from each value, also from a missing one, and users see null. */
export const UNREPORTED: Kept = '{"json":null}';

/** Longest value that is not replaced by its digest, in characters. */
const LONGEST_KEPT = 100;

/** Returns the kept values of a device, in the order of the fields. */
export function keepValues(device: Device, fields: readonly WatchedField[]): KeptValues {
	const kept = fields.map(({ read, identify, key }) => {
		const shown = keep(read(device, key));
		return identify === undefined ? shown : `{"id":${keep(identify(device, key))},"shown":${shown}}`;
	});
	return joinKept(kept);
}

export function joinKept(parts: readonly Kept[]): KeptValues {
	return `[${parts.join(',')}]`;
}

/** Returns each of a device's kept values. Throws a SyntaxError for other text. */
export function splitKept(values: KeptValues): Kept[] {
	const parts: unknown = JSON.parse(values);
	if (!Array.isArray(parts)) throw new SyntaxError('No list of values');
	return parts.map((part) => JSON.stringify(part));
}

export function keep(value: JsonValue): Kept {
	const json = canonicalJson(value);
	const length = typeof value === 'string' ? value.length : json.length;
	if (length > LONGEST_KEPT) return keepDigest(json);
	return typeof value === 'object' && value !== null ? `{"json":${json}}` : json;
}

/** Returns what is kept of a value that is too long, by its JSON text. */
function keepDigest(json: string): Kept {
	return `{"digest":"${digest(json)}"}`;
}

/** Returns the part of a kept value that is compared, or that users see. It is the whole value, unless these differ. */
export function partOf(kept: Kept, part: 'id' | 'shown'): Kept {
	const value: unknown = JSON.parse(kept);
	return isRecord(value) && part in value ? JSON.stringify(value[part]) : kept;
}

/** Returns the value that users see; undefined if only its digest was kept. */
export function recall(kept: Kept): JsonValue {
	const value: JsonValue = JSON.parse(partOf(kept, 'shown'));
	return isRecord(value) ? value['json'] : value;
}

/** Returns a field's value as the text that is compared. */
export function textOf(value: JsonValue, field: string): string {
	const text = typeof value === 'string' ? value : canonicalJson(value);
	return field === 'onlineStatus' || field === 'status' ? statusOf(text) : text;
}

/** Whether a kept value is that of a text, which {@link textOf} returned. */
export function hasText(kept: Kept, text: string, field: string): boolean {
	const value = recall(kept);
	// The digest of a text, or of the JSON of anything else.
	return value === undefined ? [keep(text), keepDigest(text)].includes(kept) : textOf(value, field) === text;
}

/** Returns a device's identity in at most 100 characters. */
export function shortIdentity(id: string): string {
	return id.length > LONGEST_KEPT ? digest(id) : id;
}

/** Returns a digest of a text: 132 bits as base64url, enough that two texts never have the same one. */
export function digest(text: string): string {
	return createHash('sha256').update(text, 'utf8').digest('base64url').slice(0, 22);
}

/** Returns a digest of a value. Equal values have equal digests. */
export function digestOf(value: unknown): string {
	return digest(canonicalJson(value));
}

/** Returns JSON text with the fields of each object in alphabetical order, so that equal values have equal texts. */
function canonicalJson(value: unknown): string {
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
	return JSON.stringify(value, (_, field: unknown) => {
		if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
		return Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)));
	});
}
