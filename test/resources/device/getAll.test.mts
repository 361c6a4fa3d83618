/** What Get Many asks for and returns. Paging is proved in test/core/paging, the query of filters and sort in test/fields. */
import fc from 'fast-check';

import type { NodeRun } from '../../../testbed/bench.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf, outputOf, pairedItemsOf, serialNumbersOf } from '../../../testbed/output.mts';
import { type Device, Fleet, type Settings } from '../../../testbed/platform/server.mts';
import { runs } from '../../../testbed/runs.mts';
import { getMany, type Parameters, runAlone } from '../../../testbed/oneItem.mts';

const bench = useBench();

const list = async (parameters: Parameters, run: NodeRun = {}) => await bench.run({ ...getMany, ...parameters }, run);
const all = async (parameters: Parameters, run: NodeRun = {}) => await list({ returnAll: true, ...parameters }, run);
const truth = (fits: (device: Device) => boolean = () => true) => bench.fleet.devices.filter(fits).map(({ sn }) => sn);
const lists = () => bench.platform.requestsOf('list');
const sizes = () => lists().map(({ query }) => query['size']);
const hintsOf = (result: Awaited<ReturnType<typeof list>>) => result.hints('Devices').map(({ message }) => message);

describe('how many', () => {
	test('Return All lists the whole fleet once', async () => {
		const result = await all({ options: { pageSize: 40 } });
		expect(serialNumbersOf(result)).toEqual(truth());
		expect(hintsOf(result)).toEqual([]);
		expect(lists()).toHaveLength(7);
		const headers = { 'content-type': 'application/json', accept: 'application/json' };
		expect(lists()[0]).toMatchObject({ body: {}, query: { size: '40' }, headers });
	});

	test.each<[parameters: Parameters, devices: number, sizes: string[]]>([
		[{}, 50, ['50']],
		[{ limit: '41', options: { pageSize: 40, parallelRequests: 16 } }, 41, ['40', '40']],
	])('with %j, returns %i devices and reads pages of %j', async (parameters, devices, asked) => {
		expect(serialNumbersOf(await list(parameters))).toEqual(truth().slice(0, devices));
		expect(sizes()).toEqual(asked);
	});

	test('Skip costs the first page more than the pages of the part', async () => {
		const result = await list({ options: { skip: 100 } });
		expect(serialNumbersOf(result)).toEqual(truth().slice(100, 150));
		expect(hintsOf(result)).toEqual(["Parts may overlap or have gaps. Sort every part by 'ID' last."]);
		expect(sizes()).toEqual(['50', '50']);
		const bySn = { rule: [{ field: 'sn' }] };
		expect(hintsOf(await list({ sort: bySn, options: { skip: 100 } }))).toEqual([]);
	});
});

const CHANGED = 'The list kept changing, so some items may be missing';

describe('a list that changes or contradicts itself', () => {
	const HINT = `${CHANGED}. Run the node again`;

	test.each<[what: string, parameters: Parameters, error: string | undefined, hint: string | undefined]>([
		['fails Return All', {}, CHANGED, undefined],
		['is returned with a hint if chosen', { options: { ifFleetChanges: 'return' } }, undefined, HINT],
		['is returned with a hint for a Limit', { returnAll: false, limit: 200 }, undefined, HINT],
	])('%s', async (_what, parameters, error, hint) => {
		bench.platform.settings.beforeAnswer = () => void bench.fleet.add();
		const result = await all({ ...parameters, options: { pageSize: 60, ...Object(parameters['options']) } });
		expect(result.error?.message).toBe(error);
		if (error) expect(result.error?.description).toContain("change 'If the List Keeps Changing'");
		const listed = result.data('Devices').map(({ json }) => json['sn']);
		expect(new Set(listed).size).toBe(listed.length);
		expect(listed.length >= 200).toBe(error === undefined);
		const warning = { type: 'warning', location: 'outputPane', message: expect.stringContaining(String(hint)) };
		expect(result.hints('Devices')).toEqual(hint ? [expect.objectContaining(warning)] : []);
	});

	test('devices with the same ID are all listed without a hint, although the output lacks their serial numbers', async () => {
		const { devices } = Fleet.seeded({ size: 30 });
		bench.platform.fleet = new Fleet(devices.map((device, at) => ({ ...device, id: `id ${at % 20}` })));
		const result = await all({ options: { pageSize: 7 }, output: 'selected', fields: ['imei'] });
		expect(jsonOf(result)).toEqual(bench.fleet.devices.map(({ id, imei }) => ({ id, imei })));
		expect(hintsOf(result)).toEqual([]);
	});
});

describe('devices with equal sort values, which have another order on each page', () => {
	const sort = { rule: [{ field: 'onlineStatus', direction: 'asc' }, { field: 'status' }] };
	const both = ['onlineStatus asc,status desc', 'onlineStatus asc,status,id desc'];

	test.each<[what: string, Parameters, Partial<Settings>, devices: number | undefined, sorts: string[]]>([
		['with Sort, by ID after the last rule', { sort }, {}, 250, both],
		['without Sort, by ID', {}, {}, 250, ['', 'id asc']],
		['up to a lower Limit in the platform’s own order', { limit: 249 }, {}, 182, ['']],
		['not after some, in the order of other parts', { options: { skip: 1 } }, {}, undefined, ['']],
		['not if the ID is refused', {}, { idSort: 'refused' }, undefined, ['', 'id asc']],
	])('are all listed %s', async (_what, parameters, settings, devices, sorts) => {
		Object.assign(bench.platform.settings, { equalValues: 'unsteady', ownSort: 'onlineStatus asc', ...settings });
		const options = { pageSize: 60, ...Object(parameters['options']) };
		const result = await all({ returnAll: parameters['limit'] === undefined, ...parameters, options });
		expect(result.error?.message).toBe(devices === undefined ? CHANGED : undefined);
		expect(new Set(result.data('Devices').map(({ json }) => json['sn'])).size).toBe(devices ?? 0);
		expect(hintsOf(result)).toEqual(devices === 182 ? [expect.stringContaining(CHANGED)] : []);
		expect(new Set(lists().map(({ query }) => String(query['sort'] ?? '')))).toEqual(new Set(sorts));
	});
});

test('a note names Return All if the default limit cut the lists of several items, because n8n does it for one', async () => {
	const message = `50 of ${bench.fleet.size} devices. Turn on 'Return All' for all.`;
	const input = [{}, {}];
	expect((await list({}, { input })).hints('Devices')).toMatchObject([{ message, type: 'info' }]);
	expect(hintsOf(await list({}))).toEqual([]);
	expect(hintsOf(await list({ limit: 49 }, { input }))).toEqual([]);
	const bySn = { rule: [{ field: 'sn' }] };
	expect(hintsOf(await list({ options: { skip: 10 }, sort: bySn }, { input }))).toEqual([]);
	expect(hintsOf(await list({ filters: { name: bench.fleet.at(0).sn } }, { input }))).toEqual([]);
});

test('filters and sort rules go with every page, also after Skip, and the output keeps the platform’s order', async () => {
	const query = { creator: ['admin', 'import', '山田'], sort: ['creator asc', 'sn desc'] };
	const parameter = query.creator.map((value) => ({ name: 'creator', value }));
	const filters = { body: '{"onlineStatus": 1}', query: { parameter } };
	const sort = { rule: [{ field: 'creator', direction: 'asc' }, { field: 'sn' }] };
	const result = await all({ filters, sort, options: { skip: 17, pageSize: 10, parallelRequests: 1 } });
	expect(hintsOf(result)).toEqual([]);
	const online = (name: string) => truth((one) => one.creator === name && one.onlineStatus === 1).sort();
	const expected = query.creator.flatMap((name) => online(name).reverse()).slice(17);
	expect(expected.length).toBeGreaterThan(20);
	expect(serialNumbersOf(result)).toEqual(expected);
	for (const page of lists()) expect(page).toMatchObject({ body: { onlineStatus: 1 }, query });
});

describe('the filters that the node checks', () => {
	interface Row {
		readonly sn: string;
		readonly onlineStatus?: unknown;
		readonly group?: unknown;
	}
	/** Runs an operation on a platform with these rows, which ignores all filters. */
	const listed = async (rows: () => readonly Row[], filters: object, more: Parameters = {}, unlisted = 0) =>
		await runAlone({ ...getMany, output: 'raw', ...more, filters: { name: 'R', ...filters } }, ({ query = {} }) => {
			const [all, at, size] = [rows(), Number(query['page'] ?? 0), Number(query['size'])];
			const [totalElements, totalPages] = [all.length + unlisted, Math.ceil(all.length / size)];
			const content = all.slice(at * size, (at + 1) * size);
			return { content, totalElements, totalPages, last: at >= totalPages - 1, number: at, size };
		});
	const rowsOf = (field: keyof Row, values: readonly unknown[]): Row[] =>
		values.map((value, at) => ({ sn: `SN${at}`, ...(value !== undefined && { [field]: value }) }));
	const statuses = [0, '0', false, 1, ' 1 ', true, 'TRUE', null, '', undefined, '00', [0], 2];
	const hall = { id: '7', name: 'Hall 7' };
	const named = [hall, { id: 7, name: 'HALL 7 ' }, { id: '8', name: '7' }];
	const groups = [...named, { id: '9' }, 'hall 7', 7, null, undefined, [hall]];

	test.each<[filter: object, field: keyof Row, values: readonly unknown[], kept: readonly unknown[]]>([
		[{ onlineStatus: 0 }, 'onlineStatus', statuses, [0, '0', false]],
		[{ onlineStatus: ' 1 ' }, 'onlineStatus', statuses, [1, ' 1 ', true, 'TRUE']],
		[{ group: ' hall 7' }, 'group', groups, [hall, groups[1], 'hall 7']],
		[{ group: 7 }, 'group', groups, [hall, groups[1], groups[2], 7]],
		[{ group: 'ZU\u0308RICH' }, 'group', ['zürich', 'Zurich'], ['zürich']],
		[{ group: '7', onlineStatus: 0 }, 'group', groups, []],
	])('%j keeps of the field %s %j only %j', async (filter, field, values, kept) => {
		const { output, sent } = await listed(() => rowsOf(field, values), filter, { returnAll: true });
		expect(output.map((device) => device[field])).toEqual(kept);
		expect(sent.map(({ body, query }) => [body, query])).toEqual([['{}', { size: '1000', name: 'R' }]]);
		const counted = await listed(() => rowsOf(field, values), filter, { operation: 'count' });
		expect(counted.output).toEqual([{ count: kept.length }]);
	});

	const tens = Array.from({ length: 12 }, (_, at) => ({ id: at, name: `G${at + 10}` }));
	const many = rowsOf('group', ['b', ...tens, 'b', null]);
	const long = rowsOf('group', [`A\n[ERROR] ${'x'.repeat(1e6)}`]);
	const NAMED = 'G10, G11, G12, G13, G14, G15, G16, G17, G18, G19 and 3 others';
	const missing = (rest: string) => [`The platform listed no device in the group "gone". ${rest}`];
	test.each<[what: string, rows: readonly Row[], filters: object, hints: string[]]>([
		['names ten groups that exist', many, { group: 'gone' }, missing(`The list has the groups ${NAMED}.`)],
		['is short', long, { group: 'gone' }, missing(`The list has the groups A [ERROR] ${'x'.repeat(290)}….`)],
		['says that there are none', rowsOf('onlineStatus', [1]), { group: 'gone' }, missing('The list has no groups.')],
		['is silent about a group of other devices', many, { group: 'B', onlineStatus: 5 }, []],
		['is silent about another filter', many, { onlineStatus: 5 }, []],
	])('a hint %s, also in Count', async (_, rows, filters, hints) => {
		for (const operation of ['getAll', 'count']) {
			expect((await listed(() => rows, filters, { operation })).hints).toEqual(hints);
		}
	});

	test('a note names Return All if the default limit cut the list', async () => {
		const rows = rowsOf('onlineStatus', new Array(51).fill(0));
		const hintsOn = async (some: readonly Row[], limit = 50) =>
			(await listed(() => some, { onlineStatus: 0 }, { limit })).hints;
		expect(await hintsOn(rows)).toEqual(["The first 50 devices. Turn on 'Return All' for all."]);
		expect([await hintsOn(rows.slice(1)), await hintsOn(rows, 49)]).toEqual([[], []]);
		const { hints } = await listed(() => rows.slice(1), { onlineStatus: 0 }, { limit: 50 }, 1);
		expect(hints).toEqual([expect.stringContaining('reports 51 items')]);
	});

	test('any fleet, filters and part give what a plain filter of the fleet gives', async () => {
		const device = fc.record({
			onlineStatus: fc.constantFrom(0, '0', false, 1, true, null),
			group: fc.constantFrom(hall, groups[1], groups[2], 'Hall 9', null),
		});
		const values = {
			onlineStatus: fc.constantFrom(0, 1, '1', true),
			group: fc.constantFrom('HALL 7', '7', ' hall 9 '),
		};
		const filters = fc.record(values, { requiredKeys: [] });
		const part = fc.record({ limit: fc.option(fc.integer({ min: 1, max: 40 })), skip: fc.nat(12) });
		const isOn = (value: unknown) => [1, '1', true].includes(value as number);
		const plain = (text: unknown) => String(text).trim().toLowerCase();
		const fits = ({ onlineStatus: status, group }: Row, { onlineStatus: wanted, group: name }: Partial<Row>) =>
			(wanted === undefined || (status !== null && isOn(status) === isOn(wanted))) &&
			(name === undefined || [group, ...Object.values(Object(group))].some((text) => plain(text) === plain(name)));
		const args = [fc.array(device, { maxLength: 60 }), filters, part, fc.integer({ min: 1, max: 25 })] as const;
		const check = fc.asyncProperty(...args, async (devices, wanted, { limit, skip }, pageSize) => {
			const rows: Row[] = devices.map((each, at) => ({ ...each, sn: `SN${at}` }));
			const more = { returnAll: limit === null, limit: limit ?? 50, options: { pageSize, skip } };
			const { output } = await listed(() => rows, wanted, more);
			expect(output).toEqual(rows.filter((row) => fits(row, wanted)).slice(skip, skip + (limit ?? Infinity)));
		});
		await fc.assert(check, runs(3000));
	});
});

const MODEL = { field: 'model' };
test.each([
	['a refusal names its only sort field', [MODEL], 10005, /^If the platform can't sort by 'model', change 'Sort'/],
	['also one with spaces', [{ field: 'attributes', attribute: 'a b' }], 10005, /sort by 'attributes.a b', change/],
	['a refusal names no sort field of several', [{ field: 'sn' }, MODEL], 10005, /^(?!If the platform can't sort)/],
	['another failure names no sort field', [MODEL], 14103, /^(?!If the platform can't sort)/],
])('%s', async (_, rule, code, remedy) => {
	bench.platform.settings.fault = () => ({ code });
	expect((await list({ sort: { rule } })).error?.description).toMatch(remedy);
});

test('a hint names a field that no device has, once for several items, and without devices not at all', async () => {
	const input = [{ fields: ['imie'] }, { fields: ['imie'] }, { fields: ['sn'] }];
	const parameters = { limit: 2, output: 'selected', fields: '={{ $json.fields }}' };
	const result = await list(parameters, { input });
	expect(outputOf(result)).toHaveLength(6);
	const hint = 'The platform returned no device with the field "imie". Check the names in \'Fields\'.';
	expect(hintsOf(result)).toEqual([hint]);
	bench.platform.fleet = new Fleet([]);
	expect(hintsOf(await list(parameters, { input }))).toEqual([]);
});

test('expressions are resolved for each item, whose output is paired with it', async () => {
	const input = [
		{ skip: 100, limit: 3, output: 'simplified' },
		{ skip: 200, limit: '2', output: 'selected' },
	];
	const options = { skip: '={{ $json.skip }}' };
	const result = await list({ limit: '={{ $json.limit }}', output: '={{ $json.output }}', options }, { input });
	expect(serialNumbersOf(result)).toEqual([...truth().slice(100, 103), ...truth().slice(200, 202)]);
	expect(pairedItemsOf(result)).toEqual([0, 0, 0, 1, 1]);
	expect(Object.keys(jsonOf(result)[3] ?? {})).toEqual(['id', 'sn', 'onlineStatus', 'status']);
});

test('the credential is read once for each item, however many pages are read', async () => {
	const before = bench.engine.credentialUse;
	await all({ options: { pageSize: 100 } }, { input: [{}, {}, {}] });
	expect(lists()).toHaveLength(9);
	expect(bench.engine.credentialUse.decrypted - before.decrypted).toBe(3);
});
