/** What examples do beside listing devices: called by their own triggers, or run by hand. hostileFleet.mts runs all of them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { type ExampleWorkflow, exampleWorkflows } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { Spreadsheets } from '../../testbed/n8n/spreadsheet.mts';
import { agentChat, agentTools } from './agent.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { failedExecutions, offlineDevices, offlineReport } from './offline.mts';
import { newId, published, signIn, submitted } from './runs.mts';
import { fleetChanges, lowBattery, personInCharge } from './oneMailEach.mts';
import { offlineTickets } from './tickets.mts';

/** Runs each of the workflows that has a run here, by the names of their files. */
export async function examples(
	setup: Omit<ExampleSetup, 'devices' | 'workflow'>,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
): Promise<void> {
	await setup.checks.part('Examples as their files are', async () => await unfilled(setup));
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
	'check-serial-numbers': checkSerialNumbers,
	'failed-executions': failedExecutions,
	'fleet-changes': fleetChanges,
	'low-battery': lowBattery,
	'offline-devices': offlineDevices,
	'offline-report': offlineReport,
	'offline-tickets': offlineTickets,
	'person-in-charge': personInCharge,
};

/** They have no mail address and no caller. */
async function unfilled({ main, checks }: Omit<ExampleSetup, 'devices' | 'workflow'>): Promise<void> {
	const missing =
		/(Missing or invalid required parameters?: (fromEmail|url))|(Missing required credential: http\w+Auth)/;
	for (const [name, workflow] of await exampleWorkflows()) {
		const lacks = workflow.nodes.some(
			({ type, parameters, disabled }) =>
				disabled !== true && (/emailSend|formTrigger|webhook|mcpTrigger/.test(type) || parameters['url'] === ''),
		);
		if (!lacks) continue;
		await checks.check(`n8n refuses to publish ${name} until it is filled in`, async () => {
			await assert.rejects(main.publish(await main.create({ ...workflow, id: newId() })), missing);
		});
	}
}

const HEAD = ['Serial Number', 'New Description'];

async function changeDevices(given: ExampleSetup): Promise<void> {
	const { checks, n8n, main, platform, workflow, callersSecret, devices } = given;
	const sheets = new Spreadsheets(n8n.host);
	const { sn = '' } = devices[200] ?? {};
	await checks.check('a form is for people who sign in only', async () => {
		await published(main, workflow.id, async () => {
			const address = `/form/${String(workflow.nodes[0]?.['webhookId'])}`;
			for (const method of ['GET', 'POST']) assert.equal((await main.request(address, { method })).status, 401);
			const headers = { Authorization: signIn(callersSecret) };
			assert.match(await (await main.request(address, { headers })).text(), /Rows that are hidden/);
		});
	});
	await checks.check('says which columns it looked for in a file that it cannot use, and changes nothing', async () => {
		const columns = 'the columns “Serial Number” and “New Description” in the first row of the first sheet';
		for (const [what, file] of wrongFiles(sheets, sn)) {
			const { message } = await submitted(given, file, 'Change devices');
			assert(message?.includes(`n8n looked for ${columns}. Nothing was changed.`), `${what}: ${message}`);
		}
		assert.equal(writesOf(platform), 0);
	});
	for (const format of ['xlsx', 'ods', 'xls']) await changeFromSaved(given, format);
	await checks.check('writes nothing for an empty cell', async () => {
		for (const cell of ['', ' ']) {
			const { results } = await submitted(given, sheets.write([HEAD, [sn, cell]]), 'Change devices');
			assert.equal(resultOf(results, 'Row and reason').items[0]?.['Reason'], '“New Description” is empty');
		}
		assert.equal(writesOf(platform), 0);
	});
}

const writesOf = ({ requests }: ExampleSetup['platform']) => requests.filter(({ method }) => method === 'PUT').length;

async function changeFromSaved(given: ExampleSetup, format: string): Promise<void> {
	const { checks, platform, devices } = given;
	const [known, other] = ['RT46643907', 'LG27988829'];
	const descriptions = () => [known, other].map((sn) => platform.fleet.get(sn)?.description);
	const [before] = descriptions();
	await checks.check(`writes nothing from cells of an .${format} that are no text`, async () => {
		const { results } = await submitted(given, await saved(`cells.${format}`), 'Change devices');
		const refused = resultOf(results, 'Row and reason').items.map(({ Reason }) => String(Reason));
		assert.equal(refused.length, 9);
		for (const reason of refused) assert.match(reason, /is not text. Format the column as text/);
		assert.deepEqual([writesOf(platform), ...descriptions()], [1, before, '1.10']);
	});
	platform.forget();
	await checks.check(`accepts this package's own spreadsheet, saved as .${format}`, async () => {
		const { results } = await submitted(given, await saved(`export.${format}`), 'Change devices');
		assert.equal(results['Row and reason'], undefined);
		assert.deepEqual([writesOf(platform), ...descriptions()], [2, 'Shelf 7', 'Shelf 7']);
	});
	platform.forget();
	for (const device of devices) if ([known, other].includes(device.sn)) platform.fleet.update(device.sn, device);
}

async function checkSerialNumbers(given: ExampleSetup): Promise<void> {
	const { checks, n8n, devices } = given;
	const sheets = new Spreadsheets(n8n.host);
	await checks.check('says which column it looked for in a file that it cannot use', async () => {
		for (const [what, file] of wrongFiles(sheets, String(devices[200]?.sn))) {
			if (what === 'one column only') continue;
			const { message } = await submitted(given, file);
			assert.match(message ?? '', /column “Serial Number” in the first row of the first sheet/, what);
		}
	});
	for (const format of ['xlsx', 'ods', 'xls']) {
		await checks.check(`checks text cells of an .${format} only, also of this package's own spreadsheet`, async () => {
			const { results } = await submitted(given, await saved(`cells.${format}`));
			const reasons = resultOf(results, 'Row and reason').items.map(({ Reason }) => String(Reason));
			assert.deepEqual([reasons.length, ...reasons.map((reason) => /is not text/.test(reason))], [2, true, true]);
			const { results: own } = await submitted(given, await saved(`export.${format}`));
			assert.equal(resultOf(own, 'Get device').items.length, 2);
		});
	}
}

/** Spreadsheets that LibreOffice saved: cells of all types, and what nightly-inventory writes. */
async function saved(name: string): Promise<Buffer> {
	return await readFile(new URL(`spreadsheets/${name}`, import.meta.url));
}

function wrongFiles(sheets: Spreadsheets, sn: string): Array<[what: string, file: Buffer]> {
	const row = [sn, 'wrong'];
	return [
		['a header only', sheets.write([HEAD])],
		['an empty sheet', sheets.write([])],
		['a text file', Buffer.from(`${HEAD.join()}\n${row.join()}\n`)],
		['a title above the header', sheets.write([['Devices'], HEAD, row])],
		['another header', sheets.write([['Serial number', 'New description'], row])],
		['a space behind the header', sheets.write([['Serial Number ', 'New Description '], row])],
		['one column only', sheets.write([HEAD.slice(0, 1), row])],
		[
			'a column twice',
			sheets.write([
				[...HEAD, 'Serial Number'],
				[...row, 'RT46643907'],
			]),
		],
	];
}
