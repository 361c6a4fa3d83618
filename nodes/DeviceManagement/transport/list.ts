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

/** Settings of a list with many pages. */
export interface ListSettings extends RequestSettings {
	/** Items per request. */
	pageSize: number;
	/** Most requests at the same time. */
	parallelRequests: number;
}

/** A part of a list, in the platform's order. */
export interface Part {
	/** Items to skip at the beginning. */
	skip: number;
	/** Items to read after those; undefined for all. */
	limit: number | undefined;
}

/** A request to a paged endpoint, without its page. */
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
 * Returns the source of a list's pages.
 * @param identify returns the identity of an item; default: its `id`
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

/** Returns the options of a walk over the list's pages. */
export function listOptions({ pageSize, parallelRequests }: ListSettings): WalkOptions {
	return { sizes: [pageSize, ...SMALLER_PAGES.filter((smaller) => smaller < pageSize)], parallelRequests };
}

/**
 * Fetches one page of a list (section 1.2).
 * @param place the page and size parameters; page undefined for the first page
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

/** Adds to a failure's message which page could not be read. The first page has no page parameter. */
function withPage(thrown: unknown, page: number | undefined): unknown {
	if (!(thrown instanceof Failure) || page === undefined) return thrown;
	// A refused sign-in or a stopped execution has nothing to do with this page.
	const { final, tokenRefused, kind, message } = thrown.details;
	if (final === true || tokenRefused === true || kind === 'cancelled') return thrown;
	return new Failure({ ...thrown.details, message: `${message} (page=${page} of the list)` });
}
