import { Failure } from '../failure';
import type { Page } from './page';
import type { PageFeed } from './pageFeed';
import { isPageFailure } from './refusal';

/** Where a list ends. No single field of section 1.2 decides, because each may be missing or wrong. */
export class End<T> {
	/** How many items the pages had, with those to skip. */
	read = 0;
	/** The total of the latest page with items. */
	total: number | undefined;
	/** Whether the latest page may be the last one, so that the next one may be refused, or an earlier page again. */
	private mayBeReached = false;
	private saidLast = false;
	/** In a row, with the latest page. */
	private emptyPages = 0;
	private hasRepeatedPage = false;
	private lastNumber = -1;

	constructor(
		private readonly list: Pick<PageFeed<T>, 'first' | 'pageLength'>,
		private readonly areRows: boolean,
	) {}

	/** Whether the next page may be past the end, if so many items were `repeated`. */
	mayBePassed(repeated: number): boolean {
		return this.mayBeReached || this.read - repeated >= (this.total ?? Infinity);
	}

	/** Returns an empty page for a failure to fetch one past the end. Throws any other failure. */
	readonly emptyIfPast = (thrown: unknown): Page<T> => {
		if (!this.mayBeReached || !isPageFailure(thrown)) throw thrown;
		return { content: [] };
	};

	/**
	 * Counts a page, which `isRepeated` if it has nothing new. Returns whether the list ends with it.
	 * @throws RepeatedPage for the second one with nothing new, and for rows beyond the total if the page number doesn't rise
	 */
	add({ content, last, number, totalPages = 0, totalElements }: Page<T>, index: number, isRepeated: boolean): boolean {
		if (isRepeated && this.hasRepeatedPage) throw new RepeatedPage(index);
		this.hasRepeatedPage ||= isRepeated;
		const { pageLength, first } = this.list;
		const isEmpty = content.length === 0;
		this.read += content.length;
		// The total 0 of an empty page doesn't mean that the list is empty.
		if (!isEmpty || index === 0) this.total = totalElements ?? first.totalElements;
		const { read, total = 0, saidLast } = this;
		// Rows that change don't show that their page comes again: more rows than the total do, unless the page numbers rise.
		const hasTooMany = this.areRows && !isEmpty && read > (this.total ?? Infinity);
		if (hasTooMany && (number ?? 0) <= this.lastNumber) throw new RepeatedPage(index);
		this.lastNumber = number ?? Infinity;
		const pagesByTotal = Math.ceil(total / pageLength);
		const hasMorePages = totalPages > index + 1;
		const saysMore = [last === false, pagesByTotal > index + 1, hasMorePages].filter(Boolean).length;
		// A page that said that it is the last one, and wasn't, makes this field worthless.
		const saysLast = [last === true && !saidLast, total === read].filter(Boolean).length;
		this.saidLast ||= last === true;
		this.emptyPages = isEmpty ? this.emptyPages + 1 : 0;
		// The server may have reduced the first page, whatever size it says.
		const isShort = content.length < first.content.length;
		this.mayBeReached = !isRepeated && saysMore === 0 && (saysLast > 0 || isShort);
		// Hidden items may leave pages empty.
		const mayHide = last === false && hasMorePages && totalPages === first.totalPages && read !== this.total;
		if (isEmpty) return saysMore === 0 || this.emptyPages >= (mayHide ? 100 : 2);
		// A short page may lack hidden items, so one field must say that it is the last one. A full page is the last one only if both say so.
		return this.mayBeReached && saysLast > (isShort ? 0 : 1);
	}
}

/** The error of a walk that came to pages without a new item. */
export class RepeatedPage extends Failure {
	constructor(index: number) {
		const message = `Page ${index + 1} of the list only repeats earlier items`;
		const remedy = "Run the node again, sort by another field, or set 'Page Size' above the number of items.";
		super({ kind: 'paging', cause: 'platform', message, remedy });
	}
}
