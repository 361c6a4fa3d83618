import type { JsonObject } from './json';

/** Returns the `id` of a record as text; undefined if it has none that is unique. */
export function idOf({ id }: JsonObject): string | undefined {
	if (typeof id === 'string' && id !== '') return id;
	// Beyond 2^53, JavaScript reads different numbers as the same one.
	return Number.isSafeInteger(id) ? String(id) : undefined;
}

/** Returns the identity of a record: its `id`, else the whole record as JSON. */
export function identifyRecord(record: JsonObject): string {
	return idOf(record) ?? `\0${JSON.stringify(record)}`;
}
