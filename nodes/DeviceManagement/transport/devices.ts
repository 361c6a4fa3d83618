/**
 * The platform's device calls: list, count and get one (section 4 of the API document). They return devices unchanged, or throw
 * a Failure. They don't read the node's fields and don't shape the output.
 */
import { Failure } from '../core/failure';
import { DEVICE_IN_WORDS, type Device, deviceSchema, identifyDevice } from '../core/device';
import type { Page, PageSource } from '../core/paging/page';
import { type Purpose, WORDING } from '../core/errors/purpose';
import { devicePath, type ListCriteria } from '../core/query';
import { pageSource } from './pagedList';
import type { Platform, RequestSettings } from './platform';

export { type ListSettings } from './pagedList';

/** The filters and the sort order of a device list. */
export interface DeviceSelection extends ListCriteria {
	/** Values of the `sort` parameter; without any, the platform chooses the order. */
	sort?: readonly string[];
}

/** Returns the source of a device list's pages (section 4.1). */
export function deviceSource(
	platform: Platform,
	selection: DeviceSelection,
	settings: RequestSettings,
	purpose: Purpose = 'list',
): PageSource<Device> {
	const endpoint = { method: 'POST', path: '/api/device/list', purpose, ...selection } as const;
	return pageSource(platform, endpoint, settings, identifyDevice);
}

/**
 * Fetches one page of the list (section 4.1).
 * @param place the page and size parameters; page undefined for the first page
 */
export async function fetchPage(
	platform: Platform,
	selection: DeviceSelection,
	settings: RequestSettings,
	{ page, size }: { page: number | undefined; size: number },
): Promise<Page<Device>> {
	return await deviceSource(platform, selection, settings).fetchPage(page, size);
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
	const page = await deviceSource(platform, criteria, settings, 'count').fetchPage(undefined, 1);
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
	const device = { schema: deviceSchema(serialNumber), expected: DEVICE_IN_WORDS };
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
