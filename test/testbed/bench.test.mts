import { useBenches, useProcesses } from '../../testbed/jest.mts';
import { operationNames, operations, serialNumberItems } from '../../testbed/operations.mts';
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

describe('a tool', () => {
	const serialNumber = "={{ $fromAI('serial', 'The serial number of the device', 'string') }}";

	test('answers each call with the items that the node puts out for its arguments, or with its words', async () => {
		const { fleet, callTool } = await open();
		const parameters = { ...operations.get, device: { __rl: true, mode: 'sn', value: serialNumber } };
		const calls = ['nowhere', ...fleet.devices.slice(3, 8).map(({ sn }) => sn)].map((serial) => ({ serial }));
		const [missing, ...found] = await callTool(parameters, calls);
		expect(found).toEqual(fleet.devices.slice(3, 8).map((device) => ({ response: [device] })));
		expect(missing).toEqual({
			error: expect.stringContaining('No device has this serial number (code 10007: device nowhere non-existent)'),
		});
	});

	test('is one by the type of the node', async () => {
		const { engine, callTool, login, platform } = await open();
		const type = engine.packages.getByNameAndVersion('n8n-nodes-device-management.deviceManagementTool', 1);
		expect(type.description).toMatchObject({ name: 'deviceManagementTool', inputs: [], outputs: ['ai_tool'] });
		expect(await callTool(operations.count, [{}, {}], { credential: login })).toEqual(
			Array.from({ length: 2 }, () => ({ response: [{ count: platform.fleet.size }] })),
		);
		expect(() => engine.packages.getByNameAndVersion('n8n-nodes-base.noOpTool')).toThrow('cannot be used as a tool');
	});
});

describe('processes over one store of credentials', () => {
	const openProcesses = useProcesses(2);

	test('run the node from its sources, each in a separate process, many executions at once', async () => {
		const bench = await openProcesses();
		const runs = bench.processes.flatMap(({ run }) =>
			operationNames.map(async (name) => await run(operations[name], { input: serialNumberItems(bench, 1) })),
		);
		for (const result of await Promise.all(runs)) expect(jsonOf(result).length).toBeGreaterThan(0);
		expect(bench.platform.requestsOf('sn')).toHaveLength(2);
	});

	test('use a token that another one has saved', async () => {
		const { engine, login, platform, processes, run } = await openProcesses();
		for (const { run: runThere } of [...processes, { run }]) {
			expect(jsonOf(await runThere(operations.count, { credential: login }))).toEqual([{ count: 25 }]);
		}
		expect(platform.logins.attempted).toBe(1);
		expect(await engine.storedCredential(login)).toMatchObject({ sessionToken: platform.issuedTokens[0] });
	});

	test('see what is changed in the editor, and test it', async () => {
		const { engine, login, processes } = await openProcesses();
		const [process] = processes;
		expect(await process?.testCredential(login)).toMatchObject({ status: 'OK' });
		await engine.editCredential(login, { password: 'wrong' });
		expect(await process?.testCredential(login)).toMatchObject({ status: 'Error' });
		const result = await process?.run(operations.count, { credential: login });
		expect(result?.error?.message).toMatch(/password is not right/);
	});

	test('stop what they run when they are told to', async () => {
		const { platform, processes } = await openProcesses();
		const stop = new AbortController();
		platform.settings.fault = () => 'hang';
		platform.settings.beforeAnswer = () => stop.abort();
		const result = await processes[0]?.run(operations.count, { signal: stop.signal });
		expect(result?.cancelled).toBe(true);
	});
});
