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
	 * Fetches one page. Without a page number, the platform returns the first one, and without a size, as many items as it likes (section
	 * 1.2). With `byId`, the ID is the last field of the sort order (section 1.3), so that items with equal values have one order.
	 */
	fetchPage(page: number | undefined, size: number | undefined, byId?: boolean): Promise<Page<T>>;
	/** Returns the identity of an item, as text. */
	identify: (item: T) => string;
	/** Returns the part of the identity that stays when the item is edited; default: all of it. */
	idOf?: ((item: T) => string) | undefined;
	/** Whether items are rows, which may be equal: none is left out. */
	readonly areRows?: boolean;
}

/** Returns a short text that two pages share if they have the same items in the same order. */
export function fingerprint<T>({ identify, areRows }: Omit<PageSource<T>, 'fetchPage'>, { content }: Page<T>): string {
	// Rows may share an `id`.
	const textOf = areRows === true ? (row: T) => JSON.stringify(row) : identify;
	return createHash('sha256').update(content.map(textOf).join('\n')).digest('base64');
}
