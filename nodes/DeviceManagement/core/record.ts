import { z } from 'zod/v4';

import { isRecord, type JsonObject } from './json';

/** Metadata is help, not truth: a value that can't be right counts as missing. */
const count = z.number().int().nonnegative().safe().optional().catch(undefined);

/** Stops at the first item that is no object: a list of a million numbers must not become a million complaints. */
const records = z.custom<JsonObject[]>(Array.isArray).superRefine((content, refinement) => {
	const index = Array.isArray(content) ? content.findIndex((item) => !isRecord(item)) : -1;
	if (index >= 0) refinement.addIssue({ code: 'custom', message: 'not an object', path: [index] });
});

/**
 * A page of any list (section 1.2). Its items are checked to be objects and otherwise left alone: no field of theirs is
 * read or copied.
 */
export const pageSchema = z.object({
	content: records,
	number: count,
	size: count,
	totalElements: count,
	totalPages: count,
	last: z.boolean().optional().catch(undefined),
	pageable: z.object({ offset: count }).optional().catch(undefined),
});

export const PAGE_IN_WORDS = "a page of a list (an object with a list of objects in 'content')";

/** Returns the `id` of a record as text; undefined where it has none that tells it from others. */
export function idOf({ id }: JsonObject): string | undefined {
	if (typeof id === 'string' && id !== '') return id;
	// Beyond 2^53 different numbers in the response become one number here.
	return Number.isSafeInteger(id) ? String(id) : undefined;
}

/** Returns what tells a record from others of its list: its `id`, else everything in it. */
export function identifyRecord(record: JsonObject): string {
	return idOf(record) ?? `\0${JSON.stringify(record)}`;
}
