import { areSame, type PageSource } from './page';
import { isTooLarge } from './refusal';
import { RepeatedPages, type WalkedPage, walkPages, type WalkOptions } from './walk';

export interface Listing<T> {
	/** Each item once: those of the last pass in the server's order; unless settled, also those of earlier passes. */
	items: T[];
	/** Whether the passes show that the list did not change: the last one was steady, or enough of them in a row are equal. */
	settled: boolean;
	/** The server's own total, from the last page. A settled list that was read to its end is complete if it has as many items. */
	reportedTotal: number | undefined;
	/** How many items of the last pass had the identity of an earlier one. */
	repeated: number;
	passes: number;
}

const PASSES = 3;

/**
 * Reads a paged list (section 1.2 of the API document) to its end, or `limit` items after the first `skip` ones. One pass is
 * enough if the total stayed the same, no item appeared twice and the count equals the total. Otherwise, or without a total
 * for several pages, it reads the list again, in up to three passes, the third page by page. If the list changes in all three, it is returned as not settled.
 * @throws Failure `paging` if all three passes repeat pages, or the list has no end; and what `fetchPage` throws
 */
export async function fetchList<T>(source: PageSource<T>, options: WalkOptions): Promise<Listing<T>> {
	let previous: Pass<T> | undefined;
	let [agreements, voidPasses] = [0, 0];
	let seen = new Map<string, T>();
	const sharing = new Set<string>();
	for (let passes = 1; ; passes++) {
		const parallelRequests = passes < PASSES ? options.parallelRequests : 1;
		const pass: Pass<T> = await fetchPass(source, { ...options, parallelRequests, sharing }, passes === 1);
		agreements = previous !== undefined && agree(source, previous, pass) ? agreements + 1 : 0;
		// Two equal passes mean that the total is wrong or missing, and the list did not change. If an item appeared twice, it takes three
		// equal passes: the server may list it twice, or it may have moved.
		const settled = pass.steady || agreements >= (pass.read > pass.distinct ? 2 : 1);
		if (pass.voidedBy !== undefined && ++voidPasses === PASSES) throw pass.voidedBy;
		if (!settled) seen = union(source, pass.items, seen);
		if (settled || passes === PASSES) {
			const items = settled ? pass.items : [...seen.values()];
			const { reportedTotal, read, distinct } = pass;
			return { items: items.slice(0, options.limit), settled, reportedTotal, repeated: read - distinct, passes };
		}
		previous = pass;
	}
}

interface Pass<T> extends Omit<WalkedPage<T>, 'newItems'> {
	items: T[];
	/** Why the pass ended early. Its items are then not the whole list. */
	voidedBy?: RepeatedPages;
}

async function fetchPass<T>(source: PageSource<T>, options: WalkOptions, trustsNumbers: boolean): Promise<Pass<T>> {
	const pass: Pass<T> = { items: [], read: 0, distinct: 0, reportedTotal: undefined, moved: false, steady: false };
	const read = async () => {
		for await (const { newItems, ...page } of walkPages(source, options, trustsNumbers)) {
			for (const item of newItems) pass.items.push(item);
			Object.assign(pass, page);
		}
		return pass;
	};
	return await read().catch(async (thrown: unknown) => {
		// Again, in smaller pages.
		if (isTooLarge(thrown) && source.largestPage) return await fetchPass(source, options, trustsNumbers);
		if (!(thrown instanceof RepeatedPages)) throw thrown;
		return Object.assign(pass, { moved: true, steady: false, voidedBy: thrown });
	});
}

/** Whether two passes have the same items, order and total. */
function agree<T>(source: PageSource<T>, one: Pass<T>, other: Pass<T>): boolean {
	if (one.moved || other.moved || one.read !== other.read || one.reportedTotal !== other.reportedTotal) return false;
	return areSame(source.identify, one.items, other.items);
}

/** Returns the items of a pass, then the items that only earlier passes had. */
function union<T>(source: PageSource<T>, items: readonly T[], before: ReadonlyMap<string, T>): Map<string, T> {
	const all = new Map(items.map((item) => [source.identify(item), item]));
	for (const [id, item] of before) if (!all.has(id)) all.set(id, item);
	return all;
}
