import { areSame, type PageSource } from './page';
import { RepeatedPages, walkPages, type WalkOptions } from './walk';

/** A list that was read. */
export interface Listing<T> {
	/** Each item once: those of the last pass in the server's order and, unless settled, those that only earlier ones met. */
	items: T[];
	/** Whether the list did not change while it was read. */
	settled: boolean;
	/** The server's own total, as the last page said it. */
	reportedTotal: number | undefined;
	passes: number;
}

const PASSES = 3;

/**
 * Reads a paged list (section 1.2 of the API document) to its end, or to its first `limit` items. A pass is taken as it is
 * when the total stayed the same, no item came twice and the count agrees with the total; otherwise the list is read again,
 * up to three passes, and the third page by page. It does not fail for a list that moves in all three: that is not settled.
 * @throws Failure `paging` where all three passes met pages that brought nothing new, or the list has no end; and whatever
 * `fetchPage` throws
 */
export async function readList<T>(source: PageSource<T>, options: WalkOptions): Promise<Listing<T>> {
	let previous: Pass<T> | undefined;
	let [agreements, voidPasses] = [0, 0];
	let met = new Map<string, T>();
	for (let passes = 1; ; passes++) {
		const parallelRequests = passes < PASSES ? options.parallelRequests : 1;
		const pass: Pass<T> = await readOnce(source, { ...options, parallelRequests }, passes === 1);
		agreements = previous !== undefined && agree(source, previous, pass) ? agreements + 1 : 0;
		// The same twice is a list that stands still under a wrong total. With an item that came twice it takes a third
		// pass to believe that it is listed twice, and did not move.
		const settled = isSteady(pass, options.limit) || agreements >= (pass.read > pass.items.length ? 2 : 1);
		if (pass.voidedBy !== undefined && ++voidPasses === PASSES) throw pass.voidedBy;
		if (!settled) met = union(source, pass.items, met);
		if (settled || passes === PASSES) {
			const items = settled ? pass.items : [...met.values()];
			return { items: items.slice(0, options.limit), settled, reportedTotal: pass.reportedTotal, passes };
		}
		previous = pass;
	}
}

/** What one pass over the list brought. */
interface Pass<T> {
	items: T[];
	/** How many came, those that came again included. */
	read: number;
	reportedTotal: number | undefined;
	/** Whether the total changed, or the pass was given up. */
	moved: boolean;
	/** Why the pass was given up; what it brought before is no list. */
	voidedBy?: RepeatedPages;
}

async function readOnce<T>(source: PageSource<T>, options: WalkOptions, believesNumbers: boolean): Promise<Pass<T>> {
	const pass: Pass<T> = { items: [], read: 0, reportedTotal: undefined, moved: false };
	const walk = async () => {
		for await (const { fresh, read, reportedTotal, totalMoved } of walkPages(source, options, believesNumbers)) {
			for (const item of fresh) pass.items.push(item);
			Object.assign(pass, { read, reportedTotal, moved: totalMoved });
		}
	};
	await walk().catch((thrown: unknown) => {
		if (!(thrown instanceof RepeatedPages)) throw thrown;
		Object.assign(pass, { moved: true, voidedBy: thrown });
	});
	return pass;
}

/** Whether nothing speaks for a list that moved: the total stayed the same, no item came twice, and the count is right. */
function isSteady<T>({ items: { length }, read, reportedTotal, moved }: Pass<T>, limit = Infinity): boolean {
	return !moved && read === length && (length >= limit || length === (reportedTotal ?? length));
}

/** Whether two passes brought the same items in the same order under the same total. */
function agree<T>(source: PageSource<T>, one: Pass<T>, other: Pass<T>): boolean {
	if (one.moved || other.moved || one.read !== other.read || one.reportedTotal !== other.reportedTotal) return false;
	return areSame(source.identify, one.items, other.items);
}

/** The items of a pass, and then those that were met before and not again. */
function union<T>(source: PageSource<T>, items: readonly T[], before: ReadonlyMap<string, T>): Map<string, T> {
	const all = new Map(items.map((item) => [source.identify(item), item]));
	for (const [id, item] of before) if (!all.has(id)) all.set(id, item);
	return all;
}
