import type { Fault } from '../../../testbed/platform/server.mts';
import { hurry, useBench, useServers } from '../../../testbed/jest.mts';
import { operations } from '../../../testbed/operations.mts';
import { jsonOf, pairedItemsOf } from '../../../testbed/output.mts';
import type { Answer } from '../../../testbed/rawServer.mts';

const bench = useBench();
const serve = useServers();

const writes = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
const methods = ['GET', ...writes] as const;

async function request(parameters: Record<string, unknown>, credential = bench.apiKey) {
	return await bench.run({ ...operations.request, query: {}, ...parameters }, { credential, input: [{}] });
}

describe('what comes out', () => {
	test.each<[string, unknown, unknown[]]>([
		['an object is one item', { id: 7, nested: { a: [1] } }, [{ id: 7, nested: { a: [1] } }]],
		['an empty object is one empty item', {}, [{}]],
		['a list is one item for each element', [{ id: 1 }, { id: 2 }], [{ id: 1 }, { id: 2 }]],
		['an empty list is no item', [], []],
		[
			'elements that are no objects stand under data',
			[1, 'two', null, [3], { id: 4 }],
			[{ data: 1 }, { data: 'two' }, { data: null }, { data: [3] }, { id: 4 }],
		],
		['a text stands under data', '2.6', [{ data: '2.6' }]],
		['a number stands under data', 0, [{ data: 0 }]],
		['false stands under data', false, [{ data: false }]],
		['null stands under data', null, [{ data: null }]],
	])('%s', async (_name, data, items) => {
		bench.platform.settings.fault = () => ({ code: 0, data });
		const result = await request({ path: '/api/echo' });
		expect(result.error).toBeUndefined();
		expect(result.data('Devices')).toEqual(items.map((json) => ({ json, pairedItem: { item: 0 } })));
	});

	test.each([
		['a text with commas', { csv: '2024-01-01,21.5,"[a]"\n'.repeat(120_000) }],
		['180,000 points', { points: new Array(180_000).fill([1_700_000_000, 21.5]) }],
	])('%s of several MB arrives whole, by GET and by POST', async (_name, data) => {
		bench.platform.settings.fault = () => ({ code: 0, data });
		for (const method of ['GET', 'POST']) {
			expect(jsonOf(await request({ method, path: '/api/echo' }))).toEqual([data]);
		}
	});

	test('an envelope without data is one item whose data is null', async () => {
		const server = await serve((_request, response) => response.end('{"code":0}'));
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		const result = await request({ path: '/api/echo' });
		expect(jsonOf(result)).toEqual([{ data: null }]);
	});

	test('each item of several is paired with its own input', async () => {
		const result = await bench.run(
			{ ...operations.request, path: '={{ $json.path }}', query: {} },
			{ input: [{ path: '/api/version' }, { path: '/api/model/list' }, { path: '/api/version' }] },
		);
		const pairs = pairedItemsOf(result);
		expect(pairs).toEqual([0, ...bench.platform.fleet.models.map(() => 1), 2]);
	});
});

describe('what is sent', () => {
	test.each(methods)('%s with its query and, unless it is a GET, its body', async (method) => {
		const result = await request({
			method,
			path: '/api/echo',
			query: {
				parameter: [
					{ name: 'a b', value: 'ä&=?#' },
					{ name: 'tag', value: '1' },
					{ name: 'tag', value: '2' },
					{ name: 'tags', value: '' },
				],
			},
			body: '{"name":"Zürich","list":[1,{"deep":null}]}',
		});
		const [{ json } = { json: {} }] = result.data('Devices');
		expect(json).toMatchObject({
			method,
			path: '/api/echo',
			body: method === 'GET' ? null : { name: 'Zürich', list: [1, { deep: null }] },
		});
		const [arrived] = bench.platform.requests;
		expect(new URLSearchParams(arrived?.url.split('?')[1]).toString()).toBe(
			new URLSearchParams([
				['a b', 'ä&=?#'],
				['tag', '1'],
				['tag', '2'],
				['tags', ''],
			]).toString(),
		);
		expect(arrived?.headers['accept']).toBe('application/json');
		expect(arrived?.headers['content-type']).toBe(method === 'GET' ? undefined : 'application/json');
	});

	test('a query parameter with the name of the key is refused, because the key would overwrite it', async () => {
		const { apiKey, engine, platform } = bench;
		await engine.editCredential(apiKey, { customSignIn: true, apiKeyIn: 'query', apiKeyName: 'key' });
		const query = { parameter: [{ name: 'key', value: 'RT-1' }] };
		const { error } = await request({ method: 'GET', path: '/api/echo', query });
		await engine.editCredential(apiKey, { customSignIn: false });
		expect(error?.message).toBe('The query parameter "key" has the name of the key in the credential');
		expect(platform.requests).toEqual([]);
	});

	test.each<[string, unknown, unknown]>([
		['a list', '[1,2]', [1, 2]],
		['a text', '"x"', 'x'],
		['an object of an expression', '={{ { a: 1 } }}', { a: 1 }],
		['a number', '0', 0],
		['false', 'false', false],
		['an empty object', '{}', {}],
	])('%s as body', async (_name, body, arrived) => {
		const result = await request({ method: 'POST', path: '/api/echo', body });
		expect(result.data('Devices')[0]?.json['body']).toEqual(arrived);
	});

	test('a body that is text as it stands, with numbers that JavaScript does not hold', async () => {
		const text = '{"at": 1732230000000000001, "much": 1e21,\n"edge": 9007199254740993}';
		const arrived: string[] = [];
		const server = await serve((incoming, response) => {
			void incoming.toArray().then((chunks) => {
				arrived.push(Buffer.concat(chunks).toString());
				response.end('{"code":0,"data":{}}');
			});
		});
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		jsonOf(await request({ method: 'POST', path: '/api/echo', body: text }));
		expect(arrived).toEqual([text]);
	});

	test('a number of an expression that lost digits is refused, and the message says how to send it', async () => {
		const result = await request({ method: 'POST', path: '/api/echo', body: '={{ { at: 1732230000000000001 } }}' });
		expect(result.error?.message).toContain("The number in 'Body' has more digits than n8n can keep");
		expect(result.error?.description).toContain("or enter all of 'Body' as JSON text");
	});

	test('no body and no content type if the body is empty', async () => {
		await request({ method: 'DELETE', path: '/api/echo', body: ' ' });
		expect(bench.platform.requests[0]?.body).toBeUndefined();
		expect(bench.platform.requests[0]?.headers['content-type']).toBeUndefined();
	});

	test('a device that is created, changed and deleted', async () => {
		const sn = 'NEW-1';
		await request({ method: 'POST', path: '/api/device', body: JSON.stringify({ sn }) });
		expect(bench.platform.fleet.get(sn)).toBeDefined();
		await request({ method: 'PATCH', path: `/api/device/sn/${sn}`, body: '{"description":"new"}' });
		expect(bench.platform.fleet.get(sn)?.description).toBe('new');
		const deleted = await request({ method: 'DELETE', path: `/api/device/sn/${sn}` });
		expect(jsonOf(deleted)).toEqual([{ data: null }]);
		expect(bench.platform.fleet.get(sn)).toBeUndefined();
	});
});

test.each(['/admin', '//evil.invalid/api', '/api/%252e%252e/x'])(
	'the path %j is refused before anything is sent',
	async (path) => {
		const result = await request({ path });
		expect(result.error?.message).toContain("'Path'");
		expect(bench.platform.requests).toEqual([]);
	},
);

test.each(['/api', '/api/', '/api//echo', '/api/..echo', '/api/@evil.invalid', '/api/:80', '/api/ä', '/api/%252541/x'])(
	'the path %j stays on the platform, below /api',
	async (path) => {
		bench.platform.settings.pathPrefix = '/tenant-7';
		await bench.engine.editCredential(bench.apiKey, { baseUrl: bench.platform.baseUrl });
		await request({ path });
		const [arrived] = bench.platform.requests;
		expect(arrived?.url).toMatch(/^\/tenant-7\/api/);
		expect(arrived?.headers['host']).toBe(new URL(bench.platform.baseUrl).host);
	},
);

const passing: Array<[string, Fault, RegExp]> = [
	['HTTP 429', { status: 429, headers: { 'retry-after': '0' } }, /\(HTTP 429\)$/],
	['HTTP 502', { status: 502 }, /\(HTTP 502\); the platform may/],
	['HTTP 503', { status: 503, headers: { 'retry-after': '0' } }, /\(HTTP 503\); the platform may/],
	['HTTP 504', { status: 504 }, /\(HTTP 504\); the platform may/],
	['a dropped connection', 'drop', /\(ECONNRESET\); the platform may/],
	['half an answer', 'truncate', /\(ECONNRESET\); the platform may/],
	['a time-out', 'hang', /1000 ms; the platform may/],
];

describe.each(passing)('after %s', (_name, fault, words) => {
	beforeEach(() => hurry(fault === 'hang' ? 4 : 1));

	test('a GET is sent again', async () => {
		bench.platform.settings.faults = [{ fault, times: 2 }];
		const result = await request({ path: '/api/version', options: { timeout: 1000 } });
		expect(jsonOf(result)).toEqual([{ data: '2.6' }]);
		expect(bench.platform.requests).toHaveLength(3);
	});

	test.each(writes)('a %s is not sent again', async (method) => {
		bench.platform.settings.faults = [{ fault, times: 2 }];
		const result = await request({ method, path: '/api/echo', body: '{}', options: { timeout: 1000, maxRetries: 5 } });
		expect(result.error?.message).toMatch(words);
		expect(bench.platform.requests).toHaveLength(1);
	});
});

const DOUBT = /; the platform may still have carried out the request$/;

describe('a write with an unknown outcome says that it may have been carried out', () => {
	test.each<[string, Fault]>([
		['a dropped connection', 'drop'],
		['half an answer', 'truncate'],
		['a time-out', 'hang'],
		['a proxy that lost the platform', { status: 502 }],
		['a proxy that stopped waiting', { status: 504 }],
		['HTTP 500', { status: 500 }],
		['HTTP 503', { status: 503 }],
		['a redirect to what came of it', { status: 303, headers: { location: '/api/device/7' } }],
		['a page of a proxy', { status: 200, body: '<html>Sign in</html>' }],
		['an unknown failure of the platform', { code: -1 }],
		['a service of the platform that did not answer', { code: 10002, details: ['device'] }],
	])('after %s', async (_name, fault) => {
		hurry(fault === 'hang' ? 4 : 1);
		for (const method of writes) {
			bench.platform.settings.faults = [{ fault, times: 1 }];
			const result = await request({ method, path: '/api/echo', body: '{}', options: { timeout: 1000 } });
			expect(result.error?.message).toMatch(DOUBT);
			expect(result.error?.description).toMatch(
				/^Check on the platform whether the change was made before you send the request again\. If not: \S/,
			);
		}
	});

	test.each<[string, Answer]>([
		[
			'an answer over 64 MB',
			(_request, response) => response.writeHead(200, { 'content-length': '70000000' }).write('{'),
		],
		[
			'an answer that is not what it says it is packed with',
			(_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"code":0}'),
		],
		['an answer that is no HTTP', (message) => message.socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
		['an answer without an envelope', (_request, response) => response.end('OK')],
	])('after %s', async (_name, answer) => {
		const server = await serve(answer);
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		for (const method of writes) {
			const result = await request({ method, path: '/api/echo', body: '{}' });
			expect(result.error?.message).toMatch(DOUBT);
			expect(result.error?.description).toMatch(/^Check on the platform whether the change was made/);
		}
		expect(server.arrived).toHaveLength(writes.length);
	});

	test.each<Fault>(['hang', 'drop', { status: 504 }])(
		'not where the login before it got no answer (%j)',
		async (fault) => {
			hurry(100);
			bench.platform.settings.faults = [{ kind: 'login', fault, times: Infinity }];
			const result = await request({ method: 'POST', path: '/api/echo' }, bench.login);
			expect(result.error?.message).toMatch(/^The sign-in failed/);
			expect(result.error?.message).not.toMatch(DOUBT);
			expect(result.error?.description).not.toContain('send the request again');
			expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(['login', 'login', 'login', 'login']);
		},
	);

	test('not after a read: a GET, a list, a device', async () => {
		bench.platform.settings.fault = () => 'drop';
		hurry();
		for (const parameters of [
			{ ...operations.request, path: '/api/echo' },
			operations.getAll,
			operations.count,
			operations.get,
		]) {
			const result = await bench.run(parameters, { input: [{ sn: 'X' }] });
			expect(result.error?.message).toContain('refused or dropped');
			expect(result.error?.message).not.toMatch(DOUBT);
		}
	});

	test('not if the platform refused it', async () => {
		bench.platform.settings.faults = [{ fault: { code: 10004, status: 504 }, times: 1 }];
		expect((await request({ method: 'POST', path: '/api/echo' })).error?.message).toBe(
			'The platform could not save the change (code 10004: edit failed)',
		);
		for (const status of [400, 401, 403, 404, 409, 413, 422, 429]) {
			bench.platform.settings.faults = [{ fault: { status }, times: 1 }];
			const { error } = await request({ method: 'POST', path: '/api/echo' });
			expect(error?.message).toContain(`(HTTP ${status})`.slice(1, -1));
			expect(error?.message).not.toMatch(DOUBT);
		}
	});
});

describe('an empty answer', () => {
	test.each([200, 201, 202, 204])('to a write is success without data (HTTP %i)', async (status) => {
		const server = await serve((_request, response) => response.writeHead(status).end());
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		for (const method of writes) {
			expect(jsonOf(await request({ method, path: '/api/echo', body: '{}' }))).toEqual([{ data: null }]);
		}
		const read = await request({ path: '/api/echo' });
		expect(read.error?.message).toContain(`but got an empty body (HTTP ${status})`);
	});
});

describe.each([
	['code 14101', { deadToken: 'code', deadTokenCode: 14101 }],
	['code 14102', { deadToken: 'code', deadTokenCode: 14102 }],
	['HTTP 401', { deadToken: 'status', deadTokenCode: 14101 }],
] as const)('after a token refused by %s', (_name, settings) => {
	test.each(methods)('a %s is repeated once, with the new token', async (method) => {
		Object.assign(bench.platform.settings, settings);
		await bench.signInEarlier();
		bench.platform.expireTokens();
		const result = await request({ method, path: '/api/echo', body: '{"n":1}' }, bench.login);
		expect(result.data('Devices')).toHaveLength(1);
		expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(['other', 'login', 'other']);
		expect(bench.platform.requests[2]?.body).toEqual(bench.platform.requests[0]?.body);
	});
});

test.each(writes)('a %s whose repetition fails is not sent a third time', async (method) => {
	hurry(120);
	await bench.signInEarlier();
	bench.platform.expireTokens();
	for (const [fault, words] of [
		['hang', /30000 ms; the platform may/],
		['drop', /\(ECONNRESET\); the platform may/],
		[{ status: 503, headers: { 'retry-after': '0' } }, /\(HTTP 503\); the platform may/],
		[{ code: 10001 }, /\(code 10001: /],
	] as const) {
		bench.platform.forget();
		bench.platform.expireTokens();
		bench.platform.settings.faults = [{ kind: 'other', orderOfKind: 2, fault }];
		const result = await request({ method, path: '/api/echo', body: '{}', options: { timeout: 30_000 } }, bench.login);
		expect(result.error?.message).toMatch(words);
		expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(['other', 'login', 'other']);
	}
});

test.each(writes)(
	'a %s waits for a rate-limited sign-in, before it and after its token was refused',
	async (method) => {
		hurry();
		const fault = { status: 429, headers: { 'retry-after': '2' } };
		for (const kinds of [
			['login', 'login', 'other'],
			['other', 'login', 'login', 'other'],
		]) {
			bench.platform.forget();
			bench.platform.settings.faults = [{ kind: 'login', fault }];
			const result = await request({ method, path: '/api/echo', body: '{}' }, bench.login);
			expect(result.error).toBeUndefined();
			expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(kinds);
			bench.platform.expireTokens();
		}
	},
);

test.each(writes)('a %s whose new token is refused, too, was not carried out and is sent once more', async (method) => {
	hurry();
	await bench.signInEarlier();
	bench.platform.expireTokens();
	bench.platform.settings.faults = [{ kind: 'other', orderOfKind: 2, fault: { code: 14101 } }];
	const result = await request({ method, path: '/api/echo', body: '{}' }, bench.login);
	expect(result.error).toBeUndefined();
	expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(['other', 'login', 'other', 'login', 'other']);
});

test.each(methods)('a %s whose first token is yet to be had is sent once', async (method) => {
	await request({ method, path: '/api/echo', body: '{}' }, bench.login);
	expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(['login', 'other']);
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', '={{ "POST" }}'])(
	'items that write by %s do so one after the other, in their order, and none after one has failed',
	async (method) => {
		const { platform, run } = bench;
		const input = [1, 2, 3, 4, 5, 6].map((mark) => ({ mark }));
		await run({ ...operations.request, method }, { input });
		expect(platform.requests.map(({ query }) => query['mark'])).toEqual(['1', '2', '3', '4', '5', '6']);
		expect(platform.peakInFlight).toBe(1);

		platform.forget();
		platform.settings.fault = ({ order }) => (order === 3 ? { code: 10004 } : undefined);
		const result = await run({ ...operations.request, method }, { input });
		expect(result.error).toBeDefined();
		expect(platform.requests).toHaveLength(3);
	},
);

test('GETs of several items run side by side', async () => {
	const { platform } = bench;
	platform.settings.latencyMs = 1;
	await bench.run(operations.request, { input: [1, 2, 3, 4, 5, 6].map((mark) => ({ mark })) });
	expect(platform.peakInFlight).toBeGreaterThan(1);
});

test.each([
	['a missing field', '={{ ({ unit: { description: $json.missing } }) }}', 'unit.description'],
	['an invalid date', '={{ ({ installed: new Date("x") }) }}', 'installed'],
	['an invalid number', '={{ ({ floor: Number("x") }) }}', 'floor'],
])('a body with %s is not sent: the platform might clear the field', async (_, body, path) => {
	const result = await bench.run({ ...operations.request, method: 'PUT', body });
	expect(result.error?.message).toBe(`'Body' has no value in "${path}"`);
	expect(bench.platform.requests).toHaveLength(0);
});

test('a body may hold dates', async () => {
	await bench.run({ ...operations.request, method: 'PUT', body: '={{ ({ from: new Date(0), to: $now }) }}' });
	expect(bench.platform.requests[0]?.body).toMatchObject({ from: '1970-01-01T00:00:00.000Z', to: expect.any(String) });
});
