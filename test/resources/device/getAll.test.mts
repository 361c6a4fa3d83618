import { type Device, Fleet, type PlatformRequest } from '../../../testbed/platform/server.mts';
import type { NodeRun } from '../../../testbed/bench.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf, outputOf, pairedItemsOf, serialNumbersOf } from '../../../testbed/output.mts';

/** Text that a URL, a form or a careless client would change on its way. */
const AWKWARD_TEXTS = [
	'two words',
	' spaces  within ',
	'a & b',
	'a=b;c',
	'#7 hash',
	'1+1 = 2',
	'100 % sure',
	'%41%2C',
	'what/where?',
	'back\\slashes\\',
	'"double" and \'single\'',
	'[0] {x} <y>',
	'Łódź, Köln',
	'東京の冷蔵庫',
	'مستودع دبي',
	'🚚 👩‍🔧 on the way',
	'e\u0301 not composed',
] as const;

const bench = useBench();

const getMany = async (parameters: Record<string, unknown>, run: NodeRun = {}) => {
	bench.platform.forget();
	return await bench.run({ resource: 'device', operation: 'getAll', ...parameters }, run);
};
const all = async (parameters: Record<string, unknown>, run: NodeRun = {}) =>
	await getMany({ returnAll: true, ...parameters }, run);
const truth = (fits: (device: Device) => boolean = () => true) => bench.fleet.devices.filter(fits).map(({ sn }) => sn);
const lists = (): PlatformRequest[] => bench.platform.requestsOf('list');
const firstList = (): PlatformRequest => {
	const [first] = lists();
	if (first === undefined) throw new Error('No list was asked for');
	return first;
};
const sizes = () => lists().map(({ query }) => query['size']);

test('devices with the same ID and different serial numbers are all listed, without a hint', async () => {
	const { devices } = Fleet.seeded({ size: 30 });
	bench.platform.fleet = new Fleet(devices.map((device, at) => ({ ...device, id: `id ${at % 20}` })));
	for (const pageSize of [7, 100]) {
		const result = await all({ options: { pageSize } });
		expect(serialNumbersOf(result)).toEqual(truth());
		expect(result.hints('Devices')).toEqual([]);
	}
});

describe('how many', () => {
	it.each(['apiKey', 'login'] as const)(
		'Return All lists the whole fleet once and in its order, signed in by %s',
		async (way) => {
			const result = await all({ options: { pageSize: 40 } }, { credential: bench[way] });
			expect(serialNumbersOf(result)).toEqual(truth());
			expect(lists()).toHaveLength(7);
		},
	);

	it('Return All of an empty fleet returns no items and sends one request', async () => {
		bench.platform.fleet = new Fleet([]);
		expect(outputOf(await all({}))).toEqual([]);
		expect(lists()).toHaveLength(1);
	});

	it('by default it returns the first 50 and requests no more than 50', async () => {
		expect(serialNumbersOf(await getMany({}))).toEqual(truth().slice(0, 50));
		expect(lists().map(({ query }) => query)).toEqual([{ size: '50' }]);
	});

	it.each([
		{ limit: 1, pages: 1 },
		{ limit: 39, pages: 1 },
		{ limit: 40, pages: 1 },
		{ limit: 41, pages: 2 },
		{ limit: 80, pages: 2 },
		{ limit: 100, pages: 3 },
		{ limit: 250, pages: 7 },
		{ limit: 100_000, pages: 7 },
	])(
		'Limit $limit with a page size of 40 costs $pages pages, however many requests may run at once',
		async ({ limit, pages }) => {
			const result = await getMany({ limit, options: { pageSize: 40, parallelRequests: 16 } });
			expect(serialNumbersOf(result)).toEqual(truth().slice(0, limit));
			expect(lists()).toHaveLength(pages);
		},
	);

	it('a Limit below the page size requests no larger page than needed', async () => {
		await getMany({ limit: 7, options: { pageSize: 40 } });
		expect(sizes()).toEqual(['7']);
	});

	it.each([
		{ limit: 7, pageSize: 40, asked: ['7', '40'] },
		{ limit: 7, pageSize: 1000, asked: ['7', '50'] },
		{ limit: 120, pageSize: 1000, asked: ['120', '50', '50', '50'] },
	])('a platform that accepts a few sizes only returns a Limit of $limit', async ({ limit, pageSize, asked }) => {
		bench.platform.settings.fault = ({ query }) =>
			['40', '50'].includes(String(query['size'])) ? undefined : { code: 10001 };
		expect(serialNumbersOf(await getMany({ limit, options: { pageSize } }))).toEqual(truth().slice(0, limit));
		expect(sizes()).toEqual(asked);
	});

	it('a Limit is about the devices that meet the filters', async () => {
		const result = await getMany({ limit: 60, filters: { compositeStatus: 2 }, options: { pageSize: 25 } });
		expect(serialNumbersOf(result)).toEqual(truth(({ status }) => status === 2).slice(0, 60));
	});
});

describe('paging', () => {
	it.each(['one-based', 'zero-based'] as const)(
		'the whole fleet is listed once from a %s platform',
		async (pageNumbering) => {
			bench.platform.settings.pageNumbering = pageNumbering;
			for (const pageSize of [83, 125, 251]) {
				expect(serialNumbersOf(await all({ options: { pageSize } }))).toEqual(truth());
			}
		},
	);

	describe('a fleet that keeps changing', () => {
		beforeEach(() => {
			bench.platform.settings.beforeAnswer = () => void bench.fleet.add();
		});

		it.each([{}, { ifFleetChanges: 'fail' }])('fails Return All with what to do: %j', async (more) => {
			const { error, ...result } = await all({ options: { pageSize: 60, ...more } });
			expect(error?.message).toBe('The list changed during each of 3 readings, so some items may be missing');
			expect(error?.description).toMatch(
				/^Run the workflow again.* set 'If the Fleet Keeps Changing' under 'Options' to/,
			);
			expect(result.data('Devices')).toEqual([]);
		});

		it('returns each device that was met once, with a hint, if the option says so', async () => {
			const result = await all({ options: { pageSize: 60, ifFleetChanges: 'return' } });
			const listed = serialNumbersOf(result);
			expect(listed.length).toBeGreaterThanOrEqual(250);
			expect(new Set(listed).size).toBe(listed.length);
			expect(result.hints('Devices')).toEqual([
				expect.objectContaining({
					type: 'warning',
					location: 'outputPane',
					message: expect.stringContaining(
						`The list changed during each of 3 readings. The output has ${listed.length} items, from all readings.`,
					),
				}),
			]);
		});

		it.each(['fail', 'return'])(
			'returns a Limit with a hint, although the option %s is left set',
			async (ifFleetChanges) => {
				const result = await getMany({ limit: 200, options: { pageSize: 60, ifFleetChanges } });
				expect(result.data('Devices')).toHaveLength(200);
				expect(result.hints('Devices')).toHaveLength(1);
			},
		);
	});

	it('if the platform miscounts, the output has what it lists, and a hint with both numbers', async () => {
		bench.platform.settings.changePage = (page) => ({ ...page, totalElements: page.totalElements + 5 });
		const result = await all({ options: { pageSize: 60 } });
		expect(serialNumbersOf(result)).toEqual(truth());
		expect(result.hints('Devices').map(({ message }) => message)).toEqual([
			'The platform reports a total of 255 items but lists 250 in each of 2 readings. The output has the items it lists.',
		]);
	});

	it('a device that moves to another page and gets another serial number there hides no other device', async () => {
		const { sn } = bench.fleet.at(0);
		const devices = truth().slice(1);
		let requests = 0;
		bench.platform.settings.beforeAnswer = () => {
			if (++requests === 2) bench.fleet.move(bench.fleet.update(sn, { sn: 'corrected' }).sn, 249);
		};
		const result = await all({ options: { pageSize: 60, parallelRequests: 1 } });
		expect(serialNumbersOf(result)).toEqual([...devices, 'corrected']);
	});

	it.each([0, 1])('if page %i has too many values, this run and the next ones read smaller pages', async (large) => {
		const log = new Array(6000).fill(0);
		bench.platform.settings.changePage = ({ content, ...page }, { query }) => {
			const isLarge = query['size'] === '100' && page.number === large;
			return { ...page, content: isLarge ? content.map((device) => ({ ...device, log })) : content };
		};
		expect(serialNumbersOf(await all({ options: { pageSize: 100, parallelRequests: 1 } }))).toEqual(truth());
		expect(sizes().filter((size) => size !== '100')).toEqual(new Array(5).fill('50'));
		expect(serialNumbersOf(await all({ options: { pageSize: 100, parallelRequests: 1 } }))).toEqual(truth());
		expect(sizes()).toEqual(new Array(5).fill('50'));
	});

	it('an unchanged fleet has no hint', async () => {
		expect((await all({ options: { pageSize: 60 } })).hints('Devices')).toEqual([]);
	});

	it('a platform that ignores the page parameter makes the run fail, and no part is returned as the whole list', async () => {
		bench.platform.settings.changePage = (page) => ({ ...page, content: bench.fleet.devices.slice(0, 60) });
		const result = await all({ options: { pageSize: 60 } });
		expect(result.error?.message).toMatch(/^Page 3 of the list has only items of earlier pages/);
		expect(result.data('Devices')).toEqual([]);
	});
});

describe('Skip', () => {
	it('costs the first page and three requests for one device more than the pages of the part', async () => {
		expect(serialNumbersOf(await getMany({ limit: 50, options: { skip: 100 } }))).toEqual(truth().slice(100, 150));
		expect(sizes()).toEqual(['50', '1', '1', '1', '50']);
	});

	it('with Return All, returns the rest of the devices that match the filters, in the sort order', async () => {
		const result = await all({
			filters: { compositeStatus: 2 },
			sort: {
				rule: [
					{ field: 'createTime', direction: 'asc' },
					{ field: 'id', direction: 'asc' },
				],
			},
			options: { skip: 17, pageSize: 20 },
		});
		expect(serialNumbersOf(result)).toEqual(
			truth(({ status }) => status === 2)
				.reverse()
				.slice(17),
		);
		for (const { body, query } of lists()) {
			expect(body).toEqual({ compositeStatus: 2 });
			expect(query).toMatchObject({ sort: 'createTime,id asc' });
		}
	});

	it('each item has its own part', async () => {
		const input = [0, 100, 200].map((skip) => ({ skip }));
		const result = await getMany({ limit: 100, options: { skip: '={{ $json.skip }}' } }, { input });
		expect(serialNumbersOf(result)).toEqual(truth());
	});
});

describe('filters', () => {
	it('Composite Status goes into the body as a number, also 0 and below', async () => {
		for (const compositeStatus of [0, 2, -1]) {
			const result = await all({ filters: { compositeStatus } });
			expect(firstList().body).toEqual({ compositeStatus });
			expect(serialNumbersOf(result)).toEqual(truth(({ status }) => status === compositeStatus));
		}
	});

	it('Search Criteria (JSON) go into the body with Composite Status, which has priority if both set it', async () => {
		const result = await all({
			filters: {
				compositeStatus: 2,
				body: '{"compositeStatus": 1, "creator": "山田", "model": {"vendor": "Lumen Field"}}',
			},
		});
		expect(firstList().body).toEqual({ compositeStatus: 2, creator: '山田', model: { vendor: 'Lumen Field' } });
		const expected = truth(
			({ status, creator, model }) => status === 2 && creator === '山田' && model.vendor === 'Lumen Field',
		);
		expect(expected.length).toBeGreaterThan(0);
		expect(serialNumbersOf(result)).toEqual(expected);
	});

	it('Search Criteria (JSON) may come from an expression as an object', async () => {
		await all({ filters: { body: '={{ $json.criteria }}' } }, { input: [{ criteria: { creator: 'admin' } }] });
		expect(firstList().body).toEqual({ creator: 'admin' });
	});

	it('without filters the body is an empty object and the query has nothing but the size', async () => {
		await all({ filters: {} });
		expect(firstList().body).toEqual({});
		expect(firstList().query).toEqual({ size: '1000' });
		expect(firstList().headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' });
	});

	it.each(AWKWARD_TEXTS)('the text %j arrives as it is in every filter', async (text) => {
		const device = { description: text, tags: ['other', text.trim()], attributes: { 'lage.im-Haus_7': text } };
		const { sn } = bench.fleet.add(bench.fleet.make(device));
		const parameter = [
			{ name: 'description', value: text },
			{ name: `x ${text}`.trim(), value: '1' },
		];
		// Tags and attributes are lists with commas on the wire.
		const lists = { tags: text, attributes: { pair: [{ key: 'lage.im-Haus_7', value: text }] } };
		const result = await all({ filters: { name: text, query: { parameter }, ...(text.includes(',') ? {} : lists) } });
		expect(firstList().query).toEqual({
			name: text,
			description: text,
			[`x ${text}`.trim()]: '1',
			...(text.includes(',') ? {} : { tags: text.trim(), attributes: `lage.im-Haus_7 ${text}` }),
			size: '1000',
		});
		expect(serialNumbersOf(result)).toEqual([sn]);
	});

	it('several tags are joined by commas, empty ones left out', async () => {
		const result = await all({ filters: { tags: ' indoor ,, pilot,' } });
		expect(firstList().query['tags']).toBe('indoor,pilot');
		const expected = truth(({ tags }) => tags.includes('indoor') && tags.includes('pilot'));
		expect(expected.length).toBeGreaterThan(0);
		expect(serialNumbersOf(result)).toEqual(expected);
	});

	it('a list of tags from an expression is the same as text with commas', async () => {
		await all({ filters: { tags: '={{ $json.tags }}' } }, { input: [{ tags: ['indoor', 'cold chain'] }] });
		expect(firstList().query['tags']).toBe('indoor,cold chain');
	});

	it('several attributes share one parameter, key and value apart by a space, pairs apart by a comma', async () => {
		const result = await all({
			filters: {
				attributes: {
					pair: [
						{ key: 'site', value: 'São Paulo' },
						{ key: ' floor ', value: 3 },
					],
				},
			},
		});
		expect(firstList().query['attributes']).toBe('site São Paulo,floor 3');
		const expected = truth(({ attributes }) => attributes['site'] === 'São Paulo' && attributes['floor'] === 3);
		expect(expected.length).toBeGreaterThan(0);
		expect(serialNumbersOf(result)).toEqual(expected);
	});

	it('a query parameter that is set twice arrives twice', async () => {
		const result = await all({
			filters: {
				query: {
					parameter: [
						{ name: 'creator', value: 'admin' },
						{ name: 'creator', value: '山田' },
					],
				},
			},
		});
		expect(firstList().query['creator']).toEqual(['admin', '山田']);
		expect(serialNumbersOf(result)).toEqual(truth(({ creator }) => creator === 'admin' || creator === '山田'));
	});

	it('all filters, a sort and paging go together, on every page', async () => {
		const result = await all({
			filters: {
				compositeStatus: 2,
				name: 'R',
				tags: 'indoor',
				body: '{"onlineStatus": 1}',
				query: {
					parameter: [
						{ name: 'creator', value: 'admin' },
						{ name: 'creator', value: 'import' },
						{ name: 'creator', value: '山田' },
					],
				},
			},
			sort: { rule: [{ field: 'sn', direction: 'asc' }] },
			options: { pageSize: 1, parallelRequests: 1 },
		});
		const expected = bench.fleet.devices
			.filter(
				({ status, onlineStatus, tags, creator }) =>
					status === 2 &&
					onlineStatus === 1 &&
					tags.includes('indoor') &&
					['admin', 'import', '山田'].includes(creator),
			)
			.filter(({ sn, description, model }) => [sn, description ?? '', model.name].some((text) => /r/i.test(text)))
			.map(({ sn }) => sn)
			.sort();
		expect(expected.length).toBeGreaterThan(1);
		expect(serialNumbersOf(result)).toEqual(expected);
		for (const { body, query } of lists()) {
			expect(body).toEqual({ compositeStatus: 2, onlineStatus: 1 });
			expect(query).toMatchObject({
				name: 'R',
				tags: 'indoor',
				creator: ['admin', 'import', '山田'],
				sort: 'sn asc',
				size: '1',
			});
		}
	});
});

describe('sort', () => {
	const rule = (field: string, direction?: 'asc' | 'desc', attribute?: string) => ({
		field,
		...(direction === undefined ? {} : { direction }),
		...(attribute === undefined ? {} : { attribute }),
	});
	const compare = (one: unknown, other: unknown) =>
		String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;

	it.each([
		{
			name: 'a direction that comes back',
			rules: [rule('creator', 'asc'), rule('status', 'asc'), rule('sn', 'desc'), rule('id', 'asc')],
			wire: ['creator,status asc', 'sn desc', 'id asc'],
		},
		{
			name: 'a name of the platform, and an attribute with dots and letters of any script',
			rules: [rule('custom', 'asc', 'model.name'), rule('attributes', 'asc', ' расположение.x ')],
			wire: 'model.name,attributes.расположение.x asc',
		},
		{ name: 'nothing chosen', rules: [{}], wire: 'createTime desc' },
	])('$name: sort=$wire', async ({ rules, wire }) => {
		bench.platform.settings.fault = () => ({ code: 0, data: { content: [] } });
		await all({ sort: { rule: rules } });
		expect(firstList().query['sort']).toEqual(wire);
	});

	it('without rules no sort is sent', async () => {
		await all({ sort: {} });
		expect(firstList().query).not.toHaveProperty('sort');
	});

	it('the output keeps the platform’s order over all pages', async () => {
		const result = await all({
			sort: { rule: [rule('creator', 'asc'), rule('createTime', 'desc'), rule('sn', 'desc')] },
			options: { pageSize: 30 },
		});
		const expected = [...bench.fleet.devices].sort(
			(one, other) =>
				compare(one.creator, other.creator) || compare(other.createTime, one.createTime) || compare(other.sn, one.sn),
		);
		expect(serialNumbersOf(result)).toEqual(expected.map(({ sn }) => sn));
		for (const { query } of lists()) expect(query['sort']).toEqual(['creator asc', 'createTime,sn desc']);
	});
});

describe('output', () => {
	it('raw is the platform’s record, untouched, unknown fields included', async () => {
		const future = { deep: [1, null, { '': 'x' }], big: 1e300 };
		bench.platform.settings.changePage = (page) => ({
			...page,
			content: page.content.map((device) => ({ ...device, future })),
		});
		const result = await all({ output: 'raw', options: { pageSize: 100 } });
		expect(jsonOf(result)).toEqual(bench.fleet.devices.map((device) => ({ ...device, future })));
	});

	it('simplified is ten flat fields and the default', async () => {
		const expected = bench.fleet.devices.map((device) => ({
			id: device.id,
			sn: device.sn,
			onlineStatus: device.onlineStatus,
			status: device.status,
			modelName: device.model.name,
			groupName: device.group.name,
			tags: device.tags,
			description: device.description,
			createTime: device.createTime,
			updateTime: device.updateTime,
		}));
		expect(jsonOf(await all({ output: 'simplified' }))).toEqual(expected);
		expect(jsonOf(await all({}))).toEqual(expected);
	});

	it('a selected name that no device has gives one hint, however many items ask for it', async () => {
		const fields = ['sn', 'onlinestatus', 'imei'];
		const input = [{ fields }, { fields }, { fields: ['sn'] }];
		const result = await getMany({ limit: 2, output: 'selected', fields: '={{ $json.fields }}' }, { input });
		expect(outputOf(result)).toHaveLength(6);
		expect(result.hints('Devices').map(({ message }) => message)).toEqual([
			'The platform returned no device with the field "onlinestatus". Check the names in \'Fields\'.',
		]);
		bench.platform.fleet = new Fleet([]);
		expect((await getMany({ output: 'selected', fields: '={{ $json.fields }}' }, { input })).hints('Devices')).toEqual(
			[],
		);
	});

	it('selected is the ID and the chosen fields', async () => {
		const result = await all({ output: 'selected', fields: ['attributes', 'imei', 'group'] });
		expect(jsonOf(result)).toEqual(
			bench.fleet.devices.map(({ id, attributes, imei, group }) => ({ id, attributes, imei, group })),
		);
		expect(jsonOf(await all({ output: 'selected', fields: [] }))).toEqual(
			bench.fleet.devices.map(({ id }) => ({ id })),
		);
	});

	it('a device without model, group or tags still goes through', async () => {
		bench.platform.settings.changePage = (page) => ({
			...page,
			content: [{ id: 'x', sn: 'bare', model: null }],
			totalElements: 1,
			totalPages: 1,
			last: true,
		});
		expect(jsonOf(await all({}))).toEqual([
			expect.objectContaining({ id: 'x', sn: 'bare', modelName: null, groupName: null }),
		]);
	});
});

describe('several input items', () => {
	it('expressions hold for each item; the output is in the order of the input and paired with it', async () => {
		// The first item's answer waits until the last item's request has come.
		let letGo = () => {};
		const lastHasCome = new Promise<void>((resolve) => (letGo = resolve));
		bench.platform.settings.beforeAnswer = async ({ body }) => {
			if (JSON.stringify(body) === '{"compositeStatus":1}') letGo();
			if (JSON.stringify(body) === '{"compositeStatus":2}') await lastHasCome;
		};
		const result = await getMany(
			{
				limit: '={{ $json.limit }}',
				output: '={{ $json.output }}',
				filters: { compositeStatus: '={{ $json.status }}' },
			},
			{
				input: [
					{ status: 2, limit: 3, output: 'simplified' },
					{ status: 3, limit: '2', output: 'selected' },
					{ status: 1, limit: 4, output: 'simplified' },
				],
			},
		);
		const expected = (status: number, limit: number) => truth((device) => device.status === status).slice(0, limit);
		expect(serialNumbersOf(result)).toEqual([...expected(2, 3), ...expected(3, 2), ...expected(1, 4)]);
		expect(pairedItemsOf(result)).toEqual([0, 0, 0, 1, 1, 2, 2, 2, 2]);
		expect(Object.keys(jsonOf(result)[3] ?? {})).toEqual(['id', 'sn', 'onlineStatus', 'status']);
	});

	it.each([1, 25])('the credential is read once an item for %i items and many pages', async (items) => {
		const before = bench.engine.credentialUse;
		await all({ options: { pageSize: 100 } }, { input: Array.from({ length: items }, () => ({})) });
		expect(lists()).toHaveLength(items * 3);
		expect(bench.engine.credentialUse.decrypted - before.decrypted).toBe(items);
	});
});
