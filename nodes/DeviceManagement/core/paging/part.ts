import { type Listing, readList } from './list';
import { type FirstPageNumber, learnNumbering } from './numbering';
import { areSame, identitiesOf, type Page, type PageSource } from './page';
import { mayRefusePage } from './refusal';
import { fetchFirstPage, type WalkOptions } from './walk';

export interface PartOptions extends WalkOptions {
	/** Items to leave out at the beginning of the list. */
	skip: number;
	/** Number of items wanted after those; undefined for all. */
	limit?: number | undefined;
}

/**
 * Reads the part of a paged list that begins after `skip` items, in the pages that hold it and one small request more:
 * for a page that no list has, which holds nothing and says how long pages really are and how they are counted.
 *
 * Where that answer is not of one piece, up to four requests more find out (and one for each size that is refused), and
 * where they do not, the list is read from its beginning. Parts of a list that stands still meet without a gap or an
 * overlap, whatever their sizes.
 * @throws Failure as `readList` does
 */
export async function readPart<T>(source: PageSource<T>, { skip, ...options }: PartOptions): Promise<Listing<T>> {
	if (skip === 0) return await readList(source, options);
	const layout = await learnLayout(source, options.sizes, skip);
	if (layout === undefined) return await readFromTheBeginning(source, { skip, ...options });
	const { size, pageLength } = layout;
	const index = Math.floor(skip / pageLength);
	const before = index * pageLength;
	const view = new PagesFrom(source, index, layout);
	const listing = await readList(view, {
		...options,
		sizes: [size],
		limit: options.limit === undefined ? undefined : options.limit + skip - before,
	});
	if (!view.fits) return await readFromTheBeginning(source, { skip, ...options });
	const { reportedTotal } = listing;
	return {
		...withoutFirst(listing, skip - before, options.limit),
		reportedTotal: reportedTotal === undefined ? undefined : reportedTotal + before,
	};
}

/** How a server lays out a list over pages. */
interface Layout {
	/** The size to ask for. */
	size: number;
	/** The number of items that a full page really has. */
	pageLength: number;
	firstPageNumber: FirstPageNumber;
	total: number;
	/** What tells the first item of the page that holds the item after `skip`; undefined where nothing is in doubt. */
	anchor?: string | undefined;
}

/** The largest offset that a server can be trusted to count with, a signed 32-bit number. */
const LARGEST_OFFSET = 2 ** 31 - 1;

/** @returns undefined where what the answers say does not fit together */
async function learnLayout<T>(
	source: PageSource<T>,
	sizes: WalkOptions['sizes'],
	skip: number,
): Promise<Layout | undefined> {
	const beyond = Math.floor(LARGEST_OFFSET / sizes[0]) - 1;
	const answer = await source.fetchPage(beyond, sizes[0]).catch((thrown: unknown) => {
		if (mayRefusePage(thrown)) return undefined;
		throw thrown;
	});
	const told = answer && whatPageTells(answer, sizes[0], 'past the end');
	if (answer !== undefined && told !== undefined) {
		const firstPageNumber = numberingByPlace(answer, told.pageLength, beyond);
		if (firstPageNumber !== undefined) return { size: sizes[0], firstPageNumber, ...told };
		return await withAnchor(source, { size: sizes[0], ...told }, skip);
	}
	// The server may refuse the page, answer with its first one, or say nothing of a list that the page is no part of.
	const { size, page } = await fetchFirstPage(source, sizes);
	const toldFirst = whatPageTells(page, size, 'first');
	return toldFirst && (await withAnchor(source, { size, ...toldFirst }, skip));
}

/**
 * Finds out by requests for one item each what metadata leaves in doubt: no server cuts a page of one item, so they
 * show how it counts, and which item the page that holds the item after `skip` has to begin with.
 * @returns undefined where the server answers different pages with the same item
 */
async function withAnchor<T>(
	source: PageSource<T>,
	told: Omit<Layout, 'firstPageNumber' | 'anchor'>,
	skip: number,
): Promise<Layout | undefined> {
	// Page 1 of a list of one item need not exist.
	if (told.total < 2) return undefined;
	const idsOf = async (page: number | undefined) => identitiesOf(source, await source.fetchPage(page, 1));
	const first = await idsOf(undefined);
	const firstPageNumber = learnNumbering({ ids: first }, { parameter: 1, ids: await idsOf(1) });
	const before = skip - (skip % told.pageLength);
	if (before === 0 || before >= told.total) return { ...told, firstPageNumber };
	const [anchor] = await idsOf(before + firstPageNumber);
	return anchor === undefined || anchor === first[0] ? undefined : { ...told, firstPageNumber, anchor };
}

/**
 * What a page tells of the list's layout.
 * @returns undefined unless all of its metadata is there and fits together
 */
function whatPageTells<T>(
	{ content, size: pageLength, totalElements: total, totalPages, last, pageable }: Page<T>,
	asked: number,
	place: 'first' | 'past the end',
): { pageLength: number; total: number } | undefined {
	if (pageLength === undefined || pageLength > asked) return undefined;
	// A page past the end may say 0 of a list that has items.
	if (total === undefined || total === 0) return undefined;
	const pages = Math.ceil(total / pageLength);
	if (totalPages !== pages) return undefined;
	// Some servers answer a page past the end with their last page.
	const index = place === 'first' ? 0 : content.length > 0 ? pages - 1 : undefined;
	if (last !== (index !== 0 || pages === 1)) return undefined;
	if (index === undefined) return { pageLength, total };
	const offset = index * pageLength;
	const fits = content.length === Math.min(pageLength, total - offset) && (pageable?.offset ?? offset) === offset;
	return fits ? { pageLength, total } : undefined;
}

/** Whether `number` and `offset` of a page past the end agree that it is there; undefined where they do not. */
function numberingByPlace<T>(
	{ number, pageable }: Page<T>,
	pageLength: number,
	parameter: number,
): FirstPageNumber | undefined {
	if (number === undefined || pageable?.offset !== number * pageLength) return undefined;
	if (number === parameter) return 0;
	return number === parameter - 1 ? 1 : undefined;
}

/** The pages of a list from one of them on, as a list of its own that counts from 1. */
class PagesFrom<T> implements PageSource<T> {
	/** Whether every answer was as the layout has it. */
	fits = true;

	constructor(
		private readonly source: PageSource<T>,
		private readonly from: number,
		private readonly layout: Layout,
	) {}

	async fetchPage(page = 1, size: number): Promise<Page<T>> {
		const { pageLength, firstPageNumber, anchor } = this.layout;
		const index = this.from + page - 1;
		const answer = await this.ask(index === 0 ? undefined : firstPageNumber + index, size);
		const { content, totalElements, totalPages, last, pageable } = answer;
		const offset = index * pageLength;
		const left = Math.max(0, (totalElements ?? NaN) - offset);
		this.fits &&= content.length === Math.min(pageLength, left) && (pageable?.offset ?? offset) === offset;
		if (anchor !== undefined && page === 1) {
			this.fits &&= areSame(identitiesOf(this.source, { content: content.slice(0, 1) }), [anchor]);
		}
		return {
			content,
			number: page - 1,
			totalElements: totalElements === undefined ? undefined : Math.max(0, totalElements - this.from * pageLength),
			totalPages: totalPages === undefined ? undefined : Math.max(0, totalPages - this.from),
			last,
		};
	}

	/** A page past the end, by all that was said, may be refused: it is as good as empty. */
	private async ask(page: number | undefined, size: number): Promise<Page<T>> {
		const { pageLength, firstPageNumber, total } = this.layout;
		const isPastEnd = page !== undefined && (page - firstPageNumber) * pageLength >= total;
		return await this.source.fetchPage(page, size).catch((thrown: unknown) => {
			if (!isPastEnd || !mayRefusePage(thrown)) throw thrown;
			return { content: [], totalElements: total, totalPages: Math.ceil(total / pageLength), last: true };
		});
	}

	identify(item: T): string {
		return this.source.identify(item);
	}
}

/** For a server whose answers do not tell where a part begins. */
async function readFromTheBeginning<T>(
	source: PageSource<T>,
	{ skip, ...options }: PartOptions,
): Promise<Listing<T>> {
	const limit = options.limit === undefined ? undefined : skip + options.limit;
	const listing = await readList(source, { ...options, limit, distrustNumbers: true });
	return withoutFirst(listing, skip, options.limit);
}

function withoutFirst<T>(listing: Listing<T>, count: number, limit = Infinity): Listing<T> {
	const items = listing.items.slice(count, count + limit);
	return { ...listing, items, metOtherwise: listing.metOtherwise.slice(0, Math.max(0, limit - items.length)) };
}
