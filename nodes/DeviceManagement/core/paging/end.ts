import type { Page } from './page';

/** The position of a page in a walk. */
export interface Progress {
	/** From 0. */
	index: number;
	/** Number of items so far, with those of this page. */
	read: number;
	/** Whether the page has as many items as a page can have. */
	full: boolean;
	/** Whether an earlier page had a wrong `last`. */
	lastWasWrong: boolean;
}

/**
 * Whether another page may follow. No single metadata field of section 1.2 decides, because each may be missing or wrong.
 * @param emptyPages how many pages in a row were empty
 */
export function expectsMore<T>(page: Page<T>, progress: Progress, emptyPages: number): boolean {
	const { more, none } = countFields(page, progress);
	// Empty pages end a list: many if all three fields say that more items follow, else two.
	if (emptyPages >= (more === 3 ? 100 : 2)) return false;
	// A full page counts as the last one only if all three fields say so. A short one may lack hidden items, so one field must say so.
	return more > 0 || (page.content.length > 0 && none < (progress.full ? 3 : 1));
}

/** Whether a page may be the last one: its metadata or its length says so, and nothing says otherwise. */
export function mayBeLast<T>(page: Page<T>, progress: Progress): boolean {
	const { more, none } = countFields(page, progress);
	return more === 0 && (none > 0 || !progress.full);
}

/**
 * Returns how many fields say that another page follows, and how many say that none does. A total below the items
 * read, or a page count below the pages read, is wrong and doesn't count.
 */
function countFields<T>({ totalElements, totalPages, last }: Page<T>, { index, read, lastWasWrong }: Progress) {
	const more = [(totalElements ?? 0) > read, (totalPages ?? 0) > index + 1, last === false];
	const none = [totalElements === read, totalPages === index + 1, last === true && !lastWasWrong];
	return { more: more.filter(Boolean).length, none: none.filter(Boolean).length };
}
