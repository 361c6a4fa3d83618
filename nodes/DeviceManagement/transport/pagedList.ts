import { z } from 'zod/v4';

import { checkPayload } from '../core/response';
import { Failure, type FailureDetails } from '../core/failure';
import { isRecord, type JsonObject } from '../core/json';
import { pageSchema, type PageSource } from '../core/paging/page';
import { mayRefuseSizeOrSort } from '../core/paging/refusal';
import type { Query } from '../core/address';
import { identifyRecord } from '../core/record';
import type { Platform, PlatformRequest, RequestSettings } from './platform';

/** A request to a paged endpoint, without its page. */
export interface PagedEndpoint
	extends Omit<PlatformRequest<unknown>, 'schema' | 'settings'>,
		Partial<Omit<PageSource<JsonObject>, 'fetchPage'>> {
	sort?: readonly string[] | undefined;
}

/** Returns the source of a list's pages (section 1.2). Without `identify`, records are identified by their `id`, and rows by all of them. */
export function pageSource(
	platform: Platform,
	endpoint: PagedEndpoint,
	settings: RequestSettings,
): PageSource<JsonObject> {
	const { sort = [], query, areRows = false, identify, idOf, ...list } = endpoint;
	return {
		async fetchPage(page, size, byId = false) {
			const paging: Query = { size: String(size) };
			if (page !== undefined) paging['page'] = String(page);
			const order = byId ? withIdLast(sort) : [...sort];
			if (order.length > 0) paging['sort'] = order;
			const request = { ...list, query: { ...query, ...paging }, schema: pageSchema, settings };
			return await platform.request(request).catch((thrown: unknown) => {
				throw withPage(thrown, page);
			});
		},
		identify: identify ?? (areRows ? JSON.stringify : identifyRecord),
		idOf,
		areRows,
	};
}

/**
 * Returns the platform for a list that the node doesn't know. A POST may change something: its first
 * request is sent once, and in one page size. Once the platform has returned a page, the others only read.
 * @throws Failure `response` with the words for 'Return All' if the first response isn't a page; and what a request throws
 */
export function asPaged(platform: Platform, asObjects: (content: unknown[]) => object[]): Platform {
	let isKnown = false;
	const request: Platform['request'] = async ({ schema, ...sent }) => {
		const inOneSize = !isKnown && sent.method !== 'GET';
		const asked = { ...sent, onlyReads: isKnown, schema: z.unknown() };
		const data = await platform.request(asked).catch((thrown: unknown) => {
			throw inOneSize ? withSize(thrown) : thrown;
		});
		if (isRecord(data) && Array.isArray(data['content'])) data['content'] = asObjects(data['content']);
		// A record may have a field 'content', too. A POST that wrote it must not be sent again.
		const isPage = isRecord(data) && PAGE_FIELDS.some((name) => Object.hasOwn(data, name));
		if (!isKnown && !(isPage && schema.safeParse(data).success)) throw new Failure(NO_LIST);
		isKnown = true;
		return checkPayload(data, schema);
	};
	return { ...platform, request };
}

function withSize(thrown: unknown): unknown {
	if (!mayRefuseSizeOrSort(thrown)) return thrown;
	const remedy = `${thrown.details.remedy} Or change 'Page Size'.`;
	return new Failure({ ...thrown.details, remedy, mayRefusePage: false });
}

/** Section 1.2: one of them tells a page from a record. */
const PAGE_FIELDS = ['last', 'number', 'totalElements', 'totalPages'];

const NO_LIST: FailureDetails = {
	kind: 'response',
	cause: 'input',
	message: "The response isn't a list with pages",
	remedy: "Turn off 'Return All'. If you sent a POST, first check what it changed.",
};

/** Adds the ID to the last `sort` parameter, in its direction: a platform that reads only one parameter keeps the order. */
function withIdLast(sort: readonly string[]): string[] {
	if (sort.some((rule) => /(^|,)id[, ]/.test(rule))) return [...sort];
	const last = sort.at(-1);
	return last === undefined ? ['id asc'] : [...sort.slice(0, -1), last.replace(/(?= (asc|desc)$)/, ',id')];
}

/** Adds to a failure's message which page couldn't be read. The first page has no page parameter. */
function withPage(thrown: unknown, page: number | undefined): unknown {
	if (!(thrown instanceof Failure) || page === undefined) return thrown;
	// A refused sign-in or a stopped execution has nothing to do with this page.
	const { signInFailed, token, kind, message } = thrown.details;
	if (signInFailed === 'for good' || token === 'refused' || kind === 'cancelled') return thrown;
	return new Failure({ ...thrown.details, message: `${message} (page=${page} of the list)` });
}
