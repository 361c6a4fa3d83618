import fc from 'fast-check';
import { z } from 'zod/v4';

import { deviceSchema } from '../../nodes/DeviceManagement/core/device.ts';
import { checkPayload, payloadOf, type RawResponse } from '../../nodes/DeviceManagement/core/response.ts';
import type { Asked } from '../../nodes/DeviceManagement/core/errors/failureOf.ts';
import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { pageSchema } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { redactor } from '../../nodes/DeviceManagement/core/redaction.ts';
import { runs } from '../../testbed/runs.mts';

const SECRET = 'canary/secret+key';
const redact = redactor([SECRET]);

const answer = (body: string | Uint8Array, extra: Partial<RawResponse> = {}): RawResponse => ({
	status: 200,
	...extra,
	body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
});

/** Returns the payload, or throws as a request does. */
function read(body: string | Uint8Array, extra: Partial<RawResponse> = {}, asked: Partial<Asked> = {}): unknown {
	return payloadOf(answer(body, extra), { words: 'list', mayChange: false, redact, ...asked });
}
const WRITE = { words: 'apiRequestWithBody', mayChange: true } as const;

function detailsOf(fail: () => unknown) {
	try {
		fail();
	} catch (error) {
		if (error instanceof Failure) return error.details;
		throw error;
	}
	throw new Error('It did not fail');
}
const detailsOfBody = (...response: Parameters<typeof read>) => detailsOf(() => read(...response));
const nested = (depth: number) => `{"code":0,"data":${'['.repeat(depth)}${']'.repeat(depth)}}`;

describe('a success', () => {
	test.each([
		['returns its data as it is', '{"code":0,"data":{"content":[{"x":[{}]}]}}', { content: [{ x: [{}] }] }],
		['may have no data', '{"code":0,"msg":"success"}', undefined],
		['may begin with a byte order mark', '\ufeff{"code":0,"data":1}', 1],
		['may nest as deep as n8n can store', nested(199), expect.any(Array)],
	])('%s', (_name, body, data) => {
		expect(read(body)).toEqual(data);
	});

	test('has a status from 200 to 299', () => {
		for (const status of [200, 204, 299]) expect(read('{"code":0,"data":7}', { status })).toBe(7);
		for (const status of [199, 300, 404])
			expect(detailsOfBody('{"code":0,"data":7}', { status })).toMatchObject({ kind: 'status', httpStatus: status });
	});

	test('of a write may be empty', () => {
		for (const status of [200, 204, 299]) expect(read('', { status }, WRITE)).toBeUndefined();
		expect(detailsOfBody('', { status: 300 }, WRITE).kind).toBe('status');
	});

	test('of a read has a body. Only HTTP 204 says that there is no such device', () => {
		for (const status of [200, 204, 299]) {
			const { kind, withoutData = false } = detailsOfBody('', { status });
			expect([kind, withoutData]).toEqual(['response', status === 204]);
		}
	});
});

describe('a body without an envelope', () => {
	test.each([
		['an empty body', ''],
		['an HTML or XML page', '  <!doctype html><title>Sign in</title>'],
		["text that isn't JSON", 'x<p>'],
		["'code' is nothing", '{"data":[]}'],
		["'code' is text of 1 characters", '{"code":"0","data":[]}'],
		["'code' is a number", '{"code":0.5}'],
		["'code' is nothing", '{"__proto__":{"code":0}}'],
		['a list of 2 without a code', '[1,2]'],
		["text that isn't UTF-8", new Uint8Array([0x5b, 0xff, 0xfe])],
		['JSON nested deeper than 200 levels', nested(200)],
	])('is named, not shown: %s', (came, body) => {
		expect(detailsOfBody(body)).toEqual({
			kind: 'response',
			cause: 'platform',
			httpStatus: 200,
			temporary: false,
			remedy: expect.stringMatching(/^Check 'Base URL'/),
			token: came.startsWith('an HTML') ? 'doubted' : undefined,
			message: `Unexpected response: ${came} (HTTP 200)`,
		});
	});

	test("lets an API Request name n8n's own node, and no other request", () => {
		const requests = ['apiRequest', 'apiRequestWithBody', 'list', 'login'] as const;
		const remedies = requests.map((words) => detailsOfBody('[1,2]', {}, { words }).remedy);
		expect(remedies.map((remedy) => remedy.includes("n8n's HTTP Request node"))).toEqual([true, true, false, false]);
	});
});

test('a body is read in the charset that the response declares, if it is not UTF-8', () => {
	const body = (text: string) => Buffer.from(`{"code":0,"data":"${text}"}`, 'latin1');
	for (const charset of ['ISO-8859-1', 'windows-1252']) {
		expect(read(body('Gerät'), { charset })).toBe('Gerät');
		expect(read('{"code":0,"data":"Gerät"}', { charset })).toBe('Gerät');
	}
	for (const charset of [undefined, 'utf-8', 'us-ascii-x'])
		expect(detailsOfBody(body('Gerät'), { charset }).message).toContain("text that isn't UTF-8");
});

describe('a payload', () => {
	test.each([
		['null', null, "'data' is null"],
		['nothing', undefined, "'data' is nothing"],
		['no content', {}, "'data.content' is nothing"],
		['content that is no list', { content: { a: 1 } }, "'data.content' is an object with 1 fields"],
		['an item that is no object', { content: [{}, 'x'] }, "'data.content.1' is text of 1 characters"],
		['two million numbers', { content: Array<number>(2_000_000).fill(1) }, "'data.content.0' is a number"],
	])('that is no page is refused and named: %s', (_, data, place) => {
		expect(detailsOf(() => checkPayload(data, pageSchema))).toEqual({
			kind: 'response',
			cause: 'platform',
			remedy: expect.stringMatching(/^Check 'Base URL'/),
			message: `The platform didn't return a page of a list: ${place}`,
			withoutData: data === null || data === undefined,
			mayRefusePage: true,
		});
	});

	test('keeps the very objects of its items', () => {
		const content = [{}];
		expect(checkPayload({ content }, pageSchema).content[0]).toBe(content[0]);
	});
});

describe('a failure', () => {
	test('has the code, its words, and those of the platform, whatever the status', () => {
		for (const status of [200, 400, 500]) {
			expect(detailsOfBody(`{"code":10018,"msg":"invalid sn ${SECRET}"}`, { status })).toEqual({
				kind: 'refused',
				cause: 'not found',
				code: 10018,
				httpStatus: status,
				temporary: false,
				retryAfterMs: undefined,
				mayRefusePage: true,
				message: "The serial number isn't valid (code 10018: invalid sn •••)",
				remedy: expect.stringMatching(/^Check the serial number/),
			});
		}
	});

	test.each(['7', 'null', '{"a":1}', '["x"]', '"\\u0007 "'])('leaves out a msg of %s', (msg) => {
		expect(detailsOfBody(`{"code":10003,"msg":${msg}}`).message).toMatch(/\(code 10003\)$/);
	});

	/** Each with its status, its code, or 0 for a page, and the milliseconds of its `Retry-After`. */
	test.each([
		['refused token', '200 14101, 200 14102, 401 0, 401 10002, 401 10002 7, 200 14101 7, 401 0 7'],
		[
			'temporary',
			'429 0, 502 0, 503 10002, 200 10002, 403 10002, 403 0 7, 409 0 7, 419 0 7, 423 0 7, 500 0 7, 529 0 7, 200 10003 7, 200 0 7',
		],
		['refused token and temporary', '503 14101, 503 14101 7'],
		['expiry', '200 0, 302 0, 302 0 7, 403 0, 419 0'],
		['nothing', '200 14103, 200 14201, 401 14103, 429 14203, 500 0, 503 14103, 503 14201'],
		['nothing', '200 14103 7, 403 14201 7'],
	])('means %s: %s', (means, failures) => {
		for (const failure of failures.split(', ')) {
			const [status = 0, code = 0, retryAfterMs] = failure.split(' ').map(Number);
			const body = code === 0 ? '<html>' : `{"code":${code}}`;
			const { token, temporary } = detailsOfBody(body, { status, retryAfterMs });
			const is = [
				...(token === 'refused' ? ['refused token'] : []),
				...(temporary ? ['temporary'] : []),
				...(token === 'doubted' ? ['expiry'] : []),
			];
			expect([failure, is.join(' and ') || 'nothing']).toEqual([failure, means]);
		}
	});
});

test('a write may have been carried out, as its status, its code or an unreadable body tells', () => {
	const inDoubt = (body: string, status: number) =>
		detailsOfBody(body, { status }, WRITE).message.endsWith('. The change may have been made');
	expect([399, 400, 500].filter((status) => inDoubt('', status))).toEqual([399, 500]);
	expect(['<html>', ' ', '{}', nested(300)].filter((body) => inDoubt(body, 200))).toHaveLength(4);
	for (const status of [200, 500])
		expect([-1, 10002, 10003].filter((code) => inDoubt(`{"code":${code}}`, status))).toEqual([-1, 10002]);
});

test.each([
	['Spring', '{"timestamp":"2026","status":400,"error":"Bad Request","message":"no \'id\'","path":"/x"}', "no 'id'"],
	['a code as text', '{"code":"400","msg":"no id","data":{"sn":"A-1"}}', 'no id'],
	['GraphQL', '{"data":null,"errors":[{"message":"no id"},{"message":"no sn"}]}', 'no id; no sn'],
	['problem+json', '{"type":"about:blank","title":"Unsupported","detail":"text/plain"}', 'text/plain'],
	['OAuth', '{"error":"invalid_grant","error_description":"no such user"}', 'no such user'],
	['fields', '{"errors":[{"field":"sn","defaultMessage":"too long"},"x"]}', 'too long; x'],
	['FastAPI', '{"detail":[{"loc":["query","id"],"msg":"field required"}]}', 'field required'],
	[
		'HTML in JSON',
		'{"message":"<p class=x>no&nbsp;<b>id</b> &amp; <planId>,<br/> 1 < 2</p>"}',
		'no id & <planId>, 1 < 2',
	],
	['the title of a page', '\n<html><head><TITLE lang="en"> Not\nAllowed&#33; </TITLE>', 'Not Allowed!'],
	['an escaped secret', `<title>key ${SECRET.replace(/./g, (mark) => `&#${mark.charCodeAt(0)};`)}</title>`, 'key •••'],
	['ASP.NET', '{"title":"Not valid","status":400,"errors":{"id":["no id"],"sn":["no sn"]}}', 'no id; no sn'],
	['one error', '{"errors":{"message":"no id"}}', 'no id'],
	['an object as detail', '{"detail":{"message":"no id","data":"x"}}', 'no id'],
	['HTML that means a control character', '<title>no&#27;[31m&#x202e;id</title>', 'no [31m id'],
])('an error status without an envelope has the own words of the server: %s', (_name, body, words) => {
	for (const [status, what] of [
		[400, 'The server rejected the request'],
		[404, 'Nothing found at this address'],
		[500, "The platform couldn't handle the request"],
	] as const)
		for (const given of [body, body.replace('<title>', `<title>${status} `)])
			expect(detailsOfBody(given, { status }).message).toBe(`${what} (HTTP ${status}: ${words})`);
});

test('a secret that looks like HTML is removed before HTML is', () => {
	const redactHtml = redactor(['pa<b>ss  &lt;d']);
	const body = JSON.stringify({ message: 'x pa<b>ss  &lt;d &amp; y' });
	const { message } = detailsOf(() => read(body, { status: 404 }, { redact: redactHtml }));
	expect(message).toBe('Nothing found at this address (HTTP 404: x ••• & y)');
});

test.each([
	'',
	'<html>x',
	'{"message":"x',
	'["x"]',
	'{"message":7,"error":"x","path":"x","data":{"message":"x"},"title":["x"]}',
	`<html>${' '.repeat(20_000)}<title>x</title>`,
	nested(300),
])('an error status with another body has no own words: %#', (body) => {
	expect(detailsOfBody(body, { status: 404 }).message).toBe('Nothing found at this address (HTTP 404)');
	expect(detailsOfBody('<title>Moved</title>', { status: 302 }).message).toMatch(/redirects \(HTTP 302\)$/);
});

test('any response becomes a payload or a Failure, without a secret', () => {
	const parts = {
		code: fc.oneof(fc.integer(), fc.constantFrom(0, -1, 9999, 10001, 14101), fc.jsonValue()),
		msg: fc.oneof(fc.string(), fc.constant(`detail ${SECRET} detail`), fc.jsonValue()),
		data: fc.oneof(fc.jsonValue(), fc.record({ content: fc.array(fc.jsonValue()), totalElements: fc.jsonValue() })),
	};
	const envelope = fc.record(parts, { requiredKeys: [] }).map((value) => JSON.stringify(value));
	const text = fc.oneof(fc.json({ maxDepth: 4 }), envelope, fc.string({ unit: 'binary' }));
	const cut = fc.tuple(envelope, fc.nat(60)).map(([whole, at]) => whole.slice(0, at));
	const body = fc.oneof(fc.uint8Array({ maxLength: 200 }), text, cut);
	const status = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 }));
	const schemas = fc.constantFrom(pageSchema, deviceSchema('A'), z.unknown());
	fc.assert(
		fc.property(body, status, schemas, (bytes, code, schema) => {
			let failure: unknown;
			try {
				checkPayload<unknown>(read(bytes, { status: code }), schema);
				return;
			} catch (error) {
				failure = error;
			}
			expect(failure).toBeInstanceOf(Failure);
			const shown = JSON.stringify(failure instanceof Failure && [failure.message, failure.details]);
			expect(shown).not.toContain(SECRET);
			expect(shown.length).toBeLessThan(2000);
		}),
		runs(4000),
	);
});
