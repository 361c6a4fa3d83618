/** What other tests take for granted of n8n's engine, and would not miss. */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { deviceWorkflow } from '../../testbed/deviceWorkflow.mts';
import { Container, core } from '../../testbed/engine/host.cjs';
import { useBench } from '../../testbed/jest.mts';
import { operations } from '../../testbed/operations.mts';

const n8nHome = join(homedir(), '.n8n');
const hadN8nHome = existsSync(n8nHome);
const bench = useBench({ fleet: { size: 3 } });

it('changes neither the workflow nor the input, and returns no data of a node that is not there', async () => {
	const input = [{ sn: bench.fleet.at(0).sn }];
	const workflow = deviceWorkflow(bench.engine, bench.apiKey, operations.get);
	const before = structuredClone({ workflow, input });
	const result = await bench.engine.run(workflow, { input });
	expect({ workflow, input }).toEqual(before);
	expect(() => result.data('Prope')).toThrow('The workflow has no node "Prope"');
});

it('captures every level of the log and prints nothing, knows errors of Node.js, and leaves no files', async () => {
	const printed = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
	await bench.run(operations.get);
	const times = printed.mock.calls.length;
	printed.mockRestore();
	expect(times).toBe(0);
	expect(bench.engine.logs.map(({ level }) => level)).toContain('debug');
	expect(bench.engine.logs.map(({ message }) => message)).toContain('Running node "Devices" finished with error');
	expect(() => readdirSync(join(__dirname, 'absent'))).toThrow(Error);
	expect(existsSync(Container.get(core.InstanceSettings).n8nFolder)).toBe(false);
	expect(existsSync(n8nHome)).toBe(hadN8nHome);
});
