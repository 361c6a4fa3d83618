/**
 * The platform check against the embedded platform in each of its habits, over real HTTP in n8n's engine. Every check here
 * also proves that it only reads, repeats no refused login, keeps to its number of requests, and shows no secret, address or device.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod/v4';

import type { JsonValue } from '../../nodes/DeviceManagement/core/json.ts';
import { checkPlatform } from '../../scripts/checkPlatform/check.mts';
import { findStatuses } from '../../scripts/checkPlatform/devices.mts';
import { openProbe } from '../../scripts/checkPlatform/probe.mts';
import {
	type CheckId,
	MARKS,
	no,
	type Row,
	rowsOf,
	unsure,
	verdictOn,
	yes,
} from '../../scripts/checkPlatform/report.mts';
import { FILTERS } from '../../scripts/checkPlatform/selections.mts';
import type { Target } from '../../scripts/checkPlatform/target.mts';
import { checkout } from '../../testbed/checkout.mts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { type EmbeddedPlatform, type Fault, type Settings, startPlatform } from '../../testbed/platform/server.mts';
import { filterFields } from '../../testbed/form.mts';
import { triggerWorkflow } from '../../testbed/watch.mts';

const bench = useBench({ fleet: { size: 240 } });

type Shown = Partial<Record<CheckId, string>>;

/** Checks the platform with these habits. */
async function check(settings: Partial<Settings> = {}, target: Target = {}) {
	const { engine, platform } = bench;
	const { baseUrl, apiKey, loginName, password } = platform;
	Object.assign(platform.settings, settings);
	const credential = { baseUrl, authentication: 'apiKey', apiKey, loginName, password, ...target };
	const rows = await checkPlatform(engine, credential);
	const sent = platform.requests.map(({ method, path }) => `${method} ${path.replace(/sn\/.*/, 'sn/…')}`);
	expect([...new Set(sent)].filter((each) => !READS.includes(each))).toEqual([]);
	expect(rows.map(({ id }) => id)).toEqual(IDS);
	expect(sent.length).toBeLessThanOrEqual(40);
	expect(platform.logins.attempted - platform.logins.succeeded).toBeLessThanOrEqual(1);
	expectDiscreet(JSON.stringify(rows), platform);
	return rows;
}

const READS = ['POST /api/device/list', 'GET /api/device/sn/…', 'POST /api/user/login'];

function expectDiscreet(output: string, platform: EmbeddedPlatform): void {
	const { apiKey, password, passwordMd5, issuedTokens, fleet, baseUrl } = platform;
	const serialNumbers = fleet.devices.slice(0, 50).map(({ sn }) => sn);
	const secrets = [apiKey, password, passwordMd5, ...issuedTokens, ...serialNumbers, new URL(baseUrl).host];
	expect(secrets.filter((secret) => output.includes(secret))).toEqual([]);
}

const show = ({ result, found }: Pick<Row, 'result' | 'found'>) => `${MARKS[result]} ${found}`;
const showAll = (rows: readonly Row[]): Shown => Object.fromEntries(rows.map((row) => [row.id, show(row)]));
const ofEach = (ids: readonly CheckId[], found: string): Shown => Object.fromEntries(ids.map((id) => [id, found]));
const IDS = rowsOf({}, unsure('', '')).map(({ id }) => id);

const SIGNED_IN: Shown = { signIn: '✓ API key accepted' };
/** A platform that does everything. */
const AS_IT_IS: Shown = {
	...SIGNED_IN,
	list: '✓ 240 devices',
	severalPages: '✓ each device once',
	pageSize: '✓ 1,000',
	totals: '✓ right',
	...ofEach(['sort', 'filters'], '✓ obeyed'),
	get: '✓ the same device',
	unknownSerialNumber: '✓ code 10007',
	onlineStatus: '✓ 1: 170, 0: 70 of the first 240',
};
const LOGIN: Target = { authentication: 'login' };

/** What a request for one device gets. */
const ofDevice = (fault: (sn: string) => Fault | undefined): Settings['fault'] => {
	return ({ kind, path }) => (kind === 'sn' ? fault(path.split('/').at(-1) ?? '') : undefined);
};

const changeDevices = (change: (device: object) => object): Partial<Settings> => ({
	changePage: ({ content, ...page }) => ({ ...page, content: content.map(change) }),
});

const OF_100: Shown = { onlineStatus: '✓ 1: 67, 0: 33 of the first 100' };

/** Some habits, their settings, and the rows that they change. */
const habits: Record<string, readonly [Partial<Settings>, Shown]> = {
	'does everything': [{}, {}],
	'counts pages from 0, and cuts them to 100': [
		{ pageNumbering: 'zero-based', largestSize: 100 },
		{ pageSize: '✓ 100; larger pages are cut', ...OF_100 },
	],
	'refuses sorting, and refuses unknown serial numbers with 14401': [
		{ sorting: 'refused', noDeviceCode: 14401 },
		{ sort: '✗ refused (code 10005)', unknownSerialNumber: '✓ code 14401' },
	],
	'refuses pages over 100': [
		{ fault: ({ query }) => (Number(query['size']) > 100 ? { code: 10001 } : undefined) },
		{ pageSize: '✓ 100; 200 fails (code 10001)', ...OF_100 },
	],
	'ignores filters and sort orders, and returns nothing for an unknown serial number': [
		{
			beforeAnswer: (request) => {
				request.query = { page: request.query['page'], size: request.query['size'] };
				if (request.kind === 'list') request.body = {};
			},
			noDeviceCode: 0,
		},
		{
			sort: '✗ ignored: createTime',
			filters: `✗ ignored: ${Object.keys(FILTERS).join(', ')}`,
			unknownSerialNumber: '✓ a success without data',
		},
	],
	'refuses a filter, and sorts in one direction': [
		{
			beforeAnswer: ({ query }) =>
				void ('sort' in query && (query['sort'] = String(query['sort']).replace('desc', 'asc'))),
			fault: ({ query }) => ('tags' in query ? { code: 10001 } : undefined),
		},
		{ sort: '✗ ignored: createTime', filters: '? refused: tags' },
	],
	'has no totals': [{ changePage: ({ content }) => ({ content }) }, { list: '✓ 10 devices', totals: '✗ no total' }],
	'has a total of its own': [
		{ changePage: (page) => ({ ...page, totalElements: 1500 }) },
		{ list: '✓ 1,500 devices', totals: '? the total does not match the pages' },
	],
	'has no status, and never updated a device': [
		changeDevices((device) => ({ ...device, onlineStatus: undefined, updateTime: null })),
		{ onlineStatus: '✗ no device has it', sort: '? too few different values: updateTime' },
	],
	'refuses every serial number': [
		{ fault: ofDevice(() => ({ code: 14103 })) },
		ofEach(['get', 'unknownSerialNumber'], '✗ code 14103'),
	],
	'is overloaded for the moment': [
		{ fault: ({ query }) => ((query['sort'] ?? query['name']) ? { status: 503 } : undefined) },
		{ sort: '? HTTP 503', filters: '? name: HTTP 503' },
	],
	'is a database, and returns another device': [
		{ equalValues: 'unsteady', ownSort: 'createTime desc', fault: ofDevice(() => ({ code: 0, data: { sn: 'RT1' } })) },
		ofEach(['get', 'unknownSerialNumber'], '✗ an unexpected response'),
	],
	'gets a new device before each response': [
		{ beforeAnswer: () => void bench.fleet.add() },
		{
			list: '✓ 241 devices',
			totals: '? the total does not match the pages',
			onlineStatus: expect.stringContaining('of the first 242'),
		},
	],
	'has only one page': [
		{ beforeAnswer: ({ query }) => void delete query['page'] },
		{ severalPages: '✗ the list repeats devices', totals: '? the total does not match the pages' },
	],
};

test.each(Object.entries(habits))('its rows alone show that a platform %s', async (_, [settings, expected]) => {
	hurry();
	expect(showAll(await check(settings))).toEqual({ ...AS_IT_IS, ...expected });
});

/** What the nodes can't do without, the credential and the habit without it, and what the check says and advises. */
const missing: ReadonlyArray<readonly [string, Target, Partial<Settings>, Shown, string]> = [
	['an envelope', {}, { fault: () => ({ status: 200, body: '<p>' }) }, { list: '✗ no envelope' }, '--base-url'],
	['the path', {}, { fault: () => ({ status: 404, body: '' }) }, { list: '✗ HTTP 404' }, '--base-url'],
	[
		'the right to list',
		{},
		{ fault: () => ({ code: 14103 }) },
		{ ...SIGNED_IN, list: '✗ code 14103' },
		'administrator',
	],
	['devices', {}, { changePage: () => ({ content: [] }) }, { ...SIGNED_IN, list: '? no devices' }, 'Add devices'],
	['the right key', { apiKey: 'x' }, {}, { signIn: '✗ API key refused (code 14101)' }, '--set apiKeyName'],
	['a valid token', LOGIN, { tokenRequests: 0 }, { signIn: '✗ token refused (code 14101)' }, '--set tokenPath'],
	['a login at the path', LOGIN, { loginPath: '/login' }, { signIn: '✗ no token (HTTP 404)' }, '--set'],
];

test.each(missing)('without %s, nothing else is checked', async (_name, target, settings, expected, advice) => {
	hurry();
	const rows = await check(settings, target);
	expect(showAll(rows)).toEqual({ ...ofEach(IDS, '? not checked'), ...expected });
	expect(rows.find(({ id, result }) => id in expected && result !== 'yes')?.advice).toContain(advice);
	const others = bench.platform.requests.filter(({ url }) => !/login$|\?size=10$/.test(url));
	expect(others).toEqual([]);
});

test.each([
	['The nodes work', 'works', 0, { sort: no }],
	['The nodes do not work with this platform yet: Get by serial number.', 'missing', 1, { get: no, list: unsure }],
	['could not tell whether the nodes work with this platform: Device list.', 'unsure', 2, { list: unsure, sort: no }],
])('the verdict “%s” is “%s”, with exit code %d', (conclusion, verdict, exitCode, results) => {
	const findings = Object.fromEntries(Object.entries(results).map(([id, result]) => [id, result('', '')]));
	const found = verdictOn(rowsOf(findings, yes('', '')));
	expect(found).toEqual({ verdict, exitCode, conclusion: expect.stringContaining(conclusion) });
});

test('a login signs in again when its token expires, and a request that is refused with a valid token is a row', async () => {
	hurry();
	const rows = await check({ tokenRequests: 10, fault: ofDevice(() => ({ status: 403 })) }, LOGIN);
	const refused = ofEach(['get', 'unknownSerialNumber'], '✗ HTTP 403');
	expect(showAll(rows)).toEqual({ ...AS_IT_IS, ...refused, signIn: '✓ login accepted' });
	expect(rows[0]?.advice).toContain('one token per user');
});

test('no more requests are sent than allowed, however much is left to check', async () => {
	const { context } = bench.engine.pollingNode(triggerWorkflow(bench.engine, bench.apiKey, {}));
	bench.platform.settings.largestSize = 5;
	await expect((await openProbe(context)).list(5, 240)).rejects.toThrow('The check sends at most 40 requests.');
	expect(bench.platform.requests).toHaveLength(40);
});

test.each<[string, JsonValue[], string]>([
	['short values, the most frequent first', [-1, '0', 0, true], '✓ 0: 2, -1: 1, true: 1 of the first 4'],
	[
		'more than eight values',
		[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
		'✓ 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, further values: 2 of the first 10',
	],
	['values that may identify a device', ['Anna', '', 86246, 21.5, [0], {}], '? other: 6 of the first 6'],
])('an online status with %s', (_name, values, expected) => {
	expect(show(findStatuses(values.map((onlineStatus) => ({ sn: 'RT1', onlineStatus }))))).toBe(expected);
});

test('each filter that the platform gets is one of FILTERS in scripts/checkPlatform/selections.mts', () => {
	// Users name what these send, so there is no filter to try.
	const sent = ({ name }: { name: string }) => !['body', 'group', 'onlineStatus', 'query'].includes(name);
	expect(Object.keys(FILTERS)).toEqual(filterFields.filter(sent).map(({ name }) => name));
});

test('the command takes the password from standard input and prints JSON alone', async () => {
	const platform = await startPlatform({ fleet: { size: 1200 }, sorting: 'ignored' });
	try {
		const script = join(checkout, 'scripts/checkPlatform.mts');
		const flags = ['--base-url', platform.baseUrl, '--login', platform.loginName, '--json'];
		const running = promisify(execFile)(process.execPath, ['--import', 'tsx', script, ...flags], { cwd: checkout });
		running.child.stdin?.end(`${platform.password}\n`);
		const { stdout, stderr } = await running;
		const report = z.object({ verdict: z.string(), rows: z.array(z.object({ id: z.string() })) });
		const { verdict, rows } = report.parse(JSON.parse(stdout));
		expect([verdict, rows.length]).toEqual(['works', IDS.length]);
		expect(stderr).toContain('✔ Checking');
		expectDiscreet(stdout + stderr, platform);
	} finally {
		await platform.stop();
	}
});
