/** What Get Many asks for and returns. Paging is proved in test/core/paging, the query of filters and sort in test/fields. */
import type { NodeRun } from '../../../testbed/bench.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf, outputOf, pairedItemsOf, serialNumbersOf } from '../../../testbed/output.mts';
import { type Device, Fleet, type Settings } from '../../../testbed/platform/server.mts';
import { getMany, type Parameters, runAlone } from '../../fields/oneItem.mts';

const bench = useBench();

const list = async (parameters: Parameters, run: NodeRun = {}) => await bench.run({ ...getMany, ...parameters }, run);
const all = async (parameters: Parameters, run: NodeRun = {}) => await list({ returnAll: true, ...parameters }, run);
const truth = (fits: (device: Device) => boolean = () => true) => bench.fleet.devices.filter(fits).map(({ sn }) => sn);
const lists = () => bench.platform.requestsOf('list');
const sizes = () => lists().map(({ query }) => query['size']);
/** Devices that share 20 IDs. */
const sharingIds = (size: number) =>
	new Fleet(Fleet.seeded({ size }).devices.map((device, at) => ({ ...device, id: `id ${at % 20}` })));
const hintsOf = (result: Awaited<ReturnType<typeof list>>) => result.hints('Devices').map(({ message }) => message);

describe('how many', () => {
	test.each(['apiKey', 'login'] as const)('Return All lists the whole fleet once, signed in by %s', async (way) => {
		const result = await all({ options: { pageSize: 40 } }, { credential: bench[way] });
		expect(serialNumbersOf(result)).toEqual(truth());
		expect(hintsOf(result)).toEqual([]);
		expect(lists()).toHaveLength(7);
		expect(lists()[0]).toMatchObject({ body: {}, query: { size: '40' } });
		expect(lists()[0]?.headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' });
	});

	test.each<[parameters: Parameters, devices: number, sizes: string[]]>([
		[{}, 50, ['50']],
		[{ limit: 7, options: { pageSize: 40 } }, 7, ['7']],
		[{ limit: '41', options: { pageSize: 40, parallelRequests: 16 } }, 41, ['40', '40']],
		[{ limit: 100_000 }, 250, ['1000']],
	])('with %j, returns %i devices and reads pages of %j', async (parameters, devices, asked) => {
		expect(serialNumbersOf(await list(parameters))).toEqual(truth().slice(0, devices));
		expect(sizes()).toEqual(asked);
	});

	test('Skip costs the first page and three requests for one device more than the pages of the part', async () => {
		const result = await list({ options: { skip: 100 } });
		expect(serialNumbersOf(result)).toEqual(truth().slice(100, 150));
		expect(hintsOf(result)).toEqual(['Parts fit together only if every part, also the first, sorts by ID last.']);
		expect(sizes()).toEqual(['50', '1', '1', '1', '50']);
		const bySn = { rule: [{ field: 'sn' }] };
		expect(hintsOf(await list({ sort: bySn, options: { skip: 100 } }))).toEqual([]);
	});
});

describe('a list that changes or contradicts itself', () => {
	const CHANGED = 'The list changed during each of 3 readings';
	const HINT = `${CHANGED}. The output has`;

	test.each<[what: string, parameters: Parameters, error: string | undefined, hint: string | undefined]>([
		['fails Return All', {}, CHANGED, undefined],
		['fails Return All if chosen', { options: { ifFleetChanges: 'fail' } }, CHANGED, undefined],
		['is returned with a hint if chosen', { options: { ifFleetChanges: 'return' } }, undefined, HINT],
		['is returned with a hint for a Limit', { returnAll: false, limit: 200 }, undefined, HINT],
	])('%s', async (_what, parameters, error, hint) => {
		bench.platform.settings.beforeAnswer = () => void bench.fleet.add();
		const result = await all({ ...parameters, options: { pageSize: 60, ...Object(parameters['options']) } });
		expect(result.error?.message).toBe(error && `${error}, so some items may be missing`);
		if (error) expect(result.error?.description).toContain("set 'If the Fleet Keeps Changing' under 'Options'");
		const listed = result.data('Devices').map(({ json }) => json['sn']);
		expect(new Set(listed).size).toBe(listed.length);
		expect(listed.length >= 200).toBe(error === undefined);
		const warning = { type: 'warning', location: 'outputPane', message: expect.stringContaining(String(hint)) };
		expect(result.hints('Devices')).toEqual(hint ? [expect.objectContaining(warning)] : []);
	});

	test('devices with the same ID are all listed without a hint, although the output lacks their serial numbers', async () => {
		bench.platform.fleet = sharingIds(30);
		const result = await all({ options: { pageSize: 7 }, output: 'selected', fields: ['imei'] });
		expect(jsonOf(result)).toEqual(bench.fleet.devices.map(({ id, imei }) => ({ id, imei })));
		expect(hintsOf(result)).toEqual([]);
	});

	test('a device that moves to another page with another serial number hides no other device', async () => {
		const { sn } = bench.fleet.at(0);
		const devices = truth().slice(1);
		bench.platform.settings.beforeAnswer = ({ order }) => {
			if (order === 2) bench.fleet.move(bench.fleet.update(sn, { sn: 'corrected' }).sn, 249);
		};
		const result = await all({ options: { pageSize: 60, parallelRequests: 1 } });
		expect(serialNumbersOf(result)).toEqual([...devices, 'corrected']);
	});
});

test('pages too large to read make those of the account smaller, unless the smallest ones are too large, too', async () => {
	const read = async (most: number, parameters: Parameters, firstLarge = 0) => {
		bench.platform.settings.changePage = ({ content, ...page }, { query }) => {
			const log = new Array(600_000 / content.length).fill(0);
			const isLarge = Number(query['size']) > most && page.number >= firstLarge;
			return { ...page, content: isLarge ? content.map((each) => ({ ...each, log })) : content };
		};
		bench.platform.forget();
		const options = { pageSize: 100, parallelRequests: 1 };
		const result = await all({ options, ...parameters });
		const listed = truth().slice(0, Number(parameters['limit'] ?? Infinity));
		if (result.error === undefined) expect(serialNumbersOf(result)).toEqual(listed);
		return [result.error?.message, ...sizes()];
	};
	const fails = 'The response is larger than 500,000 values';
	expect(await read(50, {})).toEqual([undefined, '100', ...new Array(5).fill('50')]);
	expect(await read(0, { returnAll: false, limit: 3 })).toEqual([fails, '3']);
	expect(await read(100, {})).toEqual([undefined, ...new Array(5).fill('50')]);
	expect(await read(0, {})).toEqual([fails, '50', '10']);
	expect(await read(100, {})).toEqual([undefined, '100', '100', '100']);
	expect((await read(50, {}, 1)).slice(-6)).toEqual(['100', ...new Array(5).fill('50')]);
	expect(await read(10, { returnAll: false, limit: 30 })).toEqual([undefined, '30', '10', '10', '10']);
});

describe('devices with equal sort values, which have another order on each page', () => {
	const TIED = 'The pages of the list repeat items, probably because items with equal sort values have no order';
	const sorted = (...rules: string[]) => ({
		sort: { rule: rules.map((rule) => rule.split(' ')).map(([field, direction]) => ({ field, direction })) },
	});
	const [BY_STATUS, BY_ID, JOINED] = ['onlineStatus asc', 'id asc', 'onlineStatus,id asc'];
	const both = ['onlineStatus asc,status desc', 'onlineStatus asc,status,id desc'];
	/** The last page has a device twice. The total counts it once. */
	const changePage: Settings['changePage'] = ({ content, ...page }) => ({
		...page,
		content: page.last ? [...content, { ...content[0] }] : content,
	});

	test.each<[what: string, Parameters, Partial<Settings>, devices: number | undefined, sorts: string[]]>([
		['with Sort, by ID last', sorted(BY_STATUS), {}, 250, [BY_STATUS, JOINED]],
		['with two directions, by ID after the second', sorted(BY_STATUS, 'status desc'), {}, 250, both],
		['not if they share IDs, by ID already', sorted(BY_ID), {}, undefined, [BY_ID]],
		['without Sort, by ID', {}, {}, 250, ['', BY_ID]],
		['by ID, if pages have nothing new', { options: { pageSize: 2 } }, {}, 250, ['', BY_ID]],
		['up to a Limit with Sort', { ...sorted(BY_STATUS), limit: 170 }, {}, 170, [BY_STATUS, JOINED]],
		['up to a Limit of all without Sort', { limit: 250 }, {}, 250, ['', BY_ID]],
		['up to a lower Limit in the platform’s own order', { limit: 249 }, {}, 234, ['']],
		['without the ID, if the total has all', {}, { equalValues: 'steady', changePage }, 250, ['']],
		['not after some, in the order of other parts', { options: { skip: 1 } }, {}, undefined, ['']],
		['not if the ID is refused last', sorted(BY_STATUS), { severalFields: 'refused' }, undefined, [BY_STATUS, JOINED]],
		['not if the ID is refused', {}, { idSort: 'refused' }, undefined, ['', BY_ID]],
		['not if sorting is ignored', sorted(BY_STATUS), { sorting: 'ignored' }, undefined, [BY_STATUS, JOINED]],
	])('are all listed %s', async (what, parameters, settings, devices, sorts) => {
		Object.assign(bench.platform.settings, { equalValues: 'unsteady', ownSort: 'onlineStatus asc', ...settings });
		if (what.includes('share IDs')) bench.platform.fleet = sharingIds(250);
		const options = { pageSize: 60, ...Object(parameters['options']) };
		const result = await all({ returnAll: parameters['limit'] === undefined, ...parameters, options });
		const hasHint = parameters['limit'] === 249;
		if (devices === undefined) expect(result.error?.message).toBe(`${TIED}, so some items may be missing`);
		else expect([serialNumbersOf(result).length, new Set(serialNumbersOf(result)).size]).toEqual([devices, devices]);
		if (devices !== undefined) expect(hintsOf(result)).toEqual(hasHint ? [expect.stringContaining(TIED)] : []);
		expect(new Set(lists().map(({ query }) => String(query['sort'] ?? '')))).toEqual(new Set(sorts));
	});
});

test('a failure of a later page, where the ID is added, is no refusal of the ID', async () => {
	Object.assign(bench.platform.settings, { equalValues: 'unsteady', ownSort: 'onlineStatus asc' });
	bench.platform.settings.fault = ({ query }) => (query['page'] === '3' && query['sort'] ? { status: 500 } : undefined);
	const result = await all({ options: { pageSize: 60, parallelRequests: 1 } });
	expect(result.error?.message).toContain('HTTP 500');
});

test('a hint names Return All if the default limit cut the list, but not for a limit of the user', async () => {
	expect(hintsOf(await list({}))).toEqual([`50 of ${bench.fleet.size} devices. Turn on 'Return All' for all.`]);
	expect(hintsOf(await list({ limit: 49 }))).toEqual([]);
	expect(hintsOf(await list({ limit: 50, options: { skip: 10 }, sort: { rule: [{ field: 'id' }] } }))).toEqual([]);
	expect(hintsOf(await list({ limit: 50, filters: { name: bench.fleet.at(0).sn } }))).toEqual([]);
});

test('filters and sort rules go with every page, also after Skip, and the output keeps the platform’s order', async () => {
	const creators = ['admin', 'import', '山田'];
	const filters = {
		body: '={{ $json.criteria }}',
		query: { parameter: creators.map((value) => ({ name: 'creator', value })) },
	};
	const sort = { rule: [{ field: 'creator', direction: 'asc' }, { field: 'sn' }] };
	const input = [{ criteria: { onlineStatus: 1 } }];
	const result = await all({ filters, sort, options: { skip: 17, pageSize: 10, parallelRequests: 1 } }, { input });
	expect(hintsOf(result)).toEqual([]);
	const expected = creators.flatMap((name) =>
		truth(({ creator, onlineStatus }) => creator === name && onlineStatus === 1)
			.sort()
			.reverse(),
	);
	expect(expected.length).toBeGreaterThan(40);
	expect(serialNumbersOf(result)).toEqual(expected.slice(17));
	const query = { creator: creators, sort: ['creator asc', 'sn desc'] };
	for (const page of lists()) expect(page).toMatchObject({ body: { onlineStatus: 1 }, query });
});

describe('the filter Online Status', () => {
	/** Lists devices with the first values where the filter is sent, else with the others. */
	const listed = async (values: readonly unknown[], others: readonly unknown[], parameters: Parameters) => {
		const filters = { onlineStatus: 0, name: 'R', ...Object(parameters['filters']) };
		const given = { ...getMany, returnAll: true, output: 'raw', ...parameters, filters };
		return await runAlone(given, ({ query = {} }) => {
			const rows = Object.hasOwn(query, 'onlineStatus') ? values : others;
			const [page, size] = [Number(query['page'] ?? 0), Number(query['size'])];
			const content = rows.map((onlineStatus, at) => ({
				sn: `SN${at}`,
				...(onlineStatus !== undefined && { onlineStatus }),
			}));
			return { content: content.slice(page * size, (page + 1) * size), totalElements: rows.length, number: page };
		});
	};
	const part = { returnAll: false, limit: 2 };
	const only = (onlineStatus: unknown) => ({ filters: { onlineStatus } });
	const many = [...new Array<number>(3469).fill(1), ...new Array<number>(531).fill(0)];

	const after = (skip: number) => ({ options: { skip }, sort: { rule: [{ field: 'sn' }] } });

	test.each<[string, values: unknown[], others: unknown[], kept: unknown[], left: string, Parameters?]>([
		['may be obeyed', [0, 0], [1], [0, 0], ''],
		['fits text and, for 0, false', ['0', false, true], [], ['0', false], '1 of 3'],
		['fits, for 1, true', [true, 1, '1', false], [], [true, 1, '1'], '1 of 4', only('1')],
		['fits, for 2, no boolean', [true, 2], [], [2], '1 of 2', only(2)],
		['fits nothing else', [0, null, '', undefined, 1, '00', [0]], [], [0], '6 of 7'],
		['may be ignored', many, [], many.slice(3469), '3,469 of 4,000'],
		['may be obeyed with Limit', [0, 0, 0], [1], [0, 0], '', part],
		['may find no device', [], [], [], ''],
		['may find no device because none fits', [], [1, null], [], ''],
		['may find no device in a part after the end', [], [0], [], '', after(10)],
	])('%s', async (_, values, others, kept, left, parameters = {}) => {
		const { output, hints } = await listed(values, others, parameters);
		expect(output.map(({ onlineStatus }) => onlineStatus)).toEqual(kept);
		const words = `The platform ignored the filter 'Online Status' for ${left} devices. The node left them out.`;
		expect(hints).toEqual(left === '' ? [] : [words]);
	});

	const none = ['The platform returned no device for onlineStatus 0, but has some', /Filter node/] as const;
	const withoutField = ['The platform sends no onlineStatus', /^Remove the filter/] as const;
	const haveAnother = 'devices that the platform returned have another onlineStatus than 0';
	test.each<[string, values: unknown[], others: unknown[], message: string, remedy: RegExp, Parameters?]>([
		['compared as something else', [], [1, 0], ...none],
		['without the field', [undefined, undefined], [], ...withoutField],
		['without the field and devices', [], [undefined], ...withoutField],
		['ignored with Limit', [0, 1, 0], [], `1 of 2 ${haveAnother}`, /^Turn on 'Return All'/, part],
		['ignored after Skip', [1, 0, 1, 0, 0], [], `1 of 3 ${haveAnother}`, /leave out 'Skip'/, after(2)],
	])('%s fails the item', async (_, values, others, message, remedy, parameters = {}) => {
		const details = { message, remedy: expect.stringMatching(remedy) };
		await expect(listed(values, others, parameters)).rejects.toMatchObject({ details });
	});

	test('reads one page without itself, but with all else, if no device came', async () => {
		const sort = { rule: [{ field: 'sn' }] };
		const { sent } = await listed([], [], { sort, filters: { body: '{"a":1}' } });
		const rest = { size: '1000', name: 'R', sort: ['sn desc'] };
		expect(sent.map(({ body, query }) => [body, query])).toEqual([
			['{"a":1}', { ...rest, onlineStatus: '0' }],
			['{"a":1}', rest],
		]);
	});
});

test.each([
	['a refusal names its only sort field', [{ field: 'model' }], 10005, /^If the platform can't sort by 'model', use/],
	['a refusal names no sort field of several', [{ field: 'sn' }, { field: 'model' }], 10005, /^Check the names/],
	['another failure names no sort field', [{ field: 'model' }], 14103, /^Ask your/],
])('%s', async (_, rule, code, remedy) => {
	bench.platform.settings.fault = () => ({ code });
	expect((await list({ sort: { rule } })).error?.description).toMatch(remedy);
});

describe('output', () => {
	const simplified = [
		...[
			'id',
			'sn',
			'onlineStatus',
			'status',
			'modelName',
			'groupName',
			'tags',
			'description',
			'createTime',
			'updateTime',
		],
	];
	const hint = 'The platform returned no device with the field "onlinestatus". Check the names in \'Fields\'.';

	test.each<[parameters: Parameters, fields: string[], hints: string[]]>([
		[{}, simplified, []],
		[{ output: 'raw' }, ['id', 'sn', 'imei', 'future'], []],
		[{ output: 'selected', fields: [] }, ['id'], []],
		[{ output: 'selected', fields: ['imei', 'iccid', 'onlinestatus'] }, ['id', 'imei'], [hint]],
	])('with %j has the fields %j', async (parameters, fields, hints) => {
		const page = { content: [{ id: 'x', sn: 'S', imei: null, future: [] }], totalElements: 1, last: true };
		const listed = await runAlone({ ...getMany, returnAll: true, ...parameters }, () => page);
		expect([listed.output.map(Object.keys), listed.hints]).toEqual([[fields], hints]);
	});

	test('the same hint of several items appears once, and without devices not at all', async () => {
		const input = [{ fields: ['imie'] }, { fields: ['imie'] }, { fields: ['sn'] }];
		const parameters = { limit: 2, output: 'selected', fields: '={{ $json.fields }}' };
		const result = await list(parameters, { input });
		expect(outputOf(result)).toHaveLength(6);
		expect(hintsOf(result)).toEqual([expect.stringContaining('no device with the field "imie"')]);
		bench.platform.fleet = new Fleet([]);
		expect(hintsOf(await list(parameters, { input }))).toEqual([]);
	});
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
