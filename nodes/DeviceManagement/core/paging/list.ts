import { createHash } from 'crypto';

import { RepeatedPage } from './end';
import type { PageSource } from './page';
import { type Walked, walkPages, type WalkOptions } from './walk';

/** Search engines behind a platform often list no more items, and say this as the total. */
export const LIST_CAP = 10_000;

export interface Listing<K> {
	/** What was kept of each item, once, in the server's order. Unless settled, those of the last reading. */
	items: K[];
	/** Whether the list is whole: a reading was whole, or two agreed. */
	settled: boolean;
	/** The server's own total. A settled list that was read to its end is complete if it has as many items. */
	reportedTotal: number | undefined;
}

export interface ListOptions<T, K> extends Omit<WalkOptions, 'byId' | 'notOfLength' | 'trustsNumbers'> {
	/** Returns what to keep of an item, so that the rest leaves the memory. */
	keep: (item: T) => K;
	/** Which readings sort by ID last: all, or those after a moved total or a repeated item, 'uncut' if the limit leaves nothing out; default: none. */
	byId?: 'always' | 'if unsteady' | 'if unsteady and uncut' | undefined;
}

const ATTEMPTS = 3;

/**
 * Reads a paged list (section 1.2 of the API document) to its end, or `limit` items after the first `skip` ones: up to three times, until a
 * reading is whole or two agree. A reading is whole if it counts to the total, the total stayed, and no page repeated an item. Items are
 * repeated because the list changes, equal sort values have no order, or it has them twice.
 * @throws Failure `paging` if the last reading came to an earlier page again, or the list has no end; and what `fetchPage` throws
 */
export async function readList<T, K>(source: PageSource<T>, options: ListOptions<T, K>): Promise<Listing<K>> {
	const { skip = 0, limit = Infinity } = options;
	let byId = options.byId === 'always';
	let before: Reading<K> | undefined;
	for (let attempt = 1; ; attempt++) {
		const isLast = attempt === ATTEMPTS;
		// In pages of another length, other items would be repeated, unless the server lists these twice.
		const notOfLength = isLast && before?.repeated ? before.pageLength : undefined;
		// Only page 1 shows that the numbers which pages say are wrong; while the list changes, it isn't the first page.
		const walk = { ...options, byId, notOfLength, trustsNumbers: attempt !== 2 };
		const reading = await readOnce(source, walk).catch((thrown: unknown) => {
			if (isLast || !(thrown instanceof RepeatedPage)) throw thrown;
			return undefined;
		});
		const settled = reading?.isWhole === true || agree(before, reading, skip + limit);
		if (reading !== undefined && (settled || isLast)) {
			return { items: reading.items, settled, reportedTotal: reading.total };
		}
		const isUnsteady = reading?.repeated !== 0 || reading.moved;
		const isUncut = (reading?.total ?? Infinity) <= limit;
		byId ||= isUnsteady && (options.byId === 'if unsteady' || (options.byId === 'if unsteady and uncut' && isUncut));
		before = reading;
	}
}

async function readOnce<T, K>(source: PageSource<T>, { keep, ...options }: WalkOptions & { keep: (item: T) => K }) {
	const items: K[] = [];
	let pageLength: number | undefined;
	const nothing = { read: 0, total: undefined, repeated: 0, moved: false, isWhole: false };
	let latest: Omit<Walked<T>, 'fresh'> = { ...nothing, digest: createHash('sha256') };
	for await (const { fresh, ...walked } of walkPages(source, options)) {
		for (const item of fresh) items.push(keep(item));
		pageLength ??= walked.read;
		latest = walked;
	}
	return { ...latest, items, digest: latest.digest.digest('base64'), pageLength };
}

type Reading<K> = Awaited<ReturnType<typeof readOnce<unknown, K>>>;

/** Whether two readings have the same items `upTo` the limit, in the same order; if they repeat items, in pages of different length. */
function agree(one: Reading<unknown> | undefined, other: Reading<unknown> | undefined, upTo: number): boolean {
	if (one === undefined || other === undefined || one.moved || other.moved) return false;
	if (other.repeated > 0 && one.pageLength === other.pageLength) return false;
	const isSame = one.digest === other.digest && one.total === other.total;
	return isSame && Math.min(one.read, upTo) === Math.min(other.read, upTo);
}
