/** What API Request sends and returns. Codes, statuses and retries of each kind are proved in test/core and test/transport. */
import type { Fault, PageData, Settings } from '../../../testbed/platform/server.mts';
import { hurry, useBench } from '../../../testbed/jest.mts';
import { operations } from '../../../testbed/operations.mts';
import { jsonOf } from '../../../testbed/output.mts';
import { type Parameters, runAlone } from '../../../testbed/oneItem.mts';

const bench = useBench();

const echo: Parameters = { ...operations.request, query: {} };
const request = async (parameters: Parameters, credential = bench.apiKey) =>
	await bench.run({ ...echo, ...parameters }, { credential });
const kinds = () => bench.platform.requests.map(({ kind }) => kind).join(' ');

describe('what comes out', () => {
	test.each<[string, unknown, unknown[]]>([
		['an object is one item', { id: 7, nested: { a: [1] } }, [{ id: 7, nested: { a: [1] } }]],
		['a list is one item for each element', [{ id: 1 }, { id: 2 }], [{ id: 1 }, { id: 2 }]],
		['an empty list is no item', [], []],
		['elements that are no objects are under data', [1, [3], {}], [{ data: 1 }, { data: [3] }, {}]],
		['anything else is under data', false, [{ data: false }]],
		['a response without data is one item whose data is null', undefined, [{ data: null }]],
	])('%s', async (_name, data, items) => {
		expect((await runAlone(echo, () => data)).output).toEqual(items);
	});

	test('a list of 180,000 points arrives whole', async () => {
		const points = new Array(180_000).fill([1_700_000_000, 21.5]);
		bench.platform.settings.fault = () => ({ code: 0, data: { points } });
		expect(jsonOf(await request({ method: 'POST' }))).toEqual([{ points }]);
	});
});

describe('what is sent', () => {
	test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s with, except for GET, its body', async (method) => {
		await request({ method, body: '{"name":"Zürich","list":[1,{"deep":null}]}' });
		const body = method === 'GET' ? undefined : { name: 'Zürich', list: [1, { deep: null }] };
		expect(bench.platform.requests).toMatchObject([{ method, path: '/api/echo', query: {}, body }]);
		const { accept, 'content-type': type } = bench.platform.requests[0]?.headers ?? {};
		expect([accept, type]).toEqual(['application/json', body && 'application/json']);
	});

	test('any text as the name and the value of a query parameter', async () => {
		const texts = ['a & b=c;', '#7 1+1', '100 %41%2C', 'what/where?', 'e\u0301', '[0] {x} <y> \\"\'', '東京 🚚 👩‍🔧'];
		const parameter = texts.map((name) => ({ name, value: ` ${name} ` }));
		await request({ query: { parameter: [...parameter, { name: 'empty', value: '' }] } });
		const sent = Object.fromEntries(texts.map((text) => [text, text]));
		expect(bench.platform.requests[0]?.query).toEqual({ ...sent, empty: '' });
	});

	const LONG = '{"at": 1732230000000000001, "much": 1e21,\n"edge": 9007199254740993}';
	test.each<[string, unknown, string | undefined]>([
		['text unchanged, with numbers that JavaScript can’t keep', LONG, LONG],
		['an object of an expression as JSON', { a: 1 }, '{"a":1}'],
		['a date as JSON', { from: new Date(0) }, '{"from":"1970-01-01T00:00:00.000Z"}'],
		['false', 'false', 'false'],
		['0 of an expression', 0, '0'],
		['an empty object for an empty field', ' ', '{}'],
	])('the body is %s', async (_name, body, sent) => {
		expect((await runAlone({ ...echo, method: 'POST', body })).sent).toMatchObject([
			{ body: sent, words: 'apiRequestWithBody' },
		]);
	});

	test('an empty body of DELETE has no content type, and luxon dates of n8n are JSON', async () => {
		await request({ method: 'DELETE', body: ' ' });
		await request({ method: 'PUT', body: '={{ ({ to: $now }) }}' });
		expect(bench.platform.requests[0]?.headers).not.toHaveProperty('content-type');
		expect(bench.platform.requests[1]?.body).toEqual({ to: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
	});

	test('a query parameter with the name of the key is refused, because the key would overwrite it', async () => {
		await bench.engine.editCredential(bench.apiKey, { customSignIn: true, apiKeyIn: 'query', apiKeyName: 'key' });
		const { error } = await request({ query: { parameter: [{ name: 'key', value: 'RT-1' }] } });
		expect(error?.message).toBe('The key in the credential already uses the query parameter "key"');
		expect(bench.platform.requests).toEqual([]);
		await bench.engine.editCredential(bench.apiKey, { customSignIn: false });
	});
});

test('a path stays on the platform, below /api', async () => {
	bench.platform.settings.pathPrefix = '/tenant-7';
	await bench.engine.editCredential(bench.apiKey, { baseUrl: bench.platform.baseUrl });
	const paths = ['/api', '/api/', '/api//echo', '/api/..echo', '/api/@evil.invalid', '/api/:80', '/api/%252541/ä'];
	const input = paths.map((path) => ({ path }));
	await bench.run({ ...echo, path: '={{ $json.path }}' }, { input, onError: 'continueRegularOutput' });
	expect(bench.platform.requests).toHaveLength(paths.length);
	for (const { url, headers } of bench.platform.requests) {
		expect(url).toMatch(/^\/tenant-7\/api/);
		expect(headers['host']).toBe(new URL(bench.platform.baseUrl).host);
	}
});

const DOUBT = /\. The change may have been made$/;
const HTML = { status: 200, body: '<html>' };

describe('several items', () => {
	const input = ['1', '2', '3', '4', '5', '6'].map((mark) => ({ mark }));
	const marks = () => bench.platform.requests.map(({ query }) => query['mark']);

	test.each(['PUT', '={{ "POST" }}'])('of %s are sent in order, and none after a failure', async (method) => {
		bench.platform.settings.latencyMs = 1;
		await bench.run({ ...operations.request, method }, { input });
		expect(marks()).toEqual(['1', '2', '3', '4', '5', '6']);
		expect(bench.platform.peakInFlight).toBe(1);
		bench.platform.forget();
		bench.platform.settings.fault = ({ order }) => (order === 3 ? { code: 10004 } : undefined);
		const { error } = await bench.run({ ...operations.request, method }, { input });
		expect(error?.message).toBe("The platform couldn't save the change (code 10004: edit failed) [item 2]");
		expect(marks()).toEqual(['1', '2', '3']);
	});

	test.each([{ method: 'GET' }, { method: undefined }])('with %j are sent at the same time', async (method) => {
		bench.platform.settings.latencyMs = 1;
		await bench.run({ ...operations.request, ...method }, { input });
		expect(bench.platform.peakInFlight).toBeGreaterThan(1);
	});
});

describe("'Return All'", () => {
	const all = async (parameters: Parameters = {}, credential = bench.apiKey) =>
		await request({ ...operations.requestAll, method: 'POST', query: {}, body: '{}', ...parameters }, credential);
	const sizes = () => bench.platform.requests.map(({ query }) => query['size']);
	const set = (settings: Partial<Settings>) => void Object.assign(bench.platform.settings, settings);
	beforeEach(() => set({ largestSize: 100 }));
	const rows = (replace: (content: PageData['content']) => unknown[]): Partial<Settings> => ({
		changePage: ({ content, ...page }) => ({ ...page, content: replace(content) }),
	});
	const numbered = (at = 0) => rows((content) => content.map(() => ({ at: at++ })));

	test.each<[string, Partial<Settings>, requests: number, row: (one: object) => object]>([
		['counted from 0', { pageNumbering: 'zero-based' }, 4, (one) => one],
		['equal', rows((content) => content.map(() => ({ id: 7 }))), 3, () => ({ id: 7 })],
		['that share an id', rows((content) => content.map((one) => ({ ...one, id: 0 }))), 3, (one) => ({ ...one, id: 0 })],
		['without a total', { changePage: ({ totalElements: _, ...page }) => page }, 8, (one) => one],
		['that are no objects', rows((all) => all.map(({ status }) => status)), 3, (one) => ({ data: Object(one).status })],
	])('returns every row: %s', async (_what, settings, requests, row) => {
		set(settings);
		const result = await all({ method: 'GET' });
		expect(jsonOf(result)).toEqual(bench.fleet.devices.map(row));
		expect([result.hints('Devices'), sizes().length]).toEqual([[], requests]);
	});

	test('reads a changing list again, and returns one reading of it or fails', async () => {
		// The first page, without a page number, and page 1 are never the same.
		set(numbered());
		set({ beforeAnswer: ({ order }) => void (order === 2 && bench.fleet.add()) });
		expect(jsonOf(await all())).toHaveLength(251);
		expect(bench.platform.requests.map(({ query }) => String(query['sort'] ?? ''))).not.toContain('id asc');
		set({ beforeAnswer: () => void bench.fleet.add() });
		expect((await all()).error?.description).toContain("change 'If the List Keeps Changing'");
		const result = await all({ options: { ifFleetChanges: 'return', skip: 9 } });
		expect(jsonOf(result)).toHaveLength(bench.fleet.size);
		expect(result.hints('Devices')[0]?.message).toContain('Run the node again for an exact list.');
	});

	const huge = new Array(1_000_001).fill(0);
	test('of GET asks for smaller pages if one is refused, and fails with what to do if one is too large', async () => {
		set({ largestSize: 1000, fault: ({ query }) => (Number(query['size']) > 1000 ? { code: 10001 } : undefined) });
		expect(jsonOf(await all({ method: 'GET', options: { pageSize: 2000 } }))).toHaveLength(250);
		set(rows(() => [{ huge }]));
		expect((await all({ method: 'GET' })).error?.description).toMatch(/^Lower 'Page Size' under 'Options', or/);
		expect(sizes()).toEqual(['2000', '1000', '1000']);
	});

	const later = { status: 503, headers: { 'retry-after': '0' } };
	const bad: Fault[] = ['hang', 'drop', later, { status: 500 }, HTML, { code: 0, data: huge }];
	test.each([...bad, { code: 10001 }])('of POST is sent once after fault %#; later ones are reads', async (fault) => {
		hurry(4);
		set({ faults: [{ fault }] });
		expect((await all({ options: { timeout: 1000 } })).error?.message).toMatch(/change may have been made$|10001/);
		expect(sizes()).toEqual(['1000']);
		set({ faults: [{ orderOfKind: 3, fault }] });
		// Not ahead: a page that is still under way would come first in the next test, and get its fault.
		const options = { timeout: 1000, parallelRequests: 1 };
		expect(String((await all({ options })).error?.message)).not.toContain('may have been made');
	});

	test('of POST by a login is sent again only after a refused token, and not if it is no list', async () => {
		await bench.signInEarlier();
		bench.platform.expireTokens();
		expect(jsonOf(await all({}, bench.login))).toHaveLength(250);
		const records = [{}, { id: '7', content: [{ line: 1 }] }].map((data) => ({ code: 0, data }));
		set({ faults: [HTML, ...records].map((fault) => ({ kind: 'list', fault })) });
		expect((await all({}, bench.login)).error?.message).toMatch(DOUBT);
		for (const _ of records)
			expect((await all({}, bench.login)).error?.message).toBe("The response isn't a list with pages");
		expect(kinds()).toBe('list login list list list list login list list');
	});
});
