import { z } from 'zod/v4';

import { expectsMore, mayBeLast } from '../core/paging/end';
import { comparableNumber, learnNumbering } from '../core/paging/numbering';
import type { Page, PageSource } from '../core/paging/page';
import { undefinedIfPageRefused } from '../core/paging/refusal';
import { fetchFirstPage } from '../core/paging/walk';

/** What the next call needs to know about earlier pages, as JSON. */
export const placeSchema = z.object({
	/** Index of the page to fetch, from 0. */
	index: z.number(),
	/** The size of the pages to request. */
	size: z.number(),
	/** Number of the server's first page; until that is known, the first page's `number` to compare page 2 with. */
	firstPageNumber: z.literal([0, 1]).optional(),
	number: z.number().optional(),
	/** Number of items on the first page, and so on all pages but the last. */
	pageLength: z.number(),
	/** Identities of the first item of the first page and of the latest page: a page past the end may repeat either. */
	firstIds: z.array(z.string()),
	/** Whether the latest page may be the last one, so that this one is past the end. */
	expectsEnd: z.boolean(),
	/** Whether the latest page, or one before it, said that it is the last one. */
	lastWasSaid: z.boolean().optional(),
});

export type Place = z.infer<typeof placeSchema>;

/**
 * Reads one page of a list, for callers that keep only a place between calls.
 * @param place as the previous call returned it; undefined for the first page
 * @returns the page's items and the next place; no place after the last page
 * @throws what `fetchPage` throws
 */
export async function scrollPage<T>(
	source: PageSource<T>,
	pageSize: number,
	place: Place | undefined,
): Promise<{ items: readonly T[]; next: Place | undefined }> {
	const fetching = fetchPageAt(source, pageSize, place);
	const found = await (place?.expectsEnd === true ? fetching.catch(undefinedIfPageRefused) : fetching);
	// Past the end, some servers refuse the page, and some repeat the last or the first page.
	const [firstId] = (found?.page.content ?? []).slice(0, 1).map(source.identify);
	if (found === undefined || firstId === undefined || place?.firstIds.includes(firstId) === true) {
		return { items: [], next: undefined };
	}
	const { page, size, firstPageNumber } = found;
	const { content: items } = page;
	const { index, pageLength, lastWasSaid: lastWasWrong = false } = place ?? { index: 0, pageLength: items.length };
	const read = index * pageLength + items.length;
	const progress = { index, read, full: items.length >= pageLength, lastWasWrong };
	if (!expectsMore(page, progress)) return { items, next: undefined };
	const next: Place = {
		index: index + 1,
		size,
		firstPageNumber,
		number: place === undefined ? comparableNumber(page) : undefined,
		pageLength,
		firstIds: [place?.firstIds[0] ?? firstId, firstId],
		expectsEnd: mayBeLast(page, { ...progress, lastWasWrong: false }),
		lastWasSaid: lastWasWrong || page.last === true,
	};
	return { items, next };
}

async function fetchPageAt<T>(source: PageSource<T>, pageSize: number, place: Place | undefined) {
	if (place === undefined) return { ...(await fetchFirstPage(source, { pageSize })), firstPageNumber: undefined };
	const { size } = place;
	const asked = new Map<number | undefined, Promise<Page<T>>>();
	const fetchOnce = async (parameter: number | undefined) => {
		const page = asked.get(parameter) ?? source.fetchPage(parameter, size);
		asked.set(parameter, page);
		return await page;
	};
	const firstPageNumber = place.firstPageNumber ?? (await learnNumbering(source.identify, place.number, fetchOnce));
	return { page: await fetchOnce(firstPageNumber + place.index), size, firstPageNumber };
}
