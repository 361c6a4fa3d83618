import type { INodeListSearchItems } from 'n8n-workflow';

import { hurry, useBench } from '../../testbed/jest.mts';
import { type Fault, Fleet, type PageData, type Settings } from '../../testbed/platform/server.mts';

const bench = useBench();

const open = async (filter?: string, paginationToken?: string) => {
	const parameters = { resource: 'device', operation: 'get', device: { __rl: true, mode: 'list', value: '' } };
	const credential = bench.engine.credentialReference(bench.apiKey);
	return await bench.engine.listSearch(parameters, credential, 'searchDevices', filter, paginationToken);
};
/** Scrolls to the end, like n8n: with the filter and the last response's token. */
const scroll = async (filter?: string): Promise<INodeListSearchItems['value'][]> => {
	const all: INodeListSearchItems['value'][] = [];
	let token: string | undefined;
	do {
		const { results, paginationToken } = await open(filter, token);
		all.push(...results.map(({ value }) => value));
		token = paginationToken === undefined ? undefined : String(paginationToken);
		if (all.length > 10 * bench.fleet.size) throw new Error('The list does not end');
	} while (token !== undefined);
	return all;
};
const valuesOf = async (filter?: string) => (await open(filter)).results.map(({ value }) => value);
const serialNumbers = () => bench.fleet.devices.map(({ sn }) => sn);
const lists = () => bench.platform.requestsOf('list');
/** Changes each device of a page. */
const changeDevices = (change: (device: PageData['content'][number], index: number) => PageData['content'][number]) =>
	(bench.platform.settings.changePage = (page) => ({ ...page, content: page.content.map(change) }));
const answerReads = (fault: Fault) =>
	(bench.platform.settings.fault = ({ kind }) => (kind === 'sn' ? fault : undefined));

describe('without a filter', () => {
	test('opens with one request, also for an invalid page token', async () => {
		const { results, paginationToken } = await open();
		expect(results.map(({ value }) => value)).toEqual(serialNumbers().slice(0, 50));
		expect(lists().map(({ query }) => query)).toEqual([{ size: '50' }]);
		// No record, and no more than the next request needs.
		expect(paginationToken).toBe('50');
		for (const token of ['x', '-1']) expect(await open(undefined, token)).toEqual({ results, paginationToken });
	});

	test.each<[what: string, Partial<Settings>, devices?: number, requests?: number]>([
		['counts pages from 1: two requests for each later page', {}, 250, 9],
		['counts pages from 0', { pageNumbering: 'zero-based' }],
		['cuts pages to 30 and sends no metadata', { largestSize: 30, changePage: ({ content }) => ({ content }) }],
		['ignores page numbers: only the first', { beforeAnswer: ({ query }) => void delete query['page'] }, 50],
	])(
		'scrolls through all pages once if the platform %s',
		async (_what, settings, devices = 250, requests = undefined) => {
			Object.assign(bench.platform.settings, settings);
			expect(await scroll()).toEqual(serialNumbers().slice(0, devices));
			if (requests !== undefined) expect(lists()).toHaveLength(requests);
		},
	);

	test('ends after 1,000 devices if the platform sends no total', async () => {
		bench.platform.fleet = Fleet.seeded({ size: 1100 });
		bench.platform.settings.changePage = ({ content, last }) => ({ content, last });
		expect(await scroll()).toHaveLength(1000);
	});

	test('is retried once, also after a rate limit, because a person waits', async () => {
		hurry();
		bench.platform.settings.faults = [{ kind: 'list', fault: { status: 429 }, times: 2 }];
		await expect(open()).rejects.toThrow('HTTP 429');
		expect(lists()).toHaveLength(2);
	});
});

describe('a device in the list', () => {
	test.each<[what: string, change: Record<string, unknown>, name: RegExp | string]>([
		['its serial number, model, group and description', {}, 'S · R200 · Warehouse · Pier 4'],
		['the beginning of a long description', { description: '🚚'.repeat(99) }, /^S · R200 · Warehouse · (?:🚚){57}$/u],
		['a description on one line', { description: ' Pier 4,\n\tmast\u2028 2 ' }, /· Pier 4, mast 2$/],
		['no blank description', { description: ' \n ' }, 'S · R200 · Warehouse'],
		['only what is text', { model: null, group: 'none', description: 7 }, 'S'],
		['a serial number that is a number', { sn: 1000, model: undefined }, '1000 · Warehouse · Pier 4'],
	])('shows %s', async (_what, change, name) => {
		const device = { sn: 'S', model: { name: 'R200' }, group: { name: 'Warehouse' }, description: 'Pier 4', ...change };
		changeDevices(({ id }) => ({ id, ...device }));
		const shown = typeof name === 'string' ? name : expect.stringMatching(name);
		expect((await open()).results[0]).toEqual({ name: shown, value: String(device.sn) });
	});

	test('needs a serial number that is text or keeps its digits', async () => {
		changeDevices((device, index) => ({ ...device, sn: ['', null, 1e21, 1.5, 7][index % 5] }));
		expect(new Set(await valuesOf())).toEqual(new Set(['7']));
	});
});

describe('with a filter', () => {
	test('every page is filtered by the text', async () => {
		const text = 'a & b #1 東京 100%';
		const expected = serialNumbers().slice(20, 200);
		for (const sn of expected) bench.fleet.update(sn, { description: `${text}, hall 3` });
		expect(await scroll(` ${text} `)).toEqual(expected);
		for (const { query } of lists()) expect(query['name']).toBe(text);
		expect(bench.platform.requestsOf('sn')).toHaveLength(1);
	});

	test('a whole serial number is read, also if the platform’s filter does not find it', async () => {
		const { sn } = bench.fleet.at(123);
		bench.platform.settings.changePage = (page) => ({ ...page, content: [], last: true });
		expect(await valuesOf(` ${sn} `)).toEqual([sn]);
		expect(bench.platform.requestsOf('sn').map(({ path }) => path)).toEqual([`/api/device/sn/${sn}`]);
	});

	test('a whole serial number comes first, and not again on this page, in the spelling of the platform', async () => {
		const [other, exact] = [bench.fleet.at(100).sn, bench.fleet.at(200)];
		bench.fleet.update(other, { description: `beside ${exact.sn}` });
		expect(await scroll(exact.sn)).toEqual([exact.sn, other]);
		expect(bench.platform.requestsOf('sn')).toHaveLength(1);
		answerReads({ code: 0, data: exact });
		expect(await scroll(exact.sn.toLowerCase())).toEqual([exact.sn, other]);
	});

	test('a text that the platform does not find is searched in the first 1,000 lines of the list, by one request', async () => {
		const inHamburg = bench.fleet.devices.filter(({ group }) => group.name === 'Warehouse Hamburg');
		expect(inHamburg.length).toBeGreaterThan(0);
		expect(await scroll('warehouse HAMBURG')).toEqual(inHamburg.map(({ sn }) => sn));
		expect(lists().map(({ query }) => query)).toEqual([{ size: '50', name: 'warehouse HAMBURG' }, { size: '1000' }]);
	});

	test('a platform that ignores the text, or finds it elsewhere, has its lines behind those with the text', async () => {
		bench.platform.settings.beforeAnswer = ({ query }) => void delete query['name'];
		const [first] = await valuesOf();
		const start = bench.fleet.at(120).sn.slice(0, -1);
		const found = serialNumbers().filter((sn) => sn.startsWith(start));
		expect((await valuesOf(start)).slice(0, found.length + 1)).toEqual([...found, first]);
		expect(await open('in no line')).toEqual(await open());
	});

	test('a platform that refuses part of a serial number still shows the list', async () => {
		for (const fault of [{ code: 10001, details: ['sn'] }, { code: 14103 }, { status: 404 }]) {
			answerReads(fault);
			expect(await valuesOf('RT')).toContain(serialNumbers().find((sn) => sn.startsWith('RT')));
		}
	});

	test('spaces alone are no filter', async () => {
		expect(await valuesOf('   ')).toEqual(await valuesOf());
		expect(bench.platform.requestsOf('sn')).toEqual([]);
	});
});

test.each([
	['a credential', { baseUrl: 'devices.example.com' }, '', /^'Base URL' in the credential doesn't start with http/],
	['a text', {}, '\ud83d', /^The text of 'Name' is cut/],
])('a failure of %s is reported before any request', async (_what, data, text, message) => {
	await bench.engine.editCredential(bench.apiKey, data);
	await expect(open(text)).rejects.toThrow(message);
	expect(bench.platform.requests).toEqual([]);
});
