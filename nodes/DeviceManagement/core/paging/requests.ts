import pLimit from 'p-limit';

import { fingerprint, type Page, type PageSource } from './page';
import { mayRefuse, refusesPage } from './refusal';

/** Sizes to ask for if the platform refuses a larger one: section 8 doesn't name the largest. */
const SMALLER = [1000, 200, 100, 50];
/** Pages to request ahead: enough to continue during a slow request, few enough for the memory. */
const MAX_PAGES_AHEAD = 32;

export interface RequestOptions {
	pageSize: number;
	/** Most requests at the same time. With 1, no page is requested ahead. */
	parallelRequests: number;
	/** Whether to ask for the ID as the last field of the sort order. */
	byId?: boolean;
}

/**
 * Fetches the first page of a list, in the wanted size, a smaller one, or the platform's own (10 by section 8), and without the ID in the
 * sort order if the platform refuses that. Returns it with what to ask for in the next pages.
 */
export async function fetchFirst<T>({ fetchPage }: Pick<PageSource<T>, 'fetchPage'>, wanted: number, byId = false) {
	let refusal: unknown;
	for (const size of [wanted, ...SMALLER.filter((smaller) => smaller < wanted), undefined]) {
		for (const order of byId ? [true, false] : [false]) {
			const page = await fetchPage(undefined, size, order).catch((thrown: unknown) => {
				// A platform may refuse an unknown field with any code.
				if (!(order ? refusesPage(thrown) : mayRefuse(thrown))) throw thrown;
				refusal = order ? refusal : (refusal ?? thrown);
			});
			if (page === undefined) continue;
			// A server may reduce the size, but count the offset of a page by the requested one.
			const { size: said = 0, content } = page;
			const isReduced = said > 0 && said >= content.length && said < (size ?? Infinity);
			return { page, size: isReduced ? said : size, byId: order };
		}
	}
	// Every size was refused, so the size was not the reason.
	throw refusal;
}

/** Opens a list: returns its first page, and a function for the others, which requests pages ahead. */
export async function openList<T>(source: PageSource<T>, { pageSize, parallelRequests, byId }: RequestOptions) {
	const { page: first, ...asked } = await fetchFirst(source, pageSize, byId);
	/** The totals of all responses. The total 0 of an empty page doesn't mean that the list is empty. */
	const totals = new Set([first.totalElements]);
	const fetchPage = async (parameter: number) => {
		const page = await source.fetchPage(parameter, asked.size, asked.byId);
		if (page.content.length > 0 || page.totalElements !== 0) totals.add(page.totalElements ?? first.totalElements);
		return page;
	};
	const slots = pLimit(parallelRequests);
	const responses = new Map<number, Promise<Page<T>>>();
	/** Requests a page by its page parameter, unless it was requested before. */
	const request = async (parameter: number): Promise<Page<T>> => {
		const response = responses.get(parameter) ?? slots(fetchPage, parameter);
		responses.set(parameter, response);
		return await response;
	};
	/** Returns the number of the first page, 0 or 1: section 1.2 leaves it open. */
	const learnNumbering = async () => {
		const second = await request(2).catch((thrown: unknown) => {
			// It may be past the end.
			if (!refusesPage(thrown)) throw thrown;
			return undefined;
		});
		// A wrong number would skip a page, which only a total shows.
		if (first.totalElements !== undefined && second?.number === (first.number ?? NaN) + 1) return 1;
		return fingerprint(source, await request(1)) === fingerprint(source, first) ? 1 : 0;
	};
	let firstNumber: 0 | 1 | undefined;
	/** Returns the page at an index from 1 on, and requests others ahead, of as many `pages` as are needed. */
	const pageAt = async (index: number, pages: number): Promise<Page<T>> => {
		const at = (firstNumber ?? 1) + index;
		const lastAhead = Math.min(at - index + pages - 1, at + (parallelRequests === 1 ? 0 : MAX_PAGES_AHEAD));
		// A failure counts only once its page is needed.
		for (let next = at; next <= lastAhead; next++) request(next).catch(() => undefined);
		firstNumber ??= await learnNumbering();
		const page = await request(firstNumber + index);
		responses.delete(firstNumber + index);
		return page;
	};
	// Rows may be hidden on the first page. If it doesn't say its size, it counts as full: the server may have reduced it.
	const pageLength = Math.max(first.content.length, first.size ? (asked.size ?? 1) : 1);
	return { first, pageLength, totals, pageAt, stop: () => slots.clearQueue() };
}
