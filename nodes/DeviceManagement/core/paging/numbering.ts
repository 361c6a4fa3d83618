import { areSame, type Page, type PageSource } from './page';

/**
 * Returns the number of the server's first page, 0 or 1: section 1.2 of the API document leaves it open. If the `number` of page 2 shows a
 * 1, the caller has to check the count. Otherwise page 1 is compared with the first page: a wrong 1 would skip a page silently.
 * @param first the first page, for its `number`; undefined to compare items only
 * @param pages fetches a page by its parameter, or the first page; may throw
 */
export async function learnNumbering<T>(
	identify: PageSource<T>['identify'],
	first: Page<T> | undefined,
	pages: (parameter: 1 | 2 | undefined) => Promise<Page<T>>,
): Promise<0 | 1> {
	// Without a total, nothing would show that a number was wrong.
	if (first?.number !== undefined && first.totalElements !== undefined && first.content.length > 0) {
		// A failure says nothing about the numbering.
		const pageTwo = await pages(2).catch(() => undefined);
		if (pageTwo?.number === first.number + 1) return 1;
	}
	const { content } = await pages(1);
	return areSame(identify, content, (await pages(undefined)).content) ? 1 : 0;
}
