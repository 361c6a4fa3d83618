import { areSame, type Page, type PageSource } from './page';

/** The number of the server's first page. The page parameter is this plus the page's index from 0. */
export type FirstPageNumber = 0 | 1;

/** Returns the first page's `number`; undefined if there is no total, which would show that the number is wrong. */
export function comparableNumber<T>({ number, totalElements, content }: Page<T>): number | undefined {
	return totalElements === undefined || content.length === 0 ? undefined : number;
}

/**
 * Returns whether the server counts pages from 0 or 1, which section 1.2 of the API document leaves open. If the `number` of
 * page 2 shows that it counts from 1, the caller has to check the count. Otherwise page 1 is compared with the first page:
 * a wrong 0 repeats the first page, which is noticed, but a wrong 1 would skip a page silently.
 * @param number of the first page, see {@link comparableNumber}; undefined to compare items only
 * @param pages fetches a page by its parameter; undefined is the first page
 * @throws what the request for page 1 or the first page throws
 */
export async function learnNumbering<T>(
	identify: PageSource<T>['identify'],
	number: number | undefined,
	pages: (parameter: 1 | 2 | undefined) => Promise<Page<T>>,
): Promise<FirstPageNumber> {
	if (number !== undefined) {
		// A failure says nothing about the numbering.
		const pageTwo = await pages(2).catch(() => undefined);
		if (pageTwo?.number === number + 1) return 1;
	}
	const { content } = await pages(1);
	return areSame(identify, content, (await pages(undefined)).content) ? 1 : 0;
}
