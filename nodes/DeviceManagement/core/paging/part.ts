import { type Listing, fetchList } from './passes';
import { type FirstPageNumber, learnNumbering } from './numbering';
import type { PageSource } from './page';
import { undefinedIfPageRefused } from './refusal';
import { fetchFirstPage, type WalkOptions } from './walk';

/**
 * Reads up to `limit` items of a paged list, after the first `skip` ones. The first page shows how long pages are. Three
 * requests for one item each show the numbering and the first item of the part's first page. If they don't fit together, it
 * reads the list from its beginning. Parts have no gap or overlap unless the list changes between them.
 * @throws Failure as `fetchList` does
 */
export async function fetchPart<T>(
	source: PageSource<T>,
	options: WalkOptions & { skip: number },
): Promise<Listing<T>> {
	const start = await findStart(source, options);
	if (start === undefined) return await fetchList(source, options);
	if ('total' in start) return { items: [], settled: true, tied: false, reportedTotal: start.total, passes: 1 };
	const before = start.index * start.pageLength;
	const part = { ...options, skip: options.skip - before, pageSize: start.size, otherSizes: [] };
	const listing = await fetchList(pagesFrom(source, start), part).catch((thrown: unknown) => {
		if (!(thrown instanceof PageMismatch)) throw thrown;
	});
	if (listing === undefined) return await fetchList(source, options);
	return { ...listing, reportedTotal: before + (listing.reportedTotal ?? 0) };
}

/** The page that a part begins on. */
interface Start {
	index: number;
	/** The size to request, and the number of items that a full page really has. */
	size: number;
	pageLength: number;
	firstPageNumber: FirstPageNumber;
	/** Identity of the page's first item. */
	anchor: string;
}

/** Returns the page to begin on; the total if the list ends before the part; undefined if the responses don't fit together. */
async function findStart<T>(
	source: PageSource<T>,
	{ skip, ...options }: WalkOptions & { skip: number },
): Promise<Start | { total: number } | undefined> {
	if (skip < Math.min(options.pageSize, options.limit ?? Infinity)) return undefined;
	const { size, page } = await fetchFirstPage(source, options);
	const { content, totalElements: total = 0 } = page;
	const [first, pageLength] = [content[0], content.length];
	// If the part begins on the first page, no numbering is needed.
	if (first === undefined || skip < pageLength || total <= pageLength) return undefined;
	const index = Math.floor(skip / pageLength);
	const position = skip < total ? index * pageLength : total - 1;
	// No server shortens a page of one item.
	const single = async (parameter: number | undefined) => await source.fetchPage(parameter, 1);
	// A server may refuse a page as small as that.
	const firstPageNumber = await learnNumbering(source.identify, undefined, single).catch(undefinedIfPageRefused);
	if (firstPageNumber === undefined) return undefined;
	const found = await single(firstPageNumber + position).catch(undefinedIfPageRefused);
	const [item, ...others] = found?.content ?? [];
	const isLast = position === total - 1;
	// If total, page count and `last` agree with the position, this is the right item.
	const agrees = found?.totalElements === total && found.totalPages === total && found.last === isLast;
	if (!agrees || item === undefined || others.length > 0) return undefined;
	if (skip >= total) return { total };
	const anchor = source.identify(item);
	// The first item again means that the server ignores page numbers. Past the end, a server may repeat the last item.
	if (anchor === source.identify(first) || (isLast && found.pageable?.offset !== position)) return undefined;
	return { index, size, pageLength, firstPageNumber, anchor };
}

/** A page with a wrong length for its position, or a wrong first item, or another size than the one that `start` is for. */
class PageMismatch extends Error {}

/** Returns a list's pages from `start` on, as a list that counts from 1. A page that doesn't fit throws PageMismatch. */
function pagesFrom<T>(source: PageSource<T>, start: Start): PageSource<T> {
	const before = start.index * start.pageLength;
	const fetchPage = async (page = 1, size: number) => {
		if (size !== start.size) throw new PageMismatch();
		const index = start.index + page - 1;
		const offset = index * start.pageLength;
		const { content, ...metadata } = await source.fetchPage(start.firstPageNumber + index, size);
		const { totalElements: total = NaN, totalPages = start.index } = metadata;
		const length = Math.min(start.pageLength, Math.max(0, total - offset));
		const begins = page > 1 || content.slice(0, 1).some((item) => source.identify(item) === start.anchor);
		if (!begins || content.length !== length || (metadata.pageable?.offset ?? offset) !== offset)
			throw new PageMismatch();
		const left = { totalElements: Math.max(0, total - before), totalPages: Math.max(0, totalPages - start.index) };
		return { ...metadata, ...left, content, number: page - 1 };
	};
	return { ...source, fetchPage, idOrder: undefined };
}
