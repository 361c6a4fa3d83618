/**
 * Sends the requests of a platform check through the package's own transport, one at a time and without retries, and turns failures
 * into a few words. What a response means is up to the checks.
 */
import type { IPollFunctions } from 'n8n-workflow';

import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Failure, FailureDetails } from '../../nodes/DeviceManagement/core/failure.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { readPart } from '../../nodes/DeviceManagement/core/paging/part.ts';
import { DEVICE_LIST, fetchDevice } from '../../nodes/DeviceManagement/transport/devices.ts';
import { type PagedEndpoint, pageSource } from '../../nodes/DeviceManagement/transport/pagedList.ts';
import { openPlatform, type Platform } from '../../nodes/DeviceManagement/transport/platform.ts';

/** Most requests of one check, beside sign-ins. A list that changes all the time could otherwise need any number. */
const MOST_REQUESTS = 40;

/** Devices on the first page that the check reads: the default of the API document. */
export const FIRST_SIZE = 10;

/** The nodes' default timeout. */
const SETTINGS = { timeoutMs: 60_000, maxRetries: 0 };

/** How a request ended: with a value, or with the reason why there is none. */
export type Outcome<T> = { value: T; refusal?: undefined } | { refusal: FailureDetails; value?: undefined };

/** Which devices to list, and in which order. */
type Selection = Pick<PagedEndpoint, 'body' | 'query' | 'sort'>;

/** Fetches one page of the device list. */
export type FetchPage = (size: number, page?: number, selection?: Selection) => Promise<Outcome<Page<Device>>>;

export type Probe = Awaited<ReturnType<typeof openProbe>>;

/** Opens the platform of a node. */
export async function openProbe(context: IPollFunctions) {
	const opened = await openPlatform(context, { parallelRequests: 1 });
	let sent = 0;
	const request: Platform['request'] = async (asked) => {
		if (++sent > MOST_REQUESTS) throw new Error(`The check sends at most ${MOST_REQUESTS} requests.`);
		return await opened.request(asked);
	};
	const platform = { ...opened, request };
	const attempt = async <T,>(sending: Promise<T>): Promise<Outcome<T>> => {
		try {
			return { value: await sending };
		} catch (thrown) {
			if (!isFailure(thrown)) throw thrown;
			return { refusal: thrown.details };
		}
	};
	const source = (selection: Selection) => pageSource(platform, { ...DEVICE_LIST, ...selection }, SETTINGS);
	const page: FetchPage = async (size, number, selection = {}) =>
		await attempt(source(selection).fetchPage(number, size));
	return {
		page,
		/** Reads the first devices as Get Many does, over as many pages as it takes. */
		list: async (pageSize: number, limit: number) => {
			const options = { pageSize, limit, byId: 'if unsteady', parallelRequests: 1 } as const;
			return await attempt(readPart(source({}), { ...options, keep: (device) => device }));
		},
		/** Reads one device by its serial number. */
		device: async (serialNumber: string) => await attempt(fetchDevice(platform, serialNumber, SETTINGS)),
		stop: platform.stop,
	};
}

/** Tells a Failure by its name: imports of this file and of the package load the class twice, which `instanceof` tells apart. */
function isFailure(thrown: unknown): thrown is Failure {
	return thrown instanceof Error && thrown.name === 'Failure';
}

/** Whether the platform refused the request, so that it would do so again. This excludes a refused token. */
export function isRefusal({ mayRefusePage, temporary, token, signInFailed }: FailureDetails): boolean {
	return mayRefusePage === true && temporary !== true && token !== 'refused' && signInFailed !== 'for good';
}

/** How a request failed, in a few words. Leaves out the platform's own text, which may name a device. */
export function inWords({ kind, code, httpStatus, withoutData }: FailureDetails): string {
	if (code !== undefined) return `code ${code}`;
	if (withoutData === true) return 'a success without data';
	if (kind === 'timeout') return `no response within ${SETTINGS.timeoutMs / 1000} seconds`;
	if (kind === 'unreachable') return 'no connection';
	if (httpStatus !== undefined && httpStatus !== 200) return `HTTP ${httpStatus}`;
	return 'an unexpected response';
}
