import { Failure } from '../failure';
import { expectsMore, saysItEnds } from './end';
import { PageFeed } from './feed';
import type { FirstPageNumber } from './numbering';
import { areSame, identitiesOf, type Page, type PageSource } from './page';
import { mayRefusePage, mayRefuseSize } from './refusal';

export interface WalkOptions {
	/** Sizes to ask for: the one wanted, and smaller ones in case the server refuses it. */
	sizes: readonly [number, ...number[]];
	/** Most requests under way at once. */
	parallelRequests: number;
	/** Number of items wanted, the first ones in the server's order; undefined for all. */
	limit?: number | undefined;
	/** Whether to tell the numbering from the items alone, not from the answers' `number`. */
	distrustNumbers?: boolean | undefined;
}

/** One step of a walk. A page may be empty, the last one above all. */
export interface WalkedPage<T> {
	/** 0 for the first page. */
	index: number;
	page: Page<T>;
	/** What tells the page's items from others, in their order. */
	ids: readonly string[];
	/** The page's items that no earlier page of the walk had. */
	fresh: T[];
	/**
	 * Whether it lies past the end: refused (then it is empty), or a repetition of what came before. Its items are no
	 * part of the list, but what it says of the list counts.
	 */
	pastEnd: boolean;
	/** The size that the server accepted. */
	size: number;
	/** What the server calls its first page; undefined after one page. */
	firstPageNumber: FirstPageNumber | undefined;
	/** Whether the total changed since the first page, by any answer so far. */
	totalMoved: boolean;
}

/** No fleet is this large; a server that makes up pages for ever is stopped here. */
const MOST_PAGES = 100_000;
const MOST_ITEMS = 1_000_000;
/** Pages in a row without anything new, in a list that may be moving, before it counts as a repetition. */
const MOST_STALE_PAGES = 10;

/**
 * Walks the pages of a list once (section 1.2 of the API document), in the server's order, fetching ahead. Callers may
 * stop early: nothing is fetched for them afterwards.
 *
 * The walk ends where nothing in the answers speaks for another page, at the second empty page in a row, or at a page
 * past the end that is refused or repeats another one. No single metadata field can end it early or keep it going: each
 * one may be missing or wrong.
 * @throws Failure `paging` for a server that answers different pages with the same items or never ends; and
 * whatever `fetchPage` throws
 */
export async function* walkPages<T>(
	source: PageSource<T>,
	options: WalkOptions,
): AsyncGenerator<WalkedPage<T>, void, undefined> {
	const { size, page: first } = await fetchFirstPage(source, options.sizes);
	const firstIds = identitiesOf(source, first);
	const { parallelRequests, limit = Infinity, distrustNumbers = false } = options;
	const feed = new PageFeed(
		source,
		{ size, parallelRequests, distrustNumbers },
		{ page: first, ids: firstIds },
	);
	// A first page is taken for full: the server may have cut the size that was asked for.
	const pageLength = first.content.length || first.size || size;
	const seen = new Set<string>();
	let page = first;
	let ids = firstIds;
	let read = 0;
	let stalePages = 0;
	let lastWasWrong = false;
	for (let index = 0; index < MOST_PAGES && read < MOST_ITEMS; index++) {
		let wasEmpty = false;
		let pastEnd = false;
		if (index > 0) {
			const previous = { page, ids };
			const isSaidToEnd = saysItEnds(page, { index: index - 1, read }, lastWasWrong);
			wasEmpty = ids.length === 0;
			const ahead = lastIndexExpected(page, { index, pageLength, limit });
			const answer = await feed.at(index, ahead).catch((thrown: unknown) => {
				if (isSaidToEnd && mayRefusePage(thrown)) return undefined;
				throw thrown;
			});
			pastEnd = answer === undefined;
			page = answer ?? { content: [] };
			ids = identitiesOf(source, page);
			stalePages = ids.every((id) => seen.has(id)) ? stalePages + 1 : 0;
			lastWasWrong ||= previous.page.last === true && stalePages === 0;
			if (stalePages > 0 && ids.length > 0) {
				const total = page.totalElements;
				const twin = areSame(ids, firstIds) ? 0 : areSame(ids, previous.ids) ? index - 1 : undefined;
				if (total !== undefined && seen.size >= total) {
					pastEnd = true;
				} else if (twin !== undefined && (await feed.stillHolds(ids, index, twin))) {
					// A server that ignores the page parameter does so from its second page on.
					pastEnd = total === undefined && (index > 1 || isSaidToEnd);
					if (!pastEnd) throw repeats(index, twin);
				} else if (stalePages > MOST_STALE_PAGES && read > 2 * seen.size) {
					// A list that was re-ordered behind the walk brings what is known, too, but not for twice its length.
					throw repeats(index, index - 1);
				}
			}
		}
		read += ids.length;
		const fresh = takeFresh(page.content, ids, seen);
		const full = ids.length >= pageLength;
		const atEnd =
			pastEnd ||
			seen.size >= limit ||
			!expectsMore(page, { index, read, full }) ||
			(ids.length === 0 && wasEmpty);
		if (atEnd) await feed.atRest();
		const { firstPageNumber, totalMoved } = feed;
		yield { index, page, ids, fresh, pastEnd, size, firstPageNumber, totalMoved };
		if (atEnd) return;
	}
	throw endless();
}

/** The first page at the largest size that the server accepts. */
export async function fetchFirstPage<T>(
	source: PageSource<T>,
	[size, ...smaller]: WalkOptions['sizes'],
): Promise<{ size: number; page: Page<T> }> {
	const attempt = async (asked: number) => ({
		size: asked,
		page: await source.fetchPage(undefined, asked),
	});
	const outcome = await attempt(size).catch((failure: unknown) => ({ failure }));
	if (!('failure' in outcome)) return outcome;
	if (!mayRefuseSize(outcome.failure)) throw outcome.failure;
	for (const next of smaller) {
		const other = await attempt(next).catch((failure: unknown) => ({ failure }));
		if (!('failure' in other)) return other;
		if (!mayRefuseSize(other.failure)) throw other.failure;
	}
	// Every size was refused, so it was not the size: the first refusal tells more than the last.
	throw outcome.failure;
}

/** The highest index that is worth fetching ahead, from the newest page's metadata. */
function lastIndexExpected<T>(
	page: Page<T>,
	{ index, pageLength, limit }: { index: number; pageLength: number; limit: number },
): number {
	const byTotal = Math.ceil((page.totalElements ?? 0) / pageLength) - 1;
	const byPages = (page.totalPages ?? 0) - 1;
	const byLimit = Math.ceil(limit / pageLength) - 1;
	return Math.max(index, Math.min(Math.max(byTotal, byPages), byLimit));
}

/** Takes the items whose identity is new, and remembers it. */
function takeFresh<T>(content: readonly T[], ids: readonly string[], seen: Set<string>): T[] {
	return content.filter((_, position) => {
		const id = ids[position];
		if (id === undefined || seen.has(id)) return false;
		seen.add(id);
		return true;
	});
}

function repeats(index: number, twin: number): Failure {
	return new Failure({
		kind: 'paging',
		cause: 'platform',
		message: `The platform answers page ${index + 1} of the list with the devices of page ${twin + 1}`,
		remedy:
			"It seems to ignore the page parameter, so the list can't be read to its end and none of it is returned. Set 'Page Size' under 'Options' to more than the number of devices, or ask who administers the platform.",
	});
}

function endless(): Failure {
	return new Failure({
		kind: 'paging',
		cause: 'platform',
		message: `The list did not end after ${MOST_ITEMS} devices or ${MOST_PAGES} pages`,
		remedy: "Use 'Filters' to ask for less, or ask who administers the platform.",
	});
}
