import { z } from 'zod/v4';
import { Refusal } from './codes.mts';
import type { PageData, PlatformRequest, Settings } from './settings.mts';

/** A page of any list: its items, and the metadata of section 1.2. */
export interface Page<Item> {
	items: readonly Item[];
	metadata: Omit<PageData, 'content'>;
}

type Query = PlatformRequest['query'];

/** Returns the page of a whole list that a query asks for, sections 1.2 and 8. Throws a Refusal. */
export function pageOf<Item>(list: readonly Item[], query: Query, settings: Settings): Page<Item> {
	const page = readPage(query, settings);
	const size = readSize(query, settings);
	const offset = page * size;
	const items = list.slice(offset, offset + size);
	const totalPages = Math.ceil(list.length / size);
	const isSorted = [query['sort'] ?? []].flat().length > 0;
	const sort = { sorted: isSorted, unsorted: !isSorted };
	return {
		items,
		metadata: {
			pageable: { sort, offset, pageSize: size, pageNumber: page, paged: true, unpaged: false },
			totalElements: list.length,
			totalPages,
			last: page + 1 >= totalPages,
			first: page === 0,
			sort,
			size,
			number: page,
			numberOfElements: items.length,
		},
	};
}

/**
 * Returns the requested page, counted from 0. Section 8: without `page`, the first one.
 * The document defines no refusal for an invalid page; this platform uses 10001.
 */
export function readPage(query: Query, settings: Pick<Settings, 'pageNumbering'>): number {
	const page = readNumber(query, 'page');
	if (page === undefined) return 0;
	return settings.pageNumbering === 'one-based' ? Math.max(page - 1, 0) : page;
}

function readSize(query: Query, settings: Settings): number {
	const size = readNumber(query, 'size') ?? 10;
	if (size === 0) throw new Refusal(10001, 'size');
	if (size > settings.largestSize && settings.largerSize === 'refuse') throw new Refusal(10001, 'size');
	return Math.min(size, settings.largestSize);
}

const numberText = z
	.string()
	.regex(/^\d{1,10}$/)
	.transform(Number)
	.pipe(z.int32());

function readNumber(query: Query, name: 'page' | 'size'): number | undefined {
	if (query[name] === undefined) return undefined;
	const parsed = numberText.safeParse(query[name]);
	if (!parsed.success) throw new Refusal(10001, name);
	return parsed.data;
}
