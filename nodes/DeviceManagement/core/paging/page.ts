import { createHash } from 'crypto';
import type { z } from 'zod/v4';

import type { pageSchema } from '../record';

/** One page of a list. Missing or impossible metadata is undefined. */
export interface Page<T> extends Partial<Omit<z.infer<typeof pageSchema>, 'content'>> {
	content: readonly T[];
}

/** Fetches pages and identifies their items. */
export interface PageSource<T> {
	/**
	 * Fetches one page of this size. Without the page parameter, the platform returns the first page (section 1.2). With `byId`, the
	 * ID is the last field of the sort order (section 1.3).
	 */
	fetchPage(page: number | undefined, size: number, byId?: boolean): Promise<Page<T>>;
	/** Returns the identity of an item, as text. */
	identify: (item: T) => string;
	/** Returns the part of the identity that stays when the item is edited; undefined for all of it. */
	idOf?: ((item: T) => string | undefined) | undefined;
	/** Undefined for a list that can't be sorted by ID, or already is. */
	readonly idOrder?: IdOrder | undefined;
	/** Whether items are rows, which are counted and never merged with those of another reading, see {@link identifyRows}. */
	readonly countsRows?: boolean;
}

/** The ID as the last field of a list's sort order. Without it, items with equal values may have another order on each page. */
export interface IdOrder {
	/** Whether the list has no other sort order, so that the ID replaces the platform's own. */
	readonly isOnly: boolean;
	isRefused(): boolean;
	noteRefusal(): void;
}

/** Returns a source of what `keep` returns for each item: the rest leaves the memory. Items are identified as they were sent. */
export function keepOnly<T, K>(source: PageSource<T>, keep: (item: T) => K, countsRows = false) {
	const { fetchPage, identify, idOf, ...rest } = source;
	return {
		...rest,
		countsRows,
		async fetchPage(page: number | undefined, size: number, byId?: boolean) {
			const { content, ...metadata } = await fetchPage(page, size, byId);
			const identityOf = countsRows ? identifyRows(content, metadata.number) : identify;
			// Without a spread of the item, which would cost a quarter more time per page.
			const entryOf = (item: T, place: number) => ({
				kept: keep(item),
				identity: identityOf(item, place),
				id: idOf?.(item),
			});
			return { ...metadata, content: content.map(entryOf) };
		},
		identify: ({ identity }: { identity: string }) => identity,
		idOf: ({ id }: { id: string | undefined }) => id,
	};
}

/**
 * Returns the identities of a page's rows. Rows may be equal or share an `id`: none is merged with another. A row is identified by its
 * place and by all rows of its page, so a page that comes twice is still noticed. Pages of one repeated row differ by their number.
 */
function identifyRows(content: readonly unknown[], number: number | undefined) {
	const rows = content.map((row) => JSON.stringify(row));
	const mark = new Set(rows).size === 1 ? String(number) : '';
	const digest = createHash('sha256').update(rows.join()).update(mark).digest('base64');
	return (_row: unknown, place: number) => `${digest} ${place}`;
}

/** Whether two pages or passes have the same items in the same order. */
export function areSame<T>(identify: PageSource<T>['identify'], one: readonly T[], other: readonly T[]): boolean {
	const ids = other.map(identify);
	return one.length === ids.length && one.every((item, position) => identify(item) === ids[position]);
}
