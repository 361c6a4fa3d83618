import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';

import { exchange } from '../../nodes/DeviceManagement/transport/exchange.ts';
import { hurry, useBenches, useServers } from '../../testbed/jest.mts';
import { type OperationName, operationNames, operations, pagedNames } from '../../testbed/operations.mts';
import type { Answer } from '../../testbed/rawServer.mts';

const open = useBenches();
const serve = useServers();

const MEGABYTE = 1024 * 1024;

/** Runs an operation against a server that returns this response to every request. */
async function runAgainst(answer: Answer, operation: OperationName = 'count', options: Record<string, unknown> = {}) {
	const bench = await open();
	const server = await serve(answer);
	await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
	const result = await bench.run(
		{ ...operations[operation], options: { maxRetries: 0, ...options } },
		{ input: [{ sn: 'A-1', mark: '0' }] },
	);
	return { ...bench, server, result };
}

const whole =
	(body: string | Buffer, status = 200, headers: Record<string, string> = {}): Answer =>
	(_request, response) => {
		response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
	};

const EXPECTED = "Expected the platform's JSON envelope with a whole number in 'code', but got";

/** What comes, and the words for it; the same for every operation. */
const noEnvelopes: Array<[string, string, string]> = [
	[
		'a sign-in page of a proxy',
		'<!doctype html><html><body>Sign in: hunter2</body></html>',
		'an HTML or XML page of 57 bytes',
	],
	['truncated JSON', '{"code":0,"msg":"success","data":{"content":[{"sn":"hun', '55 bytes that are not JSON'],
	[
		'100,000 levels of nesting',
		`{"code":0,"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
		'JSON of 200018 bytes nested deeper than 200 levels',
	],
];

describe.each(operationNames)('%s', (operation) => {
	test.each(noEnvelopes)('names kind and size of %s', async (_name, body, came) => {
		const { result, server } = await runAgainst(whole(body), operation);
		expect(result.error?.message).toBe(`${EXPECTED} ${came} (HTTP 200)`);
		expect(result.error?.description).toMatch(/'Base URL'/);
		expect(JSON.stringify(result.raw)).not.toContain('hunter2');
		expect(result.data('Devices')).toEqual([]);
		// Such a response is not retried.
		expect(server.arrived).toHaveLength(1);
	});
});

/** A payload that is not what the operation needs. */
test.each<[OperationName, string, string, string]>([
	['get', '[{"sn":"hunter2"}]', 'data', 'a list of 1'],
	...pagedNames.flatMap(
		(operation): Array<[OperationName, string, string, string]> => [
			[operation, '"hunter2"', 'data', 'text of 7 characters'],
			[operation, '{"content":[{"sn":"A"},"hunter2"],"totalElements":2}', 'data.content.1', 'text of 7 characters'],
		],
	),
])(
	'%s that gets %s as data names the place, what belongs there and what came',
	async (operation, data, place, came) => {
		const { result } = await runAgainst(whole(`{"code":0,"msg":"success","data":${data}}`), operation);
		const wanted =
			operation === 'get'
				? 'the device with this serial number'
				: "a page of a list (an object with a list of objects in 'content')";
		expect(result.error?.message).toBe(`The platform did not return ${wanted}: '${place}' is ${came}`);
		expect(JSON.stringify(result.raw)).not.toContain('hunter2');
		expect(result.data('Devices')).toEqual([]);
	},
);

test.each([undefined, 'text', { statusCode: 200, headers: {}, body: 'text' }])(
	'a response of n8n in another form (%j) is named',
	async (response) => {
		const cancel = new AbortController().signal;
		const limits = { skipCertificateCheck: false, timeoutMs: 5000, cancel };
		const request = { method: 'GET', url: 'https://platform.example', ...limits } as const;
		await expect(exchange(async () => await Promise.resolve(response), request)).rejects.toThrow(
			'n8n returned a response in a form that this node does not know',
		);
		expect(getEventListeners(cancel, 'abort')).toEqual([]);
	},
);

test('a code twice counts as JSON has it: the last one', async () => {
	const { result } = await runAgainst(whole('{"code":0,"data":{"content":[],"totalElements":0},"code":10003}'));
	expect(result.error?.message).toBe('The record exists already (code 10003)');
});

test.each(operationNames)('keys like __proto__ in a response to %s only change that item', async (operation) => {
	const device =
		'{"id":"1","sn":"A-1","__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"attributes":{"__proto__":{"polluted":"yes"}}}';
	const data =
		operation === 'get' || operation === 'request'
			? device
			: `{"content":[${device}],"totalElements":1,"__proto__":{"polluted":"yes"}}`;
	const { result } = await runAgainst(whole(`{"code":0,"__proto__":{"polluted":"yes"},"data":${data}}`), operation);
	expect(result.error).toBeUndefined();
	expect(result.data('Devices')).toHaveLength(1);
	expect(Object(Object.prototype)['polluted']).toBeUndefined();
	expect(Object({})['polluted']).toBeUndefined();
	expect(Object([])['polluted']).toBeUndefined();
});

describe('a redirect', () => {
	test.each([301, 302, 303, 307, 308])(
		'by HTTP %i to another origin is not followed, and nothing arrives there',
		async (status) => {
			const bench = await open();
			for (const way of ['apiKey', 'login'] as const) {
				for (const operation of operationNames) {
					const elsewhere = await serve(whole('{"code":0,"data":"a-token-of-elsewhere"}'));
					const server = await serve((_request, response) =>
						response.writeHead(status, { location: `${elsewhere.url}/api/device/list?echo=secret` }).end(),
					);
					await bench.engine.editCredential(bench[way], { baseUrl: server.url });
					const { error } = await bench.run(operations[operation], {
						credential: bench[way],
						input: [{ sn: 'A-1', mark: '0' }],
					});
					expect(error?.message).toContain(`a redirect to ${elsewhere.url} (HTTP ${status})`);
					expect(error?.message).not.toContain('secret');
					expect(elsewhere.arrived).toEqual([]);
					expect(server.arrived).toHaveLength(1);
				}
			}
		},
	);

	test('within the same origin is not followed either', async () => {
		const { result, server } = await runAgainst((_request, response) =>
			response.writeHead(302, { location: '/sign-in' }).end(),
		);
		expect(result.error?.message).toBe(`The address responds with a redirect to ${server.url} (HTTP 302)`);
		expect(server.arrived).toHaveLength(1);
	});

	test.each(['', 'http://[', 'javascript:alert(1)'])('to the address "%s" is reported, too', async (location) => {
		const { result } = await runAgainst((_request, response) => response.writeHead(302, { location }).end());
		expect(result.error?.message).toMatch(/^The address responds with a redirect .*\(HTTP 302\)$/);
	});
});

/** Writes the same megabyte again and again, never more than the other side takes. */
async function pour(response: NodeJS.WritableStream & { destroyed?: boolean }, megabytes: number, poured: () => void) {
	const block = Buffer.alloc(MEGABYTE, 0x30);
	for (let count = 0; count < megabytes && response.destroyed !== true; count++) {
		poured();
		if (!response.write(block)) await once(response, 'drain').catch(() => {});
	}
	response.end();
}

describe('a huge body', () => {
	test('of 200 MB that says so is not read at all', async () => {
		let poured = 0;
		const { result } = await runAgainst((_request, response) => {
			response.writeHead(200, { 'content-length': String(200 * MEGABYTE) });
			void pour(untilClosed(response), 200, () => poured++);
		});
		expect(result.error?.message).toBe('The response is larger than 64 MB');
		expect(poured).toBeLessThan(20);
	});

	test('of 200 MB that does not say so is read up to 64 MB, and the connection is cut', async () => {
		let poured = 0;
		let close = (_whole: boolean) => {};
		const closed = new Promise<boolean>((resolve) => {
			close = resolve;
		});
		const { result } = await runAgainst((_request, response) => {
			response.on('close', () => close(response.writableFinished));
			void pour(untilClosed(response), 200, () => poured++);
		});
		expect(result.error?.message).toBe('The response is larger than 64 MB');
		expect(await closed).toBe(false);
		expect(poured).toBeLessThan(100);
	});

	test('of 200 MB packed into a gzip bomb counts as what it unpacks to', async () => {
		const { result } = await runAgainst((_request, response) => {
			response.writeHead(200, { 'content-encoding': 'gzip' });
			const gzip = createGzip({ level: 1 });
			response.on('close', () => gzip.destroy());
			gzip.on('error', () => {});
			gzip.pipe(response);
			void pour(gzip, 200, () => {});
		});
		expect(result.error?.message).toBe('The response is larger than 64 MB');
	});

	test.each([
		['more values than n8n could hold', '0,'.repeat(600_000)],
		['deep nesting', '['.repeat(1_200_000)],
	])('packed into a gzip bomb of %s is refused before it is parsed', async (_name, values) => {
		const parse = jest.spyOn(JSON, 'parse');
		const { result } = await runAgainst(
			whole(gzipSync(`{"code":0,"data":[${values}`), 200, { 'content-encoding': 'gzip' }),
		);
		expect(result.error?.message).toBe('The response is larger than 500,000 values');
		expect(parse.mock.calls.filter(([text]) => text.length > MEGABYTE)).toEqual([]);
		parse.mockRestore();
	});

	test('of few long texts is read', async () => {
		const data = `{"content":[],"totalElements":7,"text":"${'lorem ipsum '.repeat(600_000)}"}`;
		const { result } = await runAgainst(whole(`{"code":0,"data":${data}}`));
		expect(result.data('Devices')[0]?.json).toEqual({ count: 7 });
	});

	test('from a login is not read either', async () => {
		const bench = await open();
		const server = await serve((_request, response) => {
			response.writeHead(200, { 'content-length': String(200 * MEGABYTE) }).write('{');
		});
		await bench.engine.editCredential(bench.login, { baseUrl: server.url });
		const { error } = await bench.run(operations.count, { credential: bench.login });
		expect(error?.message).toBe('The sign-in failed. The response is larger than 64 MB');
	});
});

/** `drain` never comes from a connection that is gone. */
function untilClosed(response: ServerResponse): ServerResponse {
	response.on('close', () => response.emit('drain'));
	return response;
}

test.each([
	['gzip that is none', { 'content-encoding': 'gzip' }, 'this is not gzip'],
	['a body shorter than announced', { 'content-length': '1000' }, '{"code":0'],
])('%s is a connection that failed, not a crash', async (_name, headers, body) => {
	const { result } = await runAgainst((_request, response) => {
		response.writeHead(200, headers);
		response.write(body, () => response.destroy());
	});
	expect(result.error?.message).toMatch(/The connection to the platform was|response can't be read/);
});

test('an answer that is no HTTP is a clear message', async () => {
	const { result } = await runAgainst((request) => {
		request.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
	});
	expect(result.error?.message).toMatch(
		/The platform's response can't be read \(HPE_INVALID_CONSTANT\)|was refused or dropped/,
	);
});

describe('the time-out covers', () => {
	const limits = { timeout: 1000 };

	beforeEach(() => hurry(4));

	test('headers that never come', async () => {
		const { result } = await runAgainst(() => {}, 'count', limits);
		expect(result.error?.message).toBe('The platform did not respond within 1000 ms');
	});

	test('a body that comes drop by drop', async () => {
		let cut = () => {};
		const closed = new Promise<void>((resolve) => {
			cut = resolve;
		});
		const { result } = await runAgainst(
			(_request, response) => {
				response.writeHead(200, { 'content-type': 'application/json' });
				const drops = setInterval(() => response.write(' '), 2);
				response.on('close', () => {
					clearInterval(drops);
					cut();
				});
			},
			'count',
			limits,
		);
		expect(result.error?.message).toBe('The platform did not respond within 1000 ms');
		await closed;
	});

	test('a body that stops in the middle, and a retry is made after it', async () => {
		const bench = await open({ faults: [{ fault: 'stall', kind: 'list' }] });
		const result = await bench.run({ ...operations.count, options: limits });
		expect(result.data('Devices')[0]?.json).toEqual({ count: 25 });
		expect(bench.platform.requests).toHaveLength(2);
	});
});

describe('no connection stays open', () => {
	const start = (response: ServerResponse, headers: Record<string, string> = {}) => {
		response.writeHead(200, { 'content-type': 'application/json', ...headers });
		response.flushHeaders();
	};

	beforeEach(() => hurry(4));

	test.each<[string, Answer]>([
		['headers and then silence', (_, response) => start(response)],
		[
			'half a body and then silence',
			(_, response) => {
				start(response);
				response.write('{"code":0,');
			},
		],
		[
			'half a packed body and then silence',
			(_, response) => {
				start(response, { 'content-encoding': 'gzip' });
				const zip = createGzip();
				zip.pipe(response);
				zip.write('{"code":0,'.repeat(1000));
				zip.flush();
			},
		],
		[
			'a length that is too large and then silence',
			(_, response) => start(response, { 'content-length': String(300 * MEGABYTE) }),
		],
		['silence', () => {}],
	])('after %s', async (_name, answer) => {
		const { server, result } = await runAgainst(answer, 'count', { timeout: 1000, maxRetries: 1 });
		expect(result.error?.message).toMatch(/did not respond within 1000 ms|is larger than 64 MB/);
		await server.allClosed();
	});
});

test('a stopped execution closes a connection that was not read to its end', async () => {
	const bench = await open();
	const stop = new AbortController();
	const server = await serve((_request, response) => {
		response.writeHead(200, { 'content-type': 'application/json' });
		response.write('{"code":0,', () => stop.abort());
	});
	await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
	const result = await bench.run(operations.count, { signal: stop.signal });
	expect(result.cancelled).toBe(true);
	await server.allClosed();
});

test('a response that comes after the end and then breaks off does not end n8n', async () => {
	const [stop, body] = [new AbortController(), new PassThrough()];
	let respond = (_response: unknown) => {};
	const send = async () => await new Promise((resolve) => (respond = resolve));
	const request = { method: 'GET', url: 'http://localhost', skipCertificateCheck: false, timeoutMs: 60_000 } as const;
	const exchanged = exchange(send, { ...request, cancel: stop.signal });
	stop.abort();
	await expect(exchanged).rejects.toMatchObject({ details: { kind: 'cancelled' } });
	respond({ statusCode: 200, headers: {}, body });
	await new Promise(setImmediate);
	// An error event without a listener is thrown.
	expect(body.emit('error', new Error('broke off'))).toBe(true);
});

test('the dropdown names a sign-in page in the same words', async () => {
	const { engine, apiKey } = await open();
	const server = await serve(whole('<html>'));
	await engine.editCredential(apiKey, { baseUrl: server.url });
	const search = engine.listSearch(operations.get, engine.credentialReference(apiKey), 'searchDevices');
	await expect(search).rejects.toMatchObject({ message: `${EXPECTED} an HTML or XML page of 6 bytes (HTTP 200)` });
});
