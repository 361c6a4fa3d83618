import { Failure } from '../core/failure';
import {
	DEVICE_IN_WORDS,
	type Device,
	deviceSchema,
	identifyDevice,
	PAGE_IN_WORDS,
	pageSchema,
} from '../core/page';
import { type Listing, type Page, readList } from '../core/paging';
import { devicePath, type Query } from '../core/query';
import type { ListCriteria } from './deviceParameters';
import type { NodeSettings } from './settings';
import type { Platform, RequestSettings } from './transport';

/** Sizes to fall back to when a platform refuses a large page. */
const SMALLER_PAGES = [200, 50];

/** Codes with which a platform may turn down a page size: it says that the input, or the query, is wrong. */
const MAY_BE_THE_SIZE = new Set([-1, 9999, 10001, 10005, 10014]);
const STATUSES_THAT_MAY_BE_THE_SIZE = new Set([400, 413, 414, 422, 500]);

export interface ListRequest extends ListCriteria {
	/** Values of the `sort` parameter. */
	sort: readonly string[];
	/** The first so many devices in the platform's order; undefined for all. */
	limit: number | undefined;
}

/**
 * Reads devices over as many pages as it takes (section 4.1 of the API document).
 * @throws Failure; nothing partial is ever returned as if it were whole
 */
export async function listDevices(
	platform: Platform,
	request: ListRequest,
	settings: NodeSettings,
): Promise<Listing<Device>> {
	const size = Math.min(settings.pageSize, request.limit ?? Infinity);
	return await readList<Device>({
		fetchPage: async (page, pageSize) =>
			await fetchPage(platform, request, settings, { page, size: pageSize }).catch(
				(thrown: unknown) => {
					throw withPage(thrown, page);
				},
			),
		identify: identifyDevice,
		pageSizes: [size, ...SMALLER_PAGES.filter((smaller) => smaller < size)],
		refusesSize,
		parallelRequests: settings.parallelRequests,
		limit: request.limit,
	});
}

/**
 * Fetches one page of the list (section 4.1).
 * @param place the page parameter, left out where undefined, and the size
 */
export async function fetchPage(
	platform: Platform,
	{ body, query, sort = [] }: ListCriteria & { sort?: readonly string[] },
	settings: RequestSettings,
	{ page, size }: { page: number | undefined; size: number },
): Promise<Page<Device>> {
	const paging: Query = { size: String(size) };
	if (page !== undefined) paging['page'] = String(page);
	if (sort.length > 0) paging['sort'] = [...sort];
	return await platform.request({
		method: 'POST',
		path: '/api/device/list',
		query: { ...query, ...paging },
		body,
		onlyReads: true,
		schema: pageSchema,
		expected: PAGE_IN_WORDS,
		settings,
	});
}

/**
 * Counts devices by the list's own total (sections 1.2 and 4.1).
 * @throws Failure `answer` when the page does not say how many there are
 */
export async function countDevices(
	platform: Platform,
	criteria: ListCriteria,
	settings: RequestSettings,
): Promise<number> {
	const page = await fetchPage(platform, criteria, settings, { page: undefined, size: 1 });
	if (page.totalElements !== undefined && page.totalElements >= page.content.length) {
		return page.totalElements;
	}
	throw new Failure({
		kind: 'answer',
		cause: 'platform',
		message: "The platform's answer does not say how many devices there are ('totalElements')",
		remedy: "Use the operation 'Get Many' with 'Return All' and count its items.",
	});
}

/** Reads one device by its serial number (section 4.2). */
export async function fetchDevice(
	platform: Platform,
	serialNumber: string,
	settings: RequestSettings,
): Promise<Device> {
	return await platform.request({
		method: 'GET',
		path: devicePath(serialNumber),
		onlyReads: true,
		schema: deviceSchema,
		expected: DEVICE_IN_WORDS,
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

function refusesSize(error: unknown): boolean {
	if (!(error instanceof Failure) || error.details.tokenRefused === true) return false;
	const { kind, code, httpStatus } = error.details;
	if (kind === 'refused') return code !== undefined && MAY_BE_THE_SIZE.has(code);
	return kind === 'status' && httpStatus !== undefined && STATUSES_THAT_MAY_BE_THE_SIZE.has(httpStatus);
}
