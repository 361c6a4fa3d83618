import type { PageSource } from './page';
import { RepeatedPage, type Walked, walkPages, type WalkOptions } from './walk';

export interface Listing<K> {
	/** What was kept of each item, in the server's order. Unless settled, those of the last reading. */
	items: K[];
	/** Whether the list is whole: a reading counts to the total, or two readings without a repeated item agree. */
	settled: boolean;
	/** The server's own total. */
	reportedTotal: number | undefined;
	readings: number;
}

export interface ListOptions<T, K> extends Omit<WalkOptions, 'byId'> {
	/** Returns what to keep of an item, so that the rest leaves the memory. */
	keep: (item: T) => K;
	/** Which readings have the ID as the last field of the sort order: those after a change or a repeated item, all, or none. */
	byId?: 'after trouble' | 'always' | 'never' | undefined;
}

const READINGS = 3;

/**
 * Reads a paged list (section 1.2 of the API document) to its end, or `limit` items after the first `skip` ones. A reading is whole if it
 * counts to the total, the total stayed, and no page repeated an item. Otherwise the list is read again, in up to three readings. If it
 * changed, or pages repeated items, because equal sort values may have no order, the next reading sorts by ID last. If only the total is
 * missing or wrong, two readings have to agree.
 * @throws Failure `paging` if the last reading came to an earlier page again, or the list has no end; and what `fetchPage` throws
 */
export async function readList<T, K>(source: PageSource<T>, options: ListOptions<T, K>): Promise<Listing<K>> {
	let byId = options.byId === 'always';
	let before: Reading<K> | undefined;
	for (let readings = 1; ; readings++) {
		const isLast = readings === READINGS;
		const reading = await readOnce(source, { ...options, byId }).catch((thrown: unknown) => {
			if (isLast || !(thrown instanceof RepeatedPage)) throw thrown;
			return undefined;
		});
		const settled =
			reading?.isWhole === true || (reading !== undefined && before !== undefined && agree(before, reading));
		if (reading !== undefined && (settled || isLast)) {
			return { items: reading.items.slice(0, options.limit), settled, reportedTotal: reading.total, readings };
		}
		byId ||= options.byId === 'after trouble' && reading?.isSteady !== true;
		before = reading;
	}
}

export type Reading<K> = Pick<Walked<unknown>, 'total' | 'pages' | 'isSteady' | 'isWhole'> & { items: K[] };

/** Reads a list once. */
export async function readOnce<T, K>(
	source: PageSource<T>,
	{ keep, ...options }: WalkOptions & { keep: (item: T) => K },
): Promise<Reading<K>> {
	const items: K[] = [];
	let reading: Reading<K> = { items, total: undefined, pages: new Set(), isSteady: true, isWhole: false };
	for await (const { fresh, ...walked } of walkPages(source, options)) {
		for (const item of fresh) items.push(keep(item));
		reading = { ...walked, items };
	}
	return reading;
}

/** Whether two readings, in which no change showed, have the same items in the same order, and the same total. */
function agree(one: Reading<unknown>, other: Reading<unknown>): boolean {
	const isSame = one.total === other.total && [...one.pages].join() === [...other.pages].join();
	return one.isSteady && other.isSteady && isSame;
}
