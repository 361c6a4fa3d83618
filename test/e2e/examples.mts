/** Every workflow of `examples/` in a real n8n: published and called by its own trigger, or run by hand where that is its trigger. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FormData } from 'undici';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { type Device, Fleet } from '../../testbed/platform/server.mts';
import { agentChat, agentTools } from './agent.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { failedExecutions, offlineDevices, offlineReport, offlineTickets } from './offline.mts';
import { inPartsOf150, oldestFirst, partsOf, serialNumbers } from './parts.mts';
import { byHand, callsOfMonitor, devicesOf, newestOf, newId, onSchedule, simplified } from './runs.mts';

export async function examples(setup: ExampleSetup, workflows: ReadonlyMap<string, ExampleWorkflow>): Promise<void> {
	for (const [name, workflow] of workflows) {
		if (inQueueMode.has(name)) continue;
		await setup.checks.part(`Example ${name}.json`, async () => {
			const run = runs[name];
			assert(run, 'no run of it is written down in test/e2e/examples.mts');
			setup.platform.forget();
			await run(setup, workflow);
		});
	}
}

/** They need PostgreSQL, so test/e2e/queueMode.mts runs them. */
const inQueueMode: ReadonlySet<string> = new Set(['nightly-inventory-postgres']);

type Run = (setup: ExampleSetup, workflow: ExampleWorkflow) => Promise<void>;

const runs: Readonly<Record<string, Run>> = {
	'agent-chat': agentChat,
	'agent-tools': agentTools,
	'change-devices': changeDevices,
	'check-serial-numbers': checkSerialNumbers,
	'failed-executions': failedExecutions,
	heartbeat,
	'list-devices': listDevices,
	'nightly-inventory': nightlyInventory,
	'offline-devices': offlineDevices,
	'offline-report': offlineReport,
	'offline-tickets': offlineTickets,
	'other-endpoint': otherEndpoint,
	'parts-over-workers': partsOverWorkers,
	'read-in-parts': readInParts,
	'serial-number-lookup': serialNumberLookup,
	'several-tenants': severalTenants,
	'sheet-lookup': sheetLookup,
};

async function listDevices(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const results = await byHand(setup, workflow);
	setup.checks.check('lists the first devices of the fleet', () => {
		const { items } = resultOf(results, 'Get many devices');
		assert.deepEqual(items, devicesOf(setup).slice(0, 50).map(simplified));
	});
}

async function serialNumberLookup(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = setup;
	const device = devicesOf(setup)[417];
	assert(device);
	const ask = async (query: string) => {
		const answer = await main.request(`/webhook/device${query}`);
		return { status: answer.status, body: await answer.json() };
	};
	await main.publish(workflow.id);
	const [found, unknown, none] = [await ask(`?sn=${device.sn}`), await ask('?sn=RT00000000'), await ask('')];
	platform.settings.fault = () => ({ code: 10005 });
	const unavailable = await ask(`?sn=${device.sn}`);
	platform.settings.fault = undefined;
	await main.unpublish(workflow.id);
	checks.check('answers with the device', () => {
		assert.deepEqual(found, { status: 200, body: simplified(device) });
	});
	checks.check('answers an unknown serial number with 404', () => {
		assert.deepEqual(unknown, { status: 404, body: { error: 'No device has the serial number RT00000000' } });
	});
	checks.check('answers 400 without a serial number, and 502 when the platform refuses, both with the reason', () => {
		assert.equal(none.status, 400);
		assert.match(JSON.stringify(none.body), /'Device'/);
		assert.equal(unavailable.status, 502);
		assert.match(JSON.stringify(unavailable.body), /could not/);
	});
}

async function nightlyInventory(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, n8n, platform } = setup;
	const written = async () => (await readdir(n8n.files)).filter((file) => file.endsWith('.csv'));
	const { fleet } = platform;
	platform.fleet = new Fleet([]);
	const ofEmptyList = await onSchedule(setup, workflow);
	platform.fleet = fleet;
	const withoutDevices = await written();
	checks.check('fails if the list is empty, says so, and writes no file', () => {
		assert.match(ofEmptyList['Stop: no devices']?.error ?? '', /^The platform returned no devices/);
		assert.deepEqual(withoutDevices, []);
	});

	resultOf(await onSchedule(setup, workflow), 'Write file');
	const files = await written();
	const lines = (await readFile(join(n8n.files, files[0] ?? ''), 'utf8')).trim().split('\n');
	checks.check('writes one file, named by the day', () => {
		assert.equal(files.length, 1);
		assert.match(files[0] ?? '', /^fleet-\d{4}-\d{2}-\d{2}\.csv$/);
	});
	checks.check('a line for each device of the fleet, by serial number, below the names of the columns', () => {
		const sorted = serialNumbers(devicesOf(setup)).sort();
		assert.match(
			lines[0] ?? '',
			/^id,sn,onlineStatus,status,modelName,groupName,tags,description,createTime,updateTime\r?$/,
		);
		assert.deepEqual(
			lines.slice(1).map((line) => line.split(',')[1]),
			sorted,
		);
	});
}

async function heartbeat(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, platform } = setup;
	const calls = await callsOfMonitor(workflow, async (watched) => await onSchedule(setup, watched));
	platform.settings.fault = () => ({ code: 10005 });
	const whileDown = await callsOfMonitor(workflow, async (watched) => await onSchedule(setup, watched));
	platform.settings.fault = undefined;
	checks.check('calls the monitor once, and not while the platform is down', () => {
		assert.deepEqual([calls, whileDown], [1, 0]);
	});
}

async function changeDevices(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = setup;
	const devices = devicesOf(setup).slice(200, 203);
	const [refused] = devices;
	const rows = devices.map(({ sn }, shelf) => `${sn},Shelf ${shelf}`);
	const header = 'Serial Number,New Description';
	const described = () => devices.map(({ sn }) => platform.fleet.get(sn)?.description);
	const before = described();
	await main.publish(workflow.id);
	await submit(setup, workflow, [header, ...rows, 'RT00000000,Shelf 9'], { 'field-1': 'Check only' });
	const check = await newestOf(main, workflow.id);
	checks.check('Check only shows the old and the new value, and changes nothing', () => {
		const [file] = resultOf(check, 'Would change').outputs[0] ?? [];
		assert.equal(file?.binary?.['data']?.fileName, 'would-change.csv');
		const shown = devices.map(({ sn, description }, shelf) => ({
			'Serial Number': sn,
			Description: description ?? '',
			'New Description': `Shelf ${shelf}`,
		}));
		assert.deepEqual(resultOf(check, 'Old and new').items, shown);
		assert.deepEqual(described(), before);
	});
	checks.check('a row with an unknown serial number goes to the error output', () => {
		const [unknown] = resultOf(check, 'Row and reason').items;
		assert.equal(unknown?.['Serial Number'], 'RT00000000');
		assert.match(String(unknown?.['Reason']), /No device has this serial number/);
	});

	platform.settings.fault = ({ method, path }) =>
		method === 'PUT' && path.endsWith(refused?.sn ?? '') ? { code: 10004 } : undefined;
	await submit(setup, workflow, [header, ...rows], { 'field-1': 'Change devices' });
	const change = await newestOf(main, workflow.id, 1);
	platform.settings.fault = undefined;
	await main.unpublish(workflow.id);
	checks.check('Change devices changes each device, and returns the row that failed with the reason', () => {
		assert.deepEqual(described(), [before[0], 'Shelf 1', 'Shelf 2']);
		assert.equal(resultOf(change, 'Set description').items.length, 2);
		const [failed, ...others] = resultOf(change, 'Row and reason').items;
		assert.equal(failed?.['Serial Number'], refused?.sn);
		assert.match(String(failed?.['Reason']), /10004/);
		assert.deepEqual(others, []);
	});
}

async function checkSerialNumbers(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main } = setup;
	const known = devicesOf(setup).slice(100, 103);
	const rows = ['Serial Number,Shelf', ...known.map(({ sn }, shelf) => `${sn},${shelf}`), '00001234,7', ',8'];
	await main.publish(workflow.id);
	await submit(setup, workflow, rows);
	const results = await newestOf(main, workflow.id);
	await main.unpublish(workflow.id);
	checks.check('what was found', () => {
		const [file] = resultOf(results, 'Found').outputs[0] ?? [];
		assert.deepEqual(resultOf(results, 'Get device').items, known.map(simplified));
		assert.equal(file?.binary?.['data']?.fileName, 'found.csv');
	});
	checks.check('what was not, as it stood in the spreadsheet, with the reason', () => {
		const [file] = resultOf(results, 'Not found').outputs[0] ?? [];
		const [unknown, empty] = resultOf(results, 'Row and reason').items;
		assert.deepEqual(unknown, {
			'Serial Number': '00001234',
			Shelf: '7',
			Reason: 'No device has this serial number (code 10007: device 00001234 non-existent) [item 3]',
		});
		assert.match(String(empty?.['Reason']), /'Device'/);
		assert.equal(file?.binary?.['data']?.fileName, 'not-found.csv');
	});
}

/** Pinned data replaces the two Google Sheets nodes. All others run. */
async function sheetLookup(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = setup;
	const { fleet } = platform;
	const [online, offline, numeric] = [fleet.at(10), fleet.at(11), fleet.at(12)];
	fleet.update(online.sn, { onlineStatus: 1 });
	fleet.update(offline.sn, { onlineStatus: 0 });
	fleet.update(numeric.sn, { sn: '354762000000018', onlineStatus: 2 });
	const serials = [offline.sn, 'RT00000000', 354762000000018, '', online.sn, offline.sn];
	const rows = serials.map((sn, at) => ({ row_number: 2 + 3 * at, 'Serial Number': sn, Shelf: `Shelf ${at}` }));
	const pinData = { 'Read rows': rows.map((json) => ({ json })), 'Write rows': [{ json: {} }] };
	const results = await byHand(setup, { ...workflow, id: await main.create({ ...workflow, id: newId(), pinData }) });
	for (const device of [online, offline]) fleet.update(device.sn, device);
	fleet.update('354762000000018', numeric);
	resultOf(results, 'Write rows');
	const written = resultOf(results, 'Group and status').items;
	const group = ({ group: { name } }: Device) => name;
	checks.check('writes group and status into the row of each serial number, text or number, and unknown', () => {
		assert.deepEqual(written.toSpliced(3, 1), [
			{ row_number: 2, Group: group(offline), Status: 'offline' },
			{ row_number: 5, Group: '', Status: 'unknown' },
			{ row_number: 8, Group: group(numeric), Status: '2' },
			{ row_number: 14, Group: group(online), Status: 'online' },
			{ row_number: 17, Group: group(offline), Status: 'offline' },
		]);
	});
	checks.check('writes the reason into a row without a serial number', () => {
		const { Status: reason, ...row } = written[3] ?? {};
		assert.deepEqual(row, { row_number: 11, Group: '' });
		assert.match(String(reason), /'Device'/);
	});
	checks.check('requests equal serial numbers once', () => {
		assert.equal(platform.requestsOf('sn').length, new Set(serials.filter((sn) => sn !== '')).size);
	});
}

async function severalTenants(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const results = await byHand(setup, workflow);
	setup.checks.check('lists the devices of each tenant, each on its own platform with its own key', () => {
		const expected = [...setup.tenants].flatMap(([tenant, { fleet }]) =>
			fleet.devices.map(({ sn }) => ({ tenant, sn })),
		);
		const found = resultOf(results, 'Name tenant').items.map(({ tenant, sn }) => ({ tenant, sn }));
		assert.deepEqual(found, expected);
	});
	setup.checks.check('no key of a tenant is in the data of the execution', () => {
		const text = JSON.stringify(results);
		for (const { apiKey } of setup.tenants.values()) assert(!text.includes(apiKey));
	});
}

async function otherEndpoint(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const results = await byHand(setup, workflow);
	setup.checks.check('lists the models, and counts the devices of each', () => {
		const { models } = setup.platform.fleet;
		const counts = models.map(({ name }) => ({
			model: name,
			devices: devicesOf(setup).filter(({ model }) => model.name === name).length,
		}));
		assert.deepEqual(resultOf(results, 'Name model').items, counts);
	});
	setup.checks.check('uses the token that n8n saved with the credential in an earlier execution', () => {
		assert.equal(setup.platform.logins.attempted, 0);
	});
}

async function readInParts(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = setup;
	const id = await main.create(inPartsOf150(workflow));
	const results = await main.execute(id, 'Start');
	const parts = await partsOf(main, id);
	checks.check('reads every device once, part by part, the oldest first', () => {
		const { size } = platform.fleet;
		assert.deepEqual(resultOf(results, 'All read').items, [{ read: size }]);
		assert.equal(parts.length, Math.floor(size / 150) + 1);
		assert.deepEqual(parts.flat(), serialNumbers(devicesOf(setup).sort(oldestFirst)));
	});
}

async function partsOverWorkers(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = setup;
	const id = await main.create(inPartsOf150(workflow));
	await main.publish(id);
	const results = await main.execute(id, 'Start');
	const parts = await partsOf(main, id);
	await main.unpublish(id);
	checks.check('reads every device once, each part in an execution of its own', () => {
		const { size } = platform.fleet;
		assert.deepEqual(resultOf(results, 'Add up').items, [{ counted: size, read: size }]);
		assert.equal(parts.length, Math.ceil(size / 150));
		assert.deepEqual(parts.flat(), serialNumbers(devicesOf(setup).sort(oldestFirst)));
	});
}

/** Submits the form of a published workflow with a spreadsheet. */
async function submit(
	{ main, checks }: ExampleSetup,
	workflow: ExampleWorkflow,
	rows: readonly string[],
	fields: Readonly<Record<string, string>> = {},
): Promise<void> {
	const form = new FormData();
	form.set('field-0', new Blob([rows.join('\n')], { type: 'text/csv' }), 'devices.csv');
	for (const [field, value] of Object.entries(fields)) form.set(field, value);
	const answer = await main.request(`/form/${webhookIdOf(workflow)}`, { method: 'POST', body: form });
	checks.check('the form takes a spreadsheet', () => assert.equal(answer.status, 200));
}

function webhookIdOf({ nodes }: ExampleWorkflow): unknown {
	return nodes.find(({ webhookId }) => webhookId !== undefined)?.['webhookId'];
}
