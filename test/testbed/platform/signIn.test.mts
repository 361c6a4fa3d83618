import { clients, envelopeSchema } from './client.mts';

const start = clients();
const md5OfDemo = 'fe01ce2a7fbac8fafaed7c982a04e229';

describe('API key (section 5)', () => {
	const read = (headers: Record<string, string | undefined>, query = '') =>
		['GET', `/api/version${query}`, { headers: { authorization: undefined, ...headers } }] as const;

	test('goes into the header Authorization behind ApiKey unless set', async () => {
		const client = await start({ apiKey: 'k1' });
		expect((await client.call(...read({ authorization: 'ApiKey k1' }))).code).toBe(0);
		expect((await client.call(...read({ authorization: 'k1' }))).code).toBe(14101);
		expect((await client.call(...read({ authorization: 'apikey k1' }))).code).toBe(14101);
	});

	test('a wrong one gets 14101', async () => {
		const client = await start({ apiKey: 'k1' });
		expect(await client.call(...read({ authorization: 'ApiKey k2' }))).toEqual({
			code: 14101,
			msg: 'invalid token',
			data: null,
		});
	});

	test('can go into another header, alone', async () => {
		const client = await start({ apiKey: 'k1', apiKeyName: 'X-Api-Key', apiKeyPrefix: '' });
		expect((await client.call(...read({ 'x-api-key': 'k1' }))).code).toBe(0);
		expect((await client.call(...read({ authorization: 'ApiKey k1' }))).code).toBe(14101);
	});

	test('can go into a query parameter, and then not into a header', async () => {
		const client = await start({ apiKey: 'k 1', apiKeyIn: 'query', apiKeyName: 'key', apiKeyPrefix: '' });
		expect((await client.call(...read({}, '?key=k+1'))).code).toBe(0);
		expect((await client.call(...read({}, '?key=k+1&key=k+1'))).code).toBe(14101);
		expect((await client.call(...read({ key: 'k 1' }))).code).toBe(14101);
	});

	test('in a query parameter it is no filter, even where a device field has its name', async () => {
		const client = await start({
			apiKey: 'k1',
			apiKeyIn: 'query',
			apiKeyName: 'sn',
			apiKeyPrefix: '',
			fleet: { size: 3 },
		});
		expect(await client.list('?sn=k1')).toMatchObject({ totalElements: 3 });
	});

	test('can be reset while the platform runs', async () => {
		const client = await start({ apiKey: 'k1' });
		client.platform.settings.apiKey = 'k2';
		expect((await client.call(...read({ authorization: 'ApiKey k1' }))).code).toBe(14101);
		expect((await client.call(...read({ authorization: 'ApiKey k2' }))).code).toBe(0);
	});
});

describe('login (section 5)', () => {
	test('loginName and the MD5 of the password give a token that reads', async () => {
		const client = await start();
		const { code, data } = await client.logIn();
		expect(code).toBe(0);
		expect(client.platform.issuedTokens).toEqual([data]);
		expect(await client.codeWithToken(String(data))).toBe(0);
		expect(client.platform.logins).toEqual({ attempted: 1, succeeded: 1 });
	});

	test('the password goes as MD5 in lower-case hex, and in no other form', async () => {
		const client = await start({ password: 'demo' });
		expect(client.platform.passwordMd5).toBe(md5OfDemo);
		expect((await client.logIn('demo', md5OfDemo)).code).toBe(0);
		expect((await client.logIn('demo', md5OfDemo.toUpperCase())).code).toBe(14201);
		expect((await client.logIn('demo', 'demo')).code).toBe(14201);
		expect(client.platform.logins).toEqual({ attempted: 3, succeeded: 1 });
	});

	test('the MD5 is that of the UTF-8 text', async () => {
		const client = await start({ password: '密码' });
		expect((await client.logIn('demo', 'a8105204604a0b11e916f3879aae3b0b')).code).toBe(0);
	});

	test('a wrong name or password gets 14201', async () => {
		const client = await start();
		const refused = { code: 14201, msg: 'username or password incorrect', data: null };
		expect(await client.logIn('nobody')).toEqual(refused);
		expect(await client.logIn('demo', '0'.repeat(32))).toEqual(refused);
	});

	test.each([14202, 14203] as const)('a wrong password can get %i', async (wrongPasswordCode) => {
		const client = await start({ wrongPasswordCode });
		expect((await client.logIn('demo', 'x')).code).toBe(wrongPasswordCode);
		expect((await client.logIn()).code).toBe(0);
	});

	test.each([
		[14202, 'user forbidden'],
		[14203, 'company forbidden'],
	] as const)('every login can be refused with %i', async (refuseLogin, msg) => {
		const client = await start({ refuseLogin });
		expect(await client.logIn()).toEqual({ code: refuseLogin, msg, data: null });
		expect(client.platform.logins).toEqual({ attempted: 1, succeeded: 0 });
	});

	test('needs both fields (10001) in a JSON body (10014)', async () => {
		const client = await start();
		const login = async (body: unknown) => (await client.call('POST', '/api/user/login', { body })).code;
		expect(await login({ loginName: 'demo' })).toBe(10001);
		expect(await login({ loginName: 'demo', password: 5 })).toBe(10001);
		expect(await login('{')).toBe(10014);
		expect(await login(undefined)).toBe(10014);
	});

	test('its path can be set, and the usual one is gone then', async () => {
		const client = await start({ loginPath: '/api/v2/session' });
		expect((await client.logIn()).code).toBe(0);
		expect((await client.send('POST', '/api/user/login', { body: {} })).status).toBe(404);
	});

	test.each([
		['data', (token: string) => token],
		['data.token', (token: string) => ({ token })],
		['data.accessToken', (token: string) => ({ accessToken: token })],
		['data.access_token', (token: string) => ({ access_token: token })],
		['data.session.jwt', (token: string) => ({ session: { jwt: token } })],
	])('the answer holds the token at %s, as set', async (tokenAt, shape) => {
		const client = await start({ tokenAt });
		const { data } = await client.logIn();
		expect(data).toEqual(shape(client.platform.issuedTokens[0] ?? ''));
	});

	test('every login gives another token', async () => {
		const client = await start();
		const tokens = [await client.logIn(), await client.logIn()].map(({ data }) => data);
		expect(new Set(tokens).size).toBe(2);
		expect(client.platform.issuedTokens).toEqual(tokens);
	});
});

describe('bearer token (section 5)', () => {
	const endpoints = [
		['POST', '/api/device/list'],
		['GET', '/api/device/sn/NONE'],
		['POST', '/api/device'],
		['PUT', '/api/device/sn/NONE'],
		['PATCH', '/api/device/sn/NONE'],
		['DELETE', '/api/device/sn/NONE'],
		['GET', '/api/group/list'],
		['GET', '/api/model/list'],
		['GET', '/api/version'],
		['GET', '/api/echo'],
	] as const;

	test.each(endpoints)('%s %s without a sign-in gets 14101', async (method, path) => {
		const client = await start();
		const envelope = await client.call(method, path, { headers: { authorization: undefined } });
		expect(envelope).toEqual({ code: 14101, msg: 'invalid token', data: null });
	});

	test('an unknown token gets 14101', async () => {
		const client = await start();
		expect(await client.codeWithToken('abcdefgh.ijkl')).toBe(14101);
	});

	test.each(['Bearer', 'Bearer ', 'Bearer a', 'Bearer two words', 'Bearer {token}', 'Bearertoken12345'])(
		'%p is unreadable: 14102',
		async (authorization) => {
			const client = await start();
			const envelope = await client.call('GET', '/api/version', { headers: { authorization } });
			expect(envelope).toEqual({ code: 14102, msg: 'token parse failed', data: null });
		},
	);

	test('another kind of sign-in gets 14101', async () => {
		const client = await start();
		const { code } = await client.call('GET', '/api/version', { headers: { authorization: 'Basic ZGVtbzpkZW1v' } });
		expect(code).toBe(14101);
	});

	test('never expires by default', async () => {
		const client = await start();
		const token = client.platform.issueToken();
		for (let request = 0; request < 50; request++) expect(await client.codeWithToken(token)).toBe(0);
	});

	test('can expire after a number of authorized requests', async () => {
		const client = await start({ tokenRequests: 2 });
		const token = client.platform.issueToken();
		const codes = [];
		for (let request = 0; request < 4; request++) codes.push(await client.codeWithToken(token));
		expect(codes).toEqual([0, 0, 14101, 14101]);
		expect(await client.codeWithToken(client.platform.issueToken())).toBe(0);
	});

	test('stay valid together, unless each user has one at a time', async () => {
		for (const [livingTokens, codes] of [
			['side-by-side', [0, 0]],
			['one-per-user', [14101, 0]],
		] as const) {
			const client = await start({ livingTokens });
			const tokens = [(await client.logIn()).data, (await client.logIn()).data].map(String);
			expect([await client.codeWithToken(tokens[0] ?? ''), await client.codeWithToken(tokens[1] ?? '')]).toEqual(codes);
		}
	});

	test('can expire after some time of the given clock', async () => {
		let now = 1000;
		const client = await start({ tokenMs: 60_000, now: () => now });
		const token = client.platform.issueToken();
		now += 59_999;
		expect(await client.codeWithToken(token)).toBe(0);
		now += 1;
		expect(await client.codeWithToken(token)).toBe(14101);
		now = 1000;
		expect(await client.codeWithToken(token)).toBe(14101);
	});

	test('expireTokens makes those handed out dead, not later ones', async () => {
		const client = await start();
		const token = client.platform.issueToken();
		client.platform.expireTokens();
		expect(await client.codeWithToken(token)).toBe(14101);
		expect(await client.codeWithToken(client.platform.issueToken())).toBe(0);
	});

	test('a dead one can be reported with 14102', async () => {
		const client = await start({ deadTokenCode: 14102 });
		const token = client.platform.issueToken();
		client.platform.expireTokens();
		expect(await client.codeWithToken(token)).toBe(14102);
	});

	test('a dead one is reported in an HTTP 200, or with HTTP 401 as set', async () => {
		const client = await start();
		const token = client.platform.issueToken();
		client.platform.expireTokens();
		const status = async () =>
			(await client.send('GET', '/api/version', { headers: { authorization: `Bearer ${token}` } })).status;
		expect(await status()).toBe(200);
		client.platform.settings.deadToken = 'status';
		expect(await status()).toBe(401);
	});

	test('HTTP 401 comes with the envelope and names the way to sign in; other refusals keep their status', async () => {
		const client = await start({ deadToken: 'status' });
		const reply = await client.send('GET', '/api/version', { headers: { authorization: undefined } });
		expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, 'Bearer']);
		expect(envelopeSchema.parse(JSON.parse(reply.text)).code).toBe(14101);
		expect((await client.send('GET', '/api/device/sn/NONE')).status).toBe(200);
	});
});

describe('what a call may do depends on the role (section 5)', () => {
	const codes = async (role: 'administrator' | 'reader' | 'none') => {
		const client = await start({ role });
		return {
			list: await client.listCode(),
			create: (await client.call('POST', '/api/device', { body: { sn: 'N1' } })).code,
			change: (await client.call('PUT', '/api/device/sn/N1', { body: {} })).code,
			remove: (await client.call('DELETE', '/api/device/sn/N1')).code,
		};
	};

	test('an administrator may do everything', async () => {
		expect(await codes('administrator')).toEqual({ list: 0, create: 0, change: 0, remove: 0 });
	});

	test('a reader may read; else 14103', async () => {
		expect(await codes('reader')).toEqual({ list: 0, create: 14103, change: 14103, remove: 14103 });
	});

	test('without a role it is 14103', async () => {
		expect(await codes('none')).toEqual({ list: 14103, create: 14103, change: 14103, remove: 14103 });
	});
});
