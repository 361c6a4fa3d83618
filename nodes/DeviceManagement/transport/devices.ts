import { Failure } from '../core/failure';
import {
	DEVICE_IN_WORDS,
	type Device,
	deviceSchema,
	identifyDevice,
	PAGE_IN_WORDS,
	pageSchema,
} from '../core/device';
import type { Listing } from '../core/paging/list';
import type { Page, PageSource } from '../core/paging/page';
import { readPart } from '../core/paging/part';
import type { WalkOptions } from '../core/paging/walk';
import type { Purpose } from '../core/purpose';
import { devicePath, type ListCriteria, type Query } from '../core/query';
import type { Platform, RequestSettings } from './platform';

/** Sizes to fall back to when a platform refuses a large page. */
const SMALLER_PAGES = [200, 50];

/** What governs a list of many pages. */
export interface ListSettings extends RequestSettings {
	/** Devices to ask for in one request. */
	pageSize: number;
	/** Most requests under way at once. */
	parallelRequests: number;
}

/** Which devices, and in which order. */
export interface DeviceSelection extends ListCriteria {
	/** Values of the `sort` parameter. */
	sort: readonly string[];
}

/**
 * The pages of a device list (section 4.1 of the API document), for a listing and for whoever walks them one by one.
 */
export function deviceSource(
	platform: Platform,
	selection: DeviceSelection,
	settings: RequestSettings,
	purpose: Purpose = 'list',
): PageSource<Device> {
	return {
		fetchPage: async (page, size) =>
			await fetchPage(platform, selection, settings, { page, size }, purpose).catch((thrown: unknown) => {
				throw withPage(thrown, page);
			}),
		identify: identifyDevice,
	};
}

/**
 * How pages are asked for.
 * @param limit the first so many devices in the platform's order; undefined for all
 */
export function listOptions({ pageSize, parallelRequests }: ListSettings, limit?: number): WalkOptions {
	const size = Math.min(pageSize, limit ?? Infinity);
	const sizes = [size, ...SMALLER_PAGES.filter((smaller) => smaller < size)] as const;
	return { sizes, parallelRequests, limit };
}

/** Which part of a list, in the platform's order. */
export interface Part {
	/** Devices to leave out at the beginning. */
	skip: number;
	/** How many devices after those; undefined for all. */
	limit: number | undefined;
}

/**
 * Reads devices over as many pages as it takes (section 4.1 of the API document).
 * @throws Failure; nothing partial is ever returned as if it were whole
 */
export async function listDevices(
	platform: Platform,
	selection: DeviceSelection,
	settings: ListSettings,
	{ skip, limit }: Part,
): Promise<Listing<Device>> {
	const source = deviceSource(platform, selection, settings);
	return await readPart(source, { ...listOptions(settings, limit), skip });
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
	purpose: Purpose = 'list',
): Promise<Page<Device>> {
	const paging: Query = { size: String(size) };
	if (page !== undefined) paging['page'] = String(page);
	if (sort.length > 0) paging['sort'] = [...sort];
	return await platform.request({
		method: 'POST',
		path: '/api/device/list',
		query: { ...query, ...paging },
		body,
		purpose,
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
	const page = await fetchPage(platform, criteria, settings, { page: undefined, size: 1 }, 'count');
	if (page.totalElements !== undefined && page.totalElements >= page.content.length) {
		return page.totalElements;
	}
	throw new Failure({
		kind: 'answer',
		cause: 'platform',
		message: "The platform's answer does not say how many devices there are ('totalElements')",
		remedy: "Use the operation 'Get Many' to return all devices, and count its items.",
	});
}

/** Reads one device by its serial number (section 4.2). */
export async function fetchDevice(
	platform: Platform,
	serialNumber: string,
	settings: RequestSettings,
): Promise<Device> {
	return await fetchDeviceAt(platform, devicePath(serialNumber), settings);
}

/**
 * Reads one device by its path, see `core/query.ts`.
 * @throws Failure `answer` with `withoutData` for a success that holds no device: it says of a serial number what a code would
 */
export async function fetchDeviceAt(
	platform: Platform,
	path: string,
	settings: RequestSettings,
): Promise<Device> {
	const asked = { method: 'GET', path, purpose: 'device', schema: deviceSchema, expected: DEVICE_IN_WORDS, settings } as const;
	return await platform.request(asked).catch((thrown: unknown) => {
		if (!(thrown instanceof Failure) || thrown.details.withoutData !== true) throw thrown;
		throw new Failure({
			...thrown.details,
			cause: 'not found',
			message: 'The platform has no device with this serial number: it answered with a success without data',
			remedy: 'Check the serial number; the device may have been deleted.',
		});
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
