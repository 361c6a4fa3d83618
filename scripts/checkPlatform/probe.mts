/**
 * Sends the requests of a platform check through the package's own transport, and turns failures into a few words. Each
 * request is sent once, with the nodes' default timeout. What a response means is up to the checks.
 */
import { z } from 'zod/v4';

import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { fetchPart } from '../../nodes/DeviceManagement/core/paging/part.ts';
import { DEVICE_LIST, fetchDevice } from '../../nodes/DeviceManagement/transport/devices.ts';
import { pageSource } from '../../nodes/DeviceManagement/transport/pagedList.ts';
import type { CountedPlatform, End } from './requests.mts';

/** Longest time for one request, in milliseconds: the nodes' default. A failed request is never repeated. */
const SETTINGS = { timeoutMs: 60_000, maxRetries: 0 };

/** What the checks need of a `Failure`. The engine may load its class twice, so `instanceof` doesn't tell. */
const failureSchema = z.object({
	kind: z.string(),
	cause: z.string(),
	message: z.string(),
	remedy: z.string(),
	code: z.number().optional(),
	httpStatus: z.number().optional(),
	temporary: z.boolean().optional(),
	tokenRefused: z.boolean().optional(),
	withoutData: z.boolean().optional(),
	final: z.boolean().optional(),
	loginRefused: z.boolean().optional(),
});

export type Refusal = z.infer<typeof failureSchema>;

/** How a request ended: with a value, or with the reason why there is none. */
export type Outcome<T> = { value: T; refusal?: undefined } | { refusal: Refusal; value?: undefined };

/** Thrown when no further request is allowed or can succeed. */
export class CheckEnded extends Error {
	constructor(readonly reason: End) {
		super(`The check ended early (${reason})`);
	}
}

/** Which devices to list, and in which order. */
export interface Selection {
	body?: string;
	query?: Record<string, string>;
	sort?: string;
}

/** Sends requests, one at a time. */
export class Probe {
	constructor(private readonly counted: CountedPlatform) {}

	/** Fetches one page of the device list. */
	async page(size: number, page?: number, { sort, ...criteria }: Selection = {}): Promise<Outcome<Page<Device>>> {
		const endpoint = { ...DEVICE_LIST, ...criteria, sort: sort === undefined ? [] : [sort] };
		const source = pageSource(this.counted.platform, endpoint, SETTINGS);
		return await this.attempt(async () => await source.fetchPage(page, size));
	}

	/** Reads the first devices as Get Many does, over as many pages as it takes. */
	async list(pageSize: number, limit: number): Promise<Outcome<readonly Device[]>> {
		const source = pageSource(this.counted.platform, DEVICE_LIST, SETTINGS);
		return await this.attempt(
			async () => (await fetchPart(source, { pageSize, parallelRequests: 1, skip: 0, limit })).items,
		);
	}

	/** Reads one device by its serial number. */
	async device(serialNumber: string): Promise<Outcome<Device>> {
		return await this.attempt(async () => await fetchDevice(this.counted.platform, serialNumber, SETTINGS));
	}

	private async attempt<T>(run: () => Promise<T>): Promise<Outcome<T>> {
		if (this.counted.end !== undefined) throw new CheckEnded(this.counted.end);
		try {
			return { value: await run() };
		} catch (thrown) {
			if (this.counted.end !== undefined) throw new CheckEnded(this.counted.end);
			const details: unknown = thrown instanceof Error ? Reflect.get(thrown, 'details') : undefined;
			const refusal = failureSchema.safeParse(details);
			if (!refusal.success) throw thrown;
			return { refusal: refusal.data };
		}
	}
}

/** Whether the platform refused the request, so that it would do so again. This excludes a refused token. */
export function isRefusal({ kind, temporary, tokenRefused, final }: Refusal): boolean {
	if (temporary === true || tokenRefused === true || final === true) return false;
	return kind === 'refused' || kind === 'status' || kind === 'response';
}

/** How a request failed, in a few words. Leaves out the platform's own text, which may name a device. */
export function inWords({ kind, code, httpStatus, withoutData }: Refusal): string {
	if (code !== undefined) return `code ${code}`;
	if (withoutData === true) return 'a success without data';
	if (kind === 'timeout') return `no response within ${SETTINGS.timeoutMs / 1000} seconds`;
	if (kind === 'unreachable') return 'no connection';
	if (httpStatus !== undefined && httpStatus !== 200) return `HTTP ${httpStatus}`;
	return 'an unexpected response';
}
