import type { ILoadOptionsFunctions, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure } from '../core/failure';
import { type Device, isSerialNumber, nameOf, serialNumberOf } from '../core/device';
import type { JsonValue } from '../core/json';
import { type Place, placeSchema, scrollPage } from '../core/paging/scroll';
import { buildFilterQuery } from '../core/query';
import { deviceSource, fetchDevice } from '../transport/devices';
import { asNodeError } from '../nodeError';
import { openPlatform, type Platform } from '../transport/platform';

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
		const platform = await openPlatform(this, { parallelRequests: 1 });
		const search = searchPage(platform, (filter ?? '').trim(), paginationToken);
		return await search.finally(() => platform.stop());
	} catch (thrown) {
		throw asNodeError(this.getNode(), thrown, undefined, false);
	}
}

/** Where the next call goes on; n8n hands it back as the text it was given. */
const tokenSchema = z.object({
	place: placeSchema,
	/** The serial number that stands at the top of the list whatever page its device is on. */
	atTop: z.string().optional(),
});

type Token = z.infer<typeof tokenSchema>;

/** What a token holds; undefined for none, or one that is not of this list: then it begins anew. */
function readToken(paginationToken: string | undefined): Token | undefined {
	try {
		return tokenSchema.parse(JSON.parse(paginationToken ?? ''));
	} catch {
		return undefined;
	}
}

async function searchPage(
	platform: Platform,
	text: string,
	paginationToken: string | undefined,
): Promise<INodeListSearchResult> {
	const selection = { body: '{}', query: buildFilterQuery({ name: text }), sort: [] };
	const source = deviceSource(platform, selection, SETTINGS, 'dropdown');
	const token = readToken(paginationToken);
	const { items, next } = await scrollPage(source, PAGE_SIZE, token?.place);
	if (token !== undefined) return asResults([], items, token.atTop, next);
	const exact = text === '' ? undefined : await findExact(platform, text);
	if (exact === undefined) return asResults([], items, undefined, next);
	return asResults([exact], items, serialNumberOf(exact), next);
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

function asResults(
	top: readonly Device[],
	items: readonly Device[],
	atTop: string | undefined,
	next: Place | undefined,
): INodeListSearchResult {
	const others = items.filter((device) => serialNumberOf(device) !== atTop);
	const token: Token | undefined = next === undefined ? undefined : { place: next, atTop };
	return {
		// Without a serial number there is nothing to pick.
		results: [...top, ...others].filter((device) => isSerialNumber(serialNumberOf(device))).map(asResult),
		...(token === undefined ? {} : { paginationToken: JSON.stringify(token) }),
	};
}

function asResult(device: Device): INodeListSearchItems {
	return { name: labelOf(device), value: serialNumberOf(device) };
}

/** By what a person knows a device: serial number · model · group · description, as far as there are any. */
function labelOf(device: Device): string {
	const { model, group, description } = device;
	const known = [serialNumberOf(device), shortName(model), shortName(group), textOf(description)];
	return shorten(known.filter((text) => text !== '').join(' · '), MOST_OF_A_LABEL);
}

/** The dropdown shows one line. */
const MOST_OF_A_LABEL = 80;
/** So that a long name of a model or a group leaves room for what follows. */
const MOST_OF_A_NAME = 24;

function shortName(record: JsonValue): string {
	return shorten(textOf(nameOf(record)), MOST_OF_A_NAME);
}

/** On one line. */
function textOf(value: JsonValue): string {
	return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
}

/** Cuts between characters, and says so. */
function shorten(text: string, most: number): string {
	// No more than can be needed, where a character may take two places.
	const characters = [...text.slice(0, 2 * most + 2)];
	return characters.length <= most ? text : `${characters.slice(0, most - 1).join('').trimEnd()}…`;
}
