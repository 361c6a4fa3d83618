import { clients, envelopeSchema, serialNumbers, type Client } from './client.mts';
import { deviceSchema, Fleet, groupSchema, modelSchema, type Device } from '../../../testbed/platform/fleet.mts';

const start = clients();

/** Devices that differ only in the given fields; named A, B, C … in the default order. */
function named(...changes: Partial<Device>[]): Device[] {
	const sample = Fleet.seeded({ size: 1 }).at(0);
	const plain = { imei: '000', attributes: {}, tags: [], description: null, status: 1, onlineStatus: 0 };
	return changes.map((change, position) => ({
		...sample,
		...plain,
		id: String(position),
		sn: 'ABCDEFGH'.charAt(position),
		...change,
	}));
}

test('a failure has a code and HTTP status 200, or the status as set (section 1.1)', async () => {
	const client = await start();
	const reply = await client.send('GET', '/api/device/sn/NONE');
	expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json;charset=UTF-8']);
	const failure = { code: 10007, msg: 'device NONE non-existent', data: null };
	expect(envelopeSchema.parse(JSON.parse(reply.text))).toEqual(failure);
	client.platform.settings.refusalStatus = 400;
	expect((await client.send('GET', '/api/device/sn/NONE')).status).toBe(400);
	expect((await client.send('GET', '/api/version')).status).toBe(200);
});

test('the fields are those of sections 2.1 to 2.3, in their order', () => {
	expect([deviceSchema, modelSchema, groupSchema].map(({ shape }) => Object.keys(shape).join(' '))).toEqual([
		'id sn imei iccid iccidOverwrite sensorSn sensorOverwrite onlineStatus status attributes tags description ' +
			'creator createTime updator updateTime model group',
		'id name vendor type description creator createTime updator updateTime',
		'id name description creator createTime updator updateTime',
	]);
});

describe('paging (sections 1.2 and 8)', () => {
	test.each([
		['', { number: 0, size: 10, offset: 0, first: true, last: false, numberOfElements: 10, totalPages: 3 }],
		[
			'?page=0&size=10',
			{ number: 0, size: 10, offset: 0, first: true, last: false, numberOfElements: 10, totalPages: 3 },
		],
		[
			'?page=2&size=9',
			{ number: 1, size: 9, offset: 9, first: false, last: false, numberOfElements: 9, totalPages: 3 },
		],
		[
			'?page=2&size=24',
			{ number: 1, size: 24, offset: 24, first: false, last: true, numberOfElements: 1, totalPages: 2 },
		],
		['?size=25', { number: 0, size: 25, offset: 0, first: true, last: true, numberOfElements: 25, totalPages: 1 }],
		['?page=4', { number: 3, size: 10, offset: 30, first: false, last: true, numberOfElements: 0, totalPages: 3 }],
	])('%p returns all metadata of the page', async (query, { offset, ...own }) => {
		const client = await start({ fleet: { size: 25 } });
		const sort = { sorted: false, unsorted: true };
		const { content, ...metadata } = await client.list(query);
		const pageable = { sort, offset, pageSize: own.size, pageNumber: own.number, paged: true, unpaged: false };
		expect(metadata).toEqual({ pageable, totalElements: 25, sort, ...own });
		expect(content).toEqual(client.platform.fleet.devices.slice(offset, offset + own.size));
	});

	test('an empty fleet has no page, and the first is the last', async () => {
		const client = await start({ fleet: { size: 0 } });
		const empty = { content: [], first: true, last: true, totalElements: 0, totalPages: 0 };
		expect(await client.list()).toMatchObject(empty);
	});

	test('with zero-based numbers, page=0 is the first page and page=1 the second', async () => {
		const client = await start({ fleet: { size: 25 }, pageNumbering: 'zero-based' });
		const pages = ['', '?page=0', '?page=1'];
		expect(await Promise.all(pages.map(async (page) => (await client.list(page)).number))).toEqual([0, 0, 1]);
	});

	test('a size above the largest, 2000 by default, is reduced or refused', async () => {
		const client = await start({ fleet: { size: 2001 } });
		expect(await client.list('?size=2001')).toMatchObject({ size: 2000, numberOfElements: 2000, last: false });
		client.platform.settings.largerSize = 'refuse';
		expect([await client.listCode('?size=2001'), await client.listCode('?size=2000')]).toEqual([10001, 0]);
	});

	test.each(['?page=x', '?page=-1', '?page=1.5', '?page=1&page=2', '?size=0', '?page=9999999999', '?page='])(
		'%s is refused with 10001',
		async (query) => {
			const client = await start();
			expect(await client.listCode(query)).toBe(10001);
		},
	);

	test('changePage removes and falsifies parts of a page, but does not change the fleet', async () => {
		const client = await start({
			fleet: { size: 3 },
			changePage: ({ totalElements, ...page }, request) => {
				Object.assign(page.content[0] ?? {}, { status: 99 });
				return { ...page, last: true, number: totalElements + (request.page ?? 0) };
			},
		});
		const { data } = await client.call('POST', '/api/device/list?size=2&page=2', { body: {} });
		expect(data).toMatchObject({ content: [{ status: 99 }], last: true, number: 4, totalPages: 2 });
		expect(data).not.toHaveProperty('totalElements');
		client.platform.settings.changePage = undefined;
		expect((await client.list()).content).toEqual(client.platform.fleet.devices);
	});
});

describe('the sort order (sections 1.3 and 8)', () => {
	const fleet = named(
		{ status: 2, creator: 'b', attributes: { floor: 10, site: 'Ä', 'temperature.max': 3 } },
		{ status: 1, creator: 'b', attributes: { floor: 9, site: 'B', depth: { cm: 1 } } },
		{ status: 2, creator: 'a', attributes: { floor: -1, 'two words': 1 } },
		{ status: 1, creator: 'a', attributes: {}, imei: null },
	);

	test.each([
		['sort=<field> asc', '?sort=sn%20asc', 'ABCD'],
		['sort=<field>, descending by default', '?sort=sn', 'DCBA'],
		['sort=<field1>,<field2> asc', '?sort=status,creator%20asc', 'DBCA'],
		['sort=<field1> asc&sort=<field2> desc', '?sort=status%20asc&sort=creator%20desc', 'BDAC'],
		['sort=attributes.<key> desc', '?sort=attributes.floor%20desc', 'ABCD'],
		['an attribute key with a dot', '?sort=attributes.temperature.max%20desc&sort=sn%20asc', 'ABCD'],
		['an attribute below an attribute', '?sort=attributes.depth.cm&sort=sn%20asc', 'BACD'],
		['an attribute key with a space', '?sort=attributes.two%20words%20desc&sort=sn%20asc', 'CABD'],
		['equal devices, in the default order', '?sort=status%20asc', 'BDAC'],
		['with a page', '?sort=sn%20desc&page=2&size=3', 'A'],
	])('%s', async (_shape, query, expected) => {
		const client = await start({ fleet });
		const { content, sort, pageable } = await client.list(query);
		expect(serialNumbers(content).join('')).toBe(expected);
		expect([sort, pageable.sort]).toEqual(Array(2).fill({ sorted: true, unsorted: false }));
	});

	test.each([
		['smallest', 'ABCD', 'DCBA'],
		['largest', 'DABC', 'CBAD'],
		['first', 'DABC', 'DCBA'],
		['last', 'ABCD', 'CBAD'],
	] as const)('a missing value comes as set: %s', async (missingValues, descending, ascending) => {
		const client = await start({ fleet, missingValues });
		expect((await client.listed('?sort=attributes.floor%20desc')).join('')).toBe(descending);
		expect((await client.listed('?sort=attributes.floor%20asc')).join('')).toBe(ascending);
	});

	test.each(['nope', 'sn DESC', 'sn,asc', 'attributes', 'tags', ''])('sort=%s is refused with 10005', async (sort) => {
		const client = await start({ fleet });
		expect(await client.listCode(`?sort=${encodeURIComponent(sort)}`)).toBe(10005);
	});

	test('numbers, texts and booleans in one attribute have one fixed order', async () => {
		const values = ['a', 2, true, 10, 'B', false, null];
		const mixed = named(...values.map((v) => ({ attributes: { v } })), { attributes: {} });
		const client = await start({ fleet: mixed });
		expect((await client.listed('?sort=attributes.v%20asc')).join('')).toBe('GHFCBDEA');
	});
});

describe('filters and criteria (sections 1.4 and 4.1)', () => {
	const fleet = named(
		{ description: 'Kühlraum 2', tags: ['cold', 'pilot'], attributes: { site: 'Łódź', floor: 1, note: 'a b' } },
		{ description: 'cold store', tags: ['cold'], attributes: { site: 'Łódź', floor: 2, position: { lat: 5 } } },
		{ tags: ['склад'], attributes: { site: 'Köln', floor: 1, moving: true }, status: 7, imei: null },
		{ model: { ...Fleet.seeded({ size: 1 }).at(0).model, name: 'T30 Cold' }, imei: '356', onlineStatus: 1 },
	);

	test.each<[string, string, object, string]>([
		['name=<part of the description>', '?name=raum', {}, 'A'],
		['name=<text> in any case, and in the model name or serial number', '?name=C', {}, 'BCD'],
		['tags=<tag>, but no part of a tag', '?tags=col', {}, ''],
		['tags=<tag>,<tag>: both', '?tags=cold,pilot', {}, 'A'],
		['tags repeated: both', '?tags=cold&tags=pilot', {}, 'A'],
		['attributes=<key> <value>', `?attributes=site%20${encodeURIComponent('Łódź')}`, {}, 'AB'],
		['attributes=<key> <number>', '?attributes=floor%201', {}, 'AC'],
		['attributes=<key> <boolean>', '?attributes=moving%20true', {}, 'C'],
		['attributes=<key> <value with a space>', '?attributes=note%20a%20b', {}, 'A'],
		['attributes=<key> below an attribute', '?attributes=position.lat%205', {}, 'B'],
		['attributes repeated: both', '?attributes=floor%201&attributes=moving%20true', {}, 'C'],
		['a device field, any of several values', '?sn=A&sn=B', {}, 'AB'],
		['a device field never equals null', '?imei=null', {}, ''],
		['a model field', '?model.name=T30%20Cold', {}, 'D'],
		['an unknown name is ignored', '?nope=1', { nope: 1 }, 'ABCD'],
		['with a sort order and a page', '?tags=cold&sort=sn%20desc&page=2&size=1', {}, 'A'],
		['compositeStatus, which here is the status', '', { compositeStatus: 7 }, 'C'],
		['a device field and compositeStatus', '', { compositeStatus: 1, onlineStatus: 1 }, 'D'],
		['a null as criterion', '', { imei: null }, 'C'],
		['tags as criterion: all of them', '', { tags: ['pilot', 'cold'] }, 'A'],
		['attributes as criterion: every given key', '', { attributes: { floor: 1, site: 'Köln' } }, 'C'],
		['a criterion and a filter', '?sn=A&sn=C', { compositeStatus: 1 }, 'A'],
	])('%s', async (_what, query, body, expected) => {
		const client = await start({ fleet });
		expect((await client.listed(query, body)).join('')).toBe(expected);
	});

	test.each<[string, string, Parameters<Client['send']>[2], number, string]>([
		['a key without a value', '?attributes=floor', { body: {} }, 10001, 'request body check error attributes'],
		[
			'compositeStatus as text',
			'',
			{ body: { compositeStatus: '2' } },
			10001,
			'request body check error compositeStatus',
		],
		[
			'compositeStatus as null',
			'',
			{ body: { compositeStatus: null } },
			10001,
			'request body check error compositeStatus',
		],
		['a device field of a wrong type', '', { body: { sn: 5 } }, 10001, 'request body check error sn'],
		['an array', '', { body: [] }, 10001, 'request body check error criteria must be an object'],
		['no JSON', '', { body: '{"compositeStatus":' }, 10014, 'request body parse error'],
		['no body', '', {}, 10014, 'request body parse error'],
		[
			'another content type',
			'',
			{ body: {}, headers: { 'content-type': 'text/plain' } },
			10014,
			'request body parse error',
		],
	])('%s is refused', async (_what, query, sending, code, msg) => {
		const client = await start({ fleet });
		expect(await client.call('POST', `/api/device/list${query}`, sending)).toEqual({ code, msg, data: null });
	});

	test('a list shows a change of the fleet at once', async () => {
		const client = await start({ fleet });
		const listed = async () => (await client.listed('?sort=sn', { compositeStatus: 7 })).join('');
		expect(await listed()).toBe('C');
		client.platform.fleet.update('B', { status: 7 });
		expect(await listed()).toBe('CB');
		client.platform.fleet.remove('C');
		expect(await listed()).toBe('B');
		client.platform.fleet = new Fleet(named({ sn: 'Z', status: 7 }));
		expect(await listed()).toBe('Z');
	});
});

describe('one device by serial number (section 4.2)', () => {
	test('is the same record as in the list', async () => {
		const client = await start({ fleet: named({ sn: 'x'.repeat(64) }) });
		const [device] = (await client.list()).content;
		const { data } = await client.call('GET', `/api/device/sn/${device?.sn}`);
		expect(data).toEqual(device);
	});

	test.each(['', 'a%20b', 'a%2Fb', 'x'.repeat(65), 'caf%C3%A9'])('%p is refused with 10018', async (sn) => {
		const client = await start();
		const msg = `invalid sn ${decodeURIComponent(sn)}`.trim();
		expect(await client.call('GET', `/api/device/sn/${sn}`)).toEqual({ code: 10018, msg, data: null });
	});

	test.each([
		[14401, 'invalid or non-existent equipment'],
		[0, 'success'],
	] as const)('an unknown one gets %i, as set', async (noDeviceCode, msg) => {
		const client = await start({ noDeviceCode });
		expect(await client.call('GET', '/api/device/sn/NONE')).toEqual({ code: noDeviceCode, msg, data: null });
	});
});
