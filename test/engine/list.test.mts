import { type Bench, deviceWorkflow, openBench } from './deviceManagement.mts';

let bench: Bench;
beforeAll(async () => {
	bench = await openBench({ fleet: { size: 250, seed: 7 } });
});
afterAll(async () => await bench.close());

test.each(['apiKey', 'login'] as const)('Return All lists the whole fleet, signed in by %s', async (way) => {
	const { engine, platform } = bench;
	const result = await engine.run(
		deviceWorkflow(engine, bench[way], {
			resource: 'device',
			operation: 'getAll',
			returnAll: true,
			output: 'raw',
			options: { pageSize: 40 },
		}),
	);
	expect(result.error).toBeUndefined();
	expect(result.data('Devices').map(({ json }) => json.sn)).toEqual(platform.fleet.devices.map(({ sn }) => sn));
});
