import type { Page } from './page';

/** The position of a page in a walk. */
interface Progress {
	/** From 0. */
	index: number;
	/** Number of items so far, with those of this page. */
	read: number;
	/** Whether the page has as many items as a page can have. */
	full: boolean;
	/** Whether an earlier page had a wrong `last`. */
	lastWasWrong: boolean;
	/** How many pages in a row were empty, with this one. */
	emptyPages: number;
}

/**
 * Returns whether another page may follow, and whether the page may be the last one: its metadata or its length says so, and nothing
 * says otherwise. No single metadata field of section 1.2 decides, because each may be missing or wrong. A total below the items read,
 * or a page count below the pages read, is wrong and doesn't count.
 */
export function whatFollows<T>({ content, totalElements, totalPages, last }: Page<T>, progress: Progress) {
	const { index, read, full, lastWasWrong, emptyPages } = progress;
	const count = (fields: boolean[]) => fields.filter(Boolean).length;
	const more = count([(totalElements ?? 0) > read, (totalPages ?? 0) > index + 1, last === false]);
	const none = count([totalElements === read, totalPages === index + 1, last === true && !lastWasWrong]);
	// Empty pages end a list: many if all three fields say that more items follow, else two.
	const hasEnded = emptyPages >= (more === 3 ? 100 : 2);
	// A full page counts as the last one only if all three fields say so. A short one may lack hidden items, so one field must say so.
	const isNotLast = more > 0 || (content.length > 0 && none < (full ? 3 : 1));
	return { expectsMore: !hasEnded && isNotLast, mayBeLast: more === 0 && (none > 0 || !full) };
}
