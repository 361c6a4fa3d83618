/** Walks the pages of a list once, to its end, and says whether what it has read can be the whole list. list.ts reads it again. */
import { Failure } from '../failure';
import { End } from './end';
import { fetchFirst, type FirstPageOptions } from './firstPage';
import type { PageSource } from './page';
import { type FeedOptions, PageFeed } from './pageFeed';
import { Seen } from './seen';

/** Stop a walk if the server's list has no end. */
const [MAX_ITEMS, MAX_PAGES] = [2_000_000, 200_000];

export interface WalkOptions extends FirstPageOptions, FeedOptions {
	pageSize: number;
	/** How many items to skip at the beginning; default: none. An item that the server lists twice counts twice. */
	skip?: number;
	/** How many items to read after those, in the server's order; default: all. */
	limit?: number | undefined;
}

/** What a walk has read so far. */
export interface Walked<T> extends Pick<Seen<T>, 'digest' | 'repeated'>, Pick<End<T>, 'read' | 'total'> {
	/** The items of the latest page that no earlier page had, without those to skip. */
	fresh: T[];
	/** Whether the total has changed. */
	moved: boolean;
	/** Whether nothing is wrong, if the walk ends here: nothing is repeated, and it counts to the total or to the limit. */
	isWhole: boolean;
}

/**
 * Yields what it has read after each page of a list (section 1.2 of the API document), in the server's order.
 * @throws RepeatedPage for the second page with nothing new before the end; Failure for a list without an end; and what `fetchPage` throws
 */
export async function* walkPages<T>(source: PageSource<T>, options: WalkOptions): AsyncGenerator<Walked<T>> {
	const { pageSize, most = pageSize, skip = 0, limit = Infinity } = options;
	const { page: first, ...asked } = await fetchFirst(source, pageSize, { ...options, most });
	const list = new PageFeed(source, first, { ...options, ...asked });
	const seen = new Seen(source, skip, limit);
	const end = new End(list, source.areRows === true);
	for (let index = 0; index < MAX_PAGES && end.read < MAX_ITEMS; index++) {
		const pagesNeeded = Math.ceil(Math.min(end.total ?? 0, skip + limit) / list.pageLength);
		const page = await list.at(index, pagesNeeded).catch(end.emptyIfPast);
		const { repeated } = seen;
		const mayBePast = end.mayBePassed(repeated);
		const { fresh, isRepeated } = seen.add(page, index, end.read);
		if (isRepeated && mayBePast) {
			// Past the end, some servers send the last page, or the first one.
			seen.repeated = repeated;
			yield { ...judge(list, seen, end, true), fresh: [] };
			return;
		}
		const isLast = end.add(page, index, isRepeated);
		yield { ...judge(list, seen, end, index === 0 || mayBePast), fresh };
		if (isLast || seen.left <= 0) return;
	}
	const message = `The list didn't end after ${end.read.toLocaleString('en-US')} items`;
	const remedy = 'Request fewer items, or ask your platform administrator.';
	throw new Failure({ kind: 'paging', cause: 'platform', message, remedy });
}

/** Returns what a walk has read, and judges it. `mayBeOnePage`: the page is the first one, or the one before may have been the last. */
function judge<T>(
	{ totals, first }: PageFeed<T>,
	{ digest, repeated, sharesId, left }: Seen<T>,
	{ read, total }: End<T>,
	mayBeOnePage: boolean,
): Omit<Walked<T>, 'fresh'> {
	const moved = totals.size > 1;
	// Without a total, only a list of one page has surely no gap, if it said so.
	const isOnePage = mayBeOnePage && read === first.content.length;
	const isCounted = total === undefined ? isOnePage : read === total || left <= 0;
	return { digest, read, total, repeated, moved, isWhole: isCounted && repeated === 0 && !moved && !sharesId };
}
