/**
 * Opens the package's own transport for a platform check and counts every HTTP request that leaves the process.
 * It stops before the request after the last one allowed, and before a second sign-in. It decides nothing else: what to
 * send is up to the checks.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import type { IPollFunctions } from 'n8n-workflow';

import { openPlatform, type Platform } from '../../nodes/DeviceManagement/transport/platform.ts';

/** Most HTTP requests of one check, with sign-in and retries. */
export const MOST_REQUESTS = 40;

/** Why a check can't send another request. */
export type End = 'limit' | 'token';

/** The platform under check. */
export interface CountedPlatform {
	readonly platform: Platform;
	/** HTTP requests sent so far, the sign-in included. */
	readonly sent: number;
	/** Undefined while another request is possible. */
	readonly end: End | undefined;
	/** Stops counting, and any request under way. */
	close(): void;
}

/**
 * Opens the platform of a node's credential.
 * @param context what n8n hands to a node
 * @param most HTTP requests allowed
 * @throws Failure `input` for a credential that can't be used
 */
export async function openCounted(context: IPollFunctions, most: number): Promise<CountedPlatform> {
	let sent = 0;
	let end: End | undefined;
	let signIns = 0;
	const count = (message: unknown) => {
		const { request } = Object(message);
		// A proxy gets a CONNECT before the request.
		if (request instanceof ClientRequest && request.method !== 'CONNECT') sent++;
	};
	const stopAt = (reason: End) => {
		end ??= reason;
		throw new Error(`The check stops here (${reason})`);
	};
	const { helpers } = context;
	const bounded: Partial<IPollFunctions['helpers']> = {
		// n8n signs in through this function, and sends everything else through the other one.
		async httpRequest(options) {
			if (sent >= most) stopAt('limit');
			if (++signIns > 1) stopAt('token');
			return await helpers.httpRequest(options);
		},
		async httpRequestWithAuthentication(...parameters) {
			if (sent >= most) stopAt('limit');
			return await helpers.httpRequestWithAuthentication.call(this, ...parameters);
		},
	};
	const boundedContext: IPollFunctions = Object.create(context, { helpers: { value: { ...helpers, ...bounded } } });
	// One at a time, so that the count is right before each request.
	const platform = await openPlatform(boundedContext, { parallelRequests: 1 });
	subscribe('http.client.request.start', count);
	return {
		platform,
		get sent() {
			return sent;
		},
		get end() {
			return end;
		},
		close() {
			unsubscribe('http.client.request.start', count);
			platform.stop();
		},
	};
}
