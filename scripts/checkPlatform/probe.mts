/**
 * Sends the requests of a platform check through the package's own transport, one at a time and each once, and turns failures into a
 * few words. It counts every HTTP request that leaves the process, and ends the check before one too many and before a second
 * sign-in. What a response means is up to the checks.
 */
import type { IPollFunctions } from 'n8n-workflow';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';

import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { FailureDetails } from '../../nodes/DeviceManagement/core/failure.ts';
import { isRecord } from '../../nodes/DeviceManagement/core/json.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { fetchPart } from '../../nodes/DeviceManagement/core/paging/part.ts';
import { DEVICE_LIST, fetchDevice } from '../../nodes/DeviceManagement/transport/devices.ts';
import { pageSource } from '../../nodes/DeviceManagement/transport/pagedList.ts';
import { openPlatform, type Platform } from '../../nodes/DeviceManagement/transport/platform.ts';

/** Most HTTP requests of one check, with sign-in and retries. */
export const MOST_REQUESTS = 40;

/** Longest time for one request, in milliseconds: the nodes' default. A failed request is never repeated. */
const SETTINGS = { timeoutMs: 60_000, maxRetries: 0 };

/** How a request ended: with a value, or with the reason why there is none. */
export type Outcome<T> = { value: T; refusal?: undefined } | { refusal: FailureDetails; value?: undefined };

/** Thrown when no further request is allowed (`limit`) or can succeed (`token`). */
export class CheckEnded extends Error {
	constructor(readonly reason: 'limit' | 'token') {
		super(`The check ended early (${reason})`);
	}
}

/** Which devices to list, and in which order. */
interface Selection {
	body?: string;
	query?: Record<string, string>;
	sort?: string;
}

/** Fetches one page of the device list. */
export type FetchPage = (size: number, page?: number, selection?: Selection) => Promise<Outcome<Page<Device>>>;

export interface ProbeOptions {
	/** HTTP requests allowed. */
	mostRequests?: number;
	/** Called at each request, with the number of those that were sent. */
	say?(sent: number): void;
}

export class Probe {
	/** HTTP requests sent so far, the sign-in included. */
	sent = 0;
	private signIns = 0;
	private ended: CheckEnded | undefined;
	private readonly platform: Promise<Platform>;

	constructor(
		context: IPollFunctions,
		private readonly options: ProbeOptions,
	) {
		const helpers = { value: { ...context.helpers, ...this.bounded(context.helpers) } };
		// One at a time, so that the count is right before each request.
		this.platform = openPlatform(Object.create(context, { helpers }), { parallelRequests: 1 });
		subscribe('http.client.request.start', this.count);
	}

	readonly page: FetchPage = async (size, page, { sort, ...criteria } = {}) => {
		const endpoint = { ...DEVICE_LIST, ...criteria, sort: sort === undefined ? [] : [sort] };
		return await this.attempt((platform) => pageSource(platform, endpoint, SETTINGS).fetchPage(page, size));
	};

	/** Reads the first devices as Get Many does, over as many pages as it takes. */
	async list(pageSize: number, limit: number, sort: readonly string[]): Promise<Outcome<readonly Device[]>> {
		const part = { pageSize, parallelRequests: 1, skip: 0, limit };
		return await this.attempt(async (platform) => {
			return (await fetchPart(pageSource(platform, { ...DEVICE_LIST, sort }, SETTINGS), part)).items;
		});
	}

	/** Reads one device by its serial number. */
	async device(serialNumber: string): Promise<Outcome<Device>> {
		return await this.attempt((platform) => fetchDevice(platform, serialNumber, SETTINGS));
	}

	/** Stops counting, and any request under way. */
	async close(): Promise<void> {
		unsubscribe('http.client.request.start', this.count);
		(await this.platform.catch(() => undefined))?.stop();
	}

	/** n8n signs in through `httpRequest`, and sends everything else through the other function. */
	private bounded(helpers: IPollFunctions['helpers']): Partial<IPollFunctions['helpers']> {
		const { mostRequests = MOST_REQUESTS } = this.options;
		const begin = (isSignIn: boolean) => {
			if (this.sent >= mostRequests) throw (this.ended ??= new CheckEnded('limit'));
			if (isSignIn && ++this.signIns > 1) throw (this.ended ??= new CheckEnded('token'));
		};
		return {
			async httpRequest(options) {
				begin(true);
				return await helpers.httpRequest(options);
			},
			async httpRequestWithAuthentication(...parameters) {
				begin(false);
				return await helpers.httpRequestWithAuthentication.call(this, ...parameters);
			},
		};
	}

	private readonly count = (message: unknown) => {
		const { request } = Object(message);
		// A proxy gets a CONNECT before the request.
		if (!(request instanceof ClientRequest) || request.method === 'CONNECT') return;
		this.sent++;
		this.options.say?.(this.sent);
	};

	private async attempt<T>(run: (platform: Platform) => Promise<T>): Promise<Outcome<T>> {
		const platform = await this.platform;
		if (this.ended) throw this.ended;
		try {
			return { value: await run(platform) };
		} catch (thrown) {
			if (this.ended) throw this.ended;
			const { details } = Object(thrown);
			if (!isOfFailure(details)) throw thrown;
			return { refusal: details };
		}
	}
}

/** Whether these are the details of a `Failure`. The engine may load its class twice, so `instanceof` doesn't tell. */
function isOfFailure(details: unknown): details is FailureDetails {
	return isRecord(details) && typeof details['kind'] === 'string' && typeof details['message'] === 'string';
}

/** Whether the platform refused the request, so that it would do so again. This excludes a refused token. */
export function isRefusal({ mayRefusePage, temporary, tokenRefused, signInFailed }: FailureDetails): boolean {
	return mayRefusePage === true && temporary !== true && tokenRefused !== true && signInFailed !== 'for good';
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
