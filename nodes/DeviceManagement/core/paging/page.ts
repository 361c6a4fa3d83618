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
	/** The largest page to request, now: it falls when a page was too large to read. Default: any size. */
	readonly lists?: { readonly largestPage: number } | undefined;
	/** Returns the part of the identity that stays when the item is edited; default: all of it. */
	idOf?: ((item: T) => string) | undefined;
	/** Undefined for a list that can't be sorted by ID, or already is. */
	readonly idOrder?: IdOrder | undefined;
	/** Whether items are rows, which are counted and never merged, see {@link countRows}. */
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
export function keepOnly<T, K>({ fetchPage, identify, idOf = identify, ...rest }: PageSource<T>, keep: (item: T) => K) {
	// Without a spread, which would cost a quarter more time per page.
	const entryOf = (item: T) => ({ kept: keep(item), identity: identify(item), id: idOf(item) });
	return {
		...rest,
		async fetchPage(page: number | undefined, size: number, byId?: boolean) {
			const { content, ...metadata } = await fetchPage(page, size, byId);
			return { ...metadata, content: content.map(entryOf) };
		},
		identify: ({ identity }: ReturnType<typeof entryOf>) => identity,
		idOf: ({ id }: ReturnType<typeof entryOf>) => id,
	};
}

/**
 * Returns a source of rows that may be equal or share an `id`: none is merged with another. A row is identified by its place and by
 * all rows of its page, so a page that comes twice is still noticed. Pages of one repeated row differ by their number.
 */
export function countRows<T extends object>({ fetchPage, lists }: PageSource<T>): PageSource<T> {
	const identities = new WeakMap<T, string>();
	return {
		lists,
		countsRows: true,
		async fetchPage(parameter, size) {
			const page = await fetchPage(parameter, size);
			const rows = page.content.map((row) => JSON.stringify(row));
			const number = new Set(rows).size === 1 ? String(page.number) : '';
			const digest = createHash('sha256').update(rows.join()).update(number).digest('base64');
			page.content.forEach((row, place) => identities.set(row, `${digest} ${place}`));
			return page;
		},
		identify: (row) => identities.get(row) ?? '',
	};
}

/** Whether two pages or passes have the same items in the same order. */
export function areSame<T>(identify: PageSource<T>['identify'], one: readonly T[], other: readonly T[]): boolean {
	const ids = other.map(identify);
	return one.length === ids.length && one.every((item, position) => identify(item) === ids[position]);
}
