import { useBenches } from '../../testbed/jest.mts';
import { operations } from '../../testbed/operations.mts';
import { jsonOf, serialNumbersOf } from '../../testbed/output.mts';

const open = useBenches();

test('several executions at once keep their items, parameters and results apart', async () => {
	const { fleet, run } = await open({ fleet: { size: 40 }, latencyMs: 1 });
	const results = await Promise.all(
		fleet.devices.map(async ({ sn }, position) =>
			position % 2 === 0
				? serialNumbersOf(await run(operations.get, { input: [{ sn }] }))
				: jsonOf(await run({ ...operations.count, filters: { name: sn } })),
		),
	);
	expect(results).toEqual(fleet.devices.map(({ sn }, position) => (position % 2 === 0 ? [sn] : [{ count: 1 }])));
});

test('an execution that is stopped leaves the others alone', async () => {
	const bench = await open({ fleet: { size: 10 }, latencyMs: 1 });
	const stop = new AbortController();
	bench.platform.settings.beforeAnswer = ({ order }) => (order === 3 ? stop.abort() : undefined);
	const [stopped, other] = await Promise.all([
		bench.run({ ...operations.getAll, options: { pageSize: 1, parallelRequests: 1 } }, { signal: stop.signal }),
		bench.run({ ...operations.getAll, options: { pageSize: 2, parallelRequests: 1 } }),
	]);
	expect(stopped.cancelled).toBe(true);
	expect(serialNumbersOf(other)).toEqual(bench.fleet.devices.map(({ sn }) => sn));
});

test('a tool has the type that n8n derives from the node; a node that is no tool has none', async () => {
	const { engine } = await open();
	const type = engine.packages.getByNameAndVersion('n8n-nodes-device-management.deviceManagementTool', 1);
	expect(type.description).toMatchObject({ name: 'deviceManagementTool', inputs: [], outputs: ['ai_tool'] });
	expect(() => engine.packages.getByNameAndVersion('n8n-nodes-base.noOpTool')).toThrow('cannot be used as a tool');
});
