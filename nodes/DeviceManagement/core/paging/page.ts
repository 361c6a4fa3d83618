import { createHash } from 'crypto';
import { z } from 'zod/v4';

import { isRecord, type JsonObject } from '../json';

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

/** One page of a list (section 1.2 of the API document). Missing or impossible metadata is undefined. */
export interface Page<T> extends Partial<Omit<z.infer<typeof pageSchema>, 'content'>> {
	content: readonly T[];
}

/** Fetches pages and identifies their items. */
export interface PageSource<T> {
	/**
	 * Fetches one page of this size. Without a page number, the platform returns the first one (section 1.2). With `byId`, the ID is the
	 * last field of the sort order (section 1.3), so that items with equal values have one order.
	 */
	fetchPage(page: number | undefined, size: number, byId?: boolean): Promise<Page<T>>;
	identify: (item: T) => string;
	/** Returns the part of the identity that stays when the item is edited; default: all of it. */
	idOf?: ((item: T) => string) | undefined;
	/** Whether items are rows, which may be equal: none is left out, and all of a row is its identity. */
	readonly areRows?: boolean;
}

/**
 * Returns a short text that two pages share if they have the same items in the same order. Rows may be equal and may share an `id`: pages
 * of one repeated row differ by their number.
 */
export function fingerprint<T>(
	{ identify, areRows }: Omit<PageSource<T>, 'fetchPage'>,
	{ content, number }: Page<T>,
	texts = content.map(identify),
): string {
	const isOfOneRow = areRows === true && texts.length > 1 && texts.every((text) => text === texts[0]);
	const mark = isOfOneRow ? String(number) : '';
	return createHash('sha256').update(texts.join('\n')).update(mark).digest('base64');
}
