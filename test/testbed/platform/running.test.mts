import { codes, message } from '../../../testbed/platform/codes.mts';
import { clients, type Client } from './client.mts';
import { startPlatform, type Fault, type FaultRule } from '../../../testbed/platform/server.mts';

const start = clients();

describe('return codes (section 7)', () => {
	test('each code can be the response to any request, with its message', async () => {
		const client = await start();
		for (const [code, template] of codes) {
			client.platform.settings.fault = () => ({ code, details: ['one', 'two'] });
			const msg = template.replace('%s', 'one').replace('%s', 'two');
			expect(await client.call('POST', '/api/device/list', { body: {} })).toEqual({ code, msg, data: null });
			expect(await client.logIn()).toEqual({ code, msg, data: null });
		}
	});

	test('a missing detail leaves its place empty, and an unknown code has the message of -1', () => {
		expect(message(10007, 'device $& X')).toBe('device $& X non-existent');
		expect(message(10007)).toBe('non-existent');
		expect(message(12345)).toBe('unknown error');
	});
});

describe('faults', () => {
	const list = async (client: Client, signal?: AbortSignal) =>
		await client.send('POST', '/api/device/list?page=2&size=5', { body: {}, signal });

	test.each<[Fault, RegExp]>([
		['drop', /other side closed/],
		['truncate', /other side closed|terminated/],
		['hang', /gave up/],
		['stall', /gave up/],
	])('%s never completes a response', async (fault, reason) => {
		const client = await start({ faults: [{ fault }] });
		const waiting = new AbortController();
		const isEndless = fault === 'hang' || fault === 'stall';
		client.platform.settings.beforeAnswer = () => {
			if (isEndless) setImmediate(() => waiting.abort(new Error('gave up')));
		};
		await expect(list(client, waiting.signal)).rejects.toThrow(reason);
		expect((await list(client)).status).toBe(200);
	});

	test.each(['truncate', 'stall'] as const)('%s announces the whole response and sends half', async (fault) => {
		const client = await start({ fleet: { size: 10 } });
		const length = Buffer.byteLength((await list(client)).text);
		client.platform.settings.fault = () => fault;
		const reply = await fetch(`${client.platform.baseUrl}/api/device/list?page=2&size=5`, {
			method: 'POST',
			headers: { authorization: `ApiKey ${client.platform.apiKey}`, 'content-type': 'application/json' },
			body: '{}',
		});
		expect(reply.headers.get('content-length')).toBe(String(length));
		const reader = reply.body?.getReader();
		let received = 0;
		while (received < Math.floor(length / 2)) received += (await reader?.read())?.value?.length ?? Infinity;
		expect(received).toBe(Math.floor(length / 2));
		const rest = expect(reader?.read()).rejects.toThrow('terminated');
		if (fault === 'stall') await client.platform.stop();
		await rest;
	});

	const [html, json] = ['text/html;charset=UTF-8', 'application/json;charset=UTF-8'];
	test.each<[string, Exclude<Fault, string>, number, string, string]>([
		['a text as HTML', { status: 502, body: '<h1>Bad</h1>' }, 502, html, '<h1>Bad</h1>'],
		['nothing', { status: 503 }, 503, html, ''],
		['an object as JSON', { status: 403, body: { reason: 'no' } }, 403, json, '{"reason":"no"}'],
		['another type', { status: 200, body: 'hm', headers: { 'Content-Type': 'text/plain' } }, 200, 'text/plain', 'hm'],
		['an envelope', { code: 9, msg: 'no', data: [1], status: 500 }, 500, json, '{"code":9,"msg":"no","data":[1]}'],
		['a code with the refusal status', { code: 9, msg: 'no' }, 422, json, '{"code":9,"msg":"no","data":null}'],
		['a success', { code: 0, msg: 'yes' }, 200, json, '{"code":0,"msg":"yes","data":null}'],
	])('a fault can be %s, before the sign-in', async (_what, fault, status, type, text) => {
		const headers = { 'Retry-After': '2', ...fault.headers };
		const client = await start({ role: 'none', refusalStatus: 422, faults: [{ fault: { ...fault, headers } }] });
		const reply = await list(client);
		expect([reply.status, reply.headers['content-type'], reply.text]).toEqual([status, type, text]);
		expect(reply.headers['retry-after']).toBe('2');
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
		['once by default', { times: undefined }, [503, 200, 200, 200, 200]],
		['twice', { times: 2 }, [503, 503, 200, 200, 200]],
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
	test('sees the body, is waited for, and may change fleet and settings for this response', async () => {
		const client = await start();
		const { settings, fleet } = client.platform;
		const seen: unknown[] = [];
		settings.beforeAnswer = async ({ body, order }) => {
			seen.push(body);
			await new Promise(setImmediate);
			fleet.add(fleet.make({ sn: `NEW-${order}` }));
			if (order === 2) settings.role = 'none';
		};
		expect((await client.listed())[0]).toBe('NEW-1');
		expect(await client.listCode('', { compositeStatus: 3 })).toBe(14103);
		expect(seen).toEqual([{}, { compositeStatus: 3 }]);
	});

	test('that throws gives HTTP 500 with code -1, and stop rejects with what it threw', async () => {
		const platform = await startPlatform({
			beforeAnswer: () => {
				throw new Error('the hook is wrong');
			},
		});
		const reply = await fetch(`${platform.baseUrl}/api/version`);
		expect([reply.status, await reply.json()]).toEqual([500, { code: -1, msg: 'unknown error', data: null }]);
		await expect(platform.stop()).rejects.toThrow('the hook is wrong');
	});
});

test('the rate limit refuses with HTTP 429 and a time to wait, until that time has passed', async () => {
	let now = 1000;
	const client = await start({ rateLimit: { requests: 2, perMs: 1000, retryAfter: 3 }, now: () => now });
	const replies = async () => {
		const all = await Promise.all([1, 2, 3].map(async () => await client.send('GET', '/api/version')));
		return all.map(({ status, headers }) => `${status} ${headers['retry-after']}`).sort();
	};
	expect(await replies()).toEqual(['200 undefined', '200 undefined', '429 3']);
	now += 999;
	expect((await client.send('GET', '/api/version')).status).toBe(429);
	now += 1;
	expect(await replies()).toEqual(['200 undefined', '200 undefined', '429 3']);
	expect(client.platform.requests.map(({ at }) => at)).toEqual([1000, 1000, 1000, 1999, 2000, 2000, 2000]);
	expect(client.platform.requests.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429, 429, 429]);
});

describe('what the platform records', () => {
	test('every request in the order of arrival, with all its parts, until forget', async () => {
		const client = await start({ pathPrefix: '/iot', fleet: { size: 30 } });
		const { platform } = client;
		await client.logIn();
		await client.listCode('?page=2&sort=sn%20asc&sort=imei', { compositeStatus: 1 });
		await client.send('GET', '/api/device/sn/a%2Fb');
		await client.send('GET', '/api/device/sn/%E0%A4%A');
		await client.send('PUT', '/api/nope', { body: '{' });
		const { loginName, passwordMd5: password } = platform;
		const query = { page: '2', sort: ['sn asc', 'imei'] };
		expect(
			platform.requests.map(({ order, orderOfKind, kind, method, path, query, body, page, status }) => [
				order,
				orderOfKind,
				kind,
				method,
				path,
				query,
				body,
				page,
				status,
			]),
		).toEqual([
			[1, 1, 'login', 'POST', '/api/user/login', {}, { loginName, password }, undefined, 200],
			[2, 1, 'list', 'POST', '/api/device/list', query, { compositeStatus: 1 }, 1, 200],
			[3, 1, 'sn', 'GET', '/api/device/sn/a%2Fb', {}, undefined, undefined, 200],
			[4, 2, 'sn', 'GET', '/api/device/sn/%E0%A4%A', {}, undefined, undefined, 400],
			[5, 1, 'other', 'PUT', '/api/nope', {}, '{', undefined, 404],
		]);
		expect(platform.requests[1]).toMatchObject({
			url: '/iot/api/device/list?page=2&sort=sn%20asc&sort=imei',
			headers: { accept: 'application/json', authorization: `ApiKey ${platform.apiKey}` },
		});
		platform.forget();
		expect([platform.requests, platform.logins]).toEqual([[], { attempted: 0, succeeded: 0 }]);
		expect([platform.issuedTokens.length, platform.fleet.size, platform.settings.pathPrefix]).toEqual([1, 30, '/iot']);
		await client.listCode();
		expect(platform.requests[0]).toMatchObject({ order: 1, orderOfKind: 1 });
	});

	test('the page of a list request, counted from 0 with both numberings', async () => {
		const client = await start();
		await client.listCode('?page=3');
		client.platform.settings.pageNumbering = 'zero-based';
		await client.listCode('?page=3');
		await client.listCode();
		await client.listCode('?page=x');
		expect(client.platform.requests.map(({ page }) => page)).toEqual([2, 3, 0, undefined]);
	});

	test('how many requests are in flight, and the most at once', async () => {
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
});

describe('starting and stopping', () => {
	test('no request outside the prefix has an endpoint', async () => {
		const client = await start({ pathPrefix: '/iot/platform', fleet: { size: 3 } });
		expect((await client.list()).totalElements).toBe(3);
		expect((await client.logIn()).code).toBe(0);
		const headers = { authorization: `ApiKey ${client.platform.apiKey}` };
		for (const path of ['/api/version', '/iot/platformapi/version', '/iot/api/version']) {
			expect((await fetch(new URL(path, client.platform.baseUrl), { headers })).status).toBe(404);
		}
	});

	test('latency delays every response', async () => {
		const client = await start({ latencyMs: 30 });
		const before = performance.now();
		await client.listCode();
		expect(performance.now() - before).toBeGreaterThanOrEqual(29);
	});

	test('stop ends requests that hang or wait', async () => {
		const platform = await startPlatform({ faults: [{ fault: 'hang' }] });
		const hanging = fetch(`${platform.baseUrl}/api/version`);
		while (platform.requests.length === 0) await new Promise(setImmediate);
		platform.settings.latencyMs = 1_000_000;
		const waiting = fetch(`${platform.baseUrl}/api/version`);
		while (platform.requests.length === 1) await new Promise(setImmediate);
		await Promise.all([expect(hanging).rejects.toThrow(), expect(waiting).rejects.toThrow(), platform.stop()]);
		await expect(fetch(`${platform.baseUrl}/api/version`)).rejects.toThrow();
		expect(platform.inFlight).toBe(0);
	});

	test.each<[string, object]>([
		['an unknown option', { nope: 1 }],
		['a prefix that ends with /', { pathPrefix: '/iot/' }],
		['an unknown fault', { faults: [{ fault: 'explode' }] }],
		['a token outside of data', { tokenAt: 'token' }],
		['a hook that is no function', { beforeAnswer: 'x' }],
		['a device without its fields', { fleet: [{ sn: 'A' }] }],
	])('%s is refused', async (_what, options) => {
		await expect(startPlatform(options)).rejects.toThrow();
	});
});
