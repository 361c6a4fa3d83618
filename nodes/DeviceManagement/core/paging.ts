import { Failure } from './failure';

/** One page as it came. Missing or impossible metadata is undefined. */
export interface Page<T> {
	content: readonly T[];
	number?: number | undefined;
	size?: number | undefined;
	totalElements?: number | undefined;
	totalPages?: number | undefined;
	last?: boolean | undefined;
}

/** Where pages come from, and what the walker may ask of it. */
export interface PageSource<T> {
	/**
	 * Fetches one page.
	 * @param page the page parameter; undefined leaves it out, which by the API document is the first page,
	 * whether the server counts from 0 or from 1
	 * @param size the size parameter
	 */
	fetchPage(page: number | undefined, size: number): Promise<Page<T>>;
	/** What tells one item from another. */
	identify(item: T): string;
	/** Sizes to ask for: the first one, and smaller ones in case the server refuses it. */
	pageSizes: readonly [number, ...number[]];
	/** Whether a failed first page may be due to its size. */
	refusesSize(error: unknown): boolean;
	/** Most requests under way at once. */
	parallelRequests: number;
	/** Number of items wanted, the first ones in the server's order; undefined for all. */
	limit?: number | undefined;
}

/** A list that was read. */
export interface Listing<T> {
	/** In the server's order; each item once. */
	items: T[];
	/** Whether the list was seen standing still. Otherwise `items` is the union of all passes. */
	settled: boolean;
	/** The server's own total, as the last page said it. */
	reportedTotal: number | undefined;
	passes: number;
}

/** One step of a walk. A page may be empty, the last one above all. */
export interface WalkedPage<T> {
	/** 0 for the first page. */
	index: number;
	page: Page<T>;
	/** What tells the page's items from others, in their order. */
	ids: readonly string[];
	/** The page's items that no earlier page of the walk had. */
	fresh: T[];
	/** What is added to an index to get the page parameter: 1 or 0; undefined after one page. */
	base: Base | undefined;
	/** Whether the total changed since the first page, by any answer so far. */
	totalMoved: boolean;
}

export interface WalkOptions<T> {
	size: number;
	parallelRequests: number;
	/** A first page that is there already. */
	firstPage?: Page<T> | undefined;
	/** Whether to tell the numbering from the items alone, not from the answers' `number`. */
	distrustNumbers?: boolean;
}

type Base = 0 | 1;

const PASSES = 3;
/** No fleet is this large; a server that makes up pages for ever is stopped here. */
const MOST_PAGES = 100_000;
const MOST_ITEMS = 1_000_000;
/** Pages fetched ahead of the one whose turn it is: enough to pass a slow page, few enough to hold. */
const MOST_PAGES_AHEAD = 64;
/** Pages in a row without anything new, in a list that may be moving, before it counts as a repetition. */
const MOST_STALE_PAGES = 10;

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
export async function readList<T>(source: PageSource<T>): Promise<Listing<T>> {
	const accepted = await fetchFirstPage(source);
	let firstPage: Page<T> | undefined = accepted.page;
	let previous: Reading<T> | undefined;
	let agreements = 0;
	const everSeen = new Map<string, T>();
	for (let pass = 1; ; pass++) {
		const reading: Reading<T> = await readOnce(source, {
			size: accepted.size,
			parallelRequests: pass < PASSES ? source.parallelRequests : 1,
			firstPage,
			distrustNumbers: pass > 1,
		});
		const { items, total: reportedTotal } = reading;
		agreements = previous !== undefined && agree(previous, reading) ? agreements + 1 : 0;
		// The same twice is a list that stands still under a wrong total. With an item that came twice it takes a third
		// pass to believe that it is listed twice, and did not move.
		const unchanged = agreements >= (reading.sequence.length === items.length ? 1 : 2);
		if (isSteady(reading, source.limit) || unchanged) {
			return { items, settled: true, reportedTotal, passes: pass };
		}
		remember(source, everSeen, items);
		if (pass === PASSES) {
			if (source.limit === undefined) {
				remember(source, everSeen, await readBackwards(source, accepted.size, reading));
			}
			const union = lastReadFirst(source, items, everSeen).slice(0, source.limit);
			return { items: union, settled: false, reportedTotal, passes: pass };
		}
		previous = reading;
		firstPage = undefined;
	}
}

/**
 * Walks the pages of a list once, in the server's order, fetching ahead. Callers may stop early: nothing is fetched
 * for them afterwards.
 *
 * The walk ends where nothing in the answers speaks for another page, or at the second empty page in a row. No single
 * metadata field can end it early or keep it going: each one may be missing or wrong.
 */
export async function* walkPages<T>(
	source: PageSource<T>,
	options: WalkOptions<T>,
): AsyncGenerator<WalkedPage<T>, void, undefined> {
	const identities = (page: Page<T>) => page.content.map((item) => source.identify(item));
	const first = options.firstPage ?? (await source.fetchPage(undefined, options.size));
	const firstIds = identities(first);
	const feed = new PageFeed(source, options, first, firstIds, identities);
	const pageLength = first.content.length || first.size || options.size;
	const limit = source.limit ?? Infinity;
	const seen = new Set<string>();
	let page = first;
	let ids = firstIds;
	let read = 0;
	let stalePages = 0;
	for (let index = 0; index < MOST_PAGES && read < MOST_ITEMS; index++) {
		let wasEmpty = false;
		if (index > 0) {
			const previousIds = ids;
			wasEmpty = ids.length === 0;
			page = await feed.at(index, lastIndexExpected(page, { index, read, pageLength, limit }));
			ids = identities(page);
			stalePages = ids.every((id) => seen.has(id)) ? stalePages + 1 : 0;
			if (stalePages > 0 && ids.length > 0) {
				const total = page.totalElements;
				if (total !== undefined && seen.size >= total) return;
				const twin = same(ids, firstIds) ? 0 : same(ids, previousIds) ? index - 1 : undefined;
				if (twin !== undefined && (await feed.stillHolds(ids, index, twin))) {
					if (twin > 0 && total === undefined) return;
					throw repeats(index, twin);
				}
				// A list that was re-ordered behind the walk brings what is known, too, but not for twice its length.
				if (stalePages > MOST_STALE_PAGES && read > 2 * seen.size) throw repeats(index, index - 1);
			}
		}
		read += ids.length;
		const fresh = takeFresh(page.content, ids, seen);
		// A first page is taken for full: the server may have cut the size that was asked for.
		const full = index === 0 || ids.length >= pageLength;
		const atEnd =
			seen.size >= limit ||
			!expectsMore(page, { index, read, full }) ||
			(ids.length === 0 && wasEmpty);
		if (atEnd) await feed.atRest();
		yield { index, page, ids, fresh, base: feed.base, totalMoved: feed.totalMoved };
		if (atEnd) return;
	}
	throw endless();
}

/** An answer that is kept until its turn comes. */
type Answer<T> = { page: Page<T> } | { failure: unknown };

/**
 * Hands out pages by their place and fetches ahead. It starts as if the server counted from 1, which costs nothing
 * where that is so; a server that counts from 0 answers the same requests with other pages, in which one is missing
 * and one too many.
 */
class PageFeed<T> {
	base: Base | undefined;
	totalMoved = false;
	private readonly answers = new Map<number, Answer<T>>();
	private readonly underWay = new Map<number, Promise<unknown>>();
	private distrustNumbers: boolean;
	/** Page parameter of the first empty page that came: nothing is fetched beyond it. */
	private emptyFrom = Infinity;

	constructor(
		private readonly source: PageSource<T>,
		private readonly options: WalkOptions<T>,
		private readonly first: Page<T>,
		private readonly firstIds: readonly string[],
		private readonly identities: (page: Page<T>) => string[],
	) {
		this.distrustNumbers =
			options.distrustNumbers === true || first.number === undefined || firstIds.length === 0;
	}

	/** The page at `index` (1 or more); pages up to `lastIndex` are fetched ahead. */
	async at(index: number, lastIndex: number): Promise<Page<T>> {
		for (;;) {
			this.learnNumbering();
			if (this.base !== undefined) {
				const answer = this.nextAnswer(this.base, index, lastIndex);
				if (answer !== undefined) return answer;
			}
			this.fetchAhead(index, lastIndex);
			if (this.underWay.size === 0) {
				// Only failures came, and they do not tell how the server counts. Page 1 will.
				this.distrustNumbers = true;
				this.start(1);
			}
			await Promise.race(this.underWay.values());
		}
	}

	/** Waits for pages that were fetched ahead in vain: their totals count, too. */
	async atRest(): Promise<void> {
		await Promise.all(this.underWay.values());
	}

	/**
	 * Whether two pages hold these items at the same time, which tells a server that repeats itself from a list that
	 * moved between two requests. One page is read before and after the other, so that nothing that moves once looks
	 * like standing still.
	 */
	async stillHolds(ids: readonly string[], one: number, other: number): Promise<boolean> {
		for (const index of [one, other, one]) {
			if (!same(ids, this.identities(await this.again(index)))) return false;
		}
		return true;
	}

	private async again(index: number): Promise<Page<T>> {
		const page = index === 0 || this.base === undefined ? undefined : this.base + index;
		return await this.source.fetchPage(page, this.options.size);
	}

	private nextAnswer(base: Base, index: number, lastIndex: number): Page<T> | undefined {
		for (const [parameter, answer] of this.answers) {
			// A page that is needed and can't be had: no sense in waiting for the ones before it.
			if ('failure' in answer && parameter - base >= index && parameter - base <= lastIndex) {
				throw answer.failure;
			}
		}
		const answer = this.answers.get(base + index);
		if (answer === undefined || 'failure' in answer) return undefined;
		this.answers.delete(base + index);
		return answer.page;
	}

	private fetchAhead(index: number, lastIndex: number): void {
		if (this.base === undefined && this.distrustNumbers) this.start(1);
		const assumed = this.base ?? 1;
		for (let ahead = index; ahead <= lastIndex; ahead++) {
			if (this.underWay.size >= this.options.parallelRequests) return;
			if (ahead > index + MOST_PAGES_AHEAD) return;
			if (assumed + ahead > this.emptyFrom && ahead > index) return;
			this.start(assumed + ahead);
		}
	}

	private start(parameter: number): void {
		if (this.answers.has(parameter) || this.underWay.has(parameter)) return;
		const settle = (answer: Answer<T>) => {
			this.underWay.delete(parameter);
			this.answers.set(parameter, answer);
		};
		this.underWay.set(
			parameter,
			this.source.fetchPage(parameter, this.options.size).then(
				(page) => {
					this.compareTotal(page);
					if (page.content.length === 0) this.emptyFrom = Math.min(this.emptyFrom, parameter);
					settle({ page });
				},
				(failure: unknown) => settle({ failure }),
			),
		);
	}

	/** A page beyond the end may say 0, which is no word about the list. */
	private compareTotal({ totalElements, content }: Page<T>): void {
		const before = this.first.totalElements;
		if (totalElements === undefined || before === undefined) return;
		if (totalElements === 0 && content.length === 0) return;
		if (totalElements !== before) this.totalMoved = true;
	}

	/**
	 * Finds out whether the server counts from 0 or from 1. Numbers alone decide only for 1, where nothing more is
	 * asked; that it counts from 0 is confirmed by page 1, which is needed then anyway.
	 */
	private learnNumbering(): void {
		if (this.base !== undefined) return;
		const pageOne = this.answers.get(1);
		if (pageOne !== undefined) {
			if ('failure' in pageOne) throw pageOne.failure;
			this.base = same(this.identities(pageOne.page), this.firstIds) ? 1 : 0;
			return;
		}
		if (this.distrustNumbers) return;
		for (const [parameter, answer] of this.answers) {
			if ('failure' in answer) continue;
			const advance = (answer.page.number ?? NaN) - (this.first.number ?? NaN);
			if (advance === parameter - 1) this.base = 1;
			else this.distrustNumbers = true;
			return;
		}
	}
}

/** What one pass over the list gave. */
interface Reading<T> {
	items: T[];
	/** The identities of all items in the order they came, repeated ones included. */
	sequence: string[];
	/** The total of the last page that had items. */
	total: number | undefined;
	totalMoved: boolean;
	base: Base | undefined;
	pages: number;
}

async function readOnce<T>(source: PageSource<T>, options: WalkOptions<T>): Promise<Reading<T>> {
	const items: T[] = [];
	const sequence: string[] = [];
	let total: number | undefined;
	let last: WalkedPage<T> | undefined;
	for await (const walked of walkPages(source, options)) {
		for (const item of walked.fresh) items.push(item);
		for (const id of walked.ids) sequence.push(id);
		if (walked.index === 0 || walked.ids.length > 0) total = walked.page.totalElements ?? total;
		last = walked;
	}
	return {
		items: items.length > (source.limit ?? Infinity) ? items.slice(0, source.limit) : items,
		sequence,
		total,
		totalMoved: last?.totalMoved === true,
		base: last?.base,
		pages: (last?.index ?? 0) + 1,
	};
}

/** Whether nothing speaks for a list that moved: the total stood still, no item came twice, and the count is right. */
function isSteady<T>({ items, sequence, total, totalMoved }: Reading<T>, limit: number | undefined): boolean {
	const repeated = sequence.length > items.length && new Set(sequence).size < sequence.length;
	const complete = total === undefined || items.length === total;
	const enough = limit !== undefined && items.length >= limit;
	return !totalMoved && !repeated && (complete || enough);
}

/** Whether two passes brought the same items in the same order under the same total. */
function agree<T>(one: Reading<T>, other: Reading<T>): boolean {
	return (
		!one.totalMoved &&
		!other.totalMoved &&
		one.total === other.total &&
		same(one.sequence, other.sequence)
	);
}

/** The pages that `reading` walked, read once more from the last to the first. */
async function readBackwards<T>(
	source: PageSource<T>,
	size: number,
	reading: Reading<T>,
): Promise<T[]> {
	const items: T[] = [];
	if (reading.base === undefined) return items;
	for (let index = reading.pages - 1; index >= 0; index--) {
		const page = await source.fetchPage(index === 0 ? undefined : reading.base + index, size);
		for (const item of page.content) items.push(item);
	}
	return items;
}

function remember<T>(source: PageSource<T>, seen: Map<string, T>, items: readonly T[]): void {
	for (const item of items) seen.set(source.identify(item), item);
}

/** The items of the last pass in their order, then those that only earlier passes or the backward walk met. */
function lastReadFirst<T>(source: PageSource<T>, items: readonly T[], seen: Map<string, T>): T[] {
	const rest = new Map(seen);
	const union: T[] = [];
	for (const item of items) {
		const id = source.identify(item);
		union.push(seen.get(id) ?? item);
		rest.delete(id);
	}
	for (const item of rest.values()) union.push(item);
	return union;
}

/** The first page at the largest size that the server accepts. */
async function fetchFirstPage<T>(source: PageSource<T>): Promise<{ size: number; page: Page<T> }> {
	const [size, ...smaller] = source.pageSizes;
	const attempt = async (asked: number) => ({
		size: asked,
		page: await source.fetchPage(undefined, asked),
	});
	const outcome = await attempt(size).catch((failure: unknown) => ({ failure }));
	if (!('failure' in outcome)) return outcome;
	if (!source.refusesSize(outcome.failure)) throw outcome.failure;
	for (const next of smaller) {
		const other = await attempt(next).catch((failure: unknown) => ({ failure }));
		if (!('failure' in other)) return other;
		if (!source.refusesSize(other.failure)) throw other.failure;
	}
	// Every size was refused, so it was not the size: the first refusal tells more than the last.
	throw outcome.failure;
}

/** Whether anything in the answer, or the lack of it, speaks for a page after this one. */
function expectsMore<T>(
	page: Page<T>,
	{ index, read, full }: { index: number; read: number; full: boolean },
): boolean {
	// A total below what came already, or a page count below the pages read, is wrong and says nothing.
	const total = page.totalElements !== undefined && page.totalElements >= read ? page.totalElements : undefined;
	const pages = page.totalPages !== undefined && page.totalPages > index ? page.totalPages : undefined;
	if (total !== undefined && total > read) return true;
	if (pages !== undefined && pages > index + 1) return true;
	if (page.last === false) return true;
	const saysEnd = [total !== undefined, pages !== undefined, page.last === true].filter(Boolean).length;
	// A full page is taken for the last one only if all three say so.
	return full && read > 0 && saysEnd < 3;
}

/** The highest index that is worth fetching ahead, from the newest page's metadata. */
function lastIndexExpected<T>(
	page: Page<T>,
	{ index, read, pageLength, limit }: { index: number; read: number; pageLength: number; limit: number },
): number {
	const byTotal =
		page.totalElements !== undefined && page.totalElements > read
			? Math.ceil(page.totalElements / pageLength) - 1
			: index;
	const byPages = page.totalPages !== undefined ? page.totalPages - 1 : index;
	const byLimit = Math.ceil(limit / pageLength) - 1;
	return Math.max(index, Math.min(Math.max(byTotal, byPages), byLimit));
}

/** Takes the items whose identity is new, and remembers it. */
function takeFresh<T>(content: readonly T[], ids: readonly string[], seen: Set<string>): T[] {
	return content.filter((_, position) => {
		const id = ids[position];
		if (id === undefined || seen.has(id)) return false;
		seen.add(id);
		return true;
	});
}

function same(one: readonly string[], other: readonly string[]): boolean {
	return one.length === other.length && one.every((id, position) => id === other[position]);
}

function repeats(index: number, twin: number): Failure {
	return new Failure({
		kind: 'paging',
		cause: 'platform',
		message: `The platform answers page ${index + 1} of the list with the devices of page ${twin + 1}`,
		remedy:
			"It seems to ignore the 'page' parameter, so the list can't be read to its end and none of it is returned. Set 'Page Size' under 'Options' to more than the number of devices, or ask who administers the platform.",
	});
}

function endless(): Failure {
	return new Failure({
		kind: 'paging',
		cause: 'platform',
		message: `The list did not end after ${MOST_ITEMS} devices or ${MOST_PAGES} pages`,
		remedy: "Use 'Filters' or a 'Limit' to ask for less, or ask who administers the platform.",
	});
}
