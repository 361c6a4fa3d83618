/**
 * The platform check against the embedded platform in each of its habits, over real HTTP in n8n's engine. Every check here
 * also proves that it only reads, signs in once, keeps to its number of requests, and shows no secret and no device.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod/v4';

import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { JsonValue } from '../../nodes/DeviceManagement/core/json.ts';
import { findDates, findValues } from '../../scripts/checkPlatform/fields.mts';
import { filtersFor } from '../../scripts/checkPlatform/filters.mts';
import { byAttribute, checkOrder } from '../../scripts/checkPlatform/order.mts';
import type { Selection } from '../../scripts/checkPlatform/probe.mts';
import { EXIT_CODES, MARKS } from '../../scripts/checkPlatform/report.mts';
import { CHECKS, type CheckId, type Finding, type Row, verdictOn } from '../../scripts/checkPlatform/rows.mts';
import { runCheck, type RunOptions } from '../../scripts/checkPlatform/run.mts';
import type { Target } from '../../scripts/target.mts';
import { checkout } from '../../testbed/checkout.mts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { readPage } from '../../testbed/pages.mts';
import { type EmbeddedPlatform, Fleet, type Settings, startPlatform } from '../../testbed/platform/server.mts';
import { Watch } from '../../testbed/watch.mts';
import { filterFields } from '../form.mts';

const bench = useBench({ fleet: { size: 240 } });

/** Checks the platform with these habits. */
async function check(settings: Partial<Settings> = {}, target: Target = {}, options: RunOptions = {}): Promise<Row[]> {
	const { engine, platform } = bench;
	Object.assign(platform.settings, settings);
	const { baseUrl, apiKey } = platform;
	const { rows, requests } = await runCheck(engine, { baseUrl, authentication: 'apiKey', apiKey, ...target }, options);

	expect(rows.map(({ id }) => id)).toEqual(Object.keys(CHECKS));
	expect(requests).toBe(platform.requests.length);
	expect(requests).toBeLessThanOrEqual(40);
	expect(platform.logins.attempted).toBeLessThanOrEqual(1);
	for (const { method, path } of platform.requests) {
		expect(`${method} ${path}`).toMatch(
			/^(POST \/api\/device\/list|GET \/api\/device\/sn\/.*|POST \/api\/user\/login)$/,
		);
	}
	expectDiscreet(JSON.stringify(rows), platform);
	return rows;
}

function expectDiscreet(
	output: string,
	{ apiKey, password, passwordMd5, issuedTokens, fleet }: EmbeddedPlatform,
): void {
	for (const secret of [apiKey, password, passwordMd5, ...issuedTokens]) expect(output).not.toContain(secret);
	for (const { sn } of fleet.devices.slice(0, 50)) expect(output).not.toContain(sn);
}

/** What differs from a platform that does everything. */
function differences(rows: readonly Row[]): Partial<Record<CheckId, string>> {
	return Object.fromEntries(
		rows
			.filter(({ id, found }) => id !== 'speed' && found !== AS_IT_IS[id])
			.map(({ id, result, found }) => [id, `${MARKS[result]} ${found}`]),
	);
}

function ofEachFilter(found: string): Partial<Record<CheckId, string>> {
	return Object.fromEntries(filtersFor([], undefined).map(({ id }) => [id, found]));
}

const AS_IT_IS: Partial<Record<CheckId, string>> = {
	signIn: 'API key accepted',
	envelope: "'code', 'msg' and 'data'",
	list: '240 devices',
	firstPage: '1',
	severalPages: 'each device once',
	pageSize: '2,000; larger pages are cut',
	totals: 'both are right',
	pastEnd: 'empty',
	sortCreateTime: 'obeyed',
	sortUpdateTime: 'obeyed',
	sortAttribute: 'obeyed',
	...ofEachFilter('obeyed'),
	get: 'the same device',
	unknownSerialNumber: 'code 10007',
	onlineStatus: '1: 170, 0: 70 of the first 240',
	status: '2: 170, 1: 60, 3: 7, 0: 3 of the first 240',
	createTime: 'readable: 240 of the first 240',
	updateTime: 'readable: 104, none: 136 of the first 240',
	polls: '1',
};

const login = (): Target => {
	const { loginName, password } = bench.platform;
	return { authentication: 'login', loginName, password };
};

test('a platform that does everything gets a ✓ in each row, and its speed', async () => {
	const rows = await check();
	expect(differences(rows)).toEqual({});
	expect(rows.every(({ result }) => result === 'yes')).toBe(true);
	expect(verdictOn(rows)).toBe('works');
	expect(rows.at(-1)?.found).toMatch(/^240 devices: [\d.]+ s, 0\.\d MB$/);
});

describe('a habit shows in its row alone', () => {
	const pastEnd = ({ page = 0 }: { page?: number | undefined }) => page >= 24;
	const habits: ReadonlyArray<readonly [string, Partial<Settings>, Partial<Record<CheckId, string>>]> = [
		[
			'refuses sorting, and unknown serial numbers with 14401',
			{ sorting: 'refused', noDeviceCode: 14401 },
			{
				sortCreateTime: '✗ refused (code 10005)',
				sortUpdateTime: '✗ refused (code 10005)',
				sortAttribute: '✗ refused (code 10005)',
				unknownSerialNumber: '✓ code 14401',
			},
		],
		[
			'accepts every page size, and sorts missing values last',
			{ largestSize: 50_000, missingValues: 'last' },
			{ pageSize: '✓ 10,000 or more' },
		],
		[
			'cuts pages to 500, and refuses a page past the end',
			{ largestSize: 500, fault: (request) => (pastEnd(request) ? { code: 10001 } : undefined) },
			{ pageSize: '✓ 500; larger pages are cut', pastEnd: '✓ refused (code 10001)' },
		],
		[
			'refuses pages over 100, and repeats the last page',
			{
				largestSize: 100,
				largerSize: 'refuse',
				changePage: (page, request) =>
					pastEnd(request) ? { ...page, content: bench.fleet.devices.slice(230), number: 23 } : page,
			},
			{
				pageSize: '✗ 125 fails (code 10001)',
				pastEnd: '✓ the last page again',
				onlineStatus: '✓ 1: 7, 0: 3 of the first 10',
				status: '✓ 2: 7, 1: 3 of the first 10',
				createTime: '✓ readable: 10 of the first 10',
				updateTime: '✓ readable: 3, none: 7 of the first 10',
				polls: '✓ 5',
			},
		],
		[
			'ignores filters, and repeats the first page',
			{
				filtering: 'ignored',
				changePage: (page, request) =>
					pastEnd(request) ? { ...page, content: bench.fleet.devices.slice(0, 10), number: 0 } : page,
			},
			{
				...ofEachFilter('✗ ignored'),
				pastEnd: '✓ the first page again',
			},
		],
		[
			"has no 'last', and returns nothing for an unknown serial number",
			{ changePage: ({ last: _, ...page }) => page, noDeviceCode: 0 },
			{ totals: "✗ the total is right, 'last' is missing", unknownSerialNumber: '✓ a success without data' },
		],
		[
			'refuses an unknown status, but filters by a known one',
			{ fault: ({ body }) => (JSON.stringify(body)?.includes('987654321') ? { code: 10001 } : undefined) },
			{},
		],
		[
			'has no totals',
			{ changePage: ({ content }) => ({ content }) },
			{ list: '✓ 10 devices', totals: '✗ no total', pageSize: '? at least 125', polls: '? at least 1' },
		],
		[
			'has a total of its own',
			{ changePage: (page) => ({ ...page, totalElements: 1500 }) },
			{ list: '✓ 1,500 devices', totals: '? the total does not match the pages', polls: '? at least 7' },
		],
		[
			'has a total that is too small',
			{ changePage: (page) => ({ ...page, totalElements: 100 }) },
			{
				list: '✓ 100 devices',
				totals: "✗ the total is right, 'last' is wrong",
				pastEnd: '? more devices',
				polls: '? at least 1',
			},
		],
		[
			'has none of the fields that alerts need',
			{
				changePage: ({ content, ...page }) => ({ ...page, content: content.map(({ id, sn }) => ({ id, sn })) }),
				sorting: 'refused',
			},
			{
				onlineStatus: '✗ no device has it',
				status: '✗ no device has it',
				createTime: '✗ no device has it',
				updateTime: '✗ no device has it',
				sortCreateTime: '✗ refused (code 10005)',
				sortUpdateTime: '✗ refused (code 10005)',
				sortAttribute: '? no attributes',
			},
		],
		[
			'refuses every serial number',
			{ fault: ({ kind }) => (kind === 'sn' ? { code: 14103 } : undefined) },
			{ get: '✗ code 14103', unknownSerialNumber: '✗ code 14103' },
		],
	];

	test.each(habits)('%s', async (_name, settings, expected) => {
		expect(differences(await check(settings))).toEqual(expected);
	});
});

describe('what alerts need', () => {
	const devices = (values: readonly unknown[]) =>
		values.map((value): Device => JSON.parse(JSON.stringify({ sn: 'RT1', status: value, updateTime: value })));
	const show = ({ result, found }: Finding) => `${MARKS[result]} ${found}`;

	const statuses: ReadonlyArray<readonly [string, readonly unknown[], string]> = [
		['numbers, the most frequent first', [0, 1, 1, -1], '✓ 1: 2, 0: 1, -1: 1 of the first 4'],
		['numbers as texts and booleans', ['0', 0, true, false], '✓ 0: 2, true: 1, false: 1 of the first 4'],
		['no value', [1, null, undefined], '? 1: 1, none: 2 of the first 3'],
		[
			'values that may identify a device',
			['Anna', '', 'RT46643907', 862_462_030_142_276, 21.5, [0], { toString: 1 }],
			'? other: 7 of the first 7',
		],
		[
			'many values',
			Array.from({ length: 5000 }, (_, at) => (at % 2) * at),
			'? 0: 2,500, 1: 1, 3: 1, 5: 1, 7: 1, 9: 1, 11: 1, 13: 1, other: 2,493 of the first 5,000',
		],
	];
	test.each(statuses)('of a status: %s', (_name, values, expected) => {
		expect(show(findValues('status', devices(values)))).toBe(expected);
	});

	const dates: ReadonlyArray<readonly [string, readonly unknown[], string]> = [
		['also without a value', ['2024-01-08 22:27:29', null, ''], '✓ readable: 1, none: 2 of the first 3'],
		[
			'some in another format',
			['2024-01-08 22:27:29', '08.01.2024'],
			'? readable: 1, another format: 1 of the first 2',
		],
		['in another format', [1_704_752_849, '08.01.2024', {}], '✗ another format: 3 of the first 3'],
	];
	test.each(dates)('of dates: %s', (_name, values, expected) => {
		expect(show(findDates('updateTime', devices(values)))).toBe(expected);
	});

	const pages: ReadonlyArray<readonly [Partial<Settings>, number, string]> = [
		[{}, 1000, '1'],
		[{ largestSize: 100 }, 1000, '3'],
		[{ largestSize: 200, largerSize: 'refuse' }, 125, '2'],
		[{ largestSize: 100, largerSize: 'refuse' }, 50, '5'],
	];
	test.each(pages)('of a poll: as many requests as the trigger sends with %j', async (settings, pageSize, expected) => {
		const rows = await check(settings);
		const found = rows.find(({ id }) => id === 'polls');
		expect(found).toMatchObject({ result: 'yes', found: expected });
		expect(found?.advice).toContain(`${(1440 * Number(expected)).toLocaleString('en')} a day`);
		const checked = bench.platform.requests.length;
		await new Watch(bench, { events: ['onlineStatusChanged'], options: { pageSize } }).activate();
		expect(String(bench.platform.requests.length - checked)).toBe(expected);
	});
});

test('each filter of the form is tried', () => {
	// Users name what these send, so there is no filter to try.
	const OPEN = ['body', 'query'];
	const tried: string[] = filtersFor([], undefined).map(({ id }) => id);
	const missing = filterFields.filter(
		({ name }) => !OPEN.includes(name) && !tried.includes(`filter${name.charAt(0).toUpperCase()}${name.slice(1)}`),
	);
	expect(missing.map(({ displayName }) => `Try '${displayName}' in filtersFor() of scripts/checkPlatform`)).toEqual([]);
});

test('docs/platform.md explains each row once, in the order of the table', async () => {
	const rows = await check({});
	const names = [...readPage('docs/platform.md').matchAll(/^\| ([A-Z].*?) +\| .+ \| .+ \|$/gm)].map(([, name]) => name);
	const shown = rows.map(({ check: name, essential }) => (essential ? `${name} \\*` : name));
	expect(names.slice(names.indexOf('Check') + 1)).toEqual(shown);
});

describe('a sort order', () => {
	const orders: ReadonlyArray<readonly [string, readonly JsonValue[], readonly JsonValue[], string]> = [
		['of numbers', [2, 10, 11], [11, 10, 2], '✓ obeyed'],
		['of numbers as texts', [10, 11, 2], [2, 11, 10], '✓ obeyed'],
		['of texts whatever their case', ['a', 'B', 'c'], ['c', 'B', 'a'], '✓ obeyed'],
		['with missing values first or last', [null, null, 1], [2, 1, null], '✓ obeyed'],
		['in one direction only', [1, 2, 3], [1, 2, 3], '✗ ignored'],
		['of equal values', [1, 1, 1], [1, 1, 1], '? too few different values'],
		['of missing values', [null, null], [null, null], '? too few different values'],
	];

	test.each(orders)('%s', async (_name, up, down, expected) => {
		const devices = (values: readonly JsonValue[]) =>
			values.map((level, id) => ({ id: `${id} ${level}`, attributes: { level } }));
		const page = async (_size: number, _page?: number, selection?: Selection) => ({
			value: { content: devices(selection?.sort === 'attributes.level asc' ? up : down) },
		});
		const { result, found } = await checkOrder({ page }, byAttribute('level'));
		expect(`${MARKS[result]} ${found}`).toBe(expected);
	});
});

describe('signing in', () => {
	test('with a login says that one token per user ends', async () => {
		const rows = await check({ livingTokens: 'one-per-user' }, login());
		expect(differences(rows)).toEqual({ signIn: '✓ login accepted' });
		expect(rows[0]?.advice).toMatch(/one token per user/);
		expect(bench.platform.logins.attempted).toBe(1);
	});

	test('with a wrong key sends one request', async () => {
		const rows = await check({}, { apiKey: 'another-key' });
		expect(rows[0]).toMatchObject({ result: 'no', found: 'API key refused (code 14101)' });
		expect(bench.platform.requests).toHaveLength(1);
	});

	test('is not repeated if the token expires', async () => {
		const rows = await check({ tokenRequests: 5 }, login());
		expect(rows.find(({ id }) => id === 'get')).toMatchObject({ result: 'yes' });
		expect(rows.at(-1)).toMatchObject({ result: 'unsure', advice: expect.stringMatching(/token expired/) });
	});

	test('elsewhere names the path', async () => {
		const rows = await check({ loginPath: '/api/other/login' }, login());
		expect(rows[0]).toMatchObject({
			result: 'no',
			found: 'no token (HTTP 404)',
			advice: expect.stringMatching(/--set/),
		});
	});
});

describe('what is essential', () => {
	const missing: ReadonlyArray<readonly [string, Partial<Settings>, Partial<Record<CheckId, string>>]> = [
		['the envelope', { fault: () => ({ status: 200, body: '<html></html>' }) }, { envelope: '✗ no envelope' }],
		['the path', { fault: () => ({ status: 404, body: '' }) }, { envelope: '✗ HTTP 404' }],
		['the right to list', { role: 'none' }, { list: '✗ code 14103' }],
		[
			'pages',
			{ beforeAnswer: ({ query }) => void delete query['page'] },
			{ firstPage: "✗ 'page' is ignored", severalPages: '✗ the list repeats devices' },
		],
	];

	test.each(missing)('%s', async (_name, settings, expected) => {
		const rows = await check(settings);
		expect(differences(rows)).toMatchObject(expected);
		expect(verdictOn(rows)).toBe('missing');
	});

	test('no device at all leaves the check unsure', async () => {
		bench.platform.fleet = new Fleet([]);
		const rows = await check();
		expect(rows.find(({ id }) => id === 'list')).toMatchObject({ result: 'unsure', found: 'no devices' });
		expect(rows.find(({ id }) => id === 'onlineStatus')).toMatchObject({ result: 'unsure', found: 'not checked' });
		expect(bench.platform.requests).toHaveLength(1);
		expect(verdictOn(rows)).toBe('unsure');
	});
});

test('a platform that is overloaded for the moment gets no ✗', async () => {
	hurry();
	const rows = await check({ fault: ({ query }) => (query['sort'] === undefined ? undefined : { status: 503 }) });
	expect(differences(rows)).toEqual({
		sortCreateTime: '? HTTP 503',
		sortUpdateTime: '? HTTP 503',
		sortAttribute: '? HTTP 503',
	});
});

describe('no more than 40 requests', () => {
	test('are sent in the worst case', async () => {
		const settings: Partial<Settings> = {
			largestSize: 50_000,
			changePage: (page, { order }) => ({ ...page, totalElements: 1000 + order }),
			beforeAnswer: ({ order }) =>
				bench.fleet.reorder((devices) => [...devices.slice(order), ...devices.slice(0, order)]),
			fault: ({ kind, url, body }) => {
				if (JSON.stringify(body)?.includes('987654321')) return { code: 10001 };
				// Every serial number that the check makes up exists.
				return kind === 'sn' ? { code: 0, data: { sn: url.slice(url.lastIndexOf('/') + 1) } } : undefined;
			},
		};
		await check(settings, login());
		expect(bench.platform.requests.length).toBeGreaterThan(35);
	});

	test('are the limit, however much is left to check', async () => {
		const rows = await check({}, login(), { mostRequests: 10 });
		expect(bench.platform.requests).toHaveLength(10);
		expect(rows.at(-1)).toMatchObject({ result: 'unsure', found: 'not checked' });
	});
});

describe('the command', () => {
	let platform: EmbeddedPlatform;
	let run: ReturnType<typeof runCommand>;
	beforeAll(async () => {
		platform = await startPlatform({ fleet: { size: 1200 }, sorting: 'ignored' });
		run = runCommand(['--base-url', platform.baseUrl, '--login', platform.loginName, '--json'], platform.password);
	});
	afterAll(async () => await platform.stop());

	test('takes the password from standard input and prints JSON alone', async () => {
		const { stdout, stderr, exitCode } = await run;
		expect({ exitCode, stderr }).toEqual({ exitCode: EXIT_CODES.works, stderr: expect.stringContaining('Checked') });
		const report = z.object({ verdict: z.string(), requests: z.number(), rows: z.array(z.object({ id: z.string() })) });
		const { verdict, requests, rows } = report.parse(JSON.parse(stdout));
		expect({ verdict, requests }).toEqual({ verdict: 'works', requests: platform.requests.length });
		expect(rows.map(({ id }) => id)).toEqual(Object.keys(CHECKS));
		expectDiscreet(stdout + stderr, platform);
	});
});

async function runCommand(flags: readonly string[], input: string) {
	const script = join(checkout, 'scripts/checkPlatform.mts');
	const child = spawn(process.execPath, ['--import', 'tsx', script, ...flags], { cwd: checkout });
	child.stdin.end(`${input}\n`);
	const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
	return { stdout, stderr, exitCode: Number(exitCode) };
}
