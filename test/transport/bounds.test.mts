import type { Bench } from '../../testbed/bench.mts';
import { hurry, useBenches } from '../../testbed/jest.mts';
import { type OperationName, operationNames, operations, serialNumberItems } from '../../testbed/operations.mts';
import { roundTrip } from '../../testbed/rawServer.mts';

const open = useBenches();

/** Waits until the platform has sent all responses, and a late request would have arrived. */
async function settle({ platform }: Bench): Promise<void> {
	while (platform.inFlight > 0) await new Promise(setImmediate);
	for (let trip = 0; trip < 10; trip++) await roundTrip();
}

describe('a stopped execution', () => {
	type Case = [OperationName, options: { pageSize?: number; parallelRequests: number }, items: number, at: number];

	test.each<Case>([
		...operationNames.map((name): Case => [name, { parallelRequests: 4 }, 30, 6]),
		['get', { parallelRequests: 1 }, 30, 2],
		// Within the twenty pages of one item.
		['getAll', { pageSize: 2, parallelRequests: 1 }, 1, 3],
		['getAll', { pageSize: 2, parallelRequests: 4 }, 1, 5],
	])('sends nothing more: %s with %j and %i items, stopped at request %i', async (operation, options, items, at) => {
		const bench = await open({ fleet: { size: 40 } });
		const { platform, run } = bench;
		const stop = new AbortController();
		let afterwards = 0;
		platform.settings.beforeAnswer = ({ order }) => {
			if (order === at) stop.abort();
			if (order > at) afterwards++;
		};
		const result = await run(
			{ ...operations[operation], options },
			{
				signal: stop.signal,
				input: serialNumberItems(bench, items).map((item, mark) => ({ ...item, mark })),
			},
		);
		expect(result.cancelled).toBe(true);
		await settle(bench);
		// What was on its way already may still arrive.
		expect(afterwards).toBeLessThan(options.parallelRequests);
	});

	test('sends nothing more while the answer to its login is awaited', async () => {
		const bench = await open();
		const stop = new AbortController();
		bench.platform.settings.beforeAnswer = ({ kind }) => {
			if (kind === 'login') stop.abort();
		};
		const result = await bench.run(operations.get, {
			credential: bench.login,
			signal: stop.signal,
			input: serialNumberItems(bench, 10),
		});
		expect(result.cancelled).toBe(true);
		await settle(bench);
		expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(['login']);
	});

	test.each(['apiKey', 'login'] as const)(
		'sends nothing more after a wait between two attempts, signed in by %s',
		async (way) => {
			const bench = await open();
			const stop = new AbortController();
			bench.platform.settings.fault = ({ kind }) =>
				kind === 'login' && way === 'apiKey' ? undefined : { status: 503, headers: { 'retry-after': '60' } };
			let waits = 0;
			hurry(1, () => {
				// The execution is stopped in the middle of the node's wait.
				waits++;
				stop.abort();
			});
			const result = await bench.run(operations.count, { credential: bench[way], signal: stop.signal });
			expect(result.cancelled).toBe(true);
			await settle(bench);
			expect(bench.platform.requests).toHaveLength(1);
			expect(waits).toBe(1);
		},
	);

	test('that was stopped before it began sends nothing at all', async () => {
		const bench = await open();
		await bench.run(operations.count, { credential: bench.login, signal: AbortSignal.abort() });
		await settle(bench);
		expect(bench.platform.requests).toEqual([]);
	});
});

test.each(operationNames)('after an item of %s failed, no further item is begun', async (operation) => {
	const bench = await open();
	bench.platform.settings.fault = ({ order }) => (order === 2 ? { code: 10003 } : undefined);
	const { error } = await bench.run(
		{ ...operations[operation], options: { parallelRequests: 1 } },
		{ input: serialNumberItems(bench, 10).map((item, mark) => ({ ...item, mark })) },
	);
	expect(error?.message).toBe('The record exists already (code 10003: duplicate record) [item 1]');
	await settle(bench);
	expect(bench.platform.requests).toHaveLength(2);
});

describe('Retry-After', () => {
	test.each(['121', '3600', '999999999999', 'Fri, 01 Jan 2100 00:00:00 GMT'])(
		'of %s is not waited for: the item fails at once, in words',
		async (wait) => {
			const { platform, run } = await open();
			platform.settings.fault = () => ({ status: 429, headers: { 'retry-after': wait } });
			const { error } = await run(operations.count);
			expect(error?.message).toMatch(
				/^The platform receives too many requests \(HTTP 429\); the next try would be in \d+ seconds, which is longer than this node waits$/,
			);
			expect(Object(error)['failure']).toMatchObject({ cause: 'rate-limited', retryAfterMs: expect.any(Number) });
			expect(platform.requests).toHaveLength(1);
		},
	);

	test.each([10, -10])(
		"as a date is counted from the platform's date, with its clock %i minutes ahead",
		async (minutes) => {
			const { platform, run } = await open();
			const date = Date.now() + minutes * 60_000;
			const [sent, retry] = [date, date + 2000].map((time) => new Date(time).toUTCString());
			const headers = { date: String(sent), 'retry-after': String(retry) };
			platform.settings.faults = [{ fault: { status: 429, headers } }];
			const waits: number[] = [];
			hurry(1, (ms) => waits.push(Math.ceil(ms / 1000)));
			expect((await run(operations.count)).error).toBeUndefined();
			expect(waits).toEqual([2]);
		},
	);
});

test.each([1, 3, 16])('no more than %i requests are in flight at once, over all items', async (parallelRequests) => {
	const bench = await open({ fleet: { size: 60 }, latencyMs: 2 });
	const result = await bench.run(
		{ ...operations.getAll, options: { parallelRequests, pageSize: 5 } },
		{ input: [{ mark: 'a' }, { mark: 'b' }, { mark: 'c' }] },
	);
	expect(result.data('Devices')).toHaveLength(180);
	expect(bench.platform.peakInFlight).toBeLessThanOrEqual(parallelRequests);
});

test('an item that fails stops the others for good, also one whose login is still under way', async () => {
	const bench = await open();
	const { platform, login, run } = bench;
	await run(operations.request, { credential: login, input: [{ mark: 'earlier' }] });
	platform.forget();
	let loginBegan = () => {};
	const began = new Promise<void>((resolve) => (loginBegan = resolve));
	let releaseLogin = () => {};
	const released = new Promise<void>((resolve) => (releaseLogin = resolve));
	platform.settings.beforeAnswer = async ({ kind, query }) => {
		if (query['mark'] === 'fails') await began;
		if (kind !== 'login') return;
		loginBegan();
		await released;
	};
	platform.settings.fault = ({ query }) =>
		query['mark'] === 'fails' ? { code: 10004 } : query['mark'] === 'renews' ? { code: 14101 } : undefined;
	const result = await run(operations.request, { credential: login, input: [{ mark: 'fails' }, { mark: 'renews' }] });
	expect(result.error).toBeDefined();
	releaseLogin();
	await settle(bench);
	expect(platform.requests.map(({ kind, query }) => query['mark'] ?? kind).sort()).toEqual([
		'fails',
		'login',
		'renews',
	]);
});

test('a list that failed under “continue” sends no more requests', async () => {
	hurry();
	const bench = await open({ fleet: { size: 60 } });
	const { settings } = bench.platform;
	settings.fault = ({ page = 0 }) =>
		page === 2 ? { status: 418 } : page > 2 ? { status: 503, headers: { 'retry-after': '0' } } : undefined;
	let release = () => {};
	const released = new Promise<void>((resolve) => (release = resolve));
	settings.beforeAnswer = async ({ page = 0 }) => {
		if (page === 2) while (bench.platform.inFlight < 8) await new Promise(setImmediate);
		if (page > 2) await released;
	};
	const result = await bench.run(
		{ ...operations.getAll, options: { pageSize: 5, parallelRequests: 8, maxRetries: 10 } },
		{ onError: 'continueRegularOutput' },
	);
	expect(result.data('Devices')[0]?.json['error']).toContain('HTTP 418');
	release();
	await settle(bench);
	expect(bench.platform.requests).toHaveLength(10);
});
