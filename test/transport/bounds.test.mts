import { DEVICE_LIST } from '../../nodes/DeviceManagement/transport/devices.ts';
import { pageSource } from '../../nodes/DeviceManagement/transport/pagedList.ts';
import type { Bench } from '../../testbed/bench.mts';
import { held } from '../../testbed/held.mts';
import { hurry, roundTrip, useBenches } from '../../testbed/jest.mts';
import { type OperationName, operations, serialNumberItems } from '../../testbed/operations.mts';
import { failureOf } from '../../testbed/fakeN8n.mts';

const open = useBenches();

/** Waits until the platform has sent all responses, and a late request would have arrived. */
async function settle({ platform }: Bench): Promise<void> {
	while (platform.inFlight > 0) await new Promise(setImmediate);
	for (let trip = 0; trip < 10; trip++) await roundTrip();
}

describe('a stopped execution', () => {
	type Case = [OperationName, options: { pageSize?: number; parallelRequests: number }, items: number, at: number];

	test.each<Case>([
		['count', { parallelRequests: 4 }, 30, 6],
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
		const input = serialNumberItems(bench, items);
		const result = await bench.run({ ...operations[operation], options }, { signal: stop.signal, input });
		expect(result.cancelled).toBe(true);
		await settle(bench);
		// What was on its way already may still arrive.
		expect(afterwards).toBeLessThan(options.parallelRequests);
	});

	test.each<[when: string, sent: string[]]>([
		['while the answer to its login is awaited', ['login']],
		['during a wait between two attempts', ['login', 'list']],
	])('sends nothing more if it was stopped %s', async (_when, sent) => {
		const bench = await open();
		const { settings } = bench.platform;
		const stop = new AbortController();
		hurry(1, () => stop.abort());
		settings.faults = [{ kind: 'list', fault: { status: 503, headers: { 'retry-after': '60' } } }];
		settings.beforeAnswer = ({ kind }) => void (kind === 'login' && sent.length === 1 && stop.abort());
		const result = await bench.run(operations.count, { credential: bench.login, signal: stop.signal });
		await settle(bench);
		expect(result.cancelled).toBe(true);
		expect(bench.platform.requests.map(({ kind }) => kind)).toEqual(sent);
	});
});

describe('after an item failed', () => {
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

	test('the others do not load the credential', async () => {
		const bench = await open({ fault: () => ({ code: 10004 }) });
		const { engine } = bench;
		const { decrypted } = engine.credentialUse;
		await bench.run(operations.count, { input: Array.from({ length: 100 }, () => ({})) });
		await settle(bench);
		expect(engine.credentialUse.decrypted - decrypted).toBeLessThan(10);
	});

	test('its list sends no more requests under “continue”', async () => {
		hurry();
		const bench = await open({ fleet: { size: 60 } });
		const { settings } = bench.platform;
		settings.fault = ({ page = 0 }) => (page === 2 ? { status: 418 } : page > 2 ? { status: 503 } : undefined);
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

test('no more than three requests are in flight at once, over all items', async () => {
	const bench = await open({ fleet: { size: 60 }, latencyMs: 2 });
	const list = { ...operations.getAll, options: { parallelRequests: 3, pageSize: 5 } };
	const result = await bench.run(list, { input: [{ mark: 'a' }, { mark: 'b' }, { mark: 'c' }] });
	expect(result.data('Devices')).toHaveLength(180);
	expect(bench.platform.peakInFlight).toBe(3);
});

test('a page that fails also after its retries fails the item, with its number and the reason', async () => {
	hurry();
	const bench = await open({ fleet: { size: 100 } });
	bench.platform.settings.faults = [{ fault: { status: 503 }, kind: 'list', page: 4, times: 3 }];
	const { error, data } = await bench.run({ ...operations.getAll, options: { pageSize: 10, maxRetries: 2 } });
	expect(error?.message).toMatch(/ \(HTTP 503\), also after 2 retries \(page=5 of the list\)$/);
	expect(data('Devices')).toEqual([]);
});

test('the failure of a refused or failed sign-in, or of a stopped execution, names no page', async () => {
	for (const details of [{ token: 'refused' }, { signInFailed: 'for good' }, { kind: 'cancelled' }] as const) {
		const thrown = failureOf(details);
		const platform = { request: async () => await Promise.reject(thrown), stop: () => {} };
		const { fetchPage } = pageSource(platform, DEVICE_LIST, { timeoutMs: 1, maxRetries: 0 });
		await expect(fetchPage(5, 10)).rejects.toBe(thrown);
	}
});
