import { areSame } from './page';

/** What a server calls its first page. It is added to an index, 0 for the first page, to get the page parameter. */
export type FirstPageNumber = 0 | 1;

/** The first page, fetched without a page parameter: what it says, and what tells its items from others. */
export interface FirstPage {
	number?: number | undefined;
	totalElements?: number | undefined;
	ids: readonly string[];
}

/**
 * Finds out whether a server counts its pages from 0 or from 1, which section 1.2 of the API document leaves open.
 *
 * The items of page 1 always tell. The number of page 2 may tell that it counts from 1, and page 1 need not be asked
 * for: see `numbersMayTell`. No page beyond is listened to: it may lie past the end of a server that counts from 0
 * and answers with its last page, which has a number, too. Page 2 of such a server is the second page either way.
 * @returns undefined where page 2 does not tell
 */
export function learnNumbering(
	first: FirstPage,
	pageOne: { parameter: 1; ids: readonly string[] },
): FirstPageNumber;
export function learnNumbering(
	first: FirstPage,
	pageTwo: { parameter: 2; number: number | undefined },
): FirstPageNumber | undefined;
export function learnNumbering(
	first: FirstPage,
	other: { parameter: 1; ids: readonly string[] } | { parameter: 2; number: number | undefined },
): FirstPageNumber | undefined {
	if (other.parameter === 1) return areSame(other.ids, first.ids) ? 1 : 0;
	const advanced = numbersMayTell(first) && other.number === (first.number ?? 0) + 1;
	return advanced ? 1 : undefined;
}

/** Whether the first page has a number, and a total, without which a number that is wrong would never show. */
export function numbersMayTell({ number, totalElements, ids }: FirstPage): boolean {
	return number !== undefined && totalElements !== undefined && ids.length > 0;
}
