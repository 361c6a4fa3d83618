import { fingerprint, type Page, type PageSource } from './page';

/** Pages to request ahead: enough to continue during a slow request, few enough for the memory. */
const MAX_PAGES_AHEAD = 64;

export interface FeedOptions {
	parallelRequests: number;
	/** Whether to learn the number of the first page from the one that page 2 says; default: yes. */
	trustsNumbers?: boolean;
}

/** Returns the pages of a list, and requests others ahead. It doesn't know where the list ends: callers say how far to request. */
export class PageFeed<T> {
	readonly pageLength: number;
	/** The totals of all responses: more than one means that the list has changed. */
	readonly totals: Set<number | undefined>;
	private firstNumber: 0 | 1 | undefined;
	/** Responses and failures by page parameter, until they are returned. */
	private readonly responses = new Map<number, Promise<Page<T>>>();
	private readonly inFlight = new Map<number, Promise<void>>();
	/** A page that was empty or failed. Pages behind it aren't requested ahead. */
	private stopAt = Infinity;

	constructor(
		private readonly source: PageSource<T>,
		readonly first: Page<T>,
		private readonly asked: FeedOptions & { size: number; byId: boolean },
	) {
		this.totals = new Set([first.totalElements]);
		// Rows may be hidden on the first page. If it doesn't say its size, it counts as full: the server may have reduced it.
		this.pageLength = Math.max(first.content.length, first.size ? asked.size : 1);
	}

	/** Returns the page at `index`, 0 for the first one, of a list of so many `pages`, as far as known. */
	async at(index: number, pages: number): Promise<Page<T>> {
		if (index === 0) return this.first;
		this.firstNumber ??= await this.learnNumbering(pages);
		const parameter = this.firstNumber + index;
		const page = await this.fetch(parameter, this.firstNumber + pages - 1);
		this.responses.delete(parameter);
		return page;
	}

	/** Returns the number of the first page: section 1.2 leaves it open. If it isn't 1, one page too many is requested. */
	private async learnNumbering(pages: number): Promise<0 | 1> {
		const { first, source, asked } = this;
		// A wrong number would skip a page, which only a total shows.
		if (asked.trustsNumbers !== false && first.number !== undefined && first.totalElements !== undefined) {
			// Page 2 may be past the end. If it is needed, its failure counts then.
			const second = await this.fetch(2, pages).catch(() => undefined);
			if (second?.number === first.number + 1) return 1;
		}
		return fingerprint(source, await this.fetch(1, pages)) === fingerprint(source, first) ? 1 : 0;
	}

	/** Returns a page by its page parameter, and requests others ahead, up to the `last` one. */
	private async fetch(parameter: number, last: number): Promise<Page<T>> {
		for (;;) {
			const response = this.responses.get(parameter);
			if (response !== undefined) return await response;
			const lastAhead = Math.max(parameter, Math.min(last, this.stopAt, parameter + MAX_PAGES_AHEAD));
			for (let at = parameter; at <= lastAhead && this.inFlight.size < this.asked.parallelRequests; at++) {
				if (!this.responses.has(at) && !this.inFlight.has(at)) this.inFlight.set(at, this.request(at));
			}
			await Promise.race(this.inFlight.values());
		}
	}

	private async request(parameter: number): Promise<void> {
		const response = this.source.fetchPage(parameter, this.asked.size, this.asked.byId);
		const page = await response.catch((): Page<T> => ({ content: [] }));
		const { content, totalElements = this.first.totalElements } = page;
		if (content.length === 0) this.stopAt = parameter;
		// The total 0 of an empty page doesn't mean that the list is empty.
		if (content.length > 0 || totalElements !== 0) this.totals.add(totalElements);
		this.responses.set(parameter, response);
		this.inFlight.delete(parameter);
	}
}
