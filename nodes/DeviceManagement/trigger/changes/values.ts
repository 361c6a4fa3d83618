import { createHash } from 'crypto';

import type { Device } from '../../core/device';
import { isRecord, type JsonValue } from '../../core/json';
import { booleanAsNumber } from '../../core/ownFilters';
import type { WatchedField } from './watched';

/**
 * A watched value as it is remembered: itself, `json` for an object or a list, or the digest of a value that is too long. If another
 * value is compared than users see, such as the ID of a group, it is both. `last` is the last number before a value that isn't a number.
 */
export type Kept = PlainKept | { id: Kept; shown: Kept; last?: number };
type PlainKept = string | number | boolean | null | { json: object } | { digest: string };

/** Longest text of a value that isn't replaced by its digest, in characters. */
const LONGEST_KEPT = 100;

/** Returns what is remembered of a device's value. */
export function keepValue({ read, identify, key }: WatchedField, device: Device): Kept {
	const shown = keep(read(device, key));
	return identify === undefined ? shown : { id: keep(identify(device)), shown };
}

export function keep(value: JsonValue): Kept {
	const text = plainText(value);
	if (text.length > LONGEST_KEPT) return { digest: digest(text) };
	return typeof value === 'object' && value !== null ? { json: value } : (value ?? null);
}

/** Returns the part of a remembered value that users see, or that is compared. */
export function partOf(kept: Kept, part: 'id' | 'shown'): Kept {
	return isRecord(kept) && 'id' in kept ? kept[part] : kept;
}

/** Returns the value that users see; undefined if it was too long. */
export function recall(kept: Kept): JsonValue {
	const shown = partOf(kept, 'shown');
	if (!isRecord(shown)) return shown;
	return 'json' in shown ? shown.json : undefined;
}

/** Returns the text of a value: values compare as text, because a platform may send 0 as "0" after its own update. */
export function textOf(kept: Kept, field: string): string {
	if (isRecord(kept) && 'digest' in kept) return `\0${kept.digest}`;
	const text = plainText(recall(kept));
	return field === 'onlineStatus' || field === 'status' ? booleanAsNumber(text) : text;
}

export function isSame(one: Kept, other: Kept, field: string): boolean {
	return textOf(partOf(one, 'id'), field) === textOf(partOf(other, 'id'), field);
}

/** Whether a value is a date of section 2.1: dates compare as texts. Years before 2000 say nothing: platforms write 1970 or 0000 for none. */
export function isDate(value: unknown): value is string {
	return typeof value === 'string' && /^2\d{3}-\d\d-\d\d/.test(value);
}

export const isOlder = (value: unknown, date: string) => isDate(value) && value < date;

/** Returns a digest of a text: 132 bits as base64url, enough that two texts never have the same one. */
export function digest(text: string): string {
	return createHash('sha256').update(text, 'utf8').digest('base64url').slice(0, 22);
}

/** Returns a digest of a value. Equal values have equal digests. */
export function digestOf(value: unknown): string {
	return digest(canonicalJson(value));
}

function plainText(value: JsonValue): string {
	return typeof value === 'string' ? value : canonicalJson(value);
}

/** Returns JSON text with the fields of each object in alphabetical order, so that equal values have equal texts. */
function canonicalJson(value: unknown): string {
	if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
	return JSON.stringify(value, (_, field: unknown) => {
		if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
		return Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)));
	});
}
