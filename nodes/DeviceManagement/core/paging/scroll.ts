import { createHash } from 'crypto';
import { z } from 'zod/v4';

import { expectsMore, saysItEnds } from './end';
import { type FirstPageNumber, learnNumbering } from './numbering';
import { identitiesOf, type Page, type PageSource } from './page';
import { mayRefusePage } from './refusal';

/** Where a scroll goes on, in a form that survives JSON. */
export const placeSchema = z.object({
	/** The page to fetch; the first one is 0. */
	index: z.number().int().positive(),
	/** What the server calls its first page; unknown before the second page. */
	firstPageNumber: z.union([z.literal(0), z.literal(1)]).optional(),
	/** What the first page said of itself, its length, and a digest of its items. */
	first: z.object({
		number: z.number().optional(),
		totalElements: z.number().optional(),
		length: z.number(),
		digest: z.string(),
	}),
	/** The items read so far, and a digest of the last page's. */
	read: z.number(),
	digest: z.string(),
	/** Whether all that the last page said puts this one past the end. */
	isSaidToEnd: z.boolean(),
	/** Whether any page called itself the last one. */
	calledLast: z.boolean(),
});

export type Place = z.infer<typeof placeSchema>;

/**
 * Reads one page of a list, for whoever goes through it call by call and keeps nothing between them but a place.
 * @param place as the previous call gave it; undefined for the first page
 * @returns the page's items, and where to go on; no place after the last page
 * @throws whatever `fetchPage` throws
 */
export async function scrollPage<T>(
	source: PageSource<T>,
	size: number,
	place: Place | undefined,
): Promise<{ items: readonly T[]; next: Place | undefined }> {
	if (place === undefined) {
		const page = await source.fetchPage(undefined, size);
		const { number, totalElements, content } = page;
		const digest = pageDigest(identitiesOf(source, page));
		const first = { number, totalElements, length: content.length, digest };
		return turned(page, { index: 0, read: 0, first, calledLast: false }, digest);
	}
	const found = await fetchNext(source, size, place);
	const digest = found === undefined ? place.digest : pageDigest(identitiesOf(source, found.page));
	// Past the end some servers refuse, and some repeat their last page or their first.
	const pastEnd = digest === place.digest || digest === place.first.digest;
	if (found === undefined || pastEnd) return { items: [], next: undefined };
	return turned(found.page, { ...place, firstPageNumber: found.firstPageNumber }, digest);
}

/** Hands out a page, and the place after it unless it is the last one. */
function turned<T>(
	page: Page<T>,
	{ index, read: before, first, calledLast, firstPageNumber }: Omit<Place, 'digest' | 'isSaidToEnd'>,
	digest: string,
): { items: readonly T[]; next: Place | undefined } {
	const items = page.content;
	const progress = { index, read: before + items.length };
	const more = items.length > 0 && expectsMore(page, { ...progress, full: items.length >= first.length });
	if (!more) return { items, next: undefined };
	return {
		items,
		next: {
			index: index + 1,
			read: progress.read,
			first,
			firstPageNumber,
			digest,
			isSaidToEnd: saysItEnds(page, progress, calledLast),
			calledLast: calledLast || page.last === true,
		},
	};
}

/**
 * Fetches a page after the first one and finds out, where that is not known, whether the server counts from 0 or 1.
 * @returns undefined for a page past the end that is refused
 */
async function fetchNext<T>(
	source: PageSource<T>,
	size: number,
	{ index, firstPageNumber, first, isSaidToEnd }: Place,
): Promise<{ page: Page<T>; firstPageNumber: FirstPageNumber } | undefined> {
	const refusals = new Map<number, unknown>();
	const ask = async (parameter: number): Promise<Page<T> | undefined> =>
		await source.fetchPage(parameter, size).catch((thrown: unknown) => {
			if (!mayRefusePage(thrown)) throw thrown;
			refusals.set(parameter, thrown);
			return undefined;
		});
	const found = (page: Page<T> | undefined, parameter: number, numbering: FirstPageNumber) => {
		if (page !== undefined) return { page, firstPageNumber: numbering };
		if (isSaidToEnd) return undefined;
		throw refusals.get(parameter);
	};

	const wanted = (firstPageNumber ?? 1) + index;
	const page = await ask(wanted);
	if (firstPageNumber !== undefined) return found(page, wanted, firstPageNumber);
	const told = learnNumbering({ ...first, ids: [first.digest] }, { parameter: 2, number: page?.number });
	if (told !== undefined) return found(page, wanted, told);
	// One page too far, or a server that does not say where it is: page 1 tells.
	const [pageOne, again] = await Promise.all([ask(1), source.fetchPage(undefined, size)]);
	if (pageOne === undefined) return found(pageOne, 1, 0);
	const firstAgain = { ...first, ids: identitiesOf(source, again) };
	const learnt = learnNumbering(firstAgain, { parameter: 1, ids: identitiesOf(source, pageOne) });
	return learnt === 0 ? found(pageOne, 1, learnt) : found(page, wanted, learnt);
}

function pageDigest(ids: readonly string[]): string {
	return createHash('sha256').update(JSON.stringify(ids)).digest('base64url').slice(0, 22);
}
