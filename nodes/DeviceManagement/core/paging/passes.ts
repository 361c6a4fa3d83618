import { areSame, type PageSource } from './page';
import { readById } from './refusal';
import { PageSizes } from './sizes';
import { RepeatedPages } from './tally';
import { type WalkedPage, walkPages, type WalkOptions } from './walk';

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

export interface ListOptions extends Omit<WalkOptions, 'sizes'> {
	pageSize: number;
	/** Default: up to `pageSize`, and fewer if `skip` and `limit` need fewer. */
	sizes?: PageSizes;
	/** Whether to add the ID to the sort order from the start, because the order of the items doesn't matter. */
	byId?: boolean;
}

const PASSES = 3;

/**
 * Reads a paged list (section 1.2 of the API document) to its end, or `limit` items after the first `skip` ones. One pass is enough if the
 * total stayed, no item appeared twice and the count equals the total. Otherwise, or without a total for several pages, it reads the list
 * again, in up to three passes, the third page by page. If pages repeat items although the total stays, items may have equal sort values
 * and no order: the next pass adds the ID to the sort order. After three passes, the list is returned as not settled.
 * @throws Failure `paging` if all three passes repeat pages and the ID was not refused, or the list has no end; and what `fetchPage` throws
 */
export async function fetchList<T>(source: PageSource<T>, options: ListOptions): Promise<Listing<T>> {
	let previous: Pass<T> | undefined;
	let items: readonly T[] = [];
	const sharing = new Set<string>();
	const { countsRows = false } = source;
	const { pageSize, skip = 0, limit = Infinity } = options;
	const { sizes: usual = new PageSizes(skip + limit, pageSize) } = options;
	let { byId = false } = options;
	let [tied, voidPasses] = [false, 0];
	for (let passes = 1; ; passes++) {
		const isLast = passes === PASSES;
		// Two passes that repeat the same items in pages of different length show that the server lists these twice.
		const sizes = isLast && previous && repeats(previous) ? usual.otherThan(previous.pageLength) : usual;
		const parallelRequests = isLast ? 1 : options.parallelRequests;
		// Rows that change make page 1 differ from the first page, which looks like a list that counts from 0.
		const trustsNumbers = passes === 1 || (isLast && countsRows);
		const fetch = async (list: PageSource<T>) =>
			await fetchPass(list, { ...options, sizes, parallelRequests, trustsNumbers, sharing });
		const pass = byId ? await readById(source, fetch) : await fetch(source);
		const settled = (pass.steady && !pass.moved) || (previous !== undefined && agree(source, previous, pass, options));
		// Without the ID, equal sort values may repeat pages. A server that ignores page numbers lists only one page.
		const mayBeTied = source.idOrder?.isRefused() === true && pass.distinct > pass.pageLength;
		if (pass.voidedBy !== undefined && ++voidPasses === PASSES && !mayBeTied) throw pass.voidedBy;
		items = settled || countsRows ? pass.items : union(source, pass.items, items);
		tied ||= !countsRows && isTied(pass);
		if (settled || isLast) {
			return { items: items.slice(0, limit), settled, tied, reportedTotal: pass.reportedTotal, passes };
		}
		// The ID must not replace the platform's own order of the first items, or that of a part.
		const { voidedBy, distinct, reportedTotal = voidedBy ? Infinity : distinct + 1 } = pass;
		byId ||= tied && skip === 0 && (source.idOrder?.isOnly === false || reportedTotal <= limit);
		previous = pass;
	}
}

interface Pass<T> extends Omit<WalkedPage<T>, 'newItems'> {
	items: T[];
	/** Number of items of the first page, and how many of them were requested. */
	pageLength: number;
	requested: number;
	/** Why the pass ended early. Its items are then not the whole list. */
	voidedBy?: RepeatedPages;
}

async function fetchPass<T>(source: PageSource<T>, options: WalkOptions): Promise<Pass<T>> {
	const nothing = { read: 0, distinct: 0, reportedTotal: undefined, moved: false, steady: false };
	const pass: Pass<T> = { ...nothing, items: [], pageLength: 0, requested: options.sizes.wanted };
	const read = async () => {
		for await (const { newItems, ...page } of walkPages(source, options)) {
			for (const item of newItems) pass.items.push(item);
			Object.assign(pass, page, { pageLength: pass.pageLength || page.read });
		}
	};
	await read().catch((thrown: unknown) => {
		if (!(thrown instanceof RepeatedPages)) throw thrown;
		Object.assign(pass, { moved: true, voidedBy: thrown });
	});
	return pass;
}

/** Whether a pass that was read to its end has an item twice. In a list of one page that is not full, no other item is missing for it. */
function repeats({ read, distinct, pageLength, requested, voidedBy }: Pass<unknown>): boolean {
	return voidedBy === undefined && read > distinct && (read > pageLength || pageLength >= requested);
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
function agree<T>(source: PageSource<T>, one: Pass<T>, other: Pass<T>, { skip = 0, limit = Infinity }: ListOptions) {
	if (one.moved || other.moved || one.reportedTotal !== other.reportedTotal) return false;
	const upTo = skip + limit;
	if (Math.min(one.read, upTo) !== Math.min(other.read, upTo)) return false;
	if (repeats(other) && one.pageLength === other.pageLength) return false;
	return areSame(source.identify, one.items.slice(0, limit), other.items.slice(0, limit));
}

/** Returns the items of a pass, then the items that only earlier passes had. */
function union<T>({ identify }: PageSource<T>, items: readonly T[], before: readonly T[]): T[] {
	const ids = new Set(items.map(identify));
	return [...items, ...before.filter((item) => !ids.has(identify(item)))];
}
