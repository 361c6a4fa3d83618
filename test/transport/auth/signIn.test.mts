import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { createHash } from 'node:crypto';
import { z } from 'zod/v4';

import { accountOf, forgetAccounts } from '../../../nodes/DeviceManagement/transport/account.ts';
import { credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { openPlatform } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { signIn } from '../../../nodes/DeviceManagement/transport/auth/signIn.ts';
import { FakeN8n, responseOf, settled, SIGNED_OUT } from '../../../testbed/fakeN8n.mts';

beforeEach(forgetAccounts);

/** Signs in where the login answers this way, with these fields in the credential. */
async function signInWith(response: unknown, fields: ICredentialDataDecryptedObject = {}) {
	const credential = credentialOf({ ...SIGNED_OUT, ...fields });
	const sent: IHttpRequestOptions[] = [];
	const send = async (options: IHttpRequestOptions) => {
		sent.push(options);
		if (response instanceof Error) throw response;
		return response;
	};
	const outcome = await settled(signIn(credential, send));
	return { outcome, sent, remembered: accountOf(credential).recentRefusal() };
}

const md5 = createHash('md5').update('secret').digest('hex');

test.each<[string, ICredentialDataDecryptedObject, object]>([
	['the MD5 of the password', {}, {}],
	['a name without the spaces around it', { loginName: ' anna\n' }, {}],
	['an MD5 as it was entered', { customSignIn: true, passwordFormat: 'md5', password: ` ${md5.toUpperCase()}` }, {}],
	['to another path', { customSignIn: true, loginPath: '/in' }, { url: 'https://platform.example/in' }],
])('a login sends %s, once', async (_name, fields, differs) => {
	const { sent } = await signInWith(responseOf({ code: 0, data: 'token' }), fields);
	const body = JSON.stringify({ loginName: 'anna', password: md5 });
	const url = 'https://platform.example/api/user/login';
	expect(sent).toMatchObject([{ method: 'POST', url, body, ...differs }]);
});

describe('the token in the answer to the login', () => {
	test.each([
		['', { code: 0, data: 'found' }],
		['', { code: 0, data: { token: 'found' } }],
		['', { code: 0, data: { token: '', accessToken: ' bearer  found' } }],
		['', { code: 0, data: { access_token: 'found' }, token: 'other' }],
		['', { code: 0, data: {}, token: 'found' }],
		['', { access_token: 'found' }],
		['data.session.jwt', { code: 0, data: { session: { jwt: 'found' } } }],
		['session.jwt', { code: 0, data: { session: { jwt: 'found' } }, session: { jwt: 'other' } }],
		['session.jwt', { session: { jwt: 'found' } }],
		['data.data', { code: 0, data: { data: 'found' } }],
	])('is found by the path "%s" in %j', async (tokenPath, body) => {
		const { outcome } = await signInWith(responseOf(body), { customSignIn: true, tokenPath });
		expect(outcome).toBe('found');
	});

	test.each([
		['', { code: 0, data: { ticket: 'value-1', expires: 'value-2' } }, ": 'data' has the keys ticket, expires"],
		['', { code: 0, data: {} }, ": 'data' is empty"],
		['', { code: 0, data: ['value-in-list'] }, ": 'data' is a list of 1"],
		['data.x', { code: 0, data: { token: 'value-1' } }, ` under "data.x": 'data' has the keys token`],
		['', { ticket: 'value-1' }, ': the response has the keys ticket'],
	])('if missing by the path "%s" in %j, is told by the keys that came', async (tokenPath, body, words) => {
		const { outcome } = await signInWith(responseOf(body), { customSignIn: true, tokenPath });
		const message = `The sign-in failed. The login response has no token${words} (HTTP 200)`;
		expect(outcome).toMatchObject({ message, details: { signInFailed: 'for good' } });
	});

	test('that no header carries counts as none, and is not shown', async () => {
		const { outcome } = await signInWith(responseOf({ code: 0, data: 'value\nof-header' }));
		expect(outcome).toMatchObject({
			message: expect.stringMatching(/has no token: 'data' is text of 15/),
		});
	});
});

/** Its request function fails before the login is sent, or its store after it. */
test.each([
	[new Error('no room for secret'), "n8n can't send the request (no room for •••)", "Check 'Base URL'"],
	[Object.assign(new Error(), { code: 'ETIMEDOUT' }), 'refused or dropped (ETIMEDOUT)', "'Base URL' in the credential"],
])('an error of n8n itself loses the secrets, and names fields of the credential: %s', async (thrown, words, field) => {
	const httpRequestWithAuthentication = async () => await Promise.reject(thrown);
	const context = new FakeN8n(async () => {}).context({ helpers: { httpRequestWithAuthentication } });
	const platform = await openPlatform(context, { parallelRequests: 1 });
	const settings = { timeoutMs: 1000, maxRetries: 0 };
	const read = { method: 'GET', path: '/api/x', words: 'list', schema: z.unknown(), settings } as const;
	const details = { message: expect.stringContaining(words), remedy: expect.stringContaining(field) };
	await expect(platform.request(read)).rejects.toMatchObject({ details });
});

/** The wait after the first such answer, and after the second, in minutes; 0 if the login is asked again at once. */
test.each<[string, unknown, waits: [number, number], details?: object]>([
	['code 14201', responseOf({ code: 14201 }), [5, 5], { cause: 'credential' }],
	['code 14202 in HTTP 503', responseOf({ code: 14202 }, {}, 503), [5, 5]],
	...[401, 403, 423].map((status): [string, unknown, [number, number]] => [
		`HTTP ${status}`,
		responseOf('', {}, status),
		[5, 5],
	]),
	['a success without a token', responseOf({ code: 0, data: { needs: 'captcha' } }), [5, 5]],
	...[9999, 10001, 10007, 10018, 14101, 777].map((code): [string, unknown, [number, number], object] => [
		`code ${code}`,
		responseOf({ code }),
		[5, 5],
		{ remedy: expect.not.stringMatching(/serial number|record/i) },
	]),
	...[302, 400, 404, 422].map((status): [string, unknown, [number, number]] => [
		`HTTP ${status}`,
		responseOf('', {}, status),
		[1, 5],
	]),
	['no envelope', responseOf('text'), [1, 5]],
	['code -1', responseOf({ code: -1 }), [0, 0]],
	['code 10002', responseOf({ code: 10002 }), [0, 0], { signInFailed: 'for now', temporary: true }],
	['HTTP 500', responseOf('', {}, 500), [0, 0]],
	['code 9999 in HTTP 500', responseOf({ code: 9999 }, {}, 500), [0, 0]],
	['HTTP 429', responseOf('', { 'retry-after': '7' }, 429), [0, 0], { signInFailed: 'for now', retryAfterMs: 7000 }],
	['HTTP 403 with a wait', responseOf('', { 'retry-after': '7' }, 403), [0, 0], { signInFailed: 'for now' }],
	['no response', new Error('socket hang up'), [0, 0], { signInFailed: 'for now' }],
])('a login that gets %s is asked again after a wait', async (_name, response, waits, details = {}) => {
	for (const minutes of waits) {
		const { outcome, remembered } = await signInWith(response);
		const expected = minutes === 0 ? {} : { signInFailed: 'for good' };
		expect(outcome).toMatchObject({
			message: expect.stringMatching(/^The sign-in failed\. /),
			details: { ...expected, ...details },
		});
		expect(remembered).toEqual(minutes === 0 ? undefined : outcome);
		const left = /login is retried in (.*)\./.exec(remembered?.details.remedy ?? '');
		expect(left?.[1]).toBe({ 1: '55 seconds', 5: '5 minutes' }[minutes]);
	}
});
