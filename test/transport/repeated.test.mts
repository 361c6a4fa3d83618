/** Whether a request is sent again is decided by its method and its caller, never by its words. */
import { z } from 'zod/v4';

import { WORDING, type Wording } from '../../nodes/DeviceManagement/core/errors/failureOf.ts';
import { forgetAccounts } from '../../nodes/DeviceManagement/transport/account.ts';
import { openPlatform } from '../../nodes/DeviceManagement/transport/platform.ts';
import { hurry } from '../../testbed/jest.mts';
import { FakeN8n, responseOf, settled, SIGNED_OUT } from '../../testbed/fakeN8n.mts';

beforeEach(forgetAccounts);

const KEY = { ...SIGNED_OUT, authentication: 'apiKey', apiKey: 'key' };
const cut = Buffer.from('{"code":0,"data":{"content":[');
/** Each of these is temporary for a request that only reads. */
const TROUBLES: ReadonlyArray<readonly [string, isInDoubt: boolean, respond: () => unknown]> = [
	['a dropped connection', true, async () => await Promise.reject(Object.assign(new Error(), { code: 'ECONNRESET' }))],
	['a timeout', true, async () => await new Promise(() => {})],
	['a response that breaks off', true, () => responseOf(cut)],
	['HTTP 502', true, () => responseOf('', {}, 502)],
	['HTTP 503', true, () => responseOf('', {}, 503)],
	['HTTP 503 with a page', true, () => responseOf(Buffer.from('<title>503</title>'), {}, 503)],
	['code 10002', true, () => responseOf({ code: 10002 })],
	['code 10002 with HTTP 500', true, () => responseOf({ code: 10002, msg: 'rpc' }, {}, 500)],
	['HTTP 429', false, () => responseOf('', {}, 429)],
];
/** Someone adds an operation with words of its own. */
beforeAll(() => void Object.assign(WORDING, { rename: WORDING.list }));
afterAll(() => void Reflect.deleteProperty(WORDING, 'rename'));

describe.each(TROUBLES)('after %s', (_name, isInDoubt, respond) => {
	test.each([
		['GET', {}, 3],
		['POST', { onlyReads: true }, 3],
		...['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'get'].map((method) => [method, {}, 1] as const),
		['POST', { onlyReads: false }, 1],
		...['PUT', 'PATCH', 'DELETE'].map((method) => [method, { onlyReads: true }, 1] as const),
	] as const)('%s with %j is sent %i times, whatever its words', async (method, more, times) => {
		hurry(1000);
		for (const words of Object.keys(WORDING) as Wording[]) {
			let sent = 0;
			const n8n = new FakeN8n(async () => await (sent++, respond()), KEY);
			forgetAccounts();
			const platform = await openPlatform(n8n.context(), { parallelRequests: 1 });
			const settings = { timeoutMs: 1000, maxRetries: 2, countsLimits: true };
			const request = { method: method as 'GET', path: '/api/x', words, schema: z.unknown(), settings, ...more };
			const thrown = await settled(platform.request(request));
			expect([words, sent]).toEqual([words, times]);
			expect(/change may have been made/.test(String(thrown))).toBe(isInDoubt && times === 1);
		}
	});
});
