import { clients } from './client.mts';

const start = clients();
const invalidToken = { code: 14101, msg: 'invalid token', data: null };

describe('API key (section 5)', () => {
	const inQuery = { apiKeyIn: 'query' as const, apiKeyName: 'sn', apiKeyPrefix: '' };
	const inHeader = { apiKeyName: 'X-Api-Key', apiKeyPrefix: '' };

	test.each([
		['the default', {}, '', { authorization: 'ApiKey k1' }, 0],
		['without the prefix', {}, '', { authorization: 'k1' }, 14101],
		['with another prefix', {}, '', { authorization: 'apikey k1' }, 14101],
		['a wrong key', {}, '', { authorization: 'ApiKey k2' }, 14101],
		['in another header', inHeader, '', { 'x-api-key': 'k1' }, 0],
		['not in that header', inHeader, '', { authorization: 'ApiKey k1' }, 14101],
		['in the query', inQuery, '?sn=k1', {}, 0],
		['twice in the query', inQuery, '?sn=k1&sn=k1', {}, 14101],
		['not in the query', inQuery, '', { sn: 'k1' }, 14101],
	])('%s', async (_where, settings, query, headers, code) => {
		const client = await start({ apiKey: 'k1', fleet: { size: 3 }, ...settings });
		const sending = { body: {}, headers: { authorization: undefined, ...headers } };
		const envelope = await client.call('POST', `/api/device/list${query}`, sending);
		// A key in the query is no filter, even if a device field has its name.
		expect(envelope).toMatchObject(code === 0 ? { code, data: { totalElements: 3 } } : invalidToken);
	});
});

describe('login (section 5)', () => {
	test('returns a token for the MD5 of the UTF-8 password in lower-case hex, each time another one', async () => {
		const client = await start({ password: '密码' });
		const md5 = 'a8105204604a0b11e916f3879aae3b0b';
		const refused = { code: 14201, msg: 'username or password incorrect', data: null };
		const tokens = [(await client.logIn('demo', md5)).data, (await client.logIn('demo', md5)).data].map(String);
		expect(client.platform.issuedTokens).toEqual(tokens);
		expect(new Set(tokens).size).toBe(2);
		expect(await Promise.all(tokens.map(async (token) => await client.codeWithToken(token)))).toEqual([0, 0]);
		for (const wrong of [md5.toUpperCase(), '密码']) expect(await client.logIn('demo', wrong)).toEqual(refused);
		expect(await client.logIn('nobody')).toEqual(refused);
		expect(client.platform.logins).toEqual({ attempted: 5, succeeded: 2 });
	});

	test.each([
		[14202, 'user forbidden'],
		[14203, 'company forbidden'],
	] as const)('is refused with %i, as set', async (refuseLogin, msg) => {
		const client = await start({ refuseLogin });
		expect(await client.logIn()).toEqual({ code: refuseLogin, msg, data: null });
		expect(client.platform.logins).toEqual({ attempted: 1, succeeded: 0 });
	});

	test('needs both fields (10001) in a JSON body (10014)', async () => {
		const client = await start();
		const login = async (body: unknown) => (await client.call('POST', '/api/user/login', { body })).code;
		const codes = [
			await login({ loginName: 'demo' }),
			await login({ loginName: 'demo', password: 5 }),
			await login('{'),
		];
		expect(codes).toEqual([10001, 10001, 10014]);
	});

	test('has its path and the place of its token as set', async () => {
		const client = await start({ loginPath: '/api/v2/session', tokenAt: 'data.session.jwt' });
		const { data } = await client.logIn();
		expect(data).toEqual({ session: { jwt: client.platform.issuedTokens[0] } });
		expect((await client.send('POST', '/api/user/login', { body: {} })).status).toBe(404);
	});
});

describe('bearer token (section 5)', () => {
	test.each([
		['POST', '/api/device/list'],
		['GET', '/api/device/sn/NONE'],
		['POST', '/api/device'],
		['PUT', '/api/device/sn/NONE'],
		['DELETE', '/api/device/sn/NONE'],
		['GET', '/api/model/list'],
		['GET', '/api/echo'],
	] as const)('%s %s without a sign-in gets 14101', async (method, path) => {
		const client = await start();
		expect(await client.call(method, path, { headers: { authorization: undefined } })).toEqual(invalidToken);
	});

	test.each([
		['Bearer abcdefgh.ijkl', 14101],
		['Basic ZGVtbzpkZW1v', 14101],
		['Bearer', 14102],
		['Bearer two words', 14102],
		['Bearer {token}', 14102],
		['Bearertoken12345', 14102],
	])('%p gets %i', async (authorization, code) => {
		const client = await start();
		expect((await client.call('GET', '/api/version', { headers: { authorization } })).code).toBe(code);
	});

	test('expires after a number of requests, or by expireTokens, with the code and the status as set', async () => {
		const client = await start({ tokenRequests: 2 });
		const token = client.platform.issueToken();
		const codes = [];
		for (let request = 0; request < 3; request++) codes.push(await client.codeWithToken(token));
		expect(codes).toEqual([0, 0, 14101]);
		const expired = client.platform.issueToken();
		client.platform.expireTokens();
		Object.assign(client.platform.settings, { deadToken: 'status', deadTokenCode: 14102 });
		const headers = { authorization: `Bearer ${expired}` };
		const { status, headers: sent, text } = await client.send('GET', '/api/version', { headers });
		expect([status, sent['www-authenticate']]).toEqual([401, 'Bearer']);
		expect(JSON.parse(text)).toEqual({ code: 14102, msg: 'token parse failed', data: null });
		expect(await client.codeWithToken(client.platform.issueToken())).toBe(0);
		expect((await client.send('GET', '/api/device/sn/NONE')).status).toBe(200);
	});

	test('ends with the next login if each user has one at a time', async () => {
		const client = await start({ livingTokens: 'one-per-user' });
		const tokens = [(await client.logIn()).data, (await client.logIn()).data].map(String);
		expect(await Promise.all(tokens.map(async (token) => await client.codeWithToken(token)))).toEqual([14101, 0]);
	});
});

test.each([
	['administrator', [0, 0, 0, 0]],
	['reader', [0, 14103, 14103, 14103]],
	['none', [14103, 14103, 14103, 14103]],
] as const)('the role %s decides what a user may do (section 5)', async (role, codes) => {
	const client = await start({ role });
	const create = (await client.call('POST', '/api/device', { body: { sn: 'N1' } })).code;
	const change = (await client.call('PUT', '/api/device/sn/N1', { body: {} })).code;
	const remove = (await client.call('DELETE', '/api/device/sn/N1')).code;
	expect([await client.listCode(), create, change, remove]).toEqual(codes);
});
