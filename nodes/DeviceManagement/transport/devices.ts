import { Failure } from '../core/failure';
import { DEVICE_IN_WORDS, type Device, deviceSchema, identifyDevice } from '../core/device';
import type { Listing } from '../core/paging/list';
import type { Page, PageSource } from '../core/paging/page';
import { readPart } from '../core/paging/part';
import type { Purpose } from '../core/errors/purpose';
import { devicePath, type ListCriteria } from '../core/query';
import { fetchPageOf, listOptions, type ListSettings, type PagedEndpoint, pageSource, type Part } from './list';
import type { Platform, RequestSettings } from './platform';

export { listOptions, type ListSettings } from './list';

/** Which devices, and in which order. */
export interface DeviceSelection extends ListCriteria {
	/** Values of the `sort` parameter; none for the platform's own order. */
	sort?: readonly string[];
}

/** The list of devices (section 4.1 of the API document). */
function deviceList(selection: DeviceSelection, purpose: Purpose): PagedEndpoint {
	return { method: 'POST', path: '/api/device/list', purpose, ...selection };
}

/** Returns the pages of a device list (section 4.1), for a listing and for callers that walk them one by one. */
export function deviceSource(
	platform: Platform,
	selection: DeviceSelection,
	settings: RequestSettings,
	purpose: Purpose = 'list',
): PageSource<Device> {
	return pageSource(platform, deviceList(selection, purpose), settings, identifyDevice);
}

/**
 * Reads devices from as many pages as necessary (section 4.1).
 * @throws Failure; it never returns part of a list as if it were the whole list
 */
export async function listDevices(
	platform: Platform,
	selection: DeviceSelection,
	settings: ListSettings,
	part: Part,
): Promise<Listing<Device>> {
	const options = { ...listOptions(settings, part.limit), skip: part.skip };
	return await readPart(deviceSource(platform, selection, settings), options);
}

/**
 * Fetches one page of the list (section 4.1).
 * @param place the page parameter, left out where undefined, and the size
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

/**
 * Reads one device by its serial number (section 4.2).
 * @throws Failure `input` for a serial number that no path can carry; `answer` with `withoutData` for a success without a device
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
				message: 'The platform has no device with this serial number: it returned a success without data',
				remedy: 'Check the serial number; the device may have been deleted.',
			});
		});
}
