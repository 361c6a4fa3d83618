import { once } from 'node:events';
import { createServer } from 'node:net';
import { codes, message } from '../../../testbed/platform/codes.mts';
import { clients, envelopeSchema, pageSchema, type Client } from './client.mts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { startPlatform, type Fault, type FaultRule, type EmbeddedPlatform } from '../../../testbed/platform/server.mts';

const start = clients();

describe('return codes (section 7)', () => {
	test('the table has 38 codes, each once', () => {
		expect(codes).toHaveLength(38);
		expect(new Set(codes.map(([code]) => code)).size).toBe(38);
	});

	test.each(codes)('%i: %s can be produced on every kind of request', async (code, template) => {
		const client = await start({ fault: () => ({ code, details: ['one', 'two'] }) });
		const expected = { code, msg: template.replace('%s', 'one').replace('%s', 'two'), data: null };
		expect(await client.call('POST', '/api/device/list', { body: {} })).toEqual(expected);
		expect(await client.call('GET', '/api/device/sn/X')).toEqual(expected);
		expect(await client.logIn()).toEqual(expected);
		expect(await client.call('GET', '/api/echo')).toEqual(expected);
	});

	test('%s is replaced by a detail, %s %s by two, and a missing one by nothing', () => {
		expect(message(10007, 'device $& X')).toBe('device $& X non-existent');
		expect(message(10008, 'a', 'b')).toBe('a b do not match');
		expect(message(10007)).toBe('non-existent');
	});

	test('a code that is not in the table has the message of -1', () => {
		expect(message(12345)).toBe('unknown error');
	});
});

describe('faults', () => {
	const list = (client: Client, signal?: AbortSignal) =>
		client.send('POST', '/api/device/list?page=2&size=5', { body: {}, ...(signal ? { signal } : {}) });

	test('drop closes the connection without an answer', async () => {
		const client = await start({ faults: [{ fault: 'drop' }] });
		await expect(list(client)).rejects.toThrow('other side closed');
		expect(client.platform.requests[0]?.outcome).toBe('cut');
	});

	test('truncate announces the whole answer and sends half', async () => {
		const client = await start({ faults: [{ fault: 'truncate' }] });
		await expect(list(client)).rejects.toThrow(/other side closed|terminated/);
		expect((await list(client)).status).toBe(200);
	});

	test('hang never answers, until the client gives up', async () => {
		const client = await start({ faults: [{ fault: 'hang' }] });
		const given = new AbortController();
		client.platform.settings.beforeAnswer = () => {
			setImmediate(() => given.abort(new Error('gave up')));
		};
		await expect(list(client, given.signal)).rejects.toThrow('gave up');
	});

	test('stall sends half and then nothing, until the client gives up', async () => {
		const client = await start({ fleet: { size: 10 } });
		const whole = (await list(client)).text;
		client.platform.settings.faults = [{ fault: 'stall' }];
		const given = new AbortController();
		const reply = await fetch(`${client.platform.baseUrl}/api/device/list?page=2&size=5`, {
			method: 'POST',
			headers: { authorization: `ApiKey ${client.platform.apiKey}`, 'content-type': 'application/json' },
			body: '{}',
			signal: given.signal,
		});
		const length = Buffer.byteLength(whole);
		expect(reply.headers.get('content-length')).toBe(String(length));
		let received = 0;
		const reader = reply.body?.getReader();
		while (received < Math.floor(length / 2)) received += (await reader?.read())?.value?.length ?? Infinity;
		expect(received).toBe(Math.floor(length / 2));
		given.abort(new Error('gave up'));
		await expect(reader?.read()).rejects.toThrow('gave up');
	});

	test('slowBody sends the real answer in pieces', async () => {
		const client = await start({ fleet: { size: 10 } });
		const whole = await list(client);
		client.platform.settings.faults = [{ fault: { slowBody: { pieces: 7, pauseMs: 0 } } }];
		const slow = await list(client);
		expect(slow.text).toBe(whole.text);
		expect(client.platform.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered']);
	});

	test.each<[string, Fault, number, string, string]>([
		[
			'a text as HTML',
			{ status: 502, body: '<h1>Bad Gateway</h1>' },
			502,
			'text/html;charset=UTF-8',
			'<h1>Bad Gateway</h1>',
		],
		['nothing', { status: 503 }, 503, 'text/html;charset=UTF-8', ''],
		[
			'an object as JSON',
			{ status: 403, body: { reason: 'no' } },
			403,
			'application/json;charset=UTF-8',
			'{"reason":"no"}',
		],
		[
			'a type of its own',
			{ status: 200, body: 'hm', headers: { 'Content-Type': 'text/plain' } },
			200,
			'text/plain',
			'hm',
		],
		[
			'an envelope with its own message',
			{ code: 9999, msg: 'kaputt', data: [1], status: 500 },
			500,
			'application/json;charset=UTF-8',
			'{"code":9999,"msg":"kaputt","data":[1]}',
		],
	])('a raw answer can be %s', async (_what, fault, status, type, text) => {
		const client = await start({ faults: [{ fault }] });
		const reply = await list(client);
		expect([reply.status, reply.headers['content-type'], reply.text]).toEqual([status, type, text]);
	});

	test('an answer can carry headers', async () => {
		const client = await start({
			faults: [
				{ fault: { status: 429, headers: { 'Retry-After': '2' } } },
				{ fault: { code: 9999, headers: { 'retry-after': '3' } } },
			],
		});
		expect((await list(client)).headers['retry-after']).toBe('2');
		expect((await list(client)).headers['retry-after']).toBe('3');
	});

	test('a code keeps to the refusal status unless it has its own', async () => {
		const client = await start({ refusalStatus: 422, fault: () => ({ code: 10005 }) });
		expect((await list(client)).status).toBe(422);
		client.platform.settings.fault = () => ({ code: 0 });
		expect((await list(client)).status).toBe(200);
	});

	test('a fault comes before the sign-in is looked at', async () => {
		const client = await start({ role: 'none', faults: [{ fault: { status: 503 } }] });
		expect((await list(client)).status).toBe(503);
	});

	test('a rule applies once unless told, and then the next one', async () => {
		const client = await start({ faults: [{ fault: { status: 502 } }, { fault: { status: 503 }, times: 2 }] });
		const statuses = [];
		for (let request = 0; request < 4; request++) statuses.push((await list(client)).status);
		expect(statuses).toEqual([502, 503, 503, 200]);
	});

	test('a rule can apply always', async () => {
		const client = await start({ faults: [{ fault: { status: 503 }, times: Infinity }] });
		for (let request = 0; request < 5; request++) expect((await list(client)).status).toBe(503);
	});

	test.each<[string, Omit<FaultRule, 'fault'>, number[]]>([
		['kind list', { kind: 'list' }, [200, 503, 503, 200, 200]],
		['kind sn', { kind: 'sn' }, [200, 200, 200, 503, 200]],
		['kind login', { kind: 'login' }, [503, 200, 200, 200, 200]],
		['kind other', { kind: 'other' }, [200, 200, 200, 200, 503]],
		['page 1, counted from 0', { page: 1 }, [200, 200, 503, 200, 200]],
		['order 4', { order: 4 }, [200, 200, 200, 503, 200]],
		['the second of its kind', { orderOfKind: 2 }, [200, 200, 503, 200, 200]],
		['kind and page together', { kind: 'sn', page: 1 }, [200, 200, 200, 200, 200]],
	])('a rule can name %s', async (_what, marks, expected) => {
		const client = await start({ faults: [{ fault: { status: 503 }, times: Infinity, ...marks }] });
		const statuses = [
			(await client.send('POST', '/api/user/login', { body: {} })).status,
			(await client.send('POST', '/api/device/list?page=1', { body: {} })).status,
			(await client.send('POST', '/api/device/list?page=2', { body: {} })).status,
			(await client.send('GET', '/api/device/sn/X')).status,
			(await client.send('GET', '/api/echo')).status,
		];
		expect(statuses).toEqual(expected);
	});

	test('the hook decides by the request, before the rules', async () => {
		const client = await start({
			fault: ({ kind, page }) => (kind === 'list' && page === 1 ? { status: 504 } : undefined),
			faults: [{ fault: { status: 503 } }],
		});
		expect((await list(client)).status).toBe(504);
		expect((await client.send('GET', '/api/echo')).status).toBe(503);
	});
});

describe('beforeAnswer', () => {
	test('is waited for', async () => {
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		const client = await start({ beforeAnswer: () => released });
		const { settings, fleet } = client.platform;
		const answer = client.list();
		while (client.platform.requests.length === 0) await new Promise(setImmediate);
		fleet.add(fleet.make({ sn: 'NEW' }));
		settings.beforeAnswer = undefined;
		release();
		expect((await answer).content[0]?.sn).toBe('NEW');
	});

	test('sees the body, and may change settings for this very answer', async () => {
		const client = await start();
		const seen: unknown[] = [];
		client.platform.settings.beforeAnswer = ({ body }) => {
			seen.push(body);
			client.platform.settings.role = 'none';
		};
		expect(await client.listCode('', { compositeStatus: 3 })).toBe(14103);
		expect(seen).toEqual([{ compositeStatus: 3 }]);
	});

	test('a hook that throws gives HTTP 500 with code -1, and stop rejects with what it threw', async () => {
		const platform = await startPlatform({
			beforeAnswer: () => {
				throw new Error('the hook is wrong');
			},
		});
		const reply = await fetch(`${platform.baseUrl}/api/version`);
		expect(reply.status).toBe(500);
		expect(envelopeSchema.parse(await reply.json())).toEqual({ code: -1, msg: 'unknown error', data: null });
		await expect(platform.stop()).rejects.toThrow('the hook is wrong');
	});
});

describe('the rate limit', () => {
	test('refuses what is too much with HTTP 429 and a time to wait, and nothing once that has passed', async () => {
		let now = 1000;
		const client = await start({ rateLimit: { requests: 2, perMs: 1000, retryAfter: 3 }, now: () => now });
		const statuses = async () => {
			const replies = await Promise.all([1, 2, 3].map(async () => await client.send('GET', '/api/version')));
			return replies.map(({ status, headers }) => [status, headers['retry-after']]).sort();
		};
		const expected = [
			[200, undefined],
			[200, undefined],
			[429, '3'],
		];
		expect(await statuses()).toEqual(expected);
		now += 999;
		expect((await client.send('GET', '/api/version')).status).toBe(429);
		now += 1;
		expect(await statuses()).toEqual(expected);
		expect(client.platform.requests.map(({ at }) => at)).toEqual([1000, 1000, 1000, 1999, 2000, 2000, 2000]);
		expect(client.platform.requests.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429, 429, 429]);
	});
});

describe('what the platform records', () => {
	test('every request in the order of arrival, with all it brought', async () => {
		const client = await start({ pathPrefix: '/iot', fleet: { size: 30 } });
		await client.logIn();
		await client.listCode('?page=2&sort=sn%20asc&sort=imei', { compositeStatus: 1 });
		await client.send('GET', '/api/device/sn/a%2Fb');
		await client.send('GET', '/api/device/sn/%E0%A4%A');
		await client.send('PUT', '/api/nope', { body: '{' });
		const { requests, apiKey, loginName, passwordMd5 } = client.platform;
		expect(
			requests.map(({ order, orderOfKind, kind, method, url, path, query, body, page, outcome }) => ({
				order,
				orderOfKind,
				kind,
				method,
				url,
				path,
				query,
				body,
				page,
				outcome,
			})),
		).toEqual([
			{
				order: 1,
				orderOfKind: 1,
				kind: 'login',
				method: 'POST',
				url: '/iot/api/user/login',
				path: '/api/user/login',
				query: {},
				body: { loginName, password: passwordMd5 },
				page: undefined,
				outcome: 'answered',
			},
			{
				order: 2,
				orderOfKind: 1,
				kind: 'list',
				method: 'POST',
				url: '/iot/api/device/list?page=2&sort=sn%20asc&sort=imei',
				path: '/api/device/list',
				query: { page: '2', sort: ['sn asc', 'imei'] },
				body: { compositeStatus: 1 },
				page: 1,
				outcome: 'answered',
			},
			{
				order: 3,
				orderOfKind: 1,
				kind: 'sn',
				method: 'GET',
				url: '/iot/api/device/sn/a%2Fb',
				path: '/api/device/sn/a%2Fb',
				query: {},
				body: undefined,
				page: undefined,
				outcome: 'answered',
			},
			{
				order: 4,
				orderOfKind: 2,
				kind: 'sn',
				method: 'GET',
				url: '/iot/api/device/sn/%E0%A4%A',
				path: '/api/device/sn/%E0%A4%A',
				query: {},
				body: undefined,
				page: undefined,
				outcome: 'answered',
			},
			{
				order: 5,
				orderOfKind: 1,
				kind: 'other',
				method: 'PUT',
				url: '/iot/api/nope',
				path: '/api/nope',
				query: {},
				body: '{',
				page: undefined,
				outcome: 'answered',
			},
		]);
		expect(requests[1]?.headers).toMatchObject({
			accept: 'application/json',
			'content-type': 'application/json',
			authorization: `ApiKey ${apiKey}`,
		});
		expect(client.platform.requestsOf('sn')).toEqual([requests[2], requests[3]]);
	});

	test('the page of a list request counts from 0 with either numbering', async () => {
		const client = await start();
		await client.listCode('?page=3');
		client.platform.settings.pageNumbering = 'zero-based';
		await client.listCode('?page=3');
		await client.listCode();
		await client.listCode('?page=x');
		expect(client.platform.requests.map(({ page }) => page)).toEqual([2, 3, 0, undefined]);
	});

	test('how many requests are in flight, and the most there were', async () => {
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		const client = await start();
		const { platform } = client;
		platform.settings.beforeAnswer = async ({ order }) => {
			if (order === 3) release();
			await released;
		};
		await Promise.all([client.listCode(), client.listCode(), client.listCode()]);
		await client.listCode();
		expect(platform.requests.map(({ inFlight }) => inFlight)).toEqual([1, 2, 3, 1]);
		expect([platform.peakInFlight, platform.inFlight]).toEqual([3, 0]);
	});

	test('forget empties the records and keeps tokens, fleet and settings', async () => {
		const client = await start({ fleet: { size: 3 }, tokenAt: 'data.token' });
		const { platform } = client;
		await client.logIn();
		await client.listCode();
		platform.forget();
		expect([platform.requests, platform.peakInFlight, platform.logins]).toEqual([
			[],
			0,
			{ attempted: 0, succeeded: 0 },
		]);
		expect([platform.issuedTokens.length, platform.fleet.size, platform.settings.tokenAt]).toEqual([
			1,
			3,
			'data.token',
		]);
		await client.listCode();
		expect(platform.requests[0]).toMatchObject({ order: 1, orderOfKind: 1 });
	});
});

describe('starting and stopping', () => {
	test('the fleet may be a size, devices or a ready fleet', async () => {
		const fleet = Fleet.seeded({ size: 3, seed: 8 });
		const started = [
			await start({ fleet: { size: 3, seed: 8 } }),
			await start({ fleet: [...fleet.devices] }),
			await start({ fleet }),
		];
		for (const client of started) expect((await client.list()).content).toEqual(fleet.devices);
		expect(started[2]?.platform.fleet).toBe(fleet);
	});

	test('below a prefix everything works, and nothing outside of it', async () => {
		const client = await start({ pathPrefix: '/iot/platform', fleet: { size: 3 } });
		expect(new URL(client.platform.baseUrl).pathname).toBe('/iot/platform');
		expect((await client.list()).totalElements).toBe(3);
		expect((await client.logIn()).code).toBe(0);
		for (const path of ['/api/version', '/iot/platformapi/version', '/iot/api/version']) {
			const reply = await fetch(new URL(path, client.platform.baseUrl), {
				headers: { authorization: `ApiKey ${client.platform.apiKey}` },
			});
			expect(reply.status).toBe(404);
		}
	});

	test('with tls it speaks HTTPS, with a certificate for 127.0.0.1 that must be trusted first', async () => {
		const client = await start({ tls: true, fleet: { size: 3 } });
		expect(client.platform.baseUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
		expect((await client.list()).totalElements).toBe(3);
		await expect(fetch(`${client.platform.baseUrl}/api/version`)).rejects.toMatchObject({
			cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
		});
	});

	test('latency delays every answer by real time', async () => {
		const client = await start({ latencyMs: 30 });
		const before = performance.now();
		await client.listCode();
		expect(performance.now() - before).toBeGreaterThanOrEqual(29);
	});

	test('stop ends requests that hang, wait or dawdle', async () => {
		const platform: EmbeddedPlatform = await startPlatform({ faults: [{ fault: 'hang' }] });
		const hanging = fetch(`${platform.baseUrl}/api/version`);
		while (platform.requests.length === 0) await new Promise(setImmediate);
		platform.settings.latencyMs = 1_000_000;
		const waiting = fetch(`${platform.baseUrl}/api/version`);
		while (platform.requests.length === 1) await new Promise(setImmediate);
		await Promise.all([expect(hanging).rejects.toThrow(), expect(waiting).rejects.toThrow(), platform.stop()]);
		await expect(fetch(`${platform.baseUrl}/api/version`)).rejects.toThrow();
		expect(platform.inFlight).toBe(0);
	});

	test('a taken port is reported', async () => {
		const other = createServer().listen(0, '127.0.0.1');
		await once(other, 'listening');
		const address = other.address();
		const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
		await expect(startPlatform({ port })).rejects.toThrow('EADDRINUSE');
		other.close();
	});

	test.each<[string, object]>([
		['an unknown option', { nope: 1 }],
		['a prefix that ends with /', { pathPrefix: '/iot/' }],
		['an unknown numbering', { pageNumbering: 'two-based' }],
		['a largest size of 0', { largestSize: 0 }],
		['an unknown fault', { faults: [{ fault: 'explode' }] }],
		['a token outside of data', { tokenAt: 'token' }],
		['a hook that is no function', { beforeAnswer: 'x' }],
		['a device that lacks fields', { fleet: [{ sn: 'A' }] }],
		['a negative lifetime', { tokenMs: -1 }],
	])('%s is refused', async (_what, options) => {
		await expect(startPlatform(options)).rejects.toThrow();
	});
});

test('an answer of 2000 devices is a page by the document', async () => {
	const client = await start({ fleet: { size: 5000 } });
	const { data } = await client.call('POST', '/api/device/list?page=2&size=2000', { body: {} });
	expect(() => pageSchema.parse(data)).not.toThrow();
});
