import { type Device, Fleet, type PlatformRequest } from '../../../testbed/platform/server.mts';
import type { NodeRun } from '../../../testbed/bench.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf, outputOf, pairedItemsOf, serialNumbersOf } from '../../../testbed/output.mts';
import { inGroupsOf } from '../../../testbed/platform/inGroupsOf.mts';

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

	it('a platform that silently cuts large pages is read to its end', async () => {
		bench.platform.settings.largestSize = 30;
		expect(serialNumbersOf(await all({ options: { pageSize: 100 } }))).toEqual(truth());
		expect(lists()).toHaveLength(9);
	});

	it.each([
		{ largestSize: 300, asked: ['1000', '200'] },
		{ largestSize: 60, asked: ['1000', '200', '50'] },
	])('a platform that refuses pages above $largestSize is asked for smaller ones', async ({ largestSize, asked }) => {
		Object.assign(bench.platform.settings, { largestSize, largerSize: 'refuse' });
		expect(serialNumbersOf(await all({}))).toEqual(truth());
		expect([...new Set(sizes())]).toEqual(asked);
	});

	it('as many requests run at once as Parallel Requests says, and never more', async () => {
		const hold = inGroupsOf(3);
		bench.platform.settings.beforeAnswer = async ({ page }) => (page === 0 ? undefined : await hold());
		const result = await all({ options: { pageSize: 10, parallelRequests: 3 } });
		expect(serialNumbersOf(result)).toEqual(truth());
		expect(bench.platform.peakInFlight).toBe(3);
	});

	it('several input items share the limit of parallel requests', async () => {
		bench.platform.settings.latencyMs = 1;
		await all({ options: { pageSize: 10, parallelRequests: 2 } }, { input: [{}, {}, {}, {}, {}] });
		expect(bench.platform.peakInFlight).toBe(2);
	});

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

	it.each([
		[
			{ limit: 200 },
			150,
			'The platform reports a total of 250 items but lists 150 in each of 2 readings. The output has the items it lists.',
		],
		[
			{ limit: 100, options: { skip: 100 } },
			50,
			'The platform reports a total of 150 items after the first 100 but lists 50 in each of 2 readings. The output has the items it lists.',
		],
		[{ limit: 150 }, 150, undefined],
		[{ limit: 50, options: { skip: 100 } }, 50, undefined],
	])(
		'a Limit that is not filled where the platform counts more than it lists is explained: %j',
		async (parameters, count, remark) => {
			const listed = ({ pageable, content }: { pageable: { offset: number }; content: readonly Device[] }) =>
				content.filter((_, index) => pageable.offset + index < 150);
			bench.platform.settings.changePage = (page) => ({ ...page, content: listed(page) });
			const result = await getMany(parameters);
			expect(result.data('Devices')).toHaveLength(count);
			expect(result.hints('Devices').map(({ message }) => message)).toEqual(remark === undefined ? [] : [remark]);
		},
	);

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
	it('parts meet, also on a platform that counts pages from 0 and cuts them', async () => {
		Object.assign(bench.platform.settings, { pageNumbering: 'zero-based', largestSize: 40 });
		const parts: unknown[] = [];
		for (let skip = 0; skip <= bench.fleet.size; skip += 90) {
			const result = await getMany({ limit: 90, options: { pageSize: 60, skip } });
			parts.push(...serialNumbersOf(result));
			expect(result.hints('Devices')).toEqual([]);
		}
		expect(parts).toEqual(truth());
	});

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

	it('past the end returns no items', async () => {
		for (const skip of [250, 251, Number.MAX_SAFE_INTEGER])
			expect(outputOf(await getMany({ options: { skip } }))).toEqual([]);
	});

	it('0, the default, sends the same requests as without it', async () => {
		expect(serialNumbersOf(await getMany({ options: { skip: 0 } }))).toEqual(truth().slice(0, 50));
		expect(lists()).toHaveLength(1);
	});

	it('each item has its own part', async () => {
		const input = [0, 100, 200].map((skip) => ({ skip }));
		const result = await getMany({ limit: 100, options: { skip: '={{ $json.skip }}' } }, { input });
		expect(serialNumbersOf(result)).toEqual(truth());
	});

	it('a part of a fleet that never holds still says so', async () => {
		bench.platform.settings.beforeAnswer = () => void bench.fleet.add();
		const result = await getMany({ limit: 20, options: { skip: 30, pageSize: 10 } });
		expect(result.hints('Devices').map(({ message }) => message)).toEqual([
			expect.stringContaining('The output has 20 items after the first 30, from all readings'),
		]);
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

	it.each(AWKWARD_TEXTS)('Name %j arrives as it is', async (text) => {
		const { sn } = bench.fleet.add(bench.fleet.make({ description: `before ${text} after` }));
		const result = await all({ filters: { name: text } });
		expect(firstList().query).toEqual({ name: text, size: '1000' });
		expect(serialNumbersOf(result)).toEqual([sn]);
	});

	it.each(AWKWARD_TEXTS.filter((text) => !text.includes(',')))('Tag %j arrives as it is', async (text) => {
		const { sn } = bench.fleet.add(bench.fleet.make({ tags: ['other', text.trim()] }));
		const result = await all({ filters: { tags: text } });
		expect(firstList().query['tags']).toBe(text.trim());
		expect(serialNumbersOf(result)).toEqual([sn]);
	});

	it.each(AWKWARD_TEXTS.filter((text) => !text.includes(',')))(
		'the attribute value %j arrives as it is',
		async (text) => {
			const { sn } = bench.fleet.add(bench.fleet.make({ attributes: { 'lage.im-Haus_7': text } }));
			const result = await all({ filters: { attributes: { pair: [{ key: 'lage.im-Haus_7', value: text }] } } });
			expect(firstList().query['attributes']).toBe(`lage.im-Haus_7 ${text}`);
			expect(serialNumbersOf(result)).toEqual([sn]);
		},
	);

	it.each(AWKWARD_TEXTS)('a query parameter %j arrives as it is, in its name and its value', async (text) => {
		const { sn } = bench.fleet.add(bench.fleet.make({ description: text }));
		const result = await all({
			filters: {
				query: {
					parameter: [
						{ name: 'description', value: text },
						{ name: `x ${text}`.trim(), value: '1' },
					],
				},
			},
		});
		expect(firstList().query).toEqual({ description: text, [`x ${text}`.trim()]: '1', size: '1000' });
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
		{ name: 'one field', rules: [rule('name', 'desc')], wire: 'name desc' },
		{ name: 'two fields of one direction', rules: [rule('creator', 'asc'), rule('sn', 'asc')], wire: 'creator,sn asc' },
		{ name: 'two directions', rules: [rule('creator', 'asc'), rule('sn', 'desc')], wire: ['creator asc', 'sn desc'] },
		{
			name: 'a direction that comes back',
			rules: [rule('creator', 'asc'), rule('status', 'asc'), rule('sn', 'desc'), rule('id', 'asc')],
			wire: ['creator,status asc', 'sn desc', 'id asc'],
		},
		{ name: 'an attribute', rules: [rule('attributes', 'desc', ' site ')], wire: 'attributes.site desc' },
		{
			name: 'an attribute with dots and letters of any script',
			rules: [rule('attributes', 'asc', 'расположение.x')],
			wire: 'attributes.расположение.x asc',
		},
		{ name: 'a name of the platform', rules: [rule('custom', 'asc', 'model.name')], wire: 'model.name asc' },
		{ name: 'no direction chosen', rules: [rule('sn')], wire: 'sn desc' },
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
		const fields = ['sn', 'onlinestatus'];
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

	it('signed in by login, one login serves all items and the token is used by the next run', async () => {
		const login = await bench.engine.saveCredential({
			name: 'Fresh login',
			type: 'deviceManagementApi',
			data: {
				baseUrl: bench.platform.baseUrl,
				authentication: 'login',
				loginName: bench.platform.loginName,
				password: bench.platform.password,
			},
		});
		await all({}, { credential: login, input: [{}, {}, {}, {}, {}] });
		expect(bench.platform.logins).toEqual({ attempted: 1, succeeded: 1 });
		const before = bench.engine.credentialUse;
		await all({}, { credential: login, input: [{}, {}, {}, {}, {}] });
		expect(bench.platform.logins.attempted).toBe(0);
		expect(bench.engine.credentialUse.decrypted - before.decrypted).toBe(5);
	});

	it('after an item has stopped the run, no other item requests more pages', async () => {
		let secondCame = () => {};
		let letGo = () => {};
		const secondHasCome = new Promise<void>((resolve) => (secondCame = resolve));
		const runIsOver = new Promise<void>((resolve) => (letGo = resolve));
		bench.platform.settings.beforeAnswer = async ({ query }) => {
			if (query['name'] === 'first') return await secondHasCome;
			if (query['name'] !== 'R') return;
			secondCame();
			await runIsOver;
		};
		bench.platform.settings.fault = ({ query }) => (query['name'] === 'first' ? { code: 10005 } : undefined);
		const result = await all(
			{ filters: { name: '={{ $json.name }}' }, options: { pageSize: 5 } },
			{ input: [{ name: 'first' }, { name: 'R' }] },
		);
		expect(result.error?.message).toBe('The platform could not run the query (code 10005: query failed) [item 0]');
		const asked = () => bench.platform.requests.filter(({ query }) => query['name'] !== undefined);
		expect(asked()).toHaveLength(2);
		letGo();
		// Whole runs, so that released requests have had time to continue.
		const { requests } = bench.platform;
		for (let round = 0; round < 3; round++) {
			await bench.engine.listSearch({}, bench.engine.credentialReference(bench.apiKey), 'searchDevices');
		}
		expect(requests.filter(({ query }) => query['name'] === 'R')).toHaveLength(1);
	});

	it('under “continue” a failed item says why in its place and the others are whole', async () => {
		bench.platform.settings.fault = ({ body }) =>
			JSON.stringify(body) === '{"compositeStatus":3}' ? { code: 10005 } : undefined;
		const result = await getMany(
			{ limit: 2, filters: { compositeStatus: '={{ $json.status }}' } },
			{ input: [{ status: 2 }, { status: 3 }, { status: 1 }], onError: 'continueRegularOutput' },
		);
		expect(pairedItemsOf(result)).toEqual([0, 0, 1, 2, 2]);
		expect(jsonOf(result)[2]).toEqual({
			error: 'The platform could not run the query (code 10005: query failed) [item 1]',
			details: {
				description: expect.stringContaining("Check the names under 'Filters' and in the sort rules."),
				code: 10005,
				httpStatus: 200,
			},
		});
	});
});
