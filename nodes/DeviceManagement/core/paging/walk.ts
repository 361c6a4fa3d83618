/**
 * Walks the pages of a list once, to its end: an empty page, or one that says that it is the last one and doesn't come before the end by the
 * total. It says whether what it has read can be the whole list. It doesn't read a list again: see list.ts.
 */
import { Failure } from '../failure';
import { fingerprint, type Page, type PageSource } from './page';
import { refusesPage } from './refusal';
import { openList, type RequestOptions } from './requests';

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
	/** How many items the pages had, with those to skip. */
	read: number;
	/** The latest total. */
	total: number | undefined;
	/** The pages, by their fingerprints. */
	pages: ReadonlySet<string>;
	/** How many items an earlier page had, too: the list has changed, or items with equal sort values have no order. */
	repeated: number;
	/** Whether nothing is wrong: no item is repeated, the total stayed, and the list doesn't end before it. */
	isSteady: boolean;
	/** Whether it is also all that is needed, if the walk ends here: it counts to the total, or to the limit. */
	isWhole: boolean;
}

/**
 * Yields what it has read after each page of a list (section 1.2 of the API document), in the server's order.
 * @throws RepeatedPage for a page that came before; Failure `paging` for a list without an end; and what `fetchPage` throws
 */
export async function* walkPages<T>(source: PageSource<T>, options: WalkOptions): AsyncGenerator<Walked<T>> {
	const { pageAt, stop, ...list } = await openList(source, options);
	const tally = new Tally(source, list, options);
	try {
		for (let [index, page] = [0, list.first]; index < MAX_PAGES && tally.read < MAX_ITEMS; index++) {
			if (index > 0) page = await pageAt(index, tally.pagesNeeded).catch(tally.emptyIfPastEnd);
			yield tally.add(page, index);
			if (tally.isAtEnd) return;
		}
	} finally {
		stop();
	}
	const message = `The list did not end after ${tally.read} items`;
	const remedy = 'Request fewer items, or ask your platform administrator.';
	throw new Failure({ kind: 'paging', cause: 'platform', message, remedy });
}

class Tally<T> {
	read = 0;
	isAtEnd = false;
	/** How many pages to read, as far as known. */
	pagesNeeded = 1;
	/** Whether the latest page may be the last one, so that the next one may be refused, or an earlier page again. */
	private mayBeAtEnd = false;
	private wasEmpty = false;
	/** Whether a page was empty that has items by the total. */
	private hasHole = false;
	private readonly pages = new Set<string>();
	/** Identities by ID; pages of rows by their fingerprint. */
	private readonly seen = new Map<string, string>();
	private repeated = 0;
	/** How many items have the ID of another one of an earlier page, which may have been edited and have moved. */
	private shared = 0;
	private left: number;
	private total: number | undefined;
	/** The number that the latest page says. */
	private number: number | undefined;

	constructor(
		private readonly source: PageSource<T>,
		private readonly list: { first: Page<T>; pageLength: number; totals: ReadonlySet<unknown> },
		private readonly options: WalkOptions,
	) {
		this.left = options.limit ?? Infinity;
	}

	readonly emptyIfPastEnd = (thrown: unknown): Page<T> => {
		if (!this.mayBeAtEnd || !refusesPage(thrown)) throw thrown;
		return { content: [] };
	};

	add(page: Page<T>, index: number): Walked<T> {
		const known = this.seen.size;
		const mayBePastEnd = this.mayBeAtEnd;
		const { found, repeated, shared } = this.compare(page);
		const isAgain = page.content.length > 0 && this.seen.size === known;
		if (isAgain && !mayBePastEnd) throw new RepeatedPage(index);
		// Past the end, some servers send the last page, or the first one.
		const [content, fresh] = isAgain ? [[], []] : [page.content, found];
		const isEmpty = content.length === 0;
		this.read += content.length;
		this.left -= fresh.length;
		if (!isAgain) {
			this.pages.add(fingerprint(this.source, page));
			this.repeated += repeated;
			this.shared += shared;
		}
		// The total 0 of an empty page doesn't mean that the list is empty.
		if (!isEmpty || index === 0) this.total = page.totalElements ?? this.list.first.totalElements;
		const { read, left, total, pages } = this;
		// Rows that change don't show that their page comes again: more rows than the total do, unless the page numbers rise.
		const hasRisen = index === 0 || (page.number ?? 0) > (this.number ?? Infinity);
		if (this.source.areRows === true && !hasRisen && read > (total ?? Infinity)) throw new RepeatedPage(index);
		this.number = page.number;
		const { pageLength, totals } = this.list;
		const { skip = 0, limit = Infinity } = this.options;
		const pagesByTotal = Math.ceil((total ?? 0) / pageLength);
		this.pagesNeeded = Math.min(pagesByTotal, Math.ceil((skip + limit) / pageLength));
		const says = [page.last === true, total === read].filter(Boolean).length;
		// The server may have reduced the first page, whatever size it says: its length tells nothing.
		const isShort = index > 0 && content.length < pageLength;
		const saysMore = page.last === false || (page.totalPages ?? 0) > index + 1;
		this.mayBeAtEnd = (says > 0 || isShort) && !saysMore && index + 1 >= pagesByTotal;
		// Either may be wrong: a full page is the last one only if both say so.
		const isLast = this.mayBeAtEnd && says > (isShort ? 0 : 1);
		// An empty page that says that more follow may lack hidden items; a second one ends the list.
		const isPastEnd = isAgain || (isEmpty && (page.last !== false || this.wasEmpty));
		this.wasEmpty = isEmpty;
		this.isAtEnd = isPastEnd || isLast || left <= 0;
		this.hasHole ||= isEmpty && index < pagesByTotal;
		const isSteady = this.repeated === 0 && totals.size === 1 && !this.hasHole;
		// Without a total, only a list of one page has surely no gap, if it said so.
		const isOnePage = index === 0 || (mayBePastEnd && read === this.list.first.content.length);
		const isCounted = total === undefined ? isOnePage : read === total || left <= 0;
		const isWhole = isSteady && this.shared === 0 && isCounted;
		return { fresh, read, total, pages, repeated: this.repeated, isSteady, isWhole };
	}

	/** Compares a page with the earlier ones. */
	private compare(page: Page<T>) {
		const { seen, read } = this;
		const { skip = 0 } = this.options;
		const { identify, idOf = identify, areRows = false } = this.source;
		let [repeated, shared] = [0, 0];
		/** An item that is twice on one page is twice in the list. Only on two pages can it have taken the place of another one. */
		const here = new Set<string>();
		if (areRows) seen.set(fingerprint(this.source, page), '');
		const found = page.content.filter((item, at) => {
			if (areRows) return read + at >= skip;
			const [identity, id] = [identify(item), idOf(item)];
			const first = seen.get(id) ?? identity;
			const place = first === identity ? id : identity;
			const isKnown = seen.has(place);
			if (isKnown && !here.has(place)) repeated++;
			if (place !== id && !here.has(id)) shared++;
			here.add(id).add(place);
			seen.set(place, identity);
			return !isKnown && read + at >= skip;
		});
		return { found, repeated, shared };
	}
}

/** The error of a walk that came to a page without a new item. */
export class RepeatedPage extends Failure {
	constructor(index: number) {
		super({
			kind: 'paging',
			cause: 'platform',
			message: `Page ${index + 1} of the list has only items of earlier pages`,
			remedy:
				"The list can't be read to its end, so none of it is returned. If the list changes often, run the node again. If many items have the same sort value, sort by a field with different values. If the platform ignores the page number, set 'Page Size' under 'Options' to more than the number of items.",
		});
	}
}
