import { learnNumbering } from './numbering';
import type { Page, PageSource } from './page';

/** Pages to fetch ahead: enough to continue during a slow request, few enough for the memory. */
const MAX_PAGES_AHEAD = 64;

/**
 * Returns pages by their index, 0 for the first page, and fetches ahead. Until it knows the first page number, it assumes 1;
 * if that is wrong, it fetches one page too many. It doesn't know where a list ends: callers say how far to fetch ahead.
 */
export class PageFeed<T> {
	/** Whether the total of any response differs from the first page's. */
	totalMoved = false;
	private firstPageNumber: number | undefined;
	/** Responses and failures by page parameter, until they are returned. */
	private readonly responses = new Map<number, Promise<Page<T>>>();
	private readonly inFlight = new Map<number, Promise<void>>();
	/** A page parameter that was empty or failed. Pages beyond it are not fetched ahead. */
	private stopAt = Infinity;

	/** @param first the first page, fetched without a page parameter */
	constructor(
		private readonly source: PageSource<T>,
		private readonly first: Page<T>,
		private readonly options: { size: number; parallelRequests: number; trustsNumbers?: boolean },
	) {}

	/** Returns the page at `index`, and fetches ahead of a list of so many `pages`, as far as known. Throws what the request throws. */
	async at(index: number, pages: number): Promise<Page<T>> {
		if (index === 0) return this.first;
		this.firstPageNumber ??= await learnNumbering(
			this.source.identify,
			this.options.trustsNumbers === false ? undefined : this.first,
			async (parameter) => (parameter === undefined ? this.first : await this.fetch(parameter, pages)),
		);
		const parameter = this.firstPageNumber + index;
		const page = await this.fetch(parameter, this.firstPageNumber + pages - 1);
		this.responses.delete(parameter);
		return page;
	}

	/** Waits for pages that were fetched ahead and not used: their totals count, too. */
	async waitForPages(): Promise<void> {
		await Promise.all(this.inFlight.values());
	}

	private async fetch(parameter: number, last: number): Promise<Page<T>> {
		for (;;) {
			const response = this.responses.get(parameter);
			if (response !== undefined) return await response;
			const lastAhead = Math.max(parameter, Math.min(last, this.stopAt, parameter + MAX_PAGES_AHEAD));
			for (let ahead = parameter; ahead <= lastAhead && this.inFlight.size < this.options.parallelRequests; ahead++) {
				if (!this.responses.has(ahead) && !this.inFlight.has(ahead)) this.inFlight.set(ahead, this.request(ahead));
			}
			await Promise.race(this.inFlight.values());
		}
	}

	private async request(parameter: number): Promise<void> {
		const response = this.source.fetchPage(parameter, this.options.size);
		const page = await response.catch(() => undefined);
		const isEmpty = page === undefined || page.content.length === 0;
		if (isEmpty) this.stopAt = parameter;
		const total = page?.totalElements ?? this.first.totalElements;
		// The total 0 of an empty page doesn't mean that the list is empty.
		this.totalMoved ||= !(isEmpty && total === 0) && total !== (this.first.totalElements ?? total);
		this.responses.set(parameter, response);
		this.inFlight.delete(parameter);
	}
}
