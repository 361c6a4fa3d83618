import type { Page } from './page';

/** How far a walk has come with a page: the page's index from 0, and the items read up to its end. */
export interface Progress {
	index: number;
	read: number;
}

/**
 * Whether anything in a page's response, or the lack of it, speaks for a page after it. No single metadata field of
 * section 1.2 decides: each one may be missing or wrong.
 * @param full whether the page holds as many items as a page can
 */
export function expectsMore<T>(page: Page<T>, { full, ...progress }: Progress & { full: boolean }): boolean {
	const { more, end } = whatIsSaid(page, progress);
	// A full page is taken for the last one only if all three say so.
	return more || (full && progress.read > 0 && end < 3);
}

/**
 * Whether all that a page says of the list puts the next page past the end, and something does.
 * @param lastWasWrong whether an earlier page called itself the last one, and was not
 */
export function saysItEnds<T>(page: Page<T>, progress: Progress, lastWasWrong: boolean): boolean {
	const { more, end } = whatIsSaid(page, progress);
	const believed = lastWasWrong && page.last === true ? end - 1 : end;
	return !more && believed > 0;
}

/**
 * Whether any field speaks for another page, and how many say that there is none. A total below what came already, or a
 * page count below the pages read, is wrong and speaks for neither.
 */
function whatIsSaid<T>({ totalElements, totalPages, last }: Page<T>, { index, read }: Progress) {
	const more = (totalElements ?? 0) > read || (totalPages ?? 0) > index + 1 || last === false;
	return { more, end: [totalElements === read, totalPages === index + 1, last === true].filter(Boolean).length };
}
