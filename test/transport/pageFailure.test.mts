import { hurry, useBench } from '../../testbed/jest.mts';
import { serialNumbersOf } from '../../testbed/output.mts';

const bench = useBench({ fleet: { size: 100 } });
beforeEach(() => hurry());

const everything = {
	resource: 'device',
	operation: 'getAll',
	returnAll: true,
	options: { pageSize: 10, maxRetries: 2 },
};

test('a page that still fails after its retries fails the item, with the page and the reason', async () => {
	bench.platform.settings.faults = [
		{ fault: { status: 503, headers: { 'retry-after': '0' } }, kind: 'list', page: 4, times: 3 },
	];
	const result = await bench.run(everything);
	expect(result.error?.message).toBe(
		'The platform or a proxy in front of it could not respond (HTTP 503), also after 2 retries (page=5 of the list)',
	);
	expect(result.data('Devices')).toEqual([]);
});

test('a page that fails once is read again, and the list is whole', async () => {
	bench.platform.settings.faults = [
		{ fault: { status: 503, headers: { 'retry-after': '0' } }, kind: 'list', page: 4, times: 2 },
		{ fault: 'drop', kind: 'list', page: 0, times: 1 },
	];
	const result = await bench.run(everything);
	expect(result.error).toBeUndefined();
	expect(serialNumbersOf(result)).toEqual(bench.fleet.devices.map(({ sn }) => sn));
});
