import { clients, envelopeSchema, pageSchema, serialNumbers, type Client } from './client.mts';
import { deviceSchema, Fleet, groupSchema, modelSchema, type Device } from '../../../testbed/platform/fleet.mts';

const start = clients();

/** Five devices, differing in the given fields alone; named A to E in the default order. */
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

describe('the envelope (section 1.1)', () => {
	test('a success has code 0, the word for success and the payload, and nothing else', async () => {
		const client = await start({ fleet: { size: 1 } });
		const { sn } = client.platform.fleet.at(0);
		const envelope = await client.call('GET', `/api/device/sn/${sn}`);
		expect(envelope).toEqual({ code: 0, msg: 'success', data: client.platform.fleet.at(0) });
	});

	test('a failure has a code that is not 0, its message, and HTTP status 200', async () => {
		const client = await start();
		const reply = await client.send('GET', '/api/device/sn/NONE');
		expect(reply.status).toBe(200);
		expect(envelopeSchema.parse(JSON.parse(reply.text))).toEqual({
			code: 10007,
			msg: 'device NONE non-existent',
			data: null,
		});
	});

	test('the HTTP status of failures can be set', async () => {
		const client = await start({ refusalStatus: 400 });
		expect((await client.send('GET', '/api/device/sn/NONE')).status).toBe(400);
		expect((await client.send('GET', '/api/version')).status).toBe(200);
	});

	test('the word for success can be set', async () => {
		const client = await start({ successMessage: '成功' });
		expect((await client.call('GET', '/api/version')).msg).toBe('成功');
	});

	test('answers are JSON with their length', async () => {
		const client = await start();
		const reply = await client.send('POST', '/api/device/list', { body: {} });
		expect(reply.headers['content-type']).toBe('application/json;charset=UTF-8');
		expect(reply.headers['content-length']).toBe(String(Buffer.byteLength(reply.text)));
	});
});

describe('paging (sections 1.2 and 8)', () => {
	test('without page and size it is the first page of 10', async () => {
		const client = await start({ fleet: { size: 25 } });
		const page = await client.list();
		expect(page.content).toEqual(client.platform.fleet.devices.slice(0, 10));
		expect(page).toMatchObject({ number: 0, size: 10, numberOfElements: 10 });
	});

	test.each([
		['first', '?page=1&size=10', { number: 0, offset: 0, first: true, last: false, numberOfElements: 10 }],
		['middle', '?page=2&size=10', { number: 1, offset: 10, first: false, last: false, numberOfElements: 10 }],
		['last', '?page=3&size=10', { number: 2, offset: 20, first: false, last: true, numberOfElements: 5 }],
		[
			'one beyond the last',
			'?page=4&size=10',
			{ number: 3, offset: 30, first: false, last: true, numberOfElements: 0 },
		],
	])('the %s page tells all metadata', async (_which, query, expected) => {
		const client = await start({ fleet: { size: 25 } });
		const { offset, ...own } = expected;
		const sort = { sorted: false, unsorted: true };
		const { content, ...metadata } = await client.list(query);
		expect(metadata).toEqual({
			pageable: { sort, offset, pageSize: 10, pageNumber: own.number, paged: true, unpaged: false },
			totalElements: 25,
			totalPages: 3,
			sort,
			size: 10,
			...own,
		});
		expect(content).toEqual(client.platform.fleet.devices.slice(offset, offset + 10));
	});

	test('a full last page is the last one', async () => {
		const client = await start({ fleet: { size: 20 } });
		expect(await client.list('?page=2&size=10')).toMatchObject({ last: true, totalPages: 2, numberOfElements: 10 });
	});

	test('an empty fleet has one page that is first and last, and totalPages 0', async () => {
		const client = await start({ fleet: { size: 0 } });
		expect(await client.list()).toMatchObject({
			content: [],
			first: true,
			last: true,
			totalElements: 0,
			totalPages: 0,
		});
	});

	test('one-based: page=0 and page=1 are both the first page', async () => {
		const client = await start({ fleet: { size: 25 }, pageNumbering: 'one-based' });
		const numbers = await Promise.all([0, 1, 2].map(async (page) => (await client.list(`?page=${page}`)).number));
		expect(numbers).toEqual([0, 0, 1]);
	});

	test('zero-based: page=0 is the first page and page=1 the second', async () => {
		const client = await start({ fleet: { size: 25 }, pageNumbering: 'zero-based' });
		const numbers = await Promise.all([0, 1, 2].map(async (page) => (await client.list(`?page=${page}`)).number));
		expect(numbers).toEqual([0, 1, 2]);
		expect((await client.list()).number).toBe(0);
	});

	test('a size above the largest is cut to it, and the answer says so', async () => {
		const client = await start({ fleet: { size: 25 }, largestSize: 20 });
		const page = await client.list('?size=100');
		expect(page).toMatchObject({ size: 20, numberOfElements: 20, totalPages: 2, last: false });
		expect(page.pageable.pageSize).toBe(20);
	});

	test('the largest size is 2000 unless set', async () => {
		const client = await start({ fleet: { size: 2001 } });
		expect(await client.list('?size=2001')).toMatchObject({ size: 2000, numberOfElements: 2000 });
	});

	test('a size above the largest can be refused instead', async () => {
		const client = await start({ largestSize: 20, largerSize: 'refuse' });
		expect(await client.listCode('?size=21')).toBe(10001);
		expect(await client.listCode('?size=20')).toBe(0);
	});

	test.each(['?page=x', '?page=-1', '?page=1.5', '?page=1&page=2', '?size=0', '?size=x', '?page=9999999999', '?page='])(
		'%s is refused with 10001',
		async (query) => {
			const client = await start();
			expect(await client.listCode(query)).toBe(10001);
		},
	);

	test('changePage can drop and falsify what a page tells, without harm to the fleet', async () => {
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

	test('a device that is added between two pages shifts the second one', async () => {
		const client = await start({ fleet: { size: 4 } });
		const { fleet } = client.platform;
		client.platform.settings.beforeAnswer = (request) => {
			if (request.kind === 'list' && request.orderOfKind === 2) fleet.add(fleet.make({ sn: 'NEW' }));
		};
		const first = await client.listed('?page=1&size=2');
		const second = await client.listed('?page=2&size=2');
		expect(second[0]).toBe(first[1]);
		expect((await client.listed('?page=1&size=2'))[0]).toBe('NEW');
	});

	test('walking 20,000 devices gives each exactly once, in order', async () => {
		const client = await start({ fleet: { size: 20_000 } });
		const pages: string[][] = [];
		for (let page = 1; page <= 10; page++) {
			const { text } = await client.send('POST', `/api/device/list?page=${page}&size=2000`, { body: {} });
			pages.push([...text.matchAll(/"sn":"([^"]+)"/g)].map(([, sn]) => sn ?? ''));
		}
		expect(pages.flat()).toEqual(serialNumbers(client.platform.fleet.devices));
	});
});

describe('ordering (sections 1.3 and 8)', () => {
	const fleet = named(
		{ status: 2, creator: 'b', attributes: { floor: 10, site: 'Ä', 'temperature.max': 3 } },
		{ status: 1, creator: 'b', attributes: { floor: 9, site: 'B', depth: { cm: 1 } } },
		{ status: 2, creator: 'a', attributes: { floor: -1, 'two words': 1 } },
		{ status: 1, creator: 'a', attributes: {}, imei: null },
	);

	test.each([
		['sort=<field> desc', '?sort=sn%20desc', 'DCBA'],
		['sort=<field> asc', '?sort=sn%20asc', 'ABCD'],
		['sort=<field>, descending by default', '?sort=sn', 'DCBA'],
		['sort=<field1>,<field2> asc', '?sort=status,creator%20asc', 'DBCA'],
		['sort=<field1>,<field2> desc', '?sort=status,creator%20desc', 'ACBD'],
		['sort=<field1>,<field2>, descending by default', '?sort=status,creator', 'ACBD'],
		['sort=<field1> asc&sort=<field2> desc', '?sort=status%20asc&sort=creator%20desc', 'BDAC'],
		['sort=<field1>&sort=<field2> asc', '?sort=creator&sort=status%20asc', 'BADC'],
		['sort=attributes.<key> desc', '?sort=attributes.floor%20desc', 'ABCD'],
		['sort=attributes.<key> asc, a missing one first', '?sort=attributes.floor%20asc', 'DCBA'],
		['an attribute key with a dot', '?sort=attributes.temperature.max%20desc&sort=sn%20asc', 'ABCD'],
		['an attribute below an attribute', '?sort=attributes.depth.cm&sort=sn%20asc', 'BACD'],
		['an attribute key with a space', '?sort=attributes.two%20words%20desc&sort=sn%20asc', 'CABD'],
		['a plus for the space', '?sort=sn+asc', 'ABCD'],
		['devices that tie, in the default order', '?sort=status%20asc', 'BDAC'],
	])('%s', async (_shape, query, expected) => {
		const client = await start({ fleet });
		expect((await client.listed(query)).join('')).toBe(expected);
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

	test('sorted and unsorted tell whether it is sorted', async () => {
		const client = await start({ fleet });
		const sorted = { sorted: true, unsorted: false };
		const { sort, pageable } = await client.list('?sort=sn');
		expect([sort, pageable.sort]).toEqual([sorted, sorted]);
		expect((await client.list()).sort).toEqual({ sorted: false, unsorted: true });
	});

	test('paging follows the order', async () => {
		const client = await start({ fleet });
		expect(await client.listed('?sort=sn%20desc&page=2&size=3')).toEqual(['A']);
	});

	test.each(['nope', 'sn DESC', 'sn,asc', 'sn asc,imei desc', 'attributes', 'model', 'tags', ''])(
		'sort=%s names no field and is refused with 10005',
		async (sort) => {
			const client = await start({ fleet });
			expect(await client.listCode(`?sort=${encodeURIComponent(sort)}`)).toBe(10005);
		},
	);

	test('a sort that was refused leaves the next one alone', async () => {
		const client = await start({ fleet });
		await client.listCode('?sort=nope');
		expect(await client.listed('?sort=sn')).toEqual(['D', 'C', 'B', 'A']);
	});

	test('numbers, texts and truth values in one attribute have one fixed order', async () => {
		const mixed: Device['attributes'][] = [
			{ v: 'a' },
			{ v: 2 },
			{ v: true },
			{ v: 10 },
			{ v: 'B' },
			{ v: false },
			{ v: null },
			{},
		];
		const client = await start({ fleet: named(...mixed.map((attributes) => ({ attributes }))) });
		expect((await client.listed('?sort=attributes.v%20asc')).join('')).toBe('GHFCBDEA');
	});
});

describe('filtering by query (section 1.4)', () => {
	const [sample] = named({});
	const model = { ...(sample?.model ?? Fleet.seeded({ size: 1 }).at(0).model), name: 'T30 Cold' };
	const fleet = named(
		{ description: 'Kühlraum 2', tags: ['cold', 'pilot'], attributes: { site: 'Łódź', floor: 1, note: 'a b' } },
		{ description: 'cold store', tags: ['cold'], attributes: { site: 'Łódź', floor: 2, position: { lat: 5 } } },
		{ tags: ['склад'], attributes: { site: 'Köln', floor: 1, empty: null, moving: true }, status: 7, imei: null },
		{ model, imei: '356' },
	);

	test.each([
		['name=<text> finds a part of the description', '?name=raum', 'A'],
		['name=<text> in any case of letters, and in the model name', '?name=COLD', 'BD'],
		['name=<text> finds a part of the serial number', '?name=c', 'BCD'],
		['tags=<tag>', '?tags=cold', 'AB'],
		['tags=<tag> beyond ASCII', `?tags=${encodeURIComponent('склад')}`, 'C'],
		['tags=<tag>,<tag>: both', '?tags=cold,pilot', 'A'],
		['tags repeated: both', '?tags=cold&tags=pilot', 'A'],
		['tags=<part of a tag> finds nothing', '?tags=col', ''],
		['attributes=<key> <value>', `?attributes=site%20${encodeURIComponent('Łódź')}`, 'AB'],
		['attributes=<key> <value> of a number', '?attributes=floor%201', 'AC'],
		['attributes=<key> <value> of a truth value', '?attributes=moving%20true', 'C'],
		['attributes=<key> <value> of a null', '?attributes=empty%20null', 'C'],
		['attributes=<key> <value with a space>', '?attributes=note%20a%20b', 'A'],
		['attributes=<key> below an attribute', '?attributes=position.lat%205', 'B'],
		['attributes=<key> <value>,<key> <value>', `?attributes=site%20${encodeURIComponent('Łódź')},floor%202`, 'B'],
		['attributes repeated: both', `?attributes=site%20${encodeURIComponent('Łódź')}&attributes=floor%201`, 'A'],
		['a device field', '?status=7', 'C'],
		['a device field, any of several values', '?sn=A&sn=B', 'AB'],
		['a device field never equals null', '?imei=null', ''],
		['a model field', '?model.name=T30%20Cold', 'D'],
		['an unknown name is ignored', '?nope=1', 'ABCD'],
		['filters combine', '?tags=cold&name=store', 'B'],
	])('%s', async (_what, query, expected) => {
		const client = await start({ fleet });
		expect((await client.listed(query)).join('')).toBe(expected);
	});

	test('filtering, paging and ordering combine', async () => {
		const client = await start({ fleet });
		const page = await client.list('?tags=cold&sort=sn%20desc&page=2&size=1');
		expect(page).toMatchObject({ totalElements: 2, totalPages: 2, number: 1, last: true });
		expect(serialNumbers(page.content)).toEqual(['A']);
	});

	test.each(['?attributes=floor', '?attributes=', '?attributes=floor%201,'])('%s is no pair: 10001', async (query) => {
		const client = await start({ fleet });
		expect(await client.listCode(query)).toBe(10001);
	});
});

describe('list devices (section 4.1)', () => {
	const fleet = named(
		{ status: 2, tags: ['a', 'b'], attributes: { floor: 1, site: 'X' } },
		{ status: 1, tags: ['a'], attributes: { floor: 1 }, imei: null },
		{ status: 2, onlineStatus: 1, imei: '1' },
	);

	test('data is a paged result of device records', async () => {
		const client = await start({ fleet: { size: 30 } });
		const { data } = await client.call('POST', '/api/device/list?size=30', { body: {} });
		expect(() => pageSchema.parse(data)).not.toThrow();
		expect(pageSchema.parse(data).content).toHaveLength(30);
	});

	test.each<[string, unknown, string]>([
		['no criteria: every device', {}, 'ABC'],
		['compositeStatus, which on this platform is the status', { compositeStatus: 2 }, 'AC'],
		['compositeStatus that no device has', { compositeStatus: 77 }, ''],
		['a device field', { onlineStatus: 1 }, 'C'],
		['two criteria: both', { compositeStatus: 2, onlineStatus: 0 }, 'A'],
		['a null', { imei: null }, 'B'],
		['tags: all of them', { tags: ['b', 'a'] }, 'A'],
		['attributes: every given key', { attributes: { floor: 1, site: 'X' } }, 'A'],
		['an unknown field is ignored', { nope: 1 }, 'ABC'],
	])('criteria: %s', async (_what, body, expected) => {
		const client = await start({ fleet });
		expect((await client.listed('', body)).join('')).toBe(expected);
	});

	test('criteria and query filters combine, and totals count what was found', async () => {
		const client = await start({ fleet });
		expect(await client.list('?sn=A&sn=B', { compositeStatus: 2 })).toMatchObject({ totalElements: 1, totalPages: 1 });
	});

	test.each<[string, unknown]>([
		['compositeStatus as text', { compositeStatus: '2' }],
		['compositeStatus with a fraction', { compositeStatus: 1.5 }],
		['compositeStatus beyond int32', { compositeStatus: 2 ** 31 }],
		['compositeStatus null', { compositeStatus: null }],
		['a device field of a wrong type', { sn: 5 }],
		['an array', []],
		['a text', '"text"'],
		['a null', 'null'],
	])('%s as criteria is refused with 10001', async (_what, body) => {
		const client = await start({ fleet });
		expect(await client.listCode('', body)).toBe(10001);
	});

	test('10001 names the field', async () => {
		const client = await start({ fleet });
		const { msg } = await client.call('POST', '/api/device/list', { body: { compositeStatus: 'x' } });
		expect(msg).toBe('request body check error compositeStatus');
	});

	test.each<[string, Parameters<Client['send']>[2]]>([
		['no JSON', { body: '{"compositeStatus":' }],
		['no body', {}],
		['a body that is not announced as JSON', { body: {}, headers: { 'content-type': 'text/plain' } }],
		['a body that is not announced at all', { body: {}, headers: { 'content-type': undefined } }],
	])('%s is refused with 10014', async (_what, sending) => {
		const client = await start({ fleet });
		const { code, msg } = await client.call('POST', '/api/device/list', sending);
		expect([code, msg]).toEqual([10014, 'request body parse error']);
	});

	test('a list shows a change of the fleet at once', async () => {
		const client = await start({ fleet });
		const both = async () => [await client.listed(), await client.listed('?sort=status', { compositeStatus: 2 })];
		expect(await both()).toEqual([
			['A', 'B', 'C'],
			['A', 'C'],
		]);
		client.platform.fleet.update('B', { status: 2 });
		expect(await both()).toEqual([
			['A', 'B', 'C'],
			['A', 'B', 'C'],
		]);
		client.platform.fleet.remove('A');
		expect(await both()).toEqual([
			['B', 'C'],
			['B', 'C'],
		]);
	});

	test('another fleet may take the place of the first', async () => {
		const client = await start({ fleet });
		await client.list();
		client.platform.fleet = new Fleet(named({ sn: 'Z' }));
		expect(await client.listed()).toEqual(['Z']);
	});
});

describe('fields (sections 2.1 to 2.3)', () => {
	const list = async () => {
		const client = await start({ fleet: { size: 200 } });
		const { data } = await client.call('POST', '/api/device/list?size=200', { body: {} });
		return pageSchema.parse(data).content;
	};

	test.each(Object.keys(deviceSchema.shape))('a listed device has %s', async (field) => {
		for (const device of await list()) expect(Object.keys(device)).toContain(field);
	});

	test.each(Object.keys(modelSchema.shape))('the model of a listed device has %s', async (field) => {
		for (const device of await list()) expect(Object.keys(device.model)).toContain(field);
	});

	test.each(Object.keys(groupSchema.shape))('the group of a listed device has %s', async (field) => {
		for (const device of await list()) expect(Object.keys(device.group)).toContain(field);
	});

	test('the fields are those of the document, in its order', () => {
		expect(Object.keys(deviceSchema.shape).join(' ')).toBe(
			'id sn imei iccid iccidOverwrite sensorSn sensorOverwrite onlineStatus status attributes tags description creator createTime updator updateTime model group',
		);
		expect(Object.keys(modelSchema.shape).join(' ')).toBe(
			'id name vendor type description creator createTime updator updateTime',
		);
		expect(Object.keys(groupSchema.shape).join(' ')).toBe('id name description creator createTime updator updateTime');
	});
});

describe('read one device by serial number (section 4.2)', () => {
	test('data is the device record', async () => {
		const client = await start({ fleet: { size: 5 } });
		const device = client.platform.fleet.at(3);
		const { code, data } = await client.call('GET', `/api/device/sn/${device.sn}`);
		expect(code).toBe(0);
		expect(deviceSchema.parse(data)).toEqual(device);
	});

	test('the same device reads as in the list', async () => {
		const client = await start({ fleet: { size: 5 } });
		const [first] = (await client.list()).content;
		expect((await client.call('GET', `/api/device/sn/${first?.sn}`)).data).toEqual(first);
	});

	test.each(['', 'a b', 'a%2Fb', '%20', `${'x'.repeat(65)}`, 'caf%C3%A9', '%3Cb%3E'])(
		'%p is no serial number: 10018',
		async (sn) => {
			const client = await start();
			const { code, msg } = await client.call('GET', `/api/device/sn/${sn.replace(' ', '%20')}`);
			expect(code).toBe(10018);
			expect(msg).toBe(`invalid sn ${decodeURIComponent(sn)}`.trim());
		},
	);

	test('64 characters are a serial number', async () => {
		const client = await start({ fleet: named({ sn: 'x'.repeat(64) }) });
		expect((await client.call('GET', `/api/device/sn/${'x'.repeat(64)}`)).code).toBe(0);
	});

	test.each([
		[10007, 'device NONE non-existent'],
		[14401, 'invalid or non-existent equipment'],
		[0, 'success'],
	] as const)('no such device is %i, as set', async (noDeviceCode, msg) => {
		const client = await start({ noDeviceCode });
		expect(await client.call('GET', '/api/device/sn/NONE')).toEqual({ code: noDeviceCode, msg, data: null });
	});

	test('a percent sign that encodes nothing gets HTTP 400', async () => {
		const client = await start();
		expect((await client.send('GET', '/api/device/sn/%E0%A4%A')).status).toBe(400);
	});
});
