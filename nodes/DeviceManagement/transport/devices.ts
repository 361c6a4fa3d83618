import { Failure } from '../core/failure';
import { type Device, deviceSchema, identifyDevice, identifyListed } from '../core/device';
import { WORDING } from '../core/errors/failureOf';
import { CHECK_RECORD, meansNoDevice } from '../core/errors/table';
import { fetchFirst } from '../core/paging/firstPage';
import { devicePath, type ListCriteria } from '../core/address';
import { type PagedEndpoint, pageSource } from './pagedList';
import type { Platform, RequestSettings } from './platform';

/** The list of devices (section 4.1), without filters and sort order. */
export const DEVICE_LIST = {
	method: 'POST',
	path: '/api/device/list',
	body: '{}',
	onlyReads: true,
	words: 'list',
	identify: identifyListed,
	idOf: identifyDevice,
} as const satisfies PagedEndpoint;

/** Returns the number of devices, by the list's total (sections 1.2 and 4.1). Throws a Failure `response` without one. */
export async function countDevices(
	platform: Platform,
	criteria: ListCriteria,
	settings: RequestSettings,
): Promise<number> {
	const endpoint = { ...DEVICE_LIST, ...criteria, words: 'count' } as const;
	const { page } = await fetchFirst(pageSource(platform, endpoint, settings), 1);
	if (page.totalElements !== undefined && page.totalElements >= page.content.length) {
		return page.totalElements;
	}
	const message = "The platform returned no total ('totalElements')";
	const remedy = "Use 'Get Many' with 'Return All', and count its items.";
	throw new Failure({ kind: 'response', cause: 'platform', message, remedy });
}

/**
 * Fetches one device by its serial number (section 4.2).
 * @throws Failure `input` for a serial number that can't be part of a path; `response` with `withoutData` for a success without data
 */
export async function fetchDevice(
	platform: Platform,
	serialNumber: string,
	settings: RequestSettings,
): Promise<Device> {
	const path = devicePath(serialNumber);
	return await platform
		.request({ method: 'GET', path, words: 'device', schema: deviceSchema(serialNumber), settings })
		.catch((thrown: unknown) => {
			if (!(thrown instanceof Failure) || !meansNoDevice(thrown.details)) throw thrown;
			const { details } = thrown;
			// Only here, after the platform's words: the request's wording has no place for the serial number.
			const missing = `No device has the serial number ${serialNumber.trim()}`;
			const words =
				details.withoutData === true
					? { message: `${missing}: the response has no data`, remedy: CHECK_RECORD }
					: { message: details.message.replace(WORDING.device.missing, () => missing) };
			throw new Failure({ ...details, cause: 'not found', ...words });
		});
}
