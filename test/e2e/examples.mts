/** Examples in a real n8n: published and called by their own triggers, or run by hand. hostileFleet.mts has what they make of devices. */
import assert from 'node:assert/strict';

import { exampleWorkflow, type ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { Spreadsheets } from '../../testbed/n8n/spreadsheet.mts';
import type { PlatformRequest } from '../../testbed/platform/server.mts';
import { agentChat, agentTools } from './agent.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { failedExecutions, offlineDevices, offlineReport } from './offline.mts';
import { byHand, faulty, monitored, onSchedule, submitted } from './runs.mts';
import { offlineTickets } from './tickets.mts';

/** Runs each of the workflows that has a run here, by the names of their files. */
export async function examples(
	setup: Omit<ExampleSetup, 'devices' | 'workflow'>,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
): Promise<void> {
	for (const [name, run] of Object.entries(RUNS)) {
		await setup.checks.part(`Example ${name}.json`, async () => {
			const workflow = workflows.get(name) ?? (await exampleWorkflow(name));
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
	heartbeat,
	'npm-start/switch-a-device-off': switchDevice,
	'offline-devices': offlineDevices,
	'offline-report': offlineReport,
	'offline-tickets': offlineTickets,
};

async function heartbeat({ checks, main, platform, workflow }: ExampleSetup): Promise<void> {
	await checks.check('calls the monitor once, and not while the platform is down', async () => {
		const run = async () =>
			(await monitored(platform, workflow, async (watched) => await onSchedule(main, watched))).calls;
		assert.deepEqual([await run(), await faulty(platform, run)], [1, 0]);
	});
}

async function switchDevice({ checks, main, platform, workflow }: ExampleSetup): Promise<void> {
	await checks.check('ends with a node that says whether the device is offline or online now', async () => {
		const isOnline = platform.fleet.get('RT46643907')?.onlineStatus === 1;
		const run = async () => Object.keys(await byHand(main, workflow)).at(-1);
		const ends = [await run(), await run()];
		assert.deepEqual(isOnline ? ends : ends.reverse(), ['Now offline', 'Now online']);
	});
}

async function changeDevices({ checks, n8n, main, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const sheets = new Spreadsheets(n8n.host);
	const head = ['Serial Number', 'New Description'];
	const chosen = devices.slice(200, 203);
	const [refused, { sn } = { sn: '' }] = chosen;
	const described = () => chosen.map((device) => platform.fleet.get(device.sn)?.description);
	const before = described();
	const changed = async (file: Buffer, name?: string) =>
		resultOf(await submitted(main, workflow, file, 'Change devices', name), 'Row and reason').items;
	await checks.check('changes each device, and returns the row that failed with the reason', async () => {
		const refuse = ({ method, path }: PlatformRequest) =>
			method === 'PUT' && path.endsWith(refused?.sn ?? '') ? { code: 10004 } : undefined;
		const sheet = sheets.write([head, ...chosen.map((device, shelf) => [device.sn, `Shelf ${shelf}`])]);
		const [failed, ...others] = await faulty(platform, async () => await changed(sheet), refuse);
		assert.deepEqual(described(), [before[0], 'Shelf 1', 'Shelf 2']);
		assert.deepEqual([failed?.['Serial Number'], others], [refused?.sn, []]);
		assert.match(String(failed?.['Reason']), /10004/);
	});
	await checks.check('writes nothing that the sheet lacks', async () => {
		const now = described();
		const wrong = [
			[
				['Serial Number', 'New description'],
				[sn, 'Shelf 7'],
			],
			[['Serial Number'], [sn]],
			[head, [sn, '']],
			[head, [sn, ' ']],
		];
		const csv = { file: Buffer.from(`${head.join()}\n${sn},Gerät`), name: 'devices.csv' };
		for (const { file, name } of [...wrong.map((rows) => ({ file: sheets.write(rows), name: 'devices.xlsx' })), csv]) {
			const [row] = await changed(file, name);
			assert.match(String(row?.['Reason']), /^No new description/);
		}
		assert.deepEqual(described(), now);
	});
}
