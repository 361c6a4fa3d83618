import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import { accountOf } from '../../../nodes/DeviceManagement/transport/account.ts';
import * as authentication from '../../../nodes/DeviceManagement/transport/auth/authenticate.ts';
import { credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { FakeN8n, responseOf, settled, SIGNED_OUT, useVirtualTime } from '../../../testbed/fakeN8n.mts';

const { authenticate, preAuthenticate, SIGN_IN_MARK, SignedIn, TEST_MARK } = authentication;
type Way = 'current' | 'older' | 'test';
const LIST: IHttpRequestOptions = { url: 'https://platform.example/api/device/list' };
const KEY = { ...SIGNED_OUT, authentication: 'apiKey', apiKey: 'k' };
const withToken = (token: string, data = SIGNED_OUT) => credentialOf(data).withToken(token).data;
const account = () => accountOf(credentialOf(SIGNED_OUT));

const virtual = useVirtualTime();
let n8n: FakeN8n;
let logins: number;
/** What requests were sent with. */
let sent: unknown[];
/** The answer to a login instead of a token. */
let refusal: object | undefined;
/** HTTP status of each response; 200 after the last one. */
let statuses: number[];
beforeEach(() => {
	[logins, sent, refusal, statuses] = [0, [], undefined, []];
	n8n = new FakeN8n(platform);
});

/** A platform that issues tokens after 100 ms. */
async function platform({ url, headers }: IHttpRequestOptions): Promise<unknown> {
	if (url.endsWith('/api/user/login')) {
		const token = `token-${++logins}`;
		await virtual.time.sleep(100);
		return refusal ?? responseOf({ code: 0, data: { token } });
	}
	sent.push(headers?.['Authorization']);
	const status = statuses.shift() ?? 200;
	if (status === 200) return undefined;
	throw Object.assign(new Error(`HTTP ${status}`), { response: { status } });
}

/** Lets time pass until the promise has settled, and returns what with. */
async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
	return await virtual.time.until(settled(promise));
}
const send = async (way: Way, data?: ICredentialDataDecryptedObject) =>
	await n8n.request(authentication, way, LIST, data);
const request = async (way: Way, data?: ICredentialDataDecryptedObject) => await outcomeOf(send(way, data));
/** Another request of this process signs in. */
const signInBefore = async () => await outcomeOf(preAuthenticate(withToken(''), platform));

describe.each(['current', 'older', 'test'] as const)("n8n's request function (%s)", (way) => {
	test('signs in once for all requests that begin without a token at the same time', async () => {
		await outcomeOf(Promise.all(Array.from({ length: 10 }, async () => await send(way))));
		expect({ logins, sent }).toEqual({ logins: 1, sent: Array.from({ length: 10 }, () => 'Bearer token-1') });
	});

	test('shares the sign-in of an execution that is under way', async () => {
		const execution = settled(n8n.request(authentication, 'current', { ...LIST, headers: { [SIGN_IN_MARK]: 'true' } }));
		expect(await request(way)).toBeUndefined();
		expect(await execution).toBeInstanceOf(SignedIn);
		expect({ logins, sent }).toEqual({ logins: 1, sent: ['Bearer token-1'] });
	});

	test.each<[string, ICredentialDataDecryptedObject, number, string]>([
		['no token whose login was changed', { ...withToken('old'), password: 'changed' }, 1, 'Bearer token-1'],
		['no login and no token where there is a key', { ...KEY, sessionToken: 'old' }, 0, 'ApiKey k'],
	])('sends %s', async (_name, stored, count, authorization) => {
		n8n.stored = stored;
		await request(way);
		expect({ logins, sent }).toEqual({ logins: count, sent: [authorization] });
	});
});

describe.each(['current', 'older'] as const)("n8n's request function (%s) with a dead token", (way) => {
	beforeEach(() => {
		n8n.stored = withToken('dead');
		statuses = [401];
	});

	test.each([
		[2_499, 'was issued', 1],
		[2_500, 'was issued', 2],
		[0, 'was refused', 2],
	])('%i ms after the token of another request %s, signs in: login %i', async (ms, what, count) => {
		await signInBefore();
		await virtual.time.run(ms);
		const { token } = account();
		if (what === 'was refused' && token !== undefined) account().drop(token);
		await request(way);
		expect({ logins, sent }).toEqual({ logins: count, sent: ['Bearer dead', `Bearer token-${count}`] });
	});

	test('signs in sixty times within an hour at most, and then says why not', async () => {
		for (let n = 0; n < 60; n++) {
			[n8n.stored, statuses] = [withToken('dead'), [401]];
			await request(way);
			await virtual.time.run(10_000);
		}
		const last = () => (([n8n.stored, statuses] = [withToken('dead'), [401]]), request(way));
		const message = expect.stringContaining('Too many sign-ins: 60 in one hour');
		const remedy = expect.stringContaining('next sign-in is in 50 minutes.');
		expect(await last()).toMatchObject({ details: { message, remedy } });
		expect(logins).toBe(60);
		await virtual.time.run(50 * 60_000);
		expect([await last(), logins]).toEqual([undefined, 61]);
	});

	test('gets the refusal of the token while the process remembers a refused login, without a request', async () => {
		refusal = responseOf({ code: 14202 });
		await signInBefore();
		statuses = [401, 401];
		expect(await request(way)).toMatchObject({ message: 'HTTP 401' });
		expect(logins).toBe(1);
	});
});

describe("n8n's connection test", () => {
	test('signs in each time, although a token is valid, and waits a second once', async () => {
		n8n.stored = withToken('alive');
		await request('test');
		await virtual.time.run(3000);
		await request('test');
		expect({ logins, sent }).toEqual({ logins: 2, sent: ['Bearer token-1', 'Bearer token-2'] });
		expect(virtual.time.now()).toBe(2 * 1100 + 3000);
	});

	test('asks a refused login each time, and ends the wait after it', async () => {
		refusal = responseOf({ code: 14201 });
		for (const count of [1, 2]) {
			expect(await request('test')).toMatchObject({ details: { code: 14201 } });
			expect({ logins, sent }).toEqual({ logins: count, sent: [] });
		}
		refusal = undefined;
		expect(await request('test')).toBeUndefined();
		expect(account().recentRefusal()).toBeUndefined();
	});
});

test('a request that is made for its sign-in alone is never sent', async () => {
	const marked = { ...LIST, headers: { [SIGN_IN_MARK]: 'true' } };
	expect(await outcomeOf(n8n.request(authentication, 'current', marked))).toBeInstanceOf(SignedIn);
	expect({ logins, sent, token: n8n.stored['sessionToken'] }).toEqual({ logins: 1, sent: [], token: 'token-1' });
});

describe('a request carries', () => {
	const custom = { ...KEY, customSignIn: true };
	const inQuery = { ...custom, apiKeyIn: 'query', apiKeyName: 'a b' };
	const others = { Accept: 'text/plain', [TEST_MARK]: 'true', authorization: 'x' };
	test.each<[string, ICredentialDataDecryptedObject, object, headers: object | undefined, query?: object]>([
		['a token', withToken('t'), {}, { Authorization: 'Bearer t' }],
		['a key', KEY, {}, { Authorization: 'ApiKey k' }],
		[
			'a key that was copied with invisible characters',
			{ ...KEY, apiKey: '\u200bk\u00ad\ufeff\r\n' },
			{},
			{ Authorization: 'ApiKey k' },
		],
		['a key that was copied with its prefix', { ...KEY, apiKey: 'apikey  k' }, {}, { Authorization: 'ApiKey k' }],
		[
			'a key that was copied with its header',
			{ ...custom, apiKeyName: 'X', apiKey: 'X: ApiKey k' },
			{},
			{ X: 'ApiKey k' },
		],
		['a key without its prefix', { ...custom, apiKeyPrefix: '' }, {}, { Authorization: 'k' }],
		['a key in another header', { ...custom, apiKeyName: 'X' }, {}, { X: 'ApiKey k' }],
		['a key by the fields that the form shows', { ...KEY, apiKeyPrefix: 'X' }, {}, { Authorization: 'ApiKey k' }],
		[
			'no mark of a test and no other header of that name',
			KEY,
			{ headers: others },
			{ Accept: 'text/plain', Authorization: 'ApiKey k' },
		],
		['a key in the query', inQuery, { qs: { x: '1' } }, {}, { x: '1', 'a b': 'ApiKey k' }],
		['a key in a query that is text', inQuery, { qs: 'x=1' }, {}, { x: '1', 'a b': 'ApiKey k' }],
	])('%s', async (...row) => {
		const [, data, options, ...expected] = row;
		const { headers, qs } = await authenticate(data, { ...LIST, ...options });
		expect([headers, qs]).toEqual([...expected, undefined].slice(0, 2));
	});

	/** Addresses that look like the platform's to a hasty reader, of a person or of a program. */
	test.each<Partial<IHttpRequestOptions> & { uri?: string }>([
		{ url: 'https://evil.example/api' },
		{ url: 'https://platform.example:8443/api' },
		{ url: 'http://platform.example/api' },
		{ url: 'https://platform.example@evil.example/api' },
		{ url: '//evil.example/api' },
		{ url: '//evil.example/api', baseURL: 'https://platform.example' },
		{ url: 'https:evil.example/api' },
		{ url: 'https:\\\\evil.example\\api' },
		{ url: '  ht\tTPS://evil.example/api' },
		// The older request function calls it `uri`.
		{ uri: 'https://evil.example/api' },
		{},
	])('nothing to the address %j', async (address) => {
		const thrown = expect.objectContaining({ message: 'This credential is for https://platform.example only' });
		const options = { ...LIST };
		Object.assign(options, { url: undefined }, address);
		for (const data of [KEY, withToken('t')]) await expect(authenticate(data, options)).rejects.toEqual(thrown);
	});
});
