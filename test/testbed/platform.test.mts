/**
 * The embedded platform against the API document, because all other tests rely on it. A switch of the platform is tested here only
 * if the tests that use it would not notice that it has no effect.
 */
import { z } from 'zod/v4';

import { deviceSchema, Fleet, type Device } from '../../testbed/platform/fleet.mts';
import { startPlatform, type EmbeddedPlatform, type Settings } from '../../testbed/platform/server.mts';

/** Section 1.1: these fields and no others. */
const envelopeSchema = z.strictObject({ code: z.int32(), msg: z.string(), data: z.unknown() });
const pageSchema = z.looseObject({ content: z.array(deviceSchema), totalElements: z.int() });

const BASE: Device = {
	...Fleet.seeded({ size: 1 }).at(0),
	...{ imei: '0', attributes: {}, tags: [], description: null, status: 1, onlineStatus: 0 },
};
const COLD = { description: 'Kühlraum', tags: ['cold', 'pilot'], attributes: { floor: 10, 'a.b': 'x y' } };
const STORE = { description: 'cold store', tags: ['cold'], attributes: { floor: 9 } };
/** They differ only in these fields. */
const FLEET: Device[] = [
	{ ...BASE, ...COLD, sn: 'A', id: '10', status: 2, creator: 'b' },
	{ ...BASE, sn: 'B', id: '1', ...STORE, creator: 'b', imei: null },
	{ ...BASE, sn: 'C', id: '2', tags: ['склад'], attributes: { floor: -1 }, status: 2, creator: 'a' },
	{ ...BASE, sn: 'D', id: '3', model: { ...BASE.model, name: 'T30 Cold' }, creator: 'a', onlineStatus: 1 },
];

let platform: EmbeddedPlatform;
beforeAll(async () => (platform = await startPlatform()));
beforeEach(() => platform.reset({ fleet: new Fleet(FLEET), apiKey: 'k1', password: '密码' }));
afterAll(async () => await platform.stop());

/** Sends a request with the API key, unless it gets another sign-in. Text is sent unchanged. */
async function send(what: string, body?: unknown, headers: Record<string, string> = { authorization: 'ApiKey k1' }) {
	const [, method = '', path = ''] = /^(\S+) (.*)$/.exec(what) ?? [];
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	const sent = { 'content-type': 'application/json', ...headers };
	return await fetch(platform.baseUrl + path, { method, headers: sent, ...(body === undefined ? {} : { body: text }) });
}
const call = async (...request: Parameters<typeof send>) => envelopeSchema.parse(await (await send(...request)).json());
const list = async (query = '', body: object = {}) =>
	pageSchema.parse((await call(`POST /api/device/list?${query}`, body)).data);
const logIn = async (password: string, loginName = 'demo') =>
	await call('POST /api/user/login', { loginName, password }, {});

test('sample devices have the fields of their schema and no others; the newest is first, each has its own serial number', () => {
	const devices = deviceSchema.array().parse(Fleet.seeded({ size: 5000, seed: 3 }).devices);
	const times = devices.map(({ createTime }) => createTime);
	expect(times).toEqual([...times].sort().reverse());
	expect(new Set(devices.map(({ sn }) => sn)).size).toBe(5000);
});

describe('POST /api/device/list', () => {
	test.each([
		['', { number: 0, size: 10, first: true, last: false, numberOfElements: 10, totalPages: 3 }],
		['page=2&size=9', { number: 1, size: 9, first: false, last: false, numberOfElements: 9, totalPages: 3 }],
		['page=2&size=24', { number: 1, size: 24, first: false, last: true, numberOfElements: 1, totalPages: 2 }],
		['page=4', { number: 3, size: 10, first: false, last: true, numberOfElements: 0, totalPages: 3 }],
		['size=2001', { number: 0, size: 2000, first: true, last: true, numberOfElements: 25, totalPages: 1 }],
	])('returns the page %p of 25 devices with all its metadata (sections 1.2 and 8)', async (query, own) => {
		platform.fleet = Fleet.seeded({ size: 25 });
		const unsorted = { sort: { sorted: false, unsorted: true } };
		const offset = own.number * own.size;
		const asked = { ...unsorted, offset, pageSize: own.size, pageNumber: own.number, paged: true, unpaged: false };
		const content = platform.fleet.devices.slice(offset, offset + own.size);
		expect(await list(query)).toEqual({ ...own, ...unsorted, content, pageable: asked, totalElements: 25 });
	});

	test.each<[string, string, string, (Partial<Settings> & { body?: object })?]>([
		['counts pages from 0, if set', 'size=3&page=0', 'ABC', { pageNumbering: 'zero-based' }],
		['counts pages from 0, if set', 'size=3&page=1', 'D', { pageNumbering: 'zero-based' }],
		// Sections 1.3 and 8
		['sorts by a field', 'sort=sn asc', 'ABCD'],
		['sorts in descending order without a direction', 'sort=sn', 'DCBA'],
		['sorts by several fields, each in its direction', 'sort=status asc&sort=creator desc', 'BDAC'],
		['sorts by an attribute', 'sort=attributes.floor desc', 'ABCD'],
		['sorts by an attribute with a dot, before it takes a page', 'sort=attributes.a.b desc&sort=sn desc&size=2', 'AD'],
		['sorts by id as text', 'sort=status,id desc', 'CADB'],
		['sorts by the first field, if set', 'sort=status,sn desc', 'ACBD', { severalFields: 'first field' }],
		['has an order of its own, if set', 'sort=id', 'BDAC', { ownSort: 'status asc', idSort: 'ignored' }],
		['sorts missing values as largest, if set', 'sort=attributes.floor desc', 'DABC', { missingValues: 'largest' }],
		// Sections 1.4 and 4.1
		['filters by a part of the name in any case', 'name=C', 'BCD'],
		['filters by a tag, no part of it', 'tags=col', ''],
		['filters by all of several tags', 'tags=cold,pilot', 'A'],
		['filters by key and value of an attribute', 'attributes=a.b x y', 'A'],
		['filters by key and number of an attribute, no part of it', 'attributes=floor 1', ''],
		['filters by any of several values of a field', 'sn=A&sn=B', 'AB'],
		['filters by a value that is never null', 'imei=null', ''],
		['filters and sorts, and takes a page', 'sort=sn desc&page=2&size=1', 'A', { body: { compositeStatus: 2 } }],
	])('%s: %s', async (_what, query, expected, { body, ...settings } = {}) => {
		Object.assign(platform.settings, settings);
		const { content, pageable } = await list(query, body);
		expect(content.map(({ sn }) => sn).join('')).toBe(expected);
		const sorted = query.includes('sort');
		expect(pageable).toMatchObject({ sort: { sorted, unsorted: !sorted } });
	});

	test.each<[string, unknown, number, string, Partial<Settings>?, string?]>([
		['page=-1', {}, 10001, 'request body check error page'],
		['size=0', {}, 10001, 'request body check error size'],
		['sort=nope', {}, 10005, 'query failed'],
		['sort=id', {}, 10005, 'query failed', { idSort: 'refused' }],
		['sort=sn,status', {}, 10005, 'query failed', { severalFields: 'refused' }],
		['attributes=floor', {}, 10001, 'request body check error attributes'],
		['', { compositeStatus: '2' }, 10001, 'request body check error compositeStatus'],
		['', '{"compositeStatus":', 10014, 'request body parse error'],
		['', {}, 10014, 'request body parse error', {}, 'text/plain'],
	])('refuses %p with %j', async (query, body, code, msg, settings = {}, type = 'application/json') => {
		Object.assign(platform.settings, settings);
		const headers = { authorization: 'ApiKey k1', 'content-type': type };
		expect(await call(`POST /api/device/list?${query}`, body, headers)).toEqual({ code, msg, data: null });
	});
});

test('GET /api/device/sn/{sn} returns the record of the list, or 10018, 10007, 14401 or nothing (section 4.2)', async () => {
	const success = { code: 0, msg: 'success', data: (await list()).content[1] };
	expect(await call('GET /api/device/sn/B')).toEqual(success);
	for (const sn of ['', 'a%20b', 'a%2Fb', 'x'.repeat(65)]) {
		const msg = `invalid sn ${decodeURIComponent(sn)}`.trim();
		expect(await call(`GET /api/device/sn/${sn}`)).toEqual({ code: 10018, msg, data: null });
	}
	const messages = { 10007: 'device NONE non-existent', 14401: 'invalid or non-existent equipment', 0: 'success' };
	for (const code of [10007, 14401, 0] as const) {
		platform.settings.noDeviceCode = code;
		expect(await call('GET /api/device/sn/NONE')).toEqual({ code, msg: messages[code], data: null });
	}
});

describe('the sign-in (section 5)', () => {
	const inQuery = { apiKeyIn: 'query', apiKeyName: 'sn', apiKeyPrefix: '' };
	test.each([
		['no key', {}, '', {}, 14101],
		['the key without its prefix', {}, '', { authorization: 'k1' }, 14101],
		['the key in a header, as set', { apiKeyName: 'X-Key', apiKeyPrefix: '' }, '', { 'x-key': 'k1' }, 0],
		['the key in the query, as set', inQuery, 'sn=k1', {}, 0],
		['another key in the query', inQuery, 'sn=k2', {}, 14101],
		['another token', {}, '', { authorization: 'Bearer abcdefgh.ijkl' }, 14101],
		['another way', {}, '', { authorization: 'Basic ZGVtbzpkZW1v' }, 14101],
		['two words', {}, '', { authorization: 'Bearer two words' }, 14102],
		['one word', {}, '', { authorization: 'Bearertoken12345' }, 14102],
	])('takes or refuses %s', async (_what, settings, query, headers, code) => {
		Object.assign(platform.settings, settings);
		const { data, ...envelope } = await call(`POST /api/device/list?${query}`, {}, headers);
		// A key in the query is no filter.
		expect([envelope.code, pageSchema.safeParse(data).data?.totalElements]).toEqual([code, code === 0 ? 4 : undefined]);
	});

	test('returns a token for the MD5 of the UTF-8 password in lower-case hex', async () => {
		const md5 = 'a8105204604a0b11e916f3879aae3b0b';
		for (const { data } of [await logIn(md5), await logIn(md5)]) {
			expect(await call('GET /api/version', undefined, { authorization: `Bearer ${data}` })).toMatchObject({ code: 0 });
		}
		const refused = { code: 14201, msg: 'username or password incorrect', data: null };
		for (const wrong of [md5.toUpperCase(), '密码']) expect(await logIn(wrong)).toEqual(refused);
		expect(await logIn(md5, 'nobody')).toEqual(refused);
		expect(await call('POST /api/user/login', { loginName: 'demo' }, {})).toMatchObject({ code: 10001 });
		expect(platform.logins).toEqual({ attempted: 6, succeeded: 2 });
	});
});
