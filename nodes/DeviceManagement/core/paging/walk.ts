/** Walks the pages of a list once. passes.ts decides what several walks say together. */
import { Failure } from '../failure';
import { PageFeed } from './feed';
import type { PageSource } from './page';
import { undefinedIfPageRefused } from './refusal';
import type { PageSizes } from './sizes';
import { Tally } from './tally';

export interface WalkOptions {
	sizes: PageSizes;
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

/** One page of a walk, see {@link Tally.add}. It may be empty, most likely the last one. */
export interface WalkedPage<T> extends ReturnType<Tally<T>['add']> {
	/** Whether the total has changed since the first page. */
	moved: boolean;
}

/** Stop a walk if the server's list has no end: pages without new items end it, too. */
const [MAX_ITEMS, MAX_PAGES] = [2_000_000, 200_000];

/**
 * Yields the pages of a list (section 1.2 of the API document) in the server's order, and fetches ahead. tally.ts decides where it ends.
 * @throws RepeatedPages as {@link Tally.add} does; Failure `paging` for a list without an end; and what `fetchPage` throws
 */
export async function* walkPages<T>(source: PageSource<T>, options: WalkOptions): AsyncGenerator<WalkedPage<T>> {
	const { sizes, skip = 0, limit = Infinity, sharing = new Set() } = options;
	const { size, page: first } = await sizes.firstPage(source);
	const feed = new PageFeed(source, first, { ...options, size });
	const tally = new Tally(source, first, { size, skip, enough: skip + limit, sharing });
	let index = 0;
	for (; index < MAX_PAGES && tally.read < MAX_ITEMS; index++) {
		const next = feed.at(index, tally.pagesExpected);
		const page = tally.add(await (tally.expectsEnd ? next.catch(undefinedIfPageRefused) : next));
		if (tally.isAtEnd) await feed.waitForPages();
		yield { ...page, moved: feed.totalMoved };
		if (tally.isAtEnd) return;
	}
	const message = `The list did not end after ${tally.read} items on ${index} pages`;
	const remedy = 'Request fewer items, or ask your platform administrator.';
	throw new Failure({ kind: 'paging', cause: 'platform', message, remedy });
}
