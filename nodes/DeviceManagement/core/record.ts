import { z } from 'zod/v4';

import { isRecord, type JsonObject } from './json';

/** Some platforms send numbers and booleans as text. Returns the value that such a text means. */
const meant = (value: unknown) => {
	const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
	if (text === 'true' || text === 'false') return text === 'true';
	return /^\d+$/.test(text) ? Number(text) : value;
};

/** Metadata may be wrong: an impossible value counts as missing. */
const count = z.preprocess(meant, z.number().int().nonnegative().safe()).optional().catch(undefined);
const flag = z.preprocess(meant, z.boolean()).optional().catch(undefined);

/** Reports only the first item that isn't an object: a list of a million numbers must not make a million issues. */
const records = z.custom<JsonObject[]>(Array.isArray).superRefine((content, refinement) => {
	const index = Array.isArray(content) ? content.findIndex((item) => !isRecord(item)) : -1;
	if (index >= 0) refinement.addIssue({ code: 'custom', message: 'not an object', path: [index], continue: false });
});

/** A page of any list (section 1.2). The schema checks that items are objects, and doesn't read or copy their fields. */
export const pageSchema = z
	.object({
		content: records.nullish(),
		number: count,
		size: count,
		totalElements: count,
		totalPages: count,
		last: flag,
		pageable: z.object({ offset: count }).optional().catch(undefined),
	})
	.transform(({ content, ...metadata }, refinement) => {
		// Some platforms send null for an empty list, or leave it out.
		const counted = metadata.totalElements ?? (content === null ? 0 : undefined);
		if (!content && counted !== 0) refinement.addIssue({ code: 'custom', message: 'no list', path: ['content'] });
		return { ...metadata, content: content ?? [] };
	})
	.describe('a page of a list');

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
