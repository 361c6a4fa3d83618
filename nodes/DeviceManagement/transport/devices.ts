/**
 * The platform's device calls: list, count and get one (section 4 of the API document). They return devices unchanged, or throw
 * a Failure. They don't read the node's fields and don't shape the output.
 */
import { Failure } from '../core/failure';
import { DEVICE_IN_WORDS, type Device, deviceSchema, identifyDevice, identifyListed } from '../core/device';
import type { Listing } from '../core/paging/list';
import type { Page, PageSource } from '../core/paging/page';
import { readPart } from '../core/paging/part';
import { type Purpose, WORDING } from '../core/errors/purpose';
import { devicePath, type ListCriteria } from '../core/query';
import { fetchPageOf, listOptions, type ListSettings, type PagedEndpoint, pageSource, type Part } from './list';
import type { Platform, RequestSettings } from './platform';

export { listOptions, type ListSettings } from './list';

/** The filters and the sort order of a device list. */
export interface DeviceSelection extends ListCriteria {
	/** Values of the `sort` parameter; without any, the platform chooses the order. */
	sort?: readonly string[];
}

/** Returns the endpoint of the device list (section 4.1 of the API document). */
function deviceList(selection: DeviceSelection, purpose: Purpose): PagedEndpoint {
	return { method: 'POST', path: '/api/device/list', purpose, ...selection };
}

/** Returns the source of a device list's pages (section 4.1). */
export function deviceSource(
	platform: Platform,
	selection: DeviceSelection,
	settings: RequestSettings,
	purpose: Purpose = 'list',
): PageSource<Device> {
	return pageSource(platform, deviceList(selection, purpose), settings, identifyDevice);
}

/**
 * Reads all devices of the list, or a part of it (section 4.1).
 * @throws Failure if a page can't be read
 */
export async function listDevices(
	platform: Platform,
	selection: DeviceSelection,
	settings: ListSettings,
	part: Part,
): Promise<Listing<Device>> {
	const source = { ...deviceSource(platform, selection, settings), identify: identifyListed };
	return await readPart(source, { ...listOptions(settings), ...part });
}

/**
 * Fetches one page of the list (section 4.1).
 * @param place the page and size parameters; page undefined for the first page
 */
export async function fetchPage(
	platform: Platform,
	selection: DeviceSelection,
	settings: RequestSettings,
	place: { page: number | undefined; size: number },
	purpose: Purpose = 'list',
): Promise<Page<Device>> {
	return await fetchPageOf(platform, deviceList(selection, purpose), settings, place);
}

/**
 * Returns the number of devices, by the list's own total (sections 1.2 and 4.1).
 * @throws Failure `response` if the page has no total
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
		kind: 'response',
		cause: 'platform',
		message: "The platform's response has no total number of devices ('totalElements')",
		remedy: "Use the operation 'Get Many' to return all devices, and count its items.",
	});
}

/**
 * Reads one device by its serial number (section 4.2).
 * @throws Failure `input` for a serial number that can't be part of a path; `response` with `withoutData` for a success without data
 */
export async function fetchDevice(
	platform: Platform,
	serialNumber: string,
	settings: RequestSettings,
): Promise<Device> {
	const path = devicePath(serialNumber);
	const device = { schema: deviceSchema, expected: DEVICE_IN_WORDS };
	return await platform
		.request({ method: 'GET', path, purpose: 'device', ...device, settings })
		.catch((thrown: unknown) => {
			if (!(thrown instanceof Failure) || thrown.details.withoutData !== true) throw thrown;
			throw new Failure({
				...thrown.details,
				cause: 'not found',
				message: `${WORDING.device.missing}: the platform returned a success without data`,
				remedy: WORDING.device.findRecord,
			});
		});
}
