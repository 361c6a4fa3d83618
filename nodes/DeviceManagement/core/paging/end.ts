import type { Page } from './page';

/** The position of a page in a walk: its index from 0, and the items read including this page. */
export interface Progress {
	index: number;
	read: number;
}

/**
 * Whether another page may follow. No single metadata field of section 1.2 decides, because each may be missing or wrong.
 * @param full whether the page has as many items as a page can have
 * @param emptyPages how many pages in a row were empty
 */
export function expectsMore<T>(
	page: Page<T>,
	{ full, emptyPages = 0, ...progress }: Progress & { full: boolean; emptyPages?: number },
): boolean {
	const { more, end } = countFields(page, progress);
	// Empty pages end a list: many if all three fields say that more items follow, else two.
	if (emptyPages >= (more === 3 ? 100 : 2)) return false;
	// A full page counts as the last one only if all three fields say so.
	return more > 0 || (full && progress.read > 0 && end < 3);
}

/**
 * Whether a page's metadata says that it is the last one, and nothing in it says otherwise.
 * @param lastWasWrong whether an earlier page had a wrong `last`
 */
export function saysItIsLast<T>(page: Page<T>, progress: Progress, lastWasWrong: boolean): boolean {
	const { more, end } = countFields(page, progress);
	const believed = lastWasWrong && page.last === true ? end - 1 : end;
	return more === 0 && believed > 0;
}

/**
 * Returns how many fields say that another page follows, and how many say that none does. A total below the items
 * read, or a page count below the pages read, is wrong and doesn't count.
 */
function countFields<T>({ totalElements, totalPages, last }: Page<T>, { index, read }: Progress) {
	const more = [(totalElements ?? 0) > read, (totalPages ?? 0) > index + 1, last === false];
	const end = [totalElements === read, totalPages === index + 1, last === true];
	return { more: more.filter(Boolean).length, end: end.filter(Boolean).length };
}
