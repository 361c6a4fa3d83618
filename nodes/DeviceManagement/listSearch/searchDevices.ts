import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure } from '../core/failure';
import { type Device, isSerialNumber, nameOf, serialNumberOf } from '../core/device';
import type { JsonValue } from '../core/json';
import { type Place, placeSchema, scrollPage } from '../core/paging/scroll';
import { buildFilterQuery } from '../core/query';
import { deviceSource, fetchDevice } from '../transport/devices';
import { asNodeError } from '../nodeError';
import { openPlatform, type Platform } from '../transport/platform';

/** The smallest page that the node falls back to. */
const PAGE_SIZE = 50;
/** A person waits for the dropdown. */
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

/** What the next call needs. `atTop` is the serial number that was shown first, whatever page its device is on. */
const tokenSchema = z.object({ place: placeSchema, atTop: z.string().optional() });

type Token = z.infer<typeof tokenSchema>;

/** Returns what a token holds. Without a valid token, the list starts at its first page. */
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

/** Returns the device with this serial number, if any. The platform may refuse part of a serial number with any code. */
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
		// A device without a serial number can't be selected.
		results: [...top, ...others]
			.filter((device) => isSerialNumber(serialNumberOf(device)))
			.map((device) => ({ name: labelOf(device), value: serialNumberOf(device) })),
		...(token === undefined ? {} : { paginationToken: JSON.stringify(token) }),
	};
}

/** Returns what a person knows a device by: serial number · model · group · description. */
function labelOf(device: Device): string {
	const { model, group, description } = device;
	const names = [model, group].map((record) => shorten(textOf(nameOf(record)), MOST_OF_A_NAME));
	const known = [serialNumberOf(device), ...names, textOf(description)];
	return shorten(known.filter((text) => text !== '').join(' · '), MOST_OF_A_LABEL);
}

/** The dropdown shows one line. */
const MOST_OF_A_LABEL = 80;
/** Leaves room for what follows a long name. */
const MOST_OF_A_NAME = 24;

function textOf(value: JsonValue): string {
	return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
}

/** Cuts a text between two characters. */
function shorten(text: string, most: number): string {
	const characters = [...text];
	if (characters.length <= most) return text;
	const beginning = characters.slice(0, most - 1).join('');
	return `${beginning.trimEnd()}…`;
}
