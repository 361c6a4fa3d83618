import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';

import { payloadOf } from '../../nodes/DeviceManagement/core/response.ts';
import { exchange } from '../../nodes/DeviceManagement/transport/exchange.ts';
import { hurry, useBenches } from '../../testbed/jest.mts';
import { type OperationName, operationNames, operations } from '../../testbed/operations.mts';
import { jsonOf } from '../../testbed/output.mts';
import type { EmbeddedPlatform, WriteResponse } from '../../testbed/platform/server.mts';
import { responseOf, settled } from '../../testbed/fakeN8n.mts';

const open = useBenches();

const MEGABYTE = 1024 * 1024;

/** Runs an operation on a platform that returns this response to every request. */
async function runAgainst(
	answer: WriteResponse,
	operation: OperationName = 'count',
	{
		way = 'apiKey',
		method = 'GET',
		...options
	}: Record<string, unknown> & { way?: 'apiKey' | 'login'; method?: string } = {},
) {
	const { platform, run, ...bench } = await open({ fault: () => answer });
	const parameters = { ...operations[operation], method, options: { maxRetries: 0, ...options } };
	const result = await run(parameters, { credential: bench[way], input: [{ sn: 'A-1', mark: '0' }] });
	return { platform, result, message: result.error?.message };
}

const whole =
	(body: string | Buffer, status = 200, headers: Record<string, string> = {}): WriteResponse =>
	(response) =>
		void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

const intact = Buffer.from(`{"code":0,"data":{"content":[],"totalElements":7,"text":"${'設'.repeat(99)}"}}`);
const packed = gzipSync(intact, { level: 0 });
const invalid = Buffer.from(packed.map((byte, at) => (at === 10 ? byte ^ 6 : byte)));

test.each([
	['lost its end', intact.subarray(0, 200), /^The response is incomplete \(HTTP 200\)/],
	['lost the end of its packed body', packed.subarray(0, 215), /^The response is incomplete/],
	["can't be unpacked", invalid, /^The platform's compressed response is damaged/],
])('a response that %s is requested again, but a write is sent once', async (_name, body, words) => {
	hurry(4);
	const answer = (bytes: Buffer) => whole(bytes, 200, bytes[0] === 0x1f ? { 'content-encoding': 'gzip' } : {});
	const answers = [answer(body), answer(packed)];
	const read = await runAgainst((response) => answers.shift()?.(response), 'count', { maxRetries: 3 });
	expect(read.result.data('Devices')[0]?.json).toEqual({ count: 7 });
	const write = await runAgainst(answer(body), 'request', { maxRetries: 3, method: 'PUT' });
	expect(write.message).toMatch(RegExp(`${words.source}.*\\. The change may have been made$`));
	expect(write.platform.requests).toHaveLength(1);
});

test.each([
	[400, `{"status":400,"error":"Bad Request","message":"Required parameter 'planId' is not present.","path":"/api"}`],
	[404, '{"type":"about:blank","title":"Not Found","detail":"Required parameter \'planId\' is not present."}'],
	[500, '{"errors":[{"message":"Required parameter \'planId\' is not present."}],"data":{"sn":"A-1"}}'],
	[422, '{"code":10010,"msg":"","message":"Required parameter \'planId\' is not present."}'],
])(
	'the words of the server for HTTP %i are in the message, for a tool, and in the failed item: %s',
	async (status, body) => {
		const words = "Required parameter 'planId' is not present.";
		const fault = () => whole(body, status);
		for (const operation of operationNames) expect((await runAgainst(fault(), operation)).message).toContain(words);
		const { run, callTool } = await open({ fault });
		const parameters = { ...operations.count, options: { maxRetries: 0 } };
		const called = await callTool(parameters, [{}]);
		const failed = jsonOf(await run(parameters, { onError: 'continueRegularOutput' }));
		for (const shown of [called, failed]) {
			expect(JSON.stringify(shown)).toContain(words);
			expect(JSON.stringify(shown)).not.toMatch(/A-1|about:blank/);
		}
	},
);

test.each(operationNames)('keys like __proto__ in a response to %s only change that item', async (operation) => {
	const polluted = '"__proto__":{"polluted":"yes"}';
	const device = `{"id":"1","sn":"A-1",${polluted},"constructor":{"prototype":{"polluted":"yes"}},"attributes":{${polluted}}}`;
	const isOne = operation === 'get' || operation === 'request';
	const data = isOne ? device : `{"content":[${device}],"totalElements":1,${polluted}}`;
	const { result } = await runAgainst(whole(`{"code":0,${polluted},"data":${data}}`), operation);
	expect(result.data('Devices')).toHaveLength(1);
	for (const value of [Object.prototype, {}, []]) expect(Object(value)['polluted']).toBeUndefined();
});

const REQUEST = {
	method: 'GET',
	url: 'https://platform.example/x',
	skipCertificateCheck: false,
	timeoutMs: 5000,
} as const;
const ASKED = { words: 'list', mayChange: false, redact: String } as const;

test.each([undefined, 'text', { statusCode: 200, headers: {}, body: 'text' }])(
	'a response of n8n in another form (%j) is named',
	async (response) => {
		const cancel = new AbortController().signal;
		const message = "This node can't read n8n's response";
		const exchanged = settled(exchange(async () => response, { ...REQUEST, cancel }, ASKED));
		expect(await exchanged).toMatchObject({ message });
		expect(getEventListeners(cancel, 'abort')).toEqual([]);
	},
);

test.each([
	['application/json; charset=ISO-8859-1', 'ISO-8859-1'],
	['application/json;Charset="windows-1252"', 'windows-1252'],
	['application/json', undefined],
])('a response is read in the charset that it declares: %s', async (type, charset) => {
	expect(await exchange(async () => responseOf('', { 'content-type': type }), REQUEST, ASKED)).toMatchObject({
		charset,
	});
});

test.each([
	['ECONNRESET', 'The connection to the platform was refused or dropped (ECONNRESET)', 'cutting off long responses.'],
	['ENOENT', "The platform's response can't be read (ENOENT: odd)", 'a proxy may change the responses.'],
])('an error while the body is read (%s) is another one than before a response', async (code, message, remedy) => {
	async function* chunks() {
		yield Buffer.from('{');
		throw Object.assign(new Error('odd'), { code });
	}
	const response = { statusCode: 200, headers: {}, body: Readable.from(chunks()) };
	const details = { message, remedy: expect.stringContaining(remedy) };
	expect(await settled(exchange(async () => response, REQUEST, ASKED))).toMatchObject({ details });
});

describe('a redirect', () => {
	test.each([
		['https://elsewhere.example/x?secret', 'HTTP 302: to https://•••.example'],
		['/sign-in', 'HTTP 302: to https://platform.example'],
		['http://[', 'HTTP 302'],
		['javascript:alert(1)', 'HTTP 302: to null'],
	])('to "%s" is told by no more than its origin, without secrets', async (location, words) => {
		const redact = (text: string) => text.replace('elsewhere', '•••');
		const asked = { ...ASKED, redact };
		const response = await exchange(async () => responseOf('', { location }, 302), REQUEST, asked);
		expect(() => payloadOf(response, asked)).toThrow(`The address redirects (${words})`);
	});

	test.each([
		[301, 'apiKey', 'getAll'],
		[303, 'login', 'get'],
		[307, 'login', 'count'],
		[308, 'apiKey', 'request'],
	] as const)('by HTTP %i to another origin is not followed (%s, %s)', async (status, way, operation) => {
		const { platform: elsewhere } = await open({ fault: () => ({ code: 0, data: 'a-token-of-elsewhere' }) });
		const location = `${elsewhere.baseUrl}/api/device/list?echo=secret`;
		const { message, platform } = await runAgainst(whole('', status, { location }), operation, { way });
		expect(message).toMatch(new RegExp(`redirects \\(HTTP ${status}: to ${elsewhere.baseUrl}\\)$`));
		expect([elsewhere.requests, platform.requests]).toEqual([[], [expect.anything()]]);
	});
});

describe('a huge body', () => {
	/** Sends 200 MB, never more than the other side takes, and counts them. */
	async function pour(to: ServerResponse | ReturnType<typeof createGzip>, poured: () => void): Promise<void> {
		// `drain` never comes from a connection that is gone.
		to.on('close', () => to.emit('drain')).on('error', () => {});
		const block = Buffer.alloc(MEGABYTE, 0x30);
		for (let count = 0; count < 200 && !to.destroyed; count++) {
			poured();
			if (!to.write(block)) await once(to, 'drain').catch(() => {});
		}
		to.end();
	}

	test.each([
		['that says its length is not read at all', { 'content-length': String(200 * MEGABYTE) }, 20],
		['that does not is read up to 64 MB', {}, 100],
		['that is packed into a gzip bomb counts as what it unpacks to', { 'content-encoding': 'gzip' }, Infinity],
	])('%s', async (_name, headers, most) => {
		let poured = 0;
		let isWhole: Promise<boolean> | undefined;
		const { message } = await runAgainst((response) => {
			isWhole = once(response, 'close').then(() => response.writableFinished);
			response.writeHead(200, headers);
			const gzip = 'content-encoding' in headers ? createGzip({ level: 1 }) : undefined;
			gzip?.pipe(response);
			response.on('close', () => gzip?.destroy());
			void pour(gzip ?? response, () => poured++);
		});
		expect(message).toBe('The response is larger than 64 MB');
		expect(poured).toBeLessThan(most);
		// The connection is cut.
		if (most < Infinity) expect(await isWhole).toBe(false);
	});

	test.each([
		['more values than n8n could hold', '0,'.repeat(600_000)],
		['deep nesting', '['.repeat(1_200_000)],
	])('that is packed into a gzip bomb of %s is refused before it is parsed', async (_name, values) => {
		const parse = jest.spyOn(JSON, 'parse');
		const bomb = gzipSync(`{"code":0,"data":[${values}`);
		const { message } = await runAgainst(whole(bomb, 200, { 'content-encoding': 'gzip' }));
		expect(message).toBe('The response is larger than 500,000 values');
		expect(parse.mock.calls.filter(([text]) => text.length > MEGABYTE)).toEqual([]);
		parse.mockRestore();
	});
});

describe('the connection is closed', () => {
	const begin = (response: ServerResponse, headers: Record<string, string> = {}) => {
		response.writeHead(200, { 'content-type': 'application/json', ...headers }).flushHeaders();
		return response;
	};
	/** Without an open connection, no request waits for the end of its response. */
	const allClosed = async (platform: EmbeddedPlatform) => {
		while (platform.inFlight > 0) await new Promise(setImmediate);
	};
	beforeEach(() => hurry(4));

	test.each<[string, WriteResponse]>([
		[
			'half a packed body and then silence',
			(response) => {
				const zip = createGzip();
				zip.pipe(begin(response, { 'content-encoding': 'gzip' }));
				zip.write('{"code":0,'.repeat(1000));
				zip.flush();
			},
		],
		[
			'a body that comes drop by drop',
			(response) => {
				begin(response);
				const drops = setInterval(() => response.write(' '), 2);
				response.on('close', () => clearInterval(drops));
			},
		],
	])('after %s', async (_name, answer) => {
		const { platform, message } = await runAgainst(answer, 'count', { timeout: 1000 });
		expect(message).toBe("The platform didn't respond within 1 s");
		await allClosed(platform);
	});

	test('if the execution is stopped', async () => {
		const stop = new AbortController();
		const { platform, run } = await open({
			fault: () => (response) => void begin(response).write('{"code":0,', () => stop.abort()),
		});
		expect((await run(operations.count, { signal: stop.signal })).cancelled).toBe(true);
		await allClosed(platform);
	});
});

test('a response that comes after the end and then breaks off does not end n8n', async () => {
	const [stop, body] = [new AbortController(), new PassThrough()];
	let respond = (_response: unknown) => {};
	const send = async () => await new Promise((resolve) => (respond = resolve));
	const exchanged = settled(exchange(send, { ...REQUEST, cancel: stop.signal }, ASKED));
	stop.abort();
	expect(await exchanged).toMatchObject({ details: { kind: 'cancelled' } });
	respond({ statusCode: 200, headers: {}, body });
	await new Promise(setImmediate);
	// An error event without a listener is thrown.
	expect(body.emit('error', new Error('broke off'))).toBe(true);
});

test('a request whose execution was stopped before, as in a pause of the account, is not sent', async () => {
	let sent = 0;
	const exchanged = settled(exchange(async () => sent++, { ...REQUEST, cancel: AbortSignal.abort() }, ASKED));
	expect(await exchanged).toMatchObject({ details: { kind: 'cancelled' } });
	expect(sent).toBe(0);
});
