/** Walks the pages of a list once, to its end, and says whether what it has read can be the whole list. list.ts reads it again. */
import { createHash, type Hash } from 'crypto';

import { Failure } from '../failure';
import { fingerprint, type Page, type PageSource } from './page';
import { isPageFailure } from './refusal';
import { fetchFirst, PageFeed, type RequestOptions } from './requests';

/** Stop a walk if the server's list has no end. */
const [MAX_ITEMS, MAX_PAGES] = [2_000_000, 200_000];

export interface WalkOptions extends RequestOptions {
	/** How many items to skip at the beginning; default: none. An item that the server lists twice counts twice. */
	skip?: number;
	/** How many items to read after those, in the server's order; default: all. */
	limit?: number | undefined;
}

/** What a walk has read so far. */
export interface Walked<T> {
	/** The items of the latest page that no earlier page had, without those to skip. */
	fresh: T[];
	/** The digest of all identities so far, without those to skip. */
	digest: Hash;
	/** How many items the pages had, with those to skip. */
	read: number;
	total: number | undefined;
	/** How many items an earlier page had: the list has changed or has them twice, or items with equal sort values have no order. */
	repeated: number;
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
	const { pageSize, most = pageSize } = options;
	const { page, ...asked } = await fetchFirst(source, pageSize, { ...options, most });
	const list = new PageFeed(source, page, { ...options, ...asked });
	const tally = new Tally(source, list, options);
	for (let index = 0; index < MAX_PAGES && tally.read < MAX_ITEMS; index++) {
		yield tally.add(await list.at(index, tally.pagesNeeded).catch(tally.emptyIfPastEnd), index);
		if (tally.isAtEnd) return;
	}
	const message = `The list didn't end after ${tally.read.toLocaleString('en-US')} items`;
	const remedy = 'Request fewer items, or ask your platform administrator.';
	throw new Failure({ kind: 'paging', cause: 'platform', message, remedy });
}

/** Counts the pages of a walk, and decides where the list ends. */
class Tally<T> {
	read = 0;
	isAtEnd = false;
	/** Whether the latest page may be the last one, so that the next one may be refused, or an earlier page again. */
	private mayBeAtEnd = false;
	private saidLast = false;
	/** In a row, with the latest page. */
	private emptyPages = 0;
	private hasRepeatedPage = false;
	/** On which page an item was found first, by its identity; of rows, only pages, by their fingerprint. */
	private readonly seen = new Map<string, number>();
	private readonly ids = new Set<string>();
	private readonly digest = createHash('sha256');
	private repeated = 0;
	/** Whether an item has the ID of another one of an earlier page, which may have been edited and have moved. */
	private isShared = false;
	private left: number;
	private total: number | undefined;
	private lastNumber = -1;

	constructor(
		private readonly source: PageSource<T>,
		private readonly list: Pick<PageFeed<T>, 'first' | 'pageLength' | 'totals'>,
		private readonly options: WalkOptions,
	) {
		this.left = options.limit ?? Infinity;
	}

	/** How many pages to read, as far as known. */
	get pagesNeeded(): number {
		const { skip = 0, limit = Infinity } = this.options;
		return Math.ceil(Math.min(this.total ?? 0, skip + limit) / this.list.pageLength);
	}

	readonly emptyIfPastEnd = (thrown: unknown): Page<T> => {
		if (!this.mayBeAtEnd || !isPageFailure(thrown)) throw thrown;
		return { content: [] };
	};

	add(page: Page<T>, index: number): Walked<T> {
		const { seen, repeated } = this;
		const mayBePastEnd = this.mayBeAtEnd || this.read - repeated >= (this.total ?? Infinity);
		const known = seen.size;
		const fresh = this.takeFresh(page, index);
		const hasNothingNew = page.content.length > 0 && seen.size === known;
		if (hasNothingNew && mayBePastEnd) {
			// Past the end, some servers send the last page, or the first one.
			[this.repeated, this.isAtEnd] = [repeated, true];
			return this.report([], true);
		}
		if (hasNothingNew && this.hasRepeatedPage) throw new RepeatedPage(index);
		this.hasRepeatedPage ||= hasNothingNew;
		const isLast = this.isLastAfter(page, index);
		this.mayBeAtEnd &&= !hasNothingNew;
		this.isAtEnd = this.left <= 0 || (isLast && !hasNothingNew);
		return this.report(fresh, index === 0 || mayBePastEnd);
	}

	private report(fresh: T[], mayBeOnePage: boolean): Walked<T> {
		const { read, total, repeated, list, digest } = this;
		const moved = list.totals.size > 1;
		// Without a total, only a list of one page has surely no gap, if it said so.
		const isOnePage = mayBeOnePage && read === list.first.content.length;
		const isCounted = total === undefined ? isOnePage : read === total || this.left <= 0;
		const isWhole = isCounted && repeated === 0 && !moved && !this.isShared;
		return { fresh, digest, read, total, repeated, moved, isWhole };
	}

	/** Counts a page. Returns whether the list ends with it: no single field of section 1.2 decides, because each may be missing or wrong. */
	private isLastAfter({ content, last, number, totalPages = 0, totalElements }: Page<T>, index: number): boolean {
		const { pageLength, first } = this.list;
		const isEmpty = content.length === 0;
		this.read += content.length;
		// The total 0 of an empty page doesn't mean that the list is empty.
		if (!isEmpty || index === 0) this.total = totalElements ?? first.totalElements;
		const { read, total = 0, saidLast } = this;
		// Rows that change don't show that their page comes again: more rows than the total do, unless the page numbers rise.
		const hasTooMany = this.source.areRows === true && !isEmpty && read > (this.total ?? Infinity);
		if (hasTooMany && (number ?? 0) <= this.lastNumber) throw new RepeatedPage(index);
		this.lastNumber = number ?? Infinity;
		const pagesByTotal = Math.ceil(total / pageLength);
		const saysMore = [last === false, pagesByTotal > index + 1, totalPages > index + 1].filter(Boolean).length;
		// A page that said that it is the last one, and wasn't, makes this field worthless.
		const saysLast = [last === true && !saidLast, total === read].filter(Boolean).length;
		this.saidLast ||= last === true;
		this.emptyPages = isEmpty ? this.emptyPages + 1 : 0;
		// The server may have reduced the first page, whatever size it says.
		const isShort = content.length < first.content.length;
		this.mayBeAtEnd = saysMore === 0 && (saysLast > 0 || isShort);
		// Hidden items may leave pages empty.
		if (isEmpty) return saysMore === 0 || this.emptyPages >= (saysMore === 3 ? 100 : 2);
		// A short page may lack hidden items, so one field must say that it is the last one. A full page is the last one only if both say so.
		return this.mayBeAtEnd && saysLast > (isShort ? 0 : 1);
	}

	/** Compares a page with the earlier ones. Returns its items that none of them had, without those to skip, up to the limit. */
	private takeFresh(page: Page<T>, index: number): T[] {
		const { seen, ids, read, source } = this;
		const { identify, idOf = identify, areRows = false } = source;
		const texts = page.content.map(identify);
		if (areRows) {
			const print = fingerprint(source, page, texts);
			if (seen.has(print)) this.repeated += texts.length;
			seen.set(print, index);
		}
		const isNew = (item: T, identity: string) => {
			const foundAt = seen.get(identity) ?? index;
			// An item that is twice on one page is twice in the list. Only on two pages can it have taken the place of another one.
			if (foundAt !== index) this.repeated++;
			if (seen.size === seen.set(identity, foundAt).size) return false;
			const id = idOf(item);
			this.isShared ||= index > 0 && ids.has(id);
			ids.add(id);
			return true;
		};
		const found: string[] = [];
		const fresh = page.content.filter((item, at) => {
			const text = texts[at] ?? '';
			const isFresh = (areRows || isNew(item, text)) && read + at >= (this.options.skip ?? 0) && this.left-- > 0;
			if (isFresh) found.push(text, '\n');
			return isFresh;
		});
		this.digest.update(found.join(''));
		return fresh;
	}
}

/** The error of a walk that came to pages without a new item. */
export class RepeatedPage extends Failure {
	constructor(index: number) {
		super({
			kind: 'paging',
			cause: 'platform',
			message: `Page ${index + 1} of the list only repeats earlier items`,
			remedy: "Run the node again, sort by another field, or set 'Page Size' above the number of items.",
		});
	}
}
