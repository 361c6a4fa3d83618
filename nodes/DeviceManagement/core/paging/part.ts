import { type Listing, type ListOptions, fetchList } from './passes';
import { learnNumbering } from './numbering';
import type { PageSource } from './page';
import { undefinedIfPageRefused } from './refusal';
import { PageSizes } from './sizes';

type PartOptions = Omit<ListOptions, 'byId' | 'sizes'> & { skip: number };

/**
 * Reads up to `limit` items of a paged list, after the first `skip` ones. The first page shows how long pages are. Three
 * requests for one item each show the numbering and the first item of the part's first page. If they don't fit together, it
 * reads the list from its beginning. Parts have no gap or overlap unless the list changes between them.
 * @throws Failure as `fetchList` does
 */
export async function fetchPart<T>(source: PageSource<T>, options: PartOptions): Promise<Listing<T>> {
	return await fetchAlone(source, options).catch(async (thrown: unknown) => {
		if (!(thrown instanceof NotAlone)) throw thrown;
		return await fetchList(source, options);
	});
}

/** The part can't be read without the pages before it: it begins on the first page, or the responses don't fit together. */
class NotAlone extends Error {}

/** Reads a part without the pages before it. Throws NotAlone. */
async function fetchAlone<T>(source: PageSource<T>, { skip, ...options }: PartOptions): Promise<Listing<T>> {
	const sizes = new PageSizes(options.limit ?? Infinity, options.pageSize);
	if (skip < sizes.wanted) throw new NotAlone();
	const { size: pageSize, page } = await sizes.firstPage(source);
	const { totalElements: listed = 0 } = page;
	const [first, pageLength] = [page.content[0], page.content.length];
	if (first === undefined || skip < pageLength || listed <= pageLength) throw new NotAlone();
	const pagesBefore = Math.floor(skip / pageLength);
	const before = pagesBefore * pageLength;
	const position = skip < listed ? before : listed - 1;
	const { firstNumber, identity, offset: saidOffset } = await findItem(source, position, listed);
	if (skip >= listed) return { items: [], settled: true, tied: false, reportedTotal: listed, passes: 1 };
	// The first item again means that the server ignores page numbers. Past the end, a server may repeat the last item.
	if (identity === source.identify(first) || (position === listed - 1 && saidOffset !== position)) throw new NotAlone();

	/** Returns a page of the list from the part's first page on, as a list that counts from 1. */
	const fetchPage = async (number = 1, size: number) => {
		if (size !== pageSize) throw new NotAlone();
		const offset = before + (number - 1) * pageLength;
		const { content, ...said } = await source.fetchPage(firstNumber + pagesBefore + number - 1, size);
		const { totalElements: total = NaN, totalPages = pagesBefore } = said;
		const length = Math.min(pageLength, Math.max(0, total - offset));
		const begins = number > 1 || content.slice(0, 1).some((item) => source.identify(item) === identity);
		if (!begins || content.length !== length || (said.pageable?.offset ?? offset) !== offset) throw new NotAlone();
		const left = { totalElements: Math.max(0, total - before), totalPages: Math.max(0, totalPages - pagesBefore) };
		return { ...said, ...left, content, number: number - 1 };
	};
	const part = { ...options, skip: skip - before, sizes: new PageSizes(pageSize, pageSize, []) };
	const { reportedTotal = 0, ...listing } = await fetchList({ ...source, fetchPage, idOrder: undefined }, part);
	return { ...listing, reportedTotal: before + reportedTotal };
}

/** Returns the number of the list's first page, and the identity of the item at a position, with the offset that its page has. */
async function findItem<T>(source: PageSource<T>, position: number, listed: number) {
	// No server shortens a page of one item, but a server may refuse it.
	const single = async (page: number | undefined) =>
		await source.fetchPage(page, 1).catch((thrown: unknown) => {
			undefinedIfPageRefused(thrown);
			throw new NotAlone();
		});
	const firstNumber = await learnNumbering(source.identify, undefined, single);
	const { content, totalElements, totalPages, last, pageable } = await single(firstNumber + position);
	const [item, ...others] = content;
	// If total, page count and `last` agree with the position, this is the right item.
	const agrees = totalElements === listed && totalPages === listed && last === (position === listed - 1);
	if (!agrees || item === undefined || others.length > 0) throw new NotAlone();
	return { firstNumber, identity: source.identify(item), offset: pageable?.offset };
}
