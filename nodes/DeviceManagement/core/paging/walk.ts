/**
 * Walks the pages of a list once, in the server's order, and yields each page's new items with what is known of the list. It
 * fetches ahead, and ends where the metadata, empty pages or a refusal show the end. It doesn't find out whether the list changed.
 */
import { Failure } from '../failure';
import { whatFollows } from './end';
import { PageFeed } from './feed';
import type { Page, PageSource } from './page';
import { mayRefuse, sizesAfter, undefinedIfPageRefused } from './refusal';

export interface WalkOptions {
	/** Items per request; fewer if `skip` and `limit` need fewer. */
	pageSize: number;
	/** Page sizes to try if the server refuses that one; default: {@link sizesAfter} it, up to `pageSize`. */
	otherSizes?: readonly number[];
	/** Length of a first page for which the next size is tried, too, because the server may replace sizes that it doesn't accept. */
	notOfLength?: number;
	/** Most requests at the same time. */
	parallelRequests: number;
	/** How many items to skip at the beginning; default: none. An item that the server lists twice counts twice. */
	skip?: number;
	/** How many items to read after those, in the server's order; undefined for all. */
	limit?: number | undefined;
	/** Whether to learn the numbering from the `number` of page 2; default: yes. */
	trustsNumbers?: boolean;
	/** Items that had another item's ID in an earlier walk: the platform gave it to both. The walk adds those that it finds. */
	sharing?: Set<string>;
}

/** One page of a walk. It may be empty, most likely the last one. */
export interface WalkedPage<T> {
	/** Items that no earlier page of the walk had, without those to skip. */
	newItems: T[];
	/** How many items each request asks for. */
	size: number;
	/** Number of items so far, with those to skip: repeated ones included, and each item once. */
	read: number;
	distinct: number;
	/** The list's total, from the latest page with items. */
	reportedTotal: number | undefined;
	/** Whether the total has changed since the first page. */
	moved: boolean;
	/** Whether this walk alone shows that the list did not change, if it ends here: one total, each item and ID once, the right count. */
	steady: boolean;
}

/** Stops a walk if the server's list has no end. */
const MAX_PAGES = 100_000;
const MAX_ITEMS = 2_000_000;

/**
 * Walks the pages of a list (section 1.2 of the API document). It ends at a page whose metadata says so, at an empty page (the
 * second or the 100th in a row if the metadata says that more follows), or at a page past the end that is refused or has nothing new.
 * @throws RepeatedPages at the second page before the end that has nothing new; Failure `paging` for a list without an end;
 * and what `fetchPage` throws
 */
export async function* walkPages<T>(source: PageSource<T>, options: WalkOptions): AsyncGenerator<WalkedPage<T>> {
	const { skip = 0, limit = Infinity, sharing = new Set() } = options;
	const { size, page: first } = await fetchFirstPage(source, options);
	const feed = new PageFeed(source, first, { ...options, size });
	// The first page counts as full: the server may return fewer items than requested.
	const pageLength = first.content.length || first.size || size;
	const seen = new Map<string, string>();
	let [page, before] = [first, first];
	let reportedTotal = first.totalElements;
	let [read, repeatedPages, emptyPages] = [0, 0, 0];
	let [expectsEnd, lastWasWrong, mayHaveMoved] = [false, false, false];
	for (let index = 0; index < MAX_PAGES && read < MAX_ITEMS; index++) {
		const next = feed.at(index, pagesExpected(page, pageLength, skip + limit));
		const response = await (expectsEnd ? next.catch(undefinedIfPageRefused) : next);
		let pastEnd = response === undefined;
		page = response ?? { content: [] };
		const { length } = page.content;
		const [known, shared] = [seen.size, sharing.size];
		const newItems = takeNew(source, page, { seen, sharing }, skip - read);
		// An item of an earlier page may have been edited and have moved.
		mayHaveMoved ||= sharing.size > shared && index > 0;
		const isRepeated = length > 0 && seen.size === known;
		if (isRepeated) {
			pastEnd = expectsEnd || seen.size >= (page.totalElements ?? Infinity);
			if (!pastEnd && ++repeatedPages === 2) throw new RepeatedPages(index);
		}
		if (!pastEnd) read += length;
		emptyPages = length === 0 ? emptyPages + 1 : 0;
		const progress = { index, read, full: length >= pageLength, lastWasWrong, emptyPages };
		const { expectsMore, mayBeLast } = whatFollows(page, progress);
		const atEnd = pastEnd || seen.size >= skip + limit || !(isRepeated || expectsMore);
		if (atEnd) await feed.waitForPages();
		if (length > 0) reportedTotal = page.totalElements ?? reportedTotal;
		// A row that changes doesn't show that its page comes again: more rows than the total do, unless the page numbers rise.
		const isOther = !isRepeated && before.content.length !== 1 && (page.number ?? 0) > (before.number ?? Infinity);
		const mayRepeat = source.countsRows === true && index > 0 && !isOther;
		if (mayRepeat && read > (reportedTotal ?? Infinity)) throw new RepeatedPages(index);
		before = page;
		// Without a total, only a list of one page is counted.
		const isCounted = first.totalElements !== undefined || index === 0 || (expectsEnd && read === first.content.length);
		const [distinct, moved] = [seen.size, feed.totalMoved];
		const isWhole = distinct >= skip + limit || distinct === (reportedTotal ?? distinct);
		const steady = isCounted && isWhole && !moved && read === distinct && !mayHaveMoved;
		yield { newItems, size, read, distinct, reportedTotal, moved, steady };
		if (atEnd) return;
		expectsEnd = !isRepeated && mayBeLast;
		lastWasWrong ||= page.last === true;
	}
	const message = `The list did not end after ${MAX_ITEMS} items or ${MAX_PAGES} pages`;
	const remedy = 'Request fewer items, or ask your platform administrator.';
	throw new Failure({ kind: 'paging', cause: 'platform', message, remedy });
}

/** Fetches the first page at the first size that the server accepts. Returns it and the size of the next ones. */
export async function fetchFirstPage<T>(
	source: PageSource<T>,
	{ pageSize, otherSizes, notOfLength, skip = 0, limit = Infinity }: Omit<WalkOptions, 'parallelRequests'>,
) {
	const wanted = Math.min(pageSize, skip + limit);
	const sizes = new Set([wanted, ...(otherSizes ?? sizesAfter(wanted, pageSize))]);
	const refusals: unknown[] = [];
	let unwanted: { size: number; page: Page<T> } | undefined;
	for (const size of sizes) {
		const page = await source.fetchPage(undefined, size).catch((thrown: unknown) => {
			if (!mayRefuse('size', thrown)) throw thrown;
			refusals.push(thrown);
		});
		if (page === undefined) continue;
		const accepted = { size: nextSize(page, size), page };
		if (page.content.length !== notOfLength) return accepted;
		unwanted ??= accepted;
	}
	if (unwanted !== undefined) return unwanted;
	// If every size was refused, the size was not the reason, and the first refusal says the most.
	throw refusals[0];
}

/** Returns the size of the other pages: a server may reduce the size, but count a page's offset by the requested one. */
function nextSize<T>({ content, size = 0, totalElements = 0, totalPages }: Page<T>, requested: number): number {
	const fits = (pageSize: number) => Math.ceil(totalElements / pageSize) === totalPages;
	if (size === 0 || size >= requested || content.length > size) return requested;
	const isFull = content.length === size && totalElements !== size;
	return isFull || (fits(size) && !fits(requested)) ? size : requested;
}

/** Returns how many pages to fetch, by the latest page's metadata. */
function pagesExpected<T>({ totalElements = 0, totalPages = 0 }: Page<T>, pageLength: number, limit: number): number {
	return Math.ceil(Math.min(Math.max(totalElements / pageLength, totalPages), limit / pageLength));
}

/** Returns a page's new items from a position on. Adds all its items to `seen`: their identities by ID. */
function takeNew<T>(
	source: PageSource<T>,
	{ content }: Page<T>,
	{ seen, sharing }: { seen: Map<string, string>; sharing: Set<string> },
	from: number,
): T[] {
	return content.filter((item, position) => {
		const [known, identity] = [seen.size, source.identify(item)];
		const id = source.idOf?.(item) ?? identity;
		const first = seen.get(id) ?? identity;
		if (first !== identity) sharing.add(first).add(identity);
		return seen.set(first === identity ? id : identity, identity).size > known && position >= from;
	});
}

/** The error of a walk that found pages with nothing new before the end of the list. */
export class RepeatedPages extends Failure {
	constructor(index: number) {
		super({
			kind: 'paging',
			cause: 'platform',
			message: `Page ${index + 1} of the list has only items of earlier pages`,
			remedy:
				"The list can't be read to its end, so none of it is returned. If the list changes often, run the node again. If many items have the same sort value, sort by a field with different values. If the platform ignores the page number, set 'Page Size' under 'Options' to more than the number of items.",
		});
	}
}
