import type { ILoadOptionsFunctions, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure } from '../core/failure';
import { type Device, identifyDevice } from '../core/page';
import type { Page } from '../core/paging';
import { buildFilterQuery } from '../core/query';
import { fetchDevice, fetchPage } from '../shared/devices';
import { asNodeError } from '../shared/nodeError';
import { connect, type Platform } from '../shared/transport';

/** No more than the smallest page that the node itself falls back to, so that no platform refuses it that serves the node. */
const PAGE_SIZE = 50;
/** A dropdown is waited for by a person. */
const SETTINGS = { timeoutMs: 20_000, maxRetries: 1 };

/**
 * Fills the device dropdown, a page at a time.
 * @param filter what was typed: a whole serial number finds its device, and the platform's `name` filter the rest
 * @param paginationToken the page parameter to go on with, as the previous call returned it
 * @throws n8n's error with the same words as the node's own
 */
export async function searchDevices(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	try {
		const platform = await connect(this, 1);
		const search = searchPage(platform, (filter ?? '').trim(), paginationToken);
		return await search.finally(() => platform.stop());
	} catch (thrown) {
		throw asNodeError(this.getNode(), thrown, undefined, false);
	}
}

/** Where the next call goes on; n8n hands it back as the text it was given. */
const placeSchema = z.object({
	/** The page to fetch; the first one is 0. */
	index: z.number().int().positive(),
	/** What is added to `index` to get the page parameter; unknown before the second page. */
	base: z.union([z.literal(0), z.literal(1)]).optional(),
	/** The first page's own `number`. */
	firstNumber: z.number().optional(),
	/** The serial number that stands at the top of the list whatever page its device is on. */
	atTop: z.string().optional(),
});

type Place = z.infer<typeof placeSchema>;

/** The place in a token; undefined for none, or one that is not of this list: then it begins anew. */
function readPlace(paginationToken: string | undefined): Place | undefined {
	try {
		return placeSchema.parse(JSON.parse(paginationToken ?? ''));
	} catch {
		return undefined;
	}
}

/** Fetches one page; undefined leaves the page parameter out, which is the first page. */
type FetchAt = (page: number | undefined) => Promise<Page<Device>>;

async function searchPage(
	platform: Platform,
	text: string,
	paginationToken: string | undefined,
): Promise<INodeListSearchResult> {
	const criteria = { body: '{}', query: buildFilterQuery({ name: text }) };
	const fetchAt: FetchAt = async (page) =>
		await fetchPage(platform, criteria, SETTINGS, { page, size: PAGE_SIZE });
	const place = readPlace(paginationToken);
	if (place === undefined) {
		const page = await fetchAt(undefined);
		const exact = text === '' ? undefined : await findExact(platform, text);
		const next: Place = { index: 1, firstNumber: page.number };
		const sn = exact?.['sn'];
		if (exact === undefined || typeof sn !== 'string') return asResults([], page, next);
		return asResults([exact], page, { ...next, atTop: sn });
	}
	const { page, base } = await fetchNext(fetchAt, place);
	return asResults([], page, { ...place, index: place.index + 1, base });
}

/** Fetches a page after the first one and finds out, where that is not known, whether the server counts from 0 or 1. */
async function fetchNext(
	fetchAt: FetchAt,
	{ index, base, firstNumber }: Place,
): Promise<{ page: Page<Device>; base: 0 | 1 }> {
	const page = await fetchAt((base ?? 1) + index);
	if (base !== undefined) return { page, base };
	if (page.number !== undefined && firstNumber !== undefined && page.number === firstNumber + index) {
		return { page, base: 1 };
	}
	// One page too far, or a server that does not say where it is: page 1 tells.
	const [pageOne, first] = await Promise.all([fetchAt(1), fetchAt(undefined)]);
	return areSame(pageOne, first) ? { page, base: 1 } : { page: pageOne, base: 0 };
}

function areSame(one: Page<Device>, other: Page<Device>): boolean {
	const ids = other.content.map(identifyDevice);
	return (
		one.content.length === ids.length &&
		one.content.every((device, position) => identifyDevice(device) === ids[position])
	);
}

/**
 * The device whose serial number was typed; undefined where there is none. Half a serial number may be refused with any
 * code, and the list is there already: no reason to show nothing.
 */
async function findExact(platform: Platform, serialNumber: string): Promise<Device | undefined> {
	return await fetchDevice(platform, serialNumber, SETTINGS).catch((thrown: unknown) => {
		if (thrown instanceof Failure) return undefined;
		throw thrown;
	});
}

function asResults(top: readonly Device[], page: Page<Device>, next: Place): INodeListSearchResult {
	const others = page.content.filter(({ sn }) => typeof sn === 'string' && sn !== next.atTop);
	// Without `last` only an empty page is surely the end: the server may have cut the size.
	const more = page.content.length > 0 && page.last !== true;
	return {
		results: [...top, ...others].map(asResult),
		...(more ? { paginationToken: JSON.stringify(next) } : {}),
	};
}

function asResult(device: Device): INodeListSearchItems {
	const sn = String(device['sn']);
	const description = device['description'];
	const words = typeof description === 'string' && description !== '' ? ` (${description})` : '';
	return { name: `${sn}${words}`, value: sn };
}
