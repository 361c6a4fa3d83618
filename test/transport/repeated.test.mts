/** Whether a request is sent again is decided by its method and its caller, never by its words. */
import { z } from 'zod/v4';

import { WORDING, type Wording } from '../../nodes/DeviceManagement/core/errors/failureOf.ts';
import { forgetAccounts } from '../../nodes/DeviceManagement/transport/account.ts';
import { openPlatform, type PlatformContext } from '../../nodes/DeviceManagement/transport/platform.ts';
import { hurry } from '../../testbed/jest.mts';
import { responseOf, settled } from './fakes.mts';

beforeEach(forgetAccounts);

/** Each of these is temporary for a request that only reads. */
const TROUBLES: ReadonlyArray<readonly [string, () => unknown]> = [
	['a dropped connection', async () => await Promise.reject(Object.assign(new Error(), { code: 'ECONNRESET' }))],
	['HTTP 503', () => responseOf('', {}, 503)],
	['code 10002', () => responseOf({ code: 10002 })],
];

describe.each(TROUBLES)('after %s', (_name, respond) => {
	test.each([
		['GET', {}, 3],
		['HEAD', {}, 3],
		...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [method, {}, 1] as const),
		['POST', { onlyReads: true }, 3],
		['POST', { onlyReads: false }, 1],
	] as const)('%s with %j is sent %i times, whatever its words', async (method, more, times) => {
		hurry(4);
		for (const words of Object.keys(WORDING) as Wording[]) {
			let sent = 0;
			const httpRequestWithAuthentication = async () => await (sent++, respond());
			const credential = { baseUrl: 'https://platform.example', authentication: 'apiKey', apiKey: 'key' };
			const context = { getCredentials: async () => ({ ...credential }), helpers: { httpRequestWithAuthentication } };
			forgetAccounts();
			const platform = await openPlatform(context as unknown as PlatformContext, { parallelRequests: 1 });
			const settings = { timeoutMs: 1000, maxRetries: 2 };
			const request = { method: method as 'GET', path: '/api/x', words, schema: z.unknown(), settings, ...more };
			const thrown = await settled(platform.request(request));
			expect([words, sent]).toEqual([words, times]);
			expect(/may still have carried out the request/.test(String(thrown))).toBe(times === 1);
		}
	});
});
