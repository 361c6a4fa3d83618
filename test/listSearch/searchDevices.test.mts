import type { INodeListSearchItems } from 'n8n-workflow';

import { Fleet, type Settings } from '../../testbed/platform/server.mts';
import { useBench } from '../../testbed/jest.mts';

const bench = useBench();

const open = async (filter?: string, paginationToken?: string, credential = bench.apiKey) =>
	await bench.engine.listSearch(
		{ resource: 'device', operation: 'get', device: { __rl: true, mode: 'list', value: '' } },
		bench.engine.credentialReference(credential),
		'searchDevices',
		filter,
		paginationToken,
	);
/** Scrolls to the end, like n8n: with the filter and the last response's token. */
const scroll = async (filter?: string): Promise<INodeListSearchItems[]> => {
	const results: INodeListSearchItems[] = [];
	let token: unknown;
	do {
		const page = await open(filter, token === undefined ? undefined : String(token));
		results.push(...page.results);
		token = page.paginationToken;
		if (results.length > 10 * bench.fleet.size) throw new Error('The list does not end');
	} while (token !== undefined);
	return results;
};
const values = (results: readonly INodeListSearchItems[]) => results.map(({ value }) => value);
const serialNumbers = () => bench.fleet.devices.map(({ sn }) => sn);

describe('without a filter', () => {
	it.each(['apiKey', 'login'] as const)('opens with one request, signed in by %s', async (way) => {
		const { results, paginationToken } = await open(undefined, undefined, bench[way]);
		expect(values(results)).toEqual(serialNumbers().slice(0, results.length));
		expect(results.length).toBeGreaterThanOrEqual(50);
		expect(paginationToken).toBeDefined();
		expect(bench.platform.requestsOf('list')).toHaveLength(1);
		expect(bench.platform.requestsOf('list')[0]?.query).not.toHaveProperty('page');
	});

	it('shows all devices, also those that share an ID', async () => {
		bench.platform.fleet = new Fleet(bench.fleet.devices.map((device) => ({ ...device, id: 'the same' })));
		expect(values(await scroll())).toEqual(serialNumbers());
	});

	it.each(['x', '{"place":7}'])('begins again with the page token %s, which it cannot read', async (token) => {
		expect(await open(undefined, token)).toEqual(await open());
	});

	it('names each device by its serial number, model, group, and description where it has one', async () => {
		const { results } = await open();
		expect(results.slice(0, 50)).toEqual(
			bench.fleet.devices.slice(0, 50).map(({ sn, model, group, description }) => ({
				name: [sn, model.name, group.name, ...(description ? [description] : [])].join(' · '),
				value: sn,
			})),
		);
	});

	const CHARACTERS = 80;
	it.each([
		['a long description', { description: 'd'.repeat(500) }, / · Warehouse · d+…$/],
		[
			'a description over several lines',
			{ description: ' Pier 4,\n\tmast\u2028 2 ' },
			/ · Warehouse · Pier 4, mast 2$/,
		],
		['a blank description', { description: ' \n ' }, / · Warehouse$/],
		['a long name of its model', { model: 'R'.repeat(60) }, / · R{23}… · Warehouse · Pier 4$/],
		['a long name of its group', { group: 'W'.repeat(60) }, / · R200 · W{23}… · Pier 4$/],
		['a long description outside of the basic plane', { description: '🚚'.repeat(60) }, / · (?:🚚)+…$/u],
		['no name of its model', { model: '' }, /^\w+ · Warehouse · Pier 4$/],
	])(
		'keeps the text short and on one line: %s',
		async (
			_name,
			{
				model = 'R200',
				group = 'Warehouse',
				description = 'Pier 4',
			}: { model?: string; group?: string; description?: string },
			shown,
		) => {
			const device = bench.fleet.at(0);
			bench.fleet.update(device.sn, {
				description,
				model: { ...device.model, name: model },
				group: { ...device.group, name: group },
			});
			const [first] = (await open()).results;
			expect(first?.name).toMatch(shown);
			expect([...String(first?.name)].length).toBeLessThanOrEqual(CHARACTERS);
			expect(first?.name.startsWith(device.sn)).toBe(true);
		},
	);

	it('a serial number that is longer than the line is cut in what is shown, and whole in what is chosen', async () => {
		const sn = 'S'.repeat(200);
		bench.platform.settings.changePage = (page) => ({
			...page,
			content: page.content.map((device) => ({ ...device, sn })),
		});
		const [first] = (await open()).results;
		expect(first).toEqual({ name: `${'S'.repeat(CHARACTERS - 1)}…`, value: sn });
	});

	it('shows what there is of a device without model, group and description', async () => {
		bench.platform.settings.changePage = (page) => ({
			...page,
			content: page.content.map(({ id, sn }, index) =>
				index === 0 ? { id, sn } : { id, sn, model: null, group: 'none', description: 7 },
			),
		});
		const { results } = await open();
		expect(results).toEqual(results.map(({ value }) => ({ name: value, value })));
	});

	it('lists devices whose serial number is a number', async () => {
		bench.platform.settings.changePage = (page) => ({
			...page,
			content: page.content.map((device, index) => ({ ...device, sn: 1000 + index })),
		});
		const { results } = await open();
		expect(results[0]).toMatchObject({ name: expect.stringMatching(/^1000 · /), value: '1000' });
		expect(values(results)).toEqual(results.map((_, index) => String(1000 + (index % 50))));
		expect(results.length).toBeGreaterThanOrEqual(50);
	});

	it('leaves out devices without a usable serial number: none, or one whose digits are lost', async () => {
		bench.platform.settings.changePage = (page) => ({
			...page,
			content: page.content.map((device, index) => ({ ...device, sn: ['', null, 2 ** 53, 1.5, 7][index % 5] })),
		});
		expect(new Set(values((await open()).results))).toEqual(new Set(['7']));
	});

	it.each<{ platform: string; settings: Partial<Settings> }>([
		{ platform: 'that counts pages from 1, in as many requests as pages', settings: {} },
		{ platform: 'that counts pages from 0', settings: { pageNumbering: 'zero-based' } },
		{ platform: 'that refuses pages above 50', settings: { largestSize: 50, largerSize: 'refuse' } },
		{
			platform: 'that cuts pages to 30 and leaves out all metadata',
			settings: { largestSize: 30, changePage: ({ content }) => ({ content }) },
		},
	])('scrolls through the whole fleet once on a platform $platform', async ({ settings }) => {
		Object.assign(bench.platform.settings, settings);
		expect(values(await scroll())).toEqual(serialNumbers());
		if (Object.keys(settings).length === 0) expect(bench.platform.requestsOf('list')).toHaveLength(5);
	});

	it('hands n8n a token that holds no record and no more than the next request needs', async () => {
		const first = await open();
		expect(JSON.parse(String(first.paginationToken))).toEqual({
			place: {
				index: 1,
				number: 0,
				pageLength: 50,
				firstIds: [expect.any(String), expect.any(String)],
				expectsEnd: false,
			},
		});
	});

	it('an empty fleet is an empty list without more to scroll', async () => {
		bench.fleet.devices.map(({ sn }) => sn).forEach((sn) => bench.fleet.remove(sn));
		expect(await open()).toEqual({ results: [] });
	});
});

describe('with a filter', () => {
	it('asks the platform for the text, and each page of the scroll too', async () => {
		const text = 'a & b #1 東京 100%';
		for (const device of bench.fleet.devices.slice(20, 200))
			bench.fleet.update(device.sn, { description: `${text}, hall 3` });
		const expected = bench.fleet.devices.slice(20, 200).map(({ sn }) => sn);
		expect(values(await scroll(text))).toEqual(expected);
		for (const { query } of bench.platform.requestsOf('list')) expect(query['name']).toBe(text);
	});

	it('a whole serial number finds its device by reading it, also where the platform’s filter does not', async () => {
		const { sn } = bench.fleet.at(123);
		bench.platform.settings.changePage = (page) => ({ ...page, content: [], last: true });
		expect(values((await open(` ${sn} `)).results)).toEqual([sn]);
		expect(bench.platform.requestsOf('sn').map(({ path }) => path)).toEqual([`/api/device/sn/${sn}`]);
	});

	it('a whole serial number comes first, and no second time on this or a later page', async () => {
		const exact = bench.fleet.at(200);
		for (const device of bench.fleet.devices)
			if (device.sn !== exact.sn) bench.fleet.update(device.sn, { description: `beside ${exact.sn}` });
		const found = values(await scroll(exact.sn));
		expect(found[0]).toBe(exact.sn);
		expect([...found].sort()).toEqual([...serialNumbers()].sort());
	});

	it('a whole serial number that the platform sends as a number comes first, once', async () => {
		const asNumber = (device: object) => ({ ...device, sn: 4711 });
		bench.platform.settings.changePage = (page) => ({
			...page,
			content: page.content.slice(0, 1).map(asNumber),
			last: true,
			totalElements: 1,
		});
		bench.platform.settings.fault = ({ kind }) =>
			kind === 'sn' ? { code: 0, data: asNumber(bench.fleet.at(0)) } : undefined;
		expect(values((await open('4711')).results)).toEqual(['4711']);
	});

	it('a platform that reads serial numbers in any case of letters shows its own spelling, once', async () => {
		const exact = bench.fleet.at(60);
		bench.platform.settings.fault = ({ kind }) => (kind === 'sn' ? { code: 0, data: exact } : undefined);
		expect(values(await scroll(exact.sn.toLowerCase()))).toEqual([exact.sn]);
	});

	it('a device that is listed but can’t be read stays in the list', async () => {
		const exact = bench.fleet.at(200);
		for (const device of bench.fleet.devices)
			if (device.sn !== exact.sn) bench.fleet.update(device.sn, { description: `beside ${exact.sn}` });
		bench.platform.settings.fault = ({ kind }) => (kind === 'sn' ? { code: 14401 } : undefined);
		expect(values(await scroll(exact.sn))).toEqual(serialNumbers());
	});

	it.each(['RT', '.', '..', 'no / such # thing', '設備'])(
		'half a serial number, or what can’t be one, is only a filter: %j',
		async (text) => {
			const expected = bench.fleet.devices
				.filter(({ sn, description, model }) =>
					[sn, description ?? '', model.name].some((its) => its.toLowerCase().includes(text.toLowerCase())),
				)
				.map(({ sn }) => sn);
			expect(values(await scroll(text))).toEqual(expected);
		},
	);

	it.each([{ code: 10001, details: ['sn'] }, { code: 14103 }, { status: 400 }, { status: 404 }])(
		'a platform that answers the read of half a serial number with %j still shows the list',
		async (fault) => {
			bench.platform.settings.fault = ({ kind }) => (kind === 'sn' ? fault : undefined);
			expect(values((await open('RT')).results)).toContain(serialNumbers().find((sn) => sn.startsWith('RT')));
		},
	);

	it('spaces alone are no filter', async () => {
		expect(values((await open('   ')).results)).toEqual(values((await open()).results));
		expect(bench.platform.requestsOf('sn')).toEqual([]);
	});
});

describe('what goes wrong', () => {
	it.each([
		{ name: 'a refused key', prepare: () => (bench.platform.settings.apiKey = 'another-key') },
		{ name: 'a missing right', prepare: () => (bench.platform.settings.role = 'none') },
		{
			name: 'an answer that is no envelope',
			prepare: () => (bench.platform.settings.fault = () => ({ status: 200, body: '<html></html>' })),
		},
		{ name: 'a platform without a list', prepare: () => (bench.platform.settings.pathPrefix = '/elsewhere') },
	])('$name is said in the same words as by the node', async ({ prepare }) => {
		prepare();
		const { error } = await bench.run({ resource: 'device', operation: 'getAll' });
		if (error === undefined) throw new Error('The node did not fail');
		await expect(open()).rejects.toMatchObject({ message: error.message, description: error.description });
	});

	it('a credential that can’t be used is said before any request', async () => {
		const credential = await bench.engine.saveCredential({
			name: 'No scheme',
			type: 'deviceManagementApi',
			data: { baseUrl: 'devices.example.com', apiKey: 'k' },
		});
		await expect(open(undefined, undefined, credential)).rejects.toThrow(
			"'Base URL' in the credential does not start with https:// or http://",
		);
		expect(bench.platform.requests).toEqual([]);
	});

	it('a text with half a character is said before any request', async () => {
		await expect(open('\ud83d')).rejects.toThrow("The text of 'Name' is cut in the middle of a character");
		expect(bench.platform.requests).toEqual([]);
	});
});
