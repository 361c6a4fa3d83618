import type { ILoadOptionsFunctions, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import { meansNotFound } from '../core/codes';
import { Failure } from '../core/failure';
import type { Device } from '../core/page';
import type { Page } from '../core/paging';
import { buildFilterQuery } from '../core/query';
import { fetchDevice, fetchPage } from '../shared/devices';
import { asNodeError } from '../shared/nodeError';
import { connect, type Platform } from '../shared/transport';

const PAGE_SIZE = 100;
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
		return await searchPage(platform, (filter ?? '').trim(), paginationToken);
	} catch (thrown) {
		throw asNodeError(this.getNode(), thrown, undefined, false);
	}
}

async function searchPage(
	platform: Platform,
	text: string,
	paginationToken: string | undefined,
): Promise<INodeListSearchResult> {
	const criteria = { body: '{}', query: buildFilterQuery({ name: text }) };
	const fetchAt = async (page: number | undefined) =>
		await fetchPage(platform, criteria, SETTINGS, { page, size: PAGE_SIZE });
	if (paginationToken === undefined) {
		const page = await fetchAt(undefined);
		const exact = text === '' ? undefined : await findExact(platform, text);
		const others = page.content.filter((device) => device['sn'] !== exact?.['sn']);
		return asResults(exact === undefined ? others : [exact, ...others], page, '1');
	}
	const [index = 1, knownBase] = paginationToken.split('@').map(Number);
	let base = knownBase ?? 1;
	let page = await fetchAt(base + index);
	if (knownBase === undefined && page.number === index + 1) {
		// The server counts its pages from 0, so that was one page too far.
		base = 0;
		page = await fetchAt(index);
	}
	return asResults(page.content, page, `${index + 1}@${base}`);
}

/** The device whose serial number was typed; undefined where there is none. */
async function findExact(platform: Platform, serialNumber: string): Promise<Device | undefined> {
	return await fetchDevice(platform, serialNumber, SETTINGS).catch((thrown: unknown) => {
		if (!(thrown instanceof Failure)) throw thrown;
		// Half a serial number, or a dot, is no reason to show nothing.
		if (thrown.details.kind === 'input' || meansNotFound(thrown.details.code)) return undefined;
		throw thrown;
	});
}

function asResults(
	devices: readonly Device[],
	page: Page<Device>,
	nextToken: string,
): INodeListSearchResult {
	const more = page.last === undefined ? page.content.length >= PAGE_SIZE : !page.last;
	return {
		results: devices.filter((device) => typeof device['sn'] === 'string').map(asResult),
		...(more && page.content.length > 0 ? { paginationToken: nextToken } : {}),
	};
}

function asResult(device: Device): INodeListSearchItems {
	const sn = String(device['sn']);
	const description = device['description'];
	const words = typeof description === 'string' && description !== '' ? ` (${description})` : '';
	return { name: `${sn}${words}`, value: sn };
}
