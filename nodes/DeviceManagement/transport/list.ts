import { Failure } from '../core/failure';
import type { JsonObject } from '../core/json';
import type { Page, PageSource } from '../core/paging/page';
import type { WalkOptions } from '../core/paging/walk';
import type { Purpose } from '../core/errors/purpose';
import type { Query } from '../core/query';
import { identifyRecord, PAGE_IN_WORDS, pageSchema } from '../core/record';
import type { Platform, RequestSettings } from './platform';

/** Sizes to fall back to when a platform refuses a large page. */
const SMALLER_PAGES = [200, 50];

/** What governs a list of many pages. */
export interface ListSettings extends RequestSettings {
	/** Items to ask for in one request. */
	pageSize: number;
	/** Most requests under way at once. */
	parallelRequests: number;
}

/** Which part of a list, in the platform's order. */
export interface Part {
	/** Items to leave out at the beginning. */
	skip: number;
	/** How many items after those; undefined for all. */
	limit: number | undefined;
}

/** A paged endpoint, and what it is asked for. */
export interface PagedEndpoint {
	method: 'GET' | 'POST';
	/** Begins with /api. */
	path: string;
	query?: Query | undefined;
	/** JSON text; for POST. */
	body?: string | undefined;
	/** Values of the `sort` parameter. */
	sort?: readonly string[] | undefined;
	purpose: Purpose;
}

/**
 * Returns the pages of a list.
 * @param identify what tells one item from another; default: its `id`
 */
export function pageSource(
	platform: Platform,
	endpoint: PagedEndpoint,
	settings: RequestSettings,
	identify: (item: JsonObject) => string = identifyRecord,
): PageSource<JsonObject> {
	return {
		fetchPage: async (page, size) =>
			await fetchPageOf(platform, endpoint, settings, { page, size }).catch((thrown: unknown) => {
				throw withPage(thrown, page);
			}),
		identify,
	};
}

/**
 * Returns how pages are asked for.
 * @param limit the first so many items in the platform's order; undefined for all
 */
export function listOptions({ pageSize, parallelRequests }: ListSettings, limit?: number): WalkOptions {
	const size = Math.min(pageSize, limit ?? Infinity);
	const sizes = [size, ...SMALLER_PAGES.filter((smaller) => smaller < size)] as const;
	return { sizes, parallelRequests, limit };
}

/**
 * Fetches one page of a list (section 1.2).
 * @param place the page parameter, left out where undefined, and the size
 */
export async function fetchPageOf(
	platform: Platform,
	{ sort = [], query, ...endpoint }: PagedEndpoint,
	settings: RequestSettings,
	{ page, size }: { page: number | undefined; size: number },
): Promise<Page<JsonObject>> {
	const paging: Query = { size: String(size) };
	if (page !== undefined) paging['page'] = String(page);
	if (sort.length > 0) paging['sort'] = [...sort];
	return await platform.request({
		...endpoint,
		query: { ...query, ...paging },
		schema: pageSchema,
		expected: PAGE_IN_WORDS,
		settings,
	});
}

/** Says which page could not be read, by the parameter it was asked for with; the first one has none. */
function withPage(thrown: unknown, page: number | undefined): unknown {
	if (!(thrown instanceof Failure) || page === undefined) return thrown;
	// A sign-in that is over, or an execution that was stopped, is not about this page.
	const { final, tokenRefused, kind, message } = thrown.details;
	if (final === true || tokenRefused === true || kind === 'cancelled') return thrown;
	return new Failure({ ...thrown.details, message: `${message} (page=${page} of the list)` });
}
