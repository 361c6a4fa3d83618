import { Refusal } from './codes.mts';
import type { Settings } from './settings.mts';

/** A query, decoded; a repeated key is an array. */
export type Query = NodeJS.Dict<string | string[]>;

/** A page of any list: its items, and the metadata of section 1.2. */
export interface Page<Item> {
	items: readonly Item[];
	metadata: ReturnType<typeof metadataOf>;
}

/** `data` of a list response, section 1.2. */
export type PageData = Page<object>['metadata'] & { content: Array<Record<string, unknown>> };

/** Returns the page of a whole list that a query asks for, sections 1.2 and 8. The document defines no refusal for an invalid page; this platform uses 10001. */
export function pageOf<Item>(list: readonly Item[], query: Query, settings: Settings): Page<Item> {
	const page = readPage(query, settings);
	if (page < 0) throw new Refusal(10001, 'page');
	const size = readNumber(query, 'size') ?? 10;
	if (size <= 0) throw new Refusal(10001, 'size');
	const real = Math.min(size, settings.largestSize);
	const items = list.slice(page * real, (page + 1) * real);
	return {
		items,
		metadata: metadataOf(page, real, items.length, list.length, [query['sort'] ?? []].flat().length > 0),
	};
}

function metadataOf(page: number, size: number, numberOfElements: number, totalElements: number, sorted: boolean) {
	const totalPages = Math.ceil(totalElements / size);
	const sort = { sorted, unsorted: !sorted };
	return {
		pageable: { sort, offset: page * size, pageSize: size, pageNumber: page, paged: true, unpaged: false },
		totalElements,
		totalPages,
		last: page + 1 >= totalPages,
		first: page === 0,
		sort,
		size,
		number: page,
		numberOfElements,
	};
}

/** Returns the requested page, counted from 0; -1 if it is invalid. Section 8: without `page`, the first one. */
export function readPage(query: Query, settings: Settings): number {
	const page = readNumber(query, 'page') ?? 0;
	return settings.pageNumbering === 'one-based' && page > 0 ? page - 1 : page;
}

function readNumber(query: Query, name: 'page' | 'size'): number | undefined {
	const { [name]: given } = query;
	if (given === undefined) return undefined;
	return /^\d{1,10}$/.test(String(given)) && Number(given) < 2 ** 31 ? Number(given) : -1;
}

/** Returns a page as the JSON of `data`. */
export function jsonOfPage({ items, metadata }: Page<object>): string {
	return `{"content":[${items.map(jsonOf).join(',')}],${JSON.stringify(metadata).slice(1)}`;
}

/** The JSON of frozen records, which never change. */
const written = new WeakMap<object, string>();

/** Returns the JSON of a record; of a frozen one, it is computed once. */
export function jsonOf(record: object): string {
	const json = written.get(record) ?? JSON.stringify(record);
	if (Object.isFrozen(record)) written.set(record, json);
	return json;
}
