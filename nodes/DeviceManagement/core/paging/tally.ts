import { Failure } from '../failure';
import type { Page, PageSource } from './page';

/**
 * Counts the pages of a walk, and decides where the list ends: at a page whose metadata says so, at an empty page (the second or the
 * 100th in a row if the metadata says that more follows), or at a page past the end that is refused or has nothing new.
 */
export class Tally<T> {
	/** Number of items so far, with those to skip: repeated ones included. */
	read = 0;
	/** Whether the next page may be past the end, so that a refusal ends the list. */
	expectsEnd = false;
	isAtEnd = false;
	/** How many pages to fetch, by the latest page's metadata. */
	pagesExpected = 1;
	private index = -1;
	private reportedTotal: number | undefined;
	private hasRepeated = false;
	/** How many pages in a row were empty, with the latest one. */
	private emptyPages = 0;
	private lastWasWrong = false;
	private mayHaveMoved = false;
	/** Identities by ID. */
	private readonly seen = new Map<string, string>();

	/** @param needs `size`: items per request; `enough` different items end the walk; for the others, see WalkOptions */
	constructor(
		private readonly source: Omit<PageSource<T>, 'fetchPage'>,
		private readonly first: Page<T>,
		private readonly needs: { size: number; skip: number; enough: number; sharing: Set<string> },
		private latest = first,
		// The first page counts as full: the server may return fewer items than requested.
		private readonly pageLength = first.content.length || first.size || needs.size,
	) {}

	/**
	 * Counts the next page.
	 * @param response undefined for a page past the end that was refused
	 * @returns its items that no earlier page had, without those to skip; of the walk so far: the number of items, of different items, the
	 * latest total, and whether the list did not change, if the total stayed and this is the end: each item and ID once, the right count
	 * @throws RepeatedPages at the second page before the end that has nothing new
	 */
	add(response: Page<T> | undefined) {
		const { source, seen, first, latest, needs, expectsEnd, pageLength } = this;
		const page = response ?? { content: [] };
		const { length } = page.content;
		const [index, known, shared] = [++this.index, seen.size, needs.sharing.size];
		const newItems = page.content.filter((item, at) => this.isNew(item) && this.read + at >= needs.skip);
		// An item of an earlier page may have been edited and have moved.
		this.mayHaveMoved ||= needs.sharing.size > shared && index > 0;
		const distinct = seen.size;
		const hasNothingNew = length > 0 && distinct === known;
		const isPastEnd = hasNothingNew && (expectsEnd || distinct >= (page.totalElements ?? Infinity));
		if (!isPastEnd) this.read += length;
		if (length > 0 || index === 0) this.reportedTotal = page.totalElements ?? this.reportedTotal;
		const { read, reportedTotal } = this;
		const isRepeated = hasNothingNew && !isPastEnd;
		// A row that changes doesn't show that its page comes again: more rows than the total do, unless the page numbers rise.
		const hasRisen = latest.content.length !== 1 && (page.number ?? 0) > (latest.number ?? Infinity);
		const mayBeSame = source.countsRows === true && index > 0 && (hasNothingNew || !hasRisen);
		const hasTooMany = mayBeSame && read > (reportedTotal ?? Infinity);
		if ((isRepeated && this.hasRepeated) || hasTooMany) throw new RepeatedPages(index);
		this.hasRepeated ||= isRepeated;
		this.emptyPages = length === 0 ? this.emptyPages + 1 : 0;
		const isEnough = distinct >= needs.enough;
		const { expectsMore, mayBeLast } = this.whatFollows(page);
		this.isAtEnd = response === undefined || isPastEnd || isEnough || !(isRepeated || expectsMore);
		this.expectsEnd = !isRepeated && mayBeLast;
		this.lastWasWrong ||= page.last === true;
		this.latest = page;
		const pages = Math.max((page.totalElements ?? 0) / pageLength, page.totalPages ?? 0);
		this.pagesExpected = Math.ceil(Math.min(pages, needs.enough / pageLength));
		// Without a total, only a list of one page is counted.
		const isCounted = first.totalElements !== undefined || index === 0 || (expectsEnd && read === first.content.length);
		const isWhole = isCounted && (isEnough || distinct === (reportedTotal ?? distinct));
		const steady = isWhole && read === distinct && !this.mayHaveMoved;
		return { newItems, read, distinct, reportedTotal, steady };
	}

	private isNew(item: T): boolean {
		const [known, identity] = [this.seen.size, this.source.identify(item)];
		const id = this.source.idOf?.(item) ?? identity;
		const first = this.seen.get(id) ?? identity;
		if (first !== identity) this.needs.sharing.add(first).add(identity);
		return this.seen.set(first === identity ? id : identity, identity).size > known;
	}

	/**
	 * Returns whether another page may follow, and whether this may be the last one: its metadata or its length says so, and nothing says
	 * otherwise. No single field of section 1.2 decides, because each may be missing or wrong. A total below the items read, or a page
	 * count below the pages read, doesn't count.
	 */
	private whatFollows({ content, totalElements, totalPages, last }: Page<T>) {
		const { index, read, lastWasWrong } = this;
		const isFull = content.length >= this.pageLength;
		const count = (fields: boolean[]) => fields.filter(Boolean).length;
		const more = count([(totalElements ?? 0) > read, (totalPages ?? 0) > index + 1, last === false]);
		const none = count([totalElements === read, totalPages === index + 1, last === true && !lastWasWrong]);
		// Empty pages end a list: many if all three fields say that more items follow, else two.
		const hasEnded = this.emptyPages >= (more === 3 ? 100 : 2);
		// A full page counts as the last one only if all three fields say so. A short one may lack hidden items, so one field must say so.
		const isNotLast = more > 0 || (content.length > 0 && none < (isFull ? 3 : 1));
		return { expectsMore: !hasEnded && isNotLast, mayBeLast: more === 0 && (none > 0 || !isFull) };
	}
}

/** The error of a walk that found pages with nothing new before the end of the list. */
export class RepeatedPages extends Failure {
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
