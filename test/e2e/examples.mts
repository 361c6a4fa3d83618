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
import { runInParts, serialNumbers } from './parts.mts';
import { byHand, callsOfMonitor, faulty, newestOf, newId, onSchedule, published, simplified } from './runs.mts';

/** Runs each of the workflows, by the names of their files. */
export async function examples(
	setup: Omit<ExampleSetup, 'devices' | 'workflow'>,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
): Promise<void> {
	for (const [name, workflow] of workflows) {
		// It needs PostgreSQL, so test/e2e/queueMode.mts runs it.
		if (name === 'nightly-inventory-postgres') continue;
		await setup.checks.part(`Example ${name}.json`, async () => {
			const run = runs[name];
			assert(run, 'no run of it is written down in test/e2e/examples.mts');
			setup.platform.forget();
			await run({ ...setup, workflow, devices: [...setup.platform.fleet.devices] });
		});
	}
}

const runs: Readonly<Record<string, (setup: ExampleSetup) => Promise<void>>> = {
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

async function listDevices({ checks, main, workflow, devices }: ExampleSetup): Promise<void> {
	await checks.check('lists the first devices of the fleet', async () => {
		const { items } = resultOf(await byHand(main, workflow), 'Get many devices');
		assert.deepEqual(items, devices.slice(0, 50).map(simplified));
	});
}

async function serialNumberLookup({ checks, main, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const device = devices[417];
	assert(device);
	const ask = async (query: string) => {
		const answer = await main.request(`/webhook/device${query}`);
		return { status: answer.status, body: await answer.json() };
	};
	await published(main, workflow.id, async () => {
		await checks.check('answers with the device', async () => {
			assert.deepEqual(await ask(`?sn=${device.sn}`), { status: 200, body: simplified(device) });
		});
		await checks.check('answers an unknown serial number with 404', async () => {
			const error = 'No device has the serial number RT00000000';
			assert.deepEqual(await ask('?sn=RT00000000'), { status: 404, body: { error } });
		});
		await checks.check(
			'answers 400 without a serial number, and 502 when the platform refuses, both with the reason',
			async () => {
				const [none, refused] = [await ask(''), await faulty(platform, async () => await ask(`?sn=${device.sn}`))];
				assert.deepEqual([none.status, refused.status], [400, 502]);
				assert.match(JSON.stringify(none.body), /'Device'/);
				assert.match(JSON.stringify(refused.body), /could not/);
			},
		);
	});
}

async function nightlyInventory({ checks, main, n8n, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const written = async () => (await readdir(n8n.files)).filter((file) => file.endsWith('.csv'));
	const { fleet } = platform;
	await checks.check('fails if the list is empty, says so, and writes no file', async () => {
		platform.fleet = new Fleet([]);
		const results = await onSchedule(main, workflow);
		assert.match(results['Stop: no devices']?.error ?? '', /^The platform returned no devices/);
		assert.deepEqual(await written(), []);
	});
	platform.fleet = fleet;

	resultOf(await onSchedule(main, workflow), 'Write file');
	const files = await written();
	await checks.check('writes one file, named by the day', () => {
		assert.match(files.join(), /^fleet-\d{4}-\d{2}-\d{2}\.csv$/);
	});
	await checks.check('a line for each device, by serial number, below the names of the columns', async () => {
		const [head, ...lines] = (await readFile(join(n8n.files, files[0] ?? ''), 'utf8')).trim().split(/\r?\n/);
		assert.equal(head, 'id,sn,onlineStatus,status,modelName,groupName,tags,description,createTime,updateTime');
		assert.deepEqual(
			lines.map((line) => line.split(',')[1]),
			serialNumbers(devices).sort(),
		);
	});
}

async function heartbeat({ checks, main, platform, workflow }: ExampleSetup): Promise<void> {
	await checks.check('calls the monitor once, and not while the platform is down', async () => {
		const run = async () => await callsOfMonitor(workflow, async (watched) => await onSchedule(main, watched));
		assert.deepEqual([await run(), await faulty(platform, run)], [1, 0]);
	});
}

async function changeDevices({ checks, main, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const chosen = devices.slice(200, 203);
	const [refused] = chosen;
	const sheet = ['Serial Number,New Description', ...chosen.map(({ sn }, shelf) => `${sn},Shelf ${shelf}`)];
	const described = () => chosen.map(({ sn }) => platform.fleet.get(sn)?.description);
	const before = described();
	await published(main, workflow.id, async () => {
		await submit(main, workflow, [...sheet, 'RT00000000,Shelf 9'], 'Check only');
		const check = await newestOf(main, workflow.id);
		await checks.check('Check only shows the old and the new value, and changes nothing', () => {
			const [file] = resultOf(check, 'Would change').outputs[0] ?? [];
			assert.equal(file?.binary?.['data']?.fileName, 'would-change.csv');
			const shown = chosen.map(({ sn, description }, shelf) => ({
				'Serial Number': sn,
				Description: description ?? '',
				'New Description': `Shelf ${shelf}`,
			}));
			assert.deepEqual(resultOf(check, 'Old and new').items, shown);
			assert.deepEqual(described(), before);
		});
		await checks.check('a row with an unknown serial number goes to the error output', () => {
			const [unknown] = resultOf(check, 'Row and reason').items;
			assert.equal(unknown?.['Serial Number'], 'RT00000000');
			assert.match(String(unknown?.['Reason']), /No device has this serial number/);
		});

		const refusing = async () => {
			await submit(main, workflow, sheet, 'Change devices');
			return await newestOf(main, workflow.id, 1);
		};
		const change = await faulty(platform, refusing, ({ method, path }) =>
			method === 'PUT' && path.endsWith(refused?.sn ?? '') ? { code: 10004 } : undefined,
		);
		await checks.check('Change devices changes each device, and returns the row that failed with the reason', () => {
			assert.deepEqual(described(), [before[0], 'Shelf 1', 'Shelf 2']);
			assert.equal(resultOf(change, 'Set description').items.length, 2);
			const [failed, ...others] = resultOf(change, 'Row and reason').items;
			assert.equal(failed?.['Serial Number'], refused?.sn);
			assert.match(String(failed?.['Reason']), /10004/);
			assert.deepEqual(others, []);
		});
	});
}

async function checkSerialNumbers({ checks, main, workflow, devices }: ExampleSetup): Promise<void> {
	const known = devices.slice(100, 103);
	const rows = ['Serial Number,Shelf', ...known.map(({ sn }, shelf) => `${sn},${shelf}`), '00001234,7', ',8'];
	const results = await published(main, workflow.id, async () => {
		await submit(main, workflow, rows);
		return await newestOf(main, workflow.id);
	});
	const fileOf = (node: string) => resultOf(results, node).outputs[0]?.[0]?.binary?.['data']?.fileName;
	await checks.check('what was found', () => {
		assert.deepEqual(resultOf(results, 'Get device').items, known.map(simplified));
		assert.equal(fileOf('Found'), 'found.csv');
	});
	await checks.check('what was not, as it stood in the spreadsheet, with the reason', () => {
		const [unknown, empty] = resultOf(results, 'Row and reason').items;
		assert.deepEqual(unknown, {
			'Serial Number': '00001234',
			Shelf: '7',
			Reason: 'No device has this serial number (code 10007: device 00001234 non-existent) [item 3]',
		});
		assert.match(String(empty?.['Reason']), /'Device'/);
		assert.equal(fileOf('Not found'), 'not-found.csv');
	});
}

/** Pinned data replaces the two Google Sheets nodes. All others run. */
async function sheetLookup({ checks, main, platform, workflow }: ExampleSetup): Promise<void> {
	const { fleet } = platform;
	const [online, offline, numeric] = [fleet.at(10), fleet.at(11), fleet.at(12)];
	fleet.update(online.sn, { onlineStatus: 1 });
	fleet.update(offline.sn, { onlineStatus: 0 });
	fleet.update(numeric.sn, { sn: '354762000000018', onlineStatus: 2 });
	const serials = [offline.sn, 'RT00000000', 354762000000018, '', online.sn, offline.sn];
	const rows = serials.map((sn, at) => ({ row_number: 2 + 3 * at, 'Serial Number': sn, Shelf: `Shelf ${at}` }));
	const pinData = { 'Read rows': rows.map((json) => ({ json })), 'Write rows': [{ json: {} }] };
	const results = await byHand(main, { ...workflow, id: await main.create({ ...workflow, id: newId(), pinData }) });
	for (const device of [online, offline]) fleet.update(device.sn, device);
	fleet.update('354762000000018', numeric);
	resultOf(results, 'Write rows');
	const written = resultOf(results, 'Group and status').items;
	const group = ({ group: { name } }: Device) => name;
	await checks.check('writes group and status into the row of each serial number, text or number, and unknown', () => {
		assert.deepEqual(written.toSpliced(3, 1), [
			{ row_number: 2, Group: group(offline), Status: 'offline' },
			{ row_number: 5, Group: '', Status: 'unknown' },
			{ row_number: 8, Group: group(numeric), Status: '2' },
			{ row_number: 14, Group: group(online), Status: 'online' },
			{ row_number: 17, Group: group(offline), Status: 'offline' },
		]);
	});
	await checks.check('writes the reason into a row without a serial number', () => {
		const { Status: reason, ...row } = written[3] ?? {};
		assert.deepEqual(row, { row_number: 11, Group: '' });
		assert.match(String(reason), /'Device'/);
	});
	await checks.check('requests equal serial numbers once', () => {
		assert.equal(platform.requestsOf('sn').length, new Set(serials.filter((sn) => sn !== '')).size);
	});
}

async function severalTenants({ checks, main, tenants, workflow }: ExampleSetup): Promise<void> {
	const results = await byHand(main, workflow);
	await checks.check('lists the devices of each tenant, each on its own platform with its own key', () => {
		const expected = [...tenants].flatMap(([tenant, { fleet }]) => fleet.devices.map(({ sn }) => ({ tenant, sn })));
		const found = resultOf(results, 'Name tenant').items.map(({ tenant, sn }) => ({ tenant, sn }));
		assert.deepEqual(found, expected);
	});
	await checks.check('no key of a tenant is in the data of the execution', () => {
		const text = JSON.stringify(results);
		for (const { apiKey } of tenants.values()) assert(!text.includes(apiKey));
	});
}

async function otherEndpoint({ checks, main, platform, workflow, devices }: ExampleSetup): Promise<void> {
	await checks.check('lists the models, and counts the devices of each', async () => {
		const counts = platform.fleet.models.map(({ name }) => ({
			model: name,
			devices: devices.filter(({ model }) => model.name === name).length,
		}));
		assert.deepEqual(resultOf(await byHand(main, workflow), 'Name model').items, counts);
	});
	await checks.check('uses the token that n8n saved with the credential in an earlier execution', () => {
		assert.equal(platform.logins.attempted, 0);
	});
}

async function readInParts({ checks, main, platform: { fleet }, workflow }: ExampleSetup): Promise<void> {
	await checks.check('reads every device once, part by part, the oldest first', async () => {
		const { results } = await runInParts(main, fleet, workflow);
		assert.deepEqual(resultOf(results, 'All read').items, [{ read: fleet.size }]);
	});
}

async function partsOverWorkers({ checks, main, platform: { fleet }, workflow }: ExampleSetup): Promise<void> {
	await checks.check('reads every device once, each part in an execution of its own', async () => {
		const { results } = await runInParts(main, fleet, workflow);
		assert.deepEqual(resultOf(results, 'Add up').items, [{ counted: fleet.size, read: fleet.size }]);
	});
}

/** Submits the form of a published workflow with a spreadsheet. */
async function submit(
	main: ExampleSetup['main'],
	{ nodes }: ExampleWorkflow,
	rows: readonly string[],
	choice?: string,
) {
	const form = new FormData();
	form.set('field-0', new Blob([rows.join('\n')], { type: 'text/csv' }), 'devices.csv');
	if (choice !== undefined) form.set('field-1', choice);
	const webhookId = nodes.find((node) => node['webhookId'] !== undefined)?.['webhookId'];
	const answer = await main.request(`/form/${webhookId}`, { method: 'POST', body: form });
	assert.equal(answer.status, 200, 'the form does not take a spreadsheet');
}
