import { areSame, type Page, type PageSource } from './page';

/** What a server calls its first page. An index, 0 for the first page, plus this is the page parameter. */
export type FirstPageNumber = 0 | 1;

/** The number of a first page by which page 2 can tell; undefined where no total would show that numbers are wrong. */
export function numberThatTells<T>({ number, totalElements, content }: Page<T>): number | undefined {
	return totalElements === undefined || content.length === 0 ? undefined : number;
}

/**
 * Learns whether a server counts pages from 0 or from 1, which section 1.2 of the API document leaves open.
 *
 * Page 2 tells by its number that the server counts from 1; a wrong one shows in the count. Otherwise page 1 is compared
 * with the first page: a wrong 0 reads the first page again, which shows, and a wrong 1 would skip a page silently.
 * @param number of the first page, see {@link numberThatTells}; undefined to believe items only
 * @param pages fetches a page by its parameter; undefined is the first page
 * @throws whatever page 1 or the first page failed with
 */
export async function learnNumbering<T>(
	identify: PageSource<T>['identify'],
	number: number | undefined,
	pages: (parameter: 1 | 2 | undefined) => Promise<Page<T>>,
): Promise<FirstPageNumber> {
	if (number !== undefined) {
		// A failure does not tell how the server counts.
		const pageTwo = await pages(2).catch(() => undefined);
		if (pageTwo?.number === number + 1) return 1;
	}
	const { content } = await pages(1);
	return areSame(identify, content, (await pages(undefined)).content) ? 1 : 0;
}
