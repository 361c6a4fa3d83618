/** What all dropdowns share: how they open the platform, and the devices that they list values of. */
import type { ILoadOptionsFunctions } from 'n8n-workflow';

import type { Query } from '../core/address';
import { fetchFirst } from '../core/paging/firstPage';
import { asNodeError } from '../nodeError';
import { DEVICE_LIST } from '../transport/devices';
import { pageSource } from '../transport/pagedList';
import { openPlatform, type Platform } from '../transport/platform';

/** Shorter than in workflows, because a person is waiting. */
export const SETTINGS = { timeoutMs: 20_000, maxRetries: 1, countsLimits: true };
/** Most devices that a dropdown compares. */
export const MOST = 1000;

/** Returns the content of any dropdown. Throws n8n's error. */
export async function openDropdown<T>(context: ILoadOptionsFunctions, read: (platform: Platform) => Promise<T>) {
	try {
		const platform = await openPlatform(context, { parallelRequests: 1 });
		return await read(platform).finally(() => platform.stop());
	} catch (thrown) {
		throw asNodeError(context.getNode(), thrown);
	}
}

/** Returns the first devices of the list: one request, for any number of devices. */
export async function fetchFirstDevices(platform: Platform) {
	return (await fetchFirst(devicePages(platform), MOST)).page;
}

export function devicePages(platform: Platform, query: Query = {}) {
	return pageSource(platform, { ...DEVICE_LIST, words: 'dropdown', query }, SETTINGS);
}
