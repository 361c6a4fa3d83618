import { z } from 'zod/v4';

import { expectsMore, saysItEnds } from './end';
import { learnNumbering, numberThatTells } from './numbering';
import type { Page, PageSource } from './page';
import { undefinedIfPageRefused } from './refusal';

/** What the next request of a scroll needs to know of the pages before, in a form that survives JSON. */
export const placeSchema = z.object({
	/** The page to fetch; the first one is 0. */
	index: z.number().int().positive(),
	/** What the server calls its first page, once that is known; until then, the number by which page 2 may tell. */
	firstPageNumber: z.literal([0, 1]).optional(),
	number: z.number().optional(),
	/** Items on the first page, and by that on any other but the last. */
	pageLength: z.number(),
	/** What tells the first items of the first and the last page from others: a page past the end may repeat either. */
	begun: z.array(z.string()),
	/** Whether all that the last page said puts this one past the end. */
	isSaidToEnd: z.boolean(),
});

export type Place = z.infer<typeof placeSchema>;

/**
 * Reads one page of a list, for callers that go through it call by call and keep nothing between them but a place.
 * @param place as the previous call returned it; undefined for the first page
 * @returns the page's items, and where to go on; no place after the last page
 * @throws whatever `fetchPage` throws
 */
export async function scrollPage<T>(
	source: PageSource<T>,
	size: number,
	place: Place | undefined,
): Promise<{ items: readonly T[]; next: Place | undefined }> {
	const fetching = fetchPageAt(source, size, place);
	const found = await (place?.isSaidToEnd === true ? fetching.catch(undefinedIfPageRefused) : fetching);
	// Past the end some servers refuse, and some repeat their last page or their first.
	const [begins] = (found?.page.content ?? []).slice(0, 1).map(source.identify);
	if (found === undefined || begins === undefined || place?.begun.includes(begins) === true) {
		return { items: [], next: undefined };
	}
	const { page, firstPageNumber } = found;
	const { content: items } = page;
	const { index, pageLength } = place ?? { index: 0, pageLength: items.length };
	const progress = { index, read: index * pageLength + items.length };
	if (!expectsMore(page, { ...progress, full: items.length >= pageLength })) return { items, next: undefined };
	const next: Place = {
		index: index + 1,
		firstPageNumber,
		number: place === undefined ? numberThatTells(page) : undefined,
		pageLength,
		begun: [place?.begun[0] ?? begins, begins],
		isSaidToEnd: saysItEnds(page, progress, false),
	};
	return { items, next };
}

async function fetchPageAt<T>(source: PageSource<T>, size: number, place: Place | undefined) {
	if (place === undefined) return { page: await source.fetchPage(undefined, size), firstPageNumber: undefined };
	const asked = new Map<number | undefined, Promise<Page<T>>>();
	const fetchOnce = async (parameter: number | undefined) => {
		const page = asked.get(parameter) ?? source.fetchPage(parameter, size);
		asked.set(parameter, page);
		return await page;
	};
	const firstPageNumber = place.firstPageNumber ?? (await learnNumbering(source.identify, place.number, fetchOnce));
	return { page: await fetchOnce(firstPageNumber + place.index), firstPageNumber };
}
