import { createHash } from 'crypto';
import type { z } from 'zod/v4';

import type { pageSchema } from '../record';

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
