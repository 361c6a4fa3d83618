import type { FirstPageNumber } from './numbering';
import { areSame, type PageSource } from './page';
import { type WalkedPage, walkPages, type WalkOptions } from './walk';

/** A list that was read. */
export interface Listing<T> {
	/** The items of the last pass, in the server's order; each once. */
	items: T[];
	/**
	 * Items that only an earlier pass or the walk backwards met, each once: they may be gone. None where the list settled;
	 * with a limit, no more than fill it.
	 */
	metOtherwise: T[];
	/** Whether the list was seen standing still. */
	settled: boolean;
	/** The server's own total, as the last page said it. */
	reportedTotal: number | undefined;
	passes: number;
}

const PASSES = 3;

/**
 * Reads a paged list (section 1.2 of the API document) to its end, or to its first `limit` items.
 *
 * A pass is taken as it is when the total stood still, no item came twice and the count agrees with the total.
 * Otherwise the list is read again, up to three passes. The third goes page by page and, if the list still moves,
 * backwards too: an item that only slides towards the end can't slip past a forward walk, and one that only slides
 * towards the start can't slip past a backward one.
 * @throws Failure `paging` for a server that answers different pages with the same items or never ends; and
 * whatever `fetchPage` throws
 */
export async function readList<T>(source: PageSource<T>, options: WalkOptions): Promise<Listing<T>> {
	let pass: Pass<T> = await walkOnce(source, options);
	let agreements = 0;
	const everSeen = new Map<string, T>();
	for (let passes = 1; ; passes++) {
		const { items, total: reportedTotal } = pass;
		// The same twice is a list that stands still under a wrong total. With an item that came twice it takes a third
		// pass to believe that it is listed twice, and did not move.
		const unchanged = agreements >= (pass.hasRepeated ? 2 : 1);
		if (isSteady(pass, options.limit) || unchanged) {
			return { items, metOtherwise: [], settled: true, reportedTotal, passes };
		}
		remember(source, everSeen, items);
		if (passes === PASSES) {
			if (options.limit === undefined) remember(source, everSeen, await readBackwards(source, pass));
			return { ...tellApart(source, items, everSeen, options.limit), settled: false, reportedTotal, passes };
		}
		const previous = pass;
		pass = await walkOnce(source, {
			...options,
			sizes: [pass.size],
			parallelRequests: passes + 1 < PASSES ? options.parallelRequests : 1,
			distrustNumbers: true,
		});
		agreements = agree(previous, pass) ? agreements + 1 : 0;
	}
}

/** What one pass over the list gave. */
interface Pass<T> {
	items: T[];
	/** The identities of all items in the order they came, repeated ones included. */
	sequence: string[];
	/** Whether an item came twice. */
	hasRepeated: boolean;
	/** The total of the last page that had items. */
	total: number | undefined;
	totalMoved: boolean;
	pages: number;
	size: number;
	firstPageNumber: FirstPageNumber | undefined;
}

async function walkOnce<T>(source: PageSource<T>, options: WalkOptions): Promise<Pass<T>> {
	const items: T[] = [];
	const sequence: string[] = [];
	let hasRepeated = false;
	let total: number | undefined;
	let pages = 0;
	let last: WalkedPage<T> | undefined;
	for await (const walked of walkPages(source, options)) {
		if (walked.index === 0 || walked.ids.length > 0) total = walked.page.totalElements ?? total;
		last = walked;
		if (walked.pastEnd) continue;
		for (const item of walked.fresh) items.push(item);
		for (const id of walked.ids) sequence.push(id);
		hasRepeated ||= walked.fresh.length < walked.ids.length;
		pages++;
	}
	return {
		items: items.slice(0, options.limit),
		sequence,
		hasRepeated,
		total,
		totalMoved: last?.totalMoved === true,
		pages,
		size: last?.size ?? options.sizes[0],
		firstPageNumber: last?.firstPageNumber,
	};
}

/** Whether nothing speaks for a list that moved: the total stood still, no item came twice, and the count is right. */
function isSteady<T>({ items, hasRepeated, total, totalMoved }: Pass<T>, limit: number | undefined): boolean {
	const complete = total === undefined || items.length === total;
	const enough = limit !== undefined && items.length >= limit;
	return !totalMoved && !hasRepeated && (complete || enough);
}

/** Whether two passes brought the same items in the same order under the same total. */
function agree<T>(one: Pass<T>, other: Pass<T>): boolean {
	return (
		!one.totalMoved &&
		!other.totalMoved &&
		one.total === other.total &&
		areSame(one.sequence, other.sequence)
	);
}

/** The pages that a pass walked, read once more from the last to the first. */
async function readBackwards<T>(
	source: PageSource<T>,
	{ pages, size, firstPageNumber }: Pass<T>,
): Promise<T[]> {
	const items: T[] = [];
	if (firstPageNumber === undefined) return items;
	for (let index = pages - 1; index >= 0; index--) {
		const page = await source.fetchPage(index === 0 ? undefined : firstPageNumber + index, size);
		for (const item of page.content) items.push(item);
	}
	return items;
}

function remember<T>(source: PageSource<T>, seen: Map<string, T>, items: readonly T[]): void {
	for (const item of items) seen.set(source.identify(item), item);
}

/** The items of the last pass as they were met last, and the rest of what any walk met. */
function tellApart<T>(
	source: PageSource<T>,
	lastPass: readonly T[],
	seen: ReadonlyMap<string, T>,
	limit: number | undefined,
): Pick<Listing<T>, 'items' | 'metOtherwise'> {
	const rest = new Map(seen);
	const items: T[] = [];
	for (const item of lastPass) {
		const id = source.identify(item);
		items.push(seen.get(id) ?? item);
		rest.delete(id);
	}
	const metOtherwise = [...rest.values()];
	return { items, metOtherwise: limit === undefined ? metOtherwise : metOtherwise.slice(0, limit - items.length) };
}
