import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { z } from 'zod/v4';

import { type Device, isSerialNumber, nameOf, serialNumberOf } from '../core/device';
import { Failure } from '../core/failure';
import { readPart } from '../core/paging/part';
import { checkText, trimmed } from '../core/text';
import { fetchDevice } from '../transport/devices';
import type { Platform } from '../transport/platform';
import { devicePages, fetchFirstDevices, MOST, openDropdown, SETTINGS } from './dropdown';

/** If the platform refuses it as a page size, pages are smaller. */
const PAGE_SIZE = 50;

/**
 * Returns one page of the device dropdown. It doesn't read the whole fleet and keeps nothing between calls.
 * @param filter the typed text: a complete serial number, or text for the platform's `name` filter. If the platform finds no device,
 * text of a line in the list
 * @param paginationToken the token that the previous call returned
 * @throws n8n's error
 */
export async function searchDevices(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const skip = skipSchema.parse(paginationToken);
	return await openDropdown(this, async (platform) => await searchPage(platform, trimmed(filter ?? ''), skip));
}

/** The page token: the number of devices before the page. */
const skipSchema = z.coerce.number().int().positive().catch(0);

async function searchPage(platform: Platform, text: string, skip: number): Promise<INodeListSearchResult> {
	const source = devicePages(platform, text === '' ? {} : { name: checkText(text, "'Name'") });
	const options = { pageSize: PAGE_SIZE, parallelRequests: 1, skip, limit: PAGE_SIZE };
	const part = await readPart(source, { ...options, keep: (device) => device }).catch((thrown: unknown) => {
		// The list can't be scrolled further, for example because the platform ignores page numbers.
		if (!(thrown instanceof Failure) || thrown.details.kind !== 'paging' || skip === 0) throw thrown;
	});
	// Without a total, each call reads the list from its beginning, so the list ends somewhere.
	const { items, reportedTotal = MOST } = part ?? { items: [] };
	const isNewSearch = skip === 0 && text !== '';
	const reading = isNewSearch ? fetchDevice(platform, text, SETTINGS) : undefined;
	const exact = await reading?.catch((thrown: unknown) => {
		// The platform may refuse part of a serial number, with any code.
		if (!(thrown instanceof Failure)) throw thrown;
	});
	const others = items.filter((device) => exact === undefined || serialNumberOf(device) !== serialNumberOf(exact));
	const results = deviceLines(exact === undefined ? others : [exact, ...others]);
	const hasText = ({ name }: { name: string }) => name.toLowerCase().includes(text.toLowerCase());
	// A platform may find no part of a serial number, or ignore the filter.
	if (isNewSearch && exact === undefined && !results.some(hasText)) {
		const { content } = await fetchFirstDevices(platform);
		const known = new Set(results.map(({ value }) => value));
		results.unshift(...deviceLines(content).filter((line) => hasText(line) && !known.has(line.value)));
	}
	const next = skip + PAGE_SIZE;
	if (items.length < PAGE_SIZE || next >= reportedTotal) return { results };
	return { results, paginationToken: String(next) };
}

/** Returns the lines of the list. A device without a serial number can't be selected. */
function deviceLines(devices: readonly Device[]) {
	const selectable = devices.filter((device) => isSerialNumber(serialNumberOf(device)));
	return selectable.map((device) => ({ name: labelOf(device), value: serialNumberOf(device) }));
}

/** The dropdown shows one line. */
const MAX_LABEL = 80;

/** Returns the beginning of: serial number · model · group · description. */
function labelOf(device: Device): string {
	const texts = [serialNumberOf(device), nameOf(device.model), nameOf(device.group), device.description];
	const parts = texts.map((text) => (typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : ''));
	return [...parts.filter((part) => part !== '').join(' · ')].slice(0, MAX_LABEL).join('');
}
