import type { Bench } from '../../testbed/bench.mts';
import { held } from '../../testbed/held.mts';
import { hurry, useBenches } from '../../testbed/jest.mts';
import { type OperationName, operationNames, operations, serialNumberItems } from '../../testbed/operations.mts';
import { serialNumbersOf } from '../../testbed/output.mts';
import { roundTrip } from '../../testbed/rawServer.mts';

const open = useBenches();

/** Waits until the platform has sent all responses, and a late request would have arrived. */
async function settle({ platform }: Bench): Promise<void> {
	while (platform.inFlight > 0) await new Promise(setImmediate);
	for (let trip = 0; trip < 10; trip++) await roundTrip();
}

const itemsFor = (bench: Bench, count: number) =>
	serialNumberItems(bench, count).map((item, mark) => ({ ...item, mark }));
const kindsOf = ({ platform }: Bench) => platform.requests.map(({ kind }) => kind);

describe('a stopped execution', () => {
	type Case = [OperationName, options: { pageSize?: number; parallelRequests: number }, items: number, at: number];

	test.each<Case>([
		...operationNames.map((name): Case => [name, { parallelRequests: 4 }, 30, 6]),
		['get', { parallelRequests: 1 }, 30, 2],
		// Within the twenty pages of one item.
		['getAll', { pageSize: 2, parallelRequests: 4 }, 1, 5],
	])('sends nothing more: %s with %j and %i items, stopped at request %i', async (operation, options, items, at) => {
		const bench = await open({ fleet: { size: 40 } });
		const stop = new AbortController();
		let afterwards = 0;
		bench.platform.settings.beforeAnswer = ({ order }) => {
			if (order === at) stop.abort();
			if (order > at) afterwards++;
		};
		const parameters = { ...operations[operation], options };
		const result = await bench.run(parameters, { signal: stop.signal, input: itemsFor(bench, items) });
		expect(result.cancelled).toBe(true);
		await settle(bench);
		// What was on its way already may still arrive.
		expect(afterwards).toBeLessThan(options.parallelRequests);
	});

	test('sends nothing more while the answer to its login is awaited', async () => {
		const bench = await open();
		const stop = new AbortController();
		bench.platform.settings.beforeAnswer = ({ kind }) => void (kind === 'login' && stop.abort());
		const options = { credential: bench.login, signal: stop.signal, input: itemsFor(bench, 10) };
		expect((await bench.run(operations.get, options)).cancelled).toBe(true);
		await settle(bench);
		expect(kindsOf(bench)).toEqual(['login']);
	});

	test.each(['apiKey', 'login'] as const)('sends nothing more after a wait between two attempts (%s)', async (way) => {
		const bench = await open({ fault: () => ({ status: 503, headers: { 'retry-after': '60' } }) });
		const stop = new AbortController();
		let waits = 0;
		hurry(1, () => {
			// The execution is stopped in the middle of the node's wait.
			waits++;
			stop.abort();
		});
		const result = await bench.run(operations.count, { credential: bench[way], signal: stop.signal });
		await settle(bench);
		expect({ cancelled: result.cancelled, waits }).toEqual({ cancelled: true, waits: 1 });
		expect(bench.platform.requests).toHaveLength(1);
	});

	test('sends nothing at all if it was stopped before it began', async () => {
		const bench = await open();
		await bench.run(operations.count, { credential: bench.login, signal: AbortSignal.abort() });
		await settle(bench);
		expect(bench.platform.requests).toEqual([]);
	});
});

describe('after an item failed', () => {
	test('no further item is begun', async () => {
		const bench = await open();
		bench.platform.settings.fault = ({ order }) => (order === 2 ? { code: 10003 } : undefined);
		const get = { ...operations.get, options: { parallelRequests: 1 } };
		const { error } = await bench.run(get, { input: itemsFor(bench, 10) });
		expect(error?.message).toBe('The record exists already (code 10003: duplicate record) [item 1]');
		await settle(bench);
		expect(bench.platform.requests).toHaveLength(2);
	});

	test('the others send nothing more, also one whose login is still under way', async () => {
		const bench = await open();
		const { platform, run, login } = bench;
		await bench.signInEarlier();
		const [began, released] = [held(), held()];
		platform.settings.beforeAnswer = async ({ kind, query }) => {
			if (query['mark'] === 'fails') await began.promise;
			if (kind !== 'login') return;
			began.resolve();
			await released.promise;
		};
		platform.settings.fault = ({ query }) =>
			({ fails: { code: 10004 }, renews: { code: 14101 } })[String(query['mark'])];
		const input = [{ mark: 'fails' }, { mark: 'renews' }];
		const { error } = await run(operations.request, { credential: login, input });
		expect(error?.message).toMatch(/code 10004.*\[item 0\]$/);
		released.resolve();
		await settle(bench);
		const sent = platform.requests.map(({ kind, query }) => query['mark'] ?? kind).sort();
		expect(sent).toEqual(['fails', 'login', 'renews']);
	});

	test('its list sends no more requests under “continue”', async () => {
		hurry();
		const bench = await open({ fleet: { size: 60 } });
		const { settings } = bench.platform;
		settings.fault = ({ page = 0 }) =>
			page === 2 ? { status: 418 } : page > 2 ? { status: 503, headers: { 'retry-after': '0' } } : undefined;
		const released = held();
		settings.beforeAnswer = async ({ page = 0 }) => {
			if (page === 2) while (bench.platform.inFlight < 8) await new Promise(setImmediate);
			if (page > 2) await released.promise;
		};
		const list = { ...operations.getAll, options: { pageSize: 5, parallelRequests: 8, maxRetries: 10 } };
		const result = await bench.run(list, { onError: 'continueRegularOutput' });
		expect(result.data('Devices')[0]?.json['error']).toContain('HTTP 418');
		released.resolve();
		await settle(bench);
		expect(bench.platform.requests).toHaveLength(10);
	});
});

test('a Retry-After that is too long is not waited for: the item fails at once, in words', async () => {
	const { platform, run } = await open({ fault: () => ({ status: 429, headers: { 'retry-after': '3600' } }) });
	const { error } = await run(operations.count);
	expect(error).toMatchObject({
		message:
			'The platform receives too many requests (HTTP 429); the next try would be in 3600 seconds, which is longer than this node waits',
		failure: { cause: 'rate-limited', retryAfterMs: 3_600_000 },
	});
	expect(platform.requests).toHaveLength(1);
});

test('no more than three requests are in flight at once, over all items', async () => {
	const bench = await open({ fleet: { size: 60 }, latencyMs: 2 });
	const list = { ...operations.getAll, options: { parallelRequests: 3, pageSize: 5 } };
	const result = await bench.run(list, { input: [{ mark: 'a' }, { mark: 'b' }, { mark: 'c' }] });
	expect(result.data('Devices')).toHaveLength(180);
	expect(bench.platform.peakInFlight).toBe(3);
});

test('a page that fails is read again, and fails the item with its number and the reason if that does not help', async () => {
	hurry();
	const bench = await open({ fleet: { size: 100 } });
	const list = { ...operations.getAll, options: { pageSize: 10, maxRetries: 2 } };
	const failing = (times: number) => {
		const fault = { status: 503, headers: { 'retry-after': '0' } };
		bench.platform.settings.faults = [
			{ fault, kind: 'list', page: 4, times },
			{ fault: 'drop', kind: 'list', page: 0 },
		];
	};
	failing(2);
	expect(serialNumbersOf(await bench.run(list))).toEqual(bench.fleet.devices.map(({ sn }) => sn));
	failing(3);
	const { error, data } = await bench.run(list);
	expect(error?.message).toBe(
		'The platform or a proxy in front of it could not respond (HTTP 503), also after 2 retries (page=5 of the list)',
	);
	expect(data('Devices')).toEqual([]);
});
