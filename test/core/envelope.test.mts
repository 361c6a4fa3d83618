import fc from 'fast-check';
import { z } from 'zod/v4';

import { checkPayload, type RawResponse, unwrap } from '../../nodes/DeviceManagement/core/envelope.ts';
import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { deviceSchema } from '../../nodes/DeviceManagement/core/device.ts';
import { inWords, type Purpose, WORDING } from '../../nodes/DeviceManagement/core/errors/purpose.ts';
import { pageSchema } from '../../nodes/DeviceManagement/core/record.ts';
import { outside, redactor } from '../../nodes/DeviceManagement/core/redaction.ts';
import { runs } from '../../testbed/runs.mts';

const SECRET = 'canary/secret+key';
const redact = redactor([SECRET]);

function answer(body: string | Uint8Array, extra: Partial<RawResponse> = {}): RawResponse {
	return {
		status: 200,
		retryAfterMs: undefined,
		redirectOrigin: undefined,
		body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
		...extra,
	};
}

function failureOf(read: () => unknown, purpose: Purpose = 'read'): Failure {
	try {
		read();
	} catch (error) {
		if (error instanceof Failure) return inWords(error, purpose, redact);
		throw error;
	}
	throw new Error('It did not fail');
}

test('code 0 hands out the payload as it is', () => {
	const data = { content: [{ id: '1', unknown: { nested: true } }] };
	expect(unwrap(answer(JSON.stringify({ code: 0, msg: 'success', data })))).toEqual(data);
});

test('an envelope without data hands out nothing', () => {
	expect(unwrap(answer('{"code":0,"msg":"success"}'))).toBeUndefined();
});

test('a byte order mark is no reason to refuse an answer', () => {
	expect(unwrap(answer('\ufeff{"code":0,"data":1}'))).toBe(1);
});

test('a refusal keeps its code and its text, with a proxy status or without', () => {
	for (const status of [200, 400, 500]) {
		expect(failureOf(() => unwrap(answer('{"code":10018,"msg":"invalid sn X1"}', { status })))).toMatchObject({
			message: 'The serial number is not valid (code 10018: invalid sn X1)',
			details: { kind: 'refused', code: 10018, httpStatus: status },
		});
	}
});

test.each([14101, 14102])('code %i in a 200 says that the token was refused', (code) => {
	const { details } = failureOf(() => unwrap(answer(`{"code":${code},"msg":"x"}`)));
	expect(details.tokenRefused).toBe(true);
});

test.each([14103, 14201, 14202, 14203])('code %i does not say that the token was refused', (code) => {
	const { details } = failureOf(() => unwrap(answer(`{"code":${code},"msg":"x"}`)));
	expect(details.tokenRefused).toBe(false);
});

test('HTTP 401 says that the token was refused, HTTP 403 does not', () => {
	expect(failureOf(() => unwrap(answer('', { status: 401 }))).details.tokenRefused).toBe(true);
	expect(failureOf(() => unwrap(answer('', { status: 403 }))).details.tokenRefused).toBe(false);
});

test.each([
	['an empty body', '', 'an empty body'],
	['a sign-in page', '  <!doctype html><title>Sign in</title>', 'an HTML or XML page of 39 bytes'],
	['half an answer', '{"code":0,"data":{"cont', '23 bytes that are not JSON'],
	['no code', '{"data":[]}', "an object with 1 fields whose 'code' is nothing"],
	['code as text', '{"code":"0","data":[]}', "an object with 2 fields whose 'code' is text of 1 characters"],
	['code as a fraction', '{"code":0.5}', "an object with 1 fields whose 'code' is a number"],
	['code under __proto__', '{"__proto__":{"code":0}}', "an object with 1 fields whose 'code' is nothing"],
	['a list', '[1,2]', 'a list of 2 without an envelope around it'],
	['null', 'null', 'null without an envelope around it'],
	['bytes that are no text', new Uint8Array([0x7b, 0xff, 0xfe]), '3 bytes that are not UTF-8 text'],
])('%s is named, not shown', (_, body, came) => {
	expect(failureOf(() => unwrap(answer(body))).message).toBe(
		`Expected the platform's JSON envelope with a whole number in 'code', but got ${came} (HTTP 200)`,
	);
});

test('an answer nested a hundred thousand deep is refused, not followed', () => {
	const deep = `{"code":0,"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
	expect(failureOf(() => unwrap(answer(deep))).message).toContain('nested deeper than 200 levels');
});

test('__proto__ in an answer changes no other object', () => {
	const data = unwrap(answer('{"code":0,"data":{"content":[{"__proto__":{"polluted":1}}]}}'));
	checkPayload(data, pageSchema);
	expect(Object.prototype).not.toHaveProperty('polluted');
});

test.each([
	['null', null, "'data' is null"],
	['nothing', undefined, "'data' is nothing"],
	['a list', [], "'data' is a list of 0"],
	['text', 'hello', "'data' is text of 5 characters"],
	['no content', {}, "'data.content' is nothing"],
	['content that is no list', { content: { a: 1 } }, "'data.content' is an object with 1 fields"],
	['an item that is no object', { content: [{}, 'x'] }, "'data.content.1' is text of 1 characters"],
	['an item that is null', { content: [null] }, "'data.content.0' is null"],
])('a page that is %s is named', (_, data, place) => {
	expect(failureOf(() => checkPayload(data, pageSchema)).message).toBe(
		`The platform did not return ${pageSchema.description}: ${place}`,
	);
});

test('a list of two million numbers is refused for its first one, at once', () => {
	const content = new Array<number>(2_000_000).fill(1);
	expect(failureOf(() => checkPayload({ content }, pageSchema)).message).toContain("'data.content.0' is a number");
});

test.each([
	['null', null],
	['a list', []],
	['text', 'x'],
])('a device that is %s is refused', (_, data) => {
	expect(failureOf(() => checkPayload(data, deviceSchema('A'))).details.kind).toBe('response');
});

test('impossible metadata counts as missing', () => {
	const page = { content: [], totalElements: -1, totalPages: 'three', last: 'yes', number: 1.5, size: null };
	expect(checkPayload(page, pageSchema)).toEqual({
		content: [],
		totalElements: undefined,
		totalPages: undefined,
		last: undefined,
		number: undefined,
		size: undefined,
	});
});

test('the devices of a page are the very objects that came', () => {
	const device = { id: '1', anything: [1] };
	expect(checkPayload({ content: [device] }, pageSchema).content[0]).toBe(device);
});

test('a redirect names the origin it leads to and nothing else of it', () => {
	const moved = answer('', { status: 302, redirectOrigin: outside(' to ', 'https://other.example') });
	expect(failureOf(() => unwrap(moved)).message).toBe(
		'The address responds with a redirect to https://other.example (HTTP 302)',
	);
});

describe('the details of a failure', () => {
	const of = (body: string, extra: Partial<RawResponse> = {}) => failureOf(() => unwrap(answer(body, extra))).details;

	test('a refusal by a code', () => {
		expect(of('{"code":10018,"msg":"invalid sn X"}')).toEqual({
			kind: 'refused',
			cause: 'not found',
			message: 'The serial number is not valid (code 10018: invalid sn X)',
			remedy: expect.stringMatching(/^Check the serial number/),
			code: 10018,
			httpStatus: 200,
			tokenRefused: false,
			temporary: false,
		});
	});

	test.each<[number, number, boolean, boolean]>([
		// code, status, whether the token was refused, whether it is temporary
		[10002, 200, false, false],
		[10002, 401, true, false],
		[10002, 403, false, false],
		[10002, 503, false, true],
		[10002, 500, false, false],
		[14101, 401, true, false],
		[14101, 503, true, true],
		[14103, 401, false, false],
		[14201, 401, false, false],
		[14201, 503, false, false],
		[14203, 429, false, false],
	])('code %i in HTTP %i', (code, status, tokenRefused, temporary) => {
		expect(of(`{"code":${code}}`, { status })).toMatchObject({ code, httpStatus: status, tokenRefused, temporary });
	});

	test.each<[number, boolean, boolean]>([
		[401, true, false],
		[403, false, false],
		[429, false, true],
		[500, false, false],
		[502, false, true],
	])('HTTP %i without an envelope', (status, tokenRefused, temporary) => {
		expect(of('', { status })).toEqual({
			kind: 'status',
			cause: expect.any(String),
			message: expect.stringContaining(`HTTP ${status}`),
			remedy: expect.any(String),
			httpStatus: status,
			tokenRefused,
			temporary,
		});
	});

	test('a code that is temporary by its row, whatever the status', async () => {
		const path = '../../nodes/DeviceManagement/core/errors/codes.ts';
		const actual = jest.requireActual<typeof import('../../nodes/DeviceManagement/core/errors/codes.ts')>(path);
		const explainCode = (code: number) => ({ ...actual.explainCode(code), temporary: true });
		await jest.isolateModulesAsync(async () => {
			jest.doMock(path, () => ({ ...actual, explainCode }));
			const isolated = await import('../../nodes/DeviceManagement/core/envelope.ts');
			jest.dontMock(path);
			for (const [code, temporary] of [
				[99_001, true],
				[14201, false],
			]) {
				const read = () => isolated.unwrap(answer(`{"code":${code}}`));
				expect(read).toThrow(expect.objectContaining({ details: expect.objectContaining({ temporary }) }));
			}
		});
	});

	test('a wait that the response requests, and none without it', () => {
		for (const body of ['', '{"code":10002}']) {
			expect(of(body, { status: 503, retryAfterMs: 7000 }).retryAfterMs).toBe(7000);
			expect(of(body, { status: 503, retryAfterMs: 0 }).retryAfterMs).toBe(0);
			expect(of(body, { status: 503 }).retryAfterMs).toBeUndefined();
		}
	});

	test('an invalid response', () => {
		expect(of('<html>')).toEqual({
			kind: 'response',
			cause: 'platform',
			message: expect.stringContaining('an HTML or XML page of 6 bytes (HTTP 200)'),
			remedy: expect.stringMatching(/^Check 'Base URL'/),
			httpStatus: 200,
		});
	});

	test.each([
		[undefined, true],
		[null, true],
		[{}, false],
		[[], false],
		['', false],
		[0, false],
	])('a payload of %j that is no page', (data, withoutData) => {
		expect(failureOf(() => checkPayload(data, pageSchema)).details).toEqual({
			kind: 'response',
			cause: 'platform',
			message: expect.stringContaining('did not return a page of a list'),
			remedy: expect.stringMatching(/^Check that 'Base URL'/),
			withoutData,
		});
	});

	test('a msg that is no text, or has no visible character, is left out', () => {
		for (const msg of ['7', 'null', '{"a":1}', '["x"]', '"\\u0007 "']) {
			expect(of(`{"code":10003,"msg":${msg}}`).message).toMatch(/\(code 10003\)$/);
		}
		expect(of('{"code":20815}').message).toMatch(/\(code 20815\)$/);
	});

	test('no secret in the platform’s own text', () => {
		expect(of(`{"code":10018,"msg":"invalid sn ${SECRET}"}`).message).toContain('invalid sn •••');
	});
});

test.each([
	[199, false],
	[200, true],
	[204, true],
	[299, true],
	[300, false],
	[404, false],
])('HTTP %i with an envelope of success: %j', (status, ok) => {
	const read = () => unwrap(answer('{"code":0,"data":7}', { status }));
	if (ok) expect(read()).toBe(7);
	else expect(failureOf(read).details).toMatchObject({ kind: 'status', httpStatus: status });
});

describe('an answer to a write', () => {
	test('may be empty in 2xx only', () => {
		for (const status of [200, 204, 299]) expect(unwrap(answer('', { status }), 'write')).toBeUndefined();
		for (const status of [199, 300, 403, 500]) {
			expect(failureOf(() => unwrap(answer('', { status }), 'write')).details.kind).toBe('status');
		}
		expect(failureOf(() => unwrap(answer(''))).details.kind).toBe('response');
		expect(failureOf(() => unwrap(answer('')), 'list').details.kind).toBe('response');
		expect(unwrap(answer('{"code":0,"data":1}'), 'write')).toBe(1);
	});

	const inDoubt = (body: string, status: number, purpose: Purpose = 'write') => {
		const { message, remedy } = failureOf(() => unwrap(answer(body, { status })), purpose).details;
		const doubts = message.endsWith('; the platform may still have carried out the request');
		expect(remedy.startsWith('Check on the platform whether')).toBe(doubts);
		return doubts;
	};

	test.each([
		['a status that refuses it', [400, 401, 403, 404, 405, 409, 413, 422, 429, 431], false],
		['a status that leaves it open', [300, 303, 399, 406, 408, 499, 500, 501, 503, 599], true],
	])('with %s', (_name, statuses, expected) => {
		for (const status of statuses) expect([status, inDoubt('', status)]).toEqual([status, expected]);
	});

	test('that is unreadable is in doubt', () => {
		for (const body of ['<html>', ' ', 'OK', '{}', '[]', '{"code":"0"}', '['.repeat(300) + ']'.repeat(300)])
			expect(inDoubt(body, 200)).toBe(true);
	});

	test('with a code is refused, unless the platform itself does not know', () => {
		for (const status of [200, 500, 504]) {
			for (const code of [9999, 10003, 10004, 14103, 20815]) expect(inDoubt(`{"code":${code}}`, status)).toBe(false);
			for (const code of [-1, 10002]) expect(inDoubt(`{"code":${code}}`, status)).toBe(true);
		}
	});

	test('is nothing that an answer to anything else would be told of', () => {
		for (const purpose of Object.keys(WORDING).filter((name): name is Purpose => name !== 'write')) {
			for (const [body, status] of [
				['', 500],
				['<html>', 200],
				['{"code":-1}', 200],
			] as const)
				expect(inDoubt(body, status, purpose)).toBe(false);
		}
	});
});

test('a page is recognized by its first character, after any space', () => {
	for (const [body, came] of [
		['\n <p>', 'an HTML or XML page of 5 bytes'],
		['x<p>', '4 bytes that are not JSON'],
		['p <', '3 bytes that are not JSON'],
	]) {
		expect(failureOf(() => unwrap(answer(String(body)))).message).toContain(`but got ${came} (HTTP 200)`);
	}
});

test('nesting is counted to the last level that n8n can store', () => {
	const nested = (depth: number) => `{"code":0,"data":${'['.repeat(depth)}${']'.repeat(depth)}}`;
	expect(unwrap(answer(nested(199)))).toEqual(expect.any(Array));
	expect(failureOf(() => unwrap(answer(nested(200)))).message).toContain('nested deeper than 200 levels');
});

describe('fuzz', () => {
	const json = fc.json({ maxDepth: 4 });
	const envelope = fc
		.record(
			{
				code: fc.oneof(fc.integer(), fc.constantFrom(0, -1, 9999, 10001, 14101), fc.anything()),
				msg: fc.oneof(fc.string(), fc.constant(`detail ${SECRET} detail`), fc.anything()),
				data: fc.oneof(
					fc.anything(),
					fc.record({ content: fc.oneof(fc.array(fc.anything()), fc.anything()), totalElements: fc.anything() }),
				),
			},
			{ requiredKeys: [] },
		)
		.map((value) => {
			try {
				return JSON.stringify(value) ?? '';
			} catch {
				return '';
			}
		});
	const body = fc.oneof(
		fc.uint8Array({ maxLength: 200 }),
		fc.oneof(json, envelope, fc.string({ unit: 'binary' })).map((text) => new TextEncoder().encode(text)),
		fc.tuple(envelope, fc.nat(60)).map(([text, cut]) => new TextEncoder().encode(text.slice(0, cut))),
	);
	const status = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 }));

	test('any response becomes a clean payload or a Failure, without a secret', () => {
		fc.assert(
			fc.property(body, status, fc.constantFrom(pageSchema, deviceSchema('A'), z.unknown()), (bytes, code, schema) => {
				let failure: unknown;
				try {
					checkPayload<unknown>(unwrap(answer(bytes, { status: code })), schema);
					return;
				} catch (error) {
					failure = inWords(error, 'read', redact);
				}
				expect(failure).toBeInstanceOf(Failure);
				if (!(failure instanceof Failure)) return;
				const shown = JSON.stringify([failure.message, failure.details]);
				expect(shown).not.toContain(SECRET);
				expect(shown.length).toBeLessThan(2000);
			}),
			runs(4000),
		);
	});
});
