import { areSame, type PageSource } from './page';
import { isTooLarge, readById, sizesAfter } from './refusal';
import { RepeatedPages, type WalkedPage, walkPages, type WalkOptions } from './walk';

export interface Listing<T> {
	/** Each item once: those of the last pass in the server's order; unless settled, also those of earlier passes, but not rows. */
	items: T[];
	/** Whether the passes show that the list is whole: the last one was steady, or two of them agree. */
	settled: boolean;
	/** Whether pages repeated items although the total stayed: items with equal sort values may have no order. */
	tied: boolean;
	/** The server's own total, from the last page. A settled list that was read to its end is complete if it has as many items. */
	reportedTotal: number | undefined;
	passes: number;
}

export interface ListOptions extends WalkOptions {
	/** Whether to add the ID to the sort order from the start, because the order of the items doesn't matter. */
	byId?: boolean;
}

const PASSES = 3;

/**
 * Reads a paged list (section 1.2 of the API document) to its end, or `limit` items after the first `skip` ones. One pass is
 * enough if the total stayed the same, no item appeared twice and the count equals the total. Otherwise, or without a total
 * for several pages, it reads the list again, in up to three passes, the third page by page. If pages repeat items although the total
 * stays, items may have equal sort values and no order: the next pass adds the ID to the sort order. If the list is not whole
 * after three passes, it is returned as not settled.
 * @throws Failure `paging` if all three passes repeat pages and the ID was not refused, or the list has no end; and what `fetchPage` throws
 */
export async function fetchList<T>(source: PageSource<T>, options: ListOptions): Promise<Listing<T>> {
	let previous: Pass<T> | undefined;
	let seen = new Map<string, T>();
	const sharing = new Set<string>();
	const { skip = 0, limit = Infinity } = options;
	let { byId = false } = options;
	const isOfRows = source.countsRows === true;
	let [tied, voidPasses] = [false, 0];
	for (let passes = 1; ; passes++) {
		const isLast = passes === PASSES;
		// Two passes that repeat the same items in pages of different length show that the server lists these twice.
		const sizes = isLast && previous && repeats(previous) ? sizesBelow(previous.pageLength, options) : undefined;
		const parallelRequests = isLast ? 1 : options.parallelRequests;
		const fetch = async (list: PageSource<T>) =>
			await fetchPass(list, { ...options, ...sizes, parallelRequests, sharing }, passes === 1 || (isLast && isOfRows));
		const pass = byId ? await readById(source, fetch, async () => await fetch(source)) : await fetch(source);
		const settled = pass.steady || (previous !== undefined && agree(source, previous, pass, { skip, limit }));
		// Without the ID, equal sort values may repeat pages. A server that ignores page numbers lists only one page.
		const mayBeTied = source.idOrder?.isRefused() === true && pass.distinct > pass.pageLength;
		if (pass.voidedBy !== undefined && ++voidPasses === PASSES && !mayBeTied) throw pass.voidedBy;
		if (!settled && !isOfRows) seen = union(source, pass.items, seen);
		tied ||= !isOfRows && isTied(pass);
		if (settled || isLast) {
			const items = (settled || isOfRows ? pass.items : [...seen.values()]).slice(0, limit);
			return { items, settled, tied, reportedTotal: pass.reportedTotal, passes };
		}
		// The ID must not replace the platform's own order of the first items, or that of a part.
		const { voidedBy, distinct, reportedTotal = voidedBy ? Infinity : distinct + 1 } = pass;
		byId ||= tied && skip === 0 && (source.idOrder?.isOnly === false || reportedTotal <= limit);
		previous = pass;
	}
}

interface Pass<T> extends Omit<WalkedPage<T>, 'newItems'> {
	items: T[];
	/** Number of items of the first page. */
	pageLength: number;
	/** Whether the first page has fewer items than requested. */
	isShort: boolean;
	/** Why the pass ended early. Its items are then not the whole list. */
	voidedBy?: RepeatedPages;
}

async function fetchPass<T>(source: PageSource<T>, options: WalkOptions, trustsNumbers: boolean): Promise<Pass<T>> {
	const { pageSize, skip = 0, limit = Infinity } = options;
	const start = {
		pageLength: 0,
		isShort: false,
		read: 0,
		distinct: 0,
		reportedTotal: undefined,
		moved: false,
		steady: false,
	};
	const pass: Pass<T> = { ...start, items: [] };
	const read = async () => {
		for await (const { newItems, ...page } of walkPages(source, options, trustsNumbers)) {
			for (const item of newItems) pass.items.push(item);
			const pageLength = pass.pageLength || page.read;
			Object.assign(pass, page, { pageLength, isShort: pageLength < Math.min(pageSize, skip + limit) });
		}
		return pass;
	};
	return await read().catch(async (thrown: unknown) => {
		// Again, in smaller pages.
		if (isTooLarge(thrown) && source.lists) return await fetchPass(source, options, trustsNumbers);
		if (!(thrown instanceof RepeatedPages)) throw thrown;
		return Object.assign(pass, { moved: true, steady: false, voidedBy: thrown });
	});
}

/** Returns the next smaller page size, then others for a server that refuses it. */
function sizesBelow(pageLength: number, { pageSize }: WalkOptions) {
	const smaller = Math.max(1, pageLength - 1);
	return { pageSize: smaller, otherSizes: [...sizesAfter(smaller, smaller), pageSize] };
}

/** Whether a pass that was read to its end has an item twice. In a list of one page that is not full, no other item is missing for it. */
function repeats({ read, distinct, pageLength, isShort, voidedBy }: Pass<unknown>): boolean {
	return voidedBy === undefined && read > distinct && (read > pageLength || !isShort);
}

/**
 * Whether a pass repeated items, while others may be missing and the total stayed: items with equal sort values may have no order. An
 * item that is skipped always leaves one that repeats, because the items of one value are read to the end.
 */
function isTied(pass: Pass<unknown>): boolean {
	const { distinct, reportedTotal = Infinity, moved, voidedBy } = pass;
	return voidedBy !== undefined || (repeats(pass) && distinct < reportedTotal && !moved);
}

/** Whether two passes have the same items up to the limit, order and total; if they repeat items, in pages of different length. */
function agree<T>(
	source: PageSource<T>,
	one: Pass<T>,
	other: Pass<T>,
	{ skip, limit }: { skip: number; limit: number },
): boolean {
	if (one.moved || other.moved || one.reportedTotal !== other.reportedTotal) return false;
	const upTo = skip + limit;
	if (Math.min(one.read, upTo) !== Math.min(other.read, upTo)) return false;
	if (repeats(other) && one.pageLength === other.pageLength) return false;
	return areSame(source.identify, one.items.slice(0, limit), other.items.slice(0, limit));
}

/** Returns the items of a pass, then the items that only earlier passes had. */
function union<T>(source: PageSource<T>, items: readonly T[], before: ReadonlyMap<string, T>): Map<string, T> {
	const all = new Map(items.map((item) => [source.identify(item), item]));
	for (const [id, item] of before) if (!all.has(id)) all.set(id, item);
	return all;
}
