/** What examples do beside listing devices: called by their own triggers, or run by hand. hostileFleet.mts runs all of them. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { Spreadsheets } from '../../testbed/n8n/spreadsheet.mts';
import { agentChat, agentTools } from './agent.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { failedExecutions, offlineDevices, offlineReport } from './offline.mts';
import { submitted } from './runs.mts';
import { offlineTickets } from './tickets.mts';

/** Runs each of the workflows that has a run here, by the names of their files. */
export async function examples(
	setup: Omit<ExampleSetup, 'devices' | 'workflow'>,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
): Promise<void> {
	for (const [name, run] of Object.entries(RUNS)) {
		await setup.checks.part(`Example ${name}.json`, async () => {
			const workflow = workflows.get(name);
			assert(workflow, `there is no example ${name}`);
			setup.platform.forget();
			await run({ ...setup, workflow, devices: [...setup.platform.fleet.devices] });
		});
	}
}

const RUNS: Readonly<Record<string, (setup: ExampleSetup) => Promise<void>>> = {
	'agent-chat': agentChat,
	'agent-tools': agentTools,
	'change-devices': changeDevices,
	'failed-executions': failedExecutions,
	'offline-devices': offlineDevices,
	'offline-report': offlineReport,
	'offline-tickets': offlineTickets,
};

async function changeDevices({ checks, n8n, main, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const sheets = new Spreadsheets(n8n.host);
	const head = ['Serial Number', 'New Description'];
	const { sn = '', description } = devices[200] ?? {};
	const workbooks = [
		[
			['Serial Number', 'New description'],
			[sn, 'Shelf 7'],
		],
		[['Serial Number'], [sn]],
		[head, [sn, '']],
		[head, [sn, ' ']],
	].map((rows) => ({ file: sheets.write(rows), name: 'devices.xlsx' }));
	const csv = { file: Buffer.from(`${head.join()}\n${sn},Gerät`), name: 'devices.csv' };
	await checks.check('writes nothing that the sheet lacks', async () => {
		for (const { file, name } of [...workbooks, csv]) {
			const results = await submitted(main, workflow, file, 'Change devices', name);
			assert.match(String(resultOf(results, 'Row and reason').items[0]?.['Reason']), /^No new description/);
		}
		assert.equal(platform.fleet.get(sn)?.description, description);
	});
}
