import { Failure } from '../failure';
import { expectsMore, saysItEnds } from './end';
import { PageFeed } from './feed';
import type { Page, PageSource } from './page';
import { mayRefuseSize, undefinedIfPageRefused } from './refusal';

export interface WalkOptions {
	/** Sizes to ask for: the one wanted, and smaller ones in case the server refuses it. */
	sizes: readonly [number, ...number[]];
	/** Most requests under way at once. */
	parallelRequests: number;
	/** Number of items wanted, the first ones in the server's order; undefined for all. */
	limit?: number | undefined;
}

/** One step of a walk. A page may be empty, the last one above all. */
export interface WalkedPage<T> {
	/** The page's items that no earlier page of the walk had. */
	fresh: T[];
	/** Items so far, those that came again included. */
	read: number;
	/** Whether it lies past the end, refused or without anything new: it is no part of the list. */
	pastEnd: boolean;
	/** The list's total, as the newest page with items said it. */
	reportedTotal: number | undefined;
	/** Whether the total changed since the first page, by any response so far. */
	totalMoved: boolean;
}

/** No list is this long; a server that makes up pages for ever is stopped here. */
const MOST_PAGES = 100_000;
const MOST_ITEMS = 1_000_000;

/**
 * Walks the pages of a list once (section 1.2 of the API document), in the server's order, fetching ahead. The walk ends
 * where no field speaks for another page, at the second empty page in a row, or at a page past the end that is refused or
 * brings nothing new; no single field decides, because each may be wrong. It does not find out whether the list moved.
 * @param believesNumbers whether page 2 may tell by its number how the server counts
 * @throws RepeatedPages at the second page that brings nothing new before the end; Failure `paging` for a list without an
 * end; and whatever `fetchPage` throws
 */
export async function* walkPages<T>(
	source: PageSource<T>,
	{ sizes, parallelRequests, limit = Infinity }: WalkOptions,
	believesNumbers = true,
): AsyncGenerator<WalkedPage<T>, void, undefined> {
	const { size, page: first } = await fetchFirstPage(source, sizes);
	const feed = new PageFeed(source, first, { size, parallelRequests, believesNumbers });
	// A first page is taken for full: the server may have cut the size that was asked for.
	const pageLength = first.content.length || first.size || size;
	const seen = new Set<string>();
	let page = first;
	let reportedTotal = first.totalElements;
	let [read, repeatedPages] = [0, 0];
	let [isSaidToEnd, calledLast, wasEmpty] = [false, false, false];
	for (let index = 0; index < MOST_PAGES && read < MOST_ITEMS; index++) {
		const next = feed.at(index, pagesExpected(page, pageLength, limit));
		const response = await (isSaidToEnd ? next.catch(undefinedIfPageRefused) : next);
		let pastEnd = response === undefined;
		page = response ?? { content: [] };
		const { length } = page.content;
		const fresh = takeFresh(source, page, seen);
		const isRepeated = length > 0 && fresh.length === 0;
		if (isRepeated) {
			pastEnd = isSaidToEnd || seen.size >= (page.totalElements ?? Infinity);
			if (!pastEnd && ++repeatedPages === 2) throw new RepeatedPages(index);
		}
		if (!pastEnd) read += length;
		const more = isRepeated || expectsMore(page, { index, read, full: length >= pageLength });
		const atEnd = pastEnd || seen.size >= limit || !more || (wasEmpty && length === 0);
		if (atEnd) await feed.atRest();
		if (length > 0) reportedTotal = page.totalElements ?? reportedTotal;
		yield { fresh, read, pastEnd, reportedTotal, totalMoved: feed.totalMoved };
		if (atEnd) return;
		isSaidToEnd = !isRepeated && saysItEnds(page, { index, read }, calledLast);
		calledLast ||= page.last === true;
		wasEmpty = length === 0;
	}
	throw new Failure({
		kind: 'paging',
		cause: 'platform',
		message: `The list did not end after ${MOST_ITEMS} items or ${MOST_PAGES} pages`,
		remedy: 'Ask for fewer items, or ask your platform administrator.',
	});
}

/** Fetches the first page at the largest size that the server accepts. */
export async function fetchFirstPage<T>(source: PageSource<T>, sizes: WalkOptions['sizes']) {
	const refusals: unknown[] = [];
	for (const size of sizes) {
		const page = await source.fetchPage(undefined, size).catch((thrown: unknown) => {
			if (!mayRefuseSize(thrown)) throw thrown;
			refusals.push(thrown);
		});
		if (page !== undefined) return { size, page };
	}
	// Every size was refused, so it was not the size: the first refusal tells more than the last.
	throw refusals[0];
}

/** How many pages are worth fetching, by the newest page's metadata. */
function pagesExpected<T>({ totalElements = 0, totalPages = 0 }: Page<T>, pageLength: number, limit: number): number {
	return Math.ceil(Math.min(Math.max(totalElements / pageLength, totalPages), limit / pageLength));
}

/** Returns a page's items that are new, and remembers what tells them from others. */
function takeFresh<T>(source: PageSource<T>, { content }: Page<T>, seen: Set<string>): T[] {
	return content.filter((item) => {
		const known = seen.size;
		return seen.add(source.identify(item)).size > known;
	});
}

/** A walk that was given up because pages before the end of the list brought nothing new. */
export class RepeatedPages extends Failure {
	constructor(index: number) {
		super({
			kind: 'paging',
			cause: 'platform',
			message: `The platform returned only items of earlier pages as page ${index + 1} of the list`,
			remedy:
				"The list can't be read to its end, so none of it is returned. If the list changes often, run the node again. If the platform ignores the page number, set 'Page Size' under 'Options' to more than the number of items.",
		});
	}
}
