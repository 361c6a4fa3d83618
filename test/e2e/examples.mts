/** Every workflow of `examples/` in a real n8n: published and called by its own trigger, or run by hand. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FormData } from 'undici';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { filesFolder } from '../../testbed/n8n/process.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { Fleet, type PlatformRequest } from '../../testbed/platform/server.mts';
import { agentChat, agentTools } from './agent.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { failedExecutions, offlineDevices, offlineReport } from './offline.mts';
import {
	byHand,
	faulty,
	monitored,
	newestOf,
	onSchedule,
	published,
	simplified,
	runInParts,
	serialNumbers,
} from './runs.mts';
import { offlineTickets } from './tickets.mts';

/** Runs each of the workflows, by the names of their files. */
export async function examples(
	setup: Omit<ExampleSetup, 'devices' | 'workflow'>,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
): Promise<void> {
	for (const [name, workflow] of workflows) {
		if (IN_QUEUE_MODE.includes(name)) continue;
		await setup.checks.part(`Example ${name}.json`, async () => {
			const run = runs[name];
			assert(run, 'no run of it is written down in test/e2e/examples.mts');
			setup.platform.forget();
			await run({ ...setup, workflow, devices: [...setup.platform.fleet.devices] });
		});
	}
}

/** They need PostgreSQL or workers, so test/e2e/queueMode.mts runs them. */
const IN_QUEUE_MODE = ['nightly-inventory-postgres', 'parts-over-workers', 'poll-watch'];

const runs: Readonly<Record<string, (setup: ExampleSetup) => Promise<void>>> = {
	'agent-chat': agentChat,
	'agent-tools': agentTools,
	'change-devices': changeDevices,
	'check-serial-numbers': checkSerialNumbers,
	'devices-per-group': devicesPerGroup,
	'failed-executions': failedExecutions,
	heartbeat,
	'list-devices': listDevices,
	'nightly-inventory': nightlyInventory,
	'offline-devices': offlineDevices,
	'offline-report': offlineReport,
	'offline-tickets': offlineTickets,
	'other-endpoint': otherEndpoint,
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

async function devicesPerGroup({ checks, main, workflow, devices }: ExampleSetup): Promise<void> {
	const names = [...new Set(devices.map(({ group }) => group.name))];
	const sizeOf = (name: string) => devices.filter(({ group }) => group.name === name).length;
	const expected = new Map(names.map((name) => [name, sizeOf(name)]));
	await checks.check('counts the devices of each group', async () => {
		const { items } = resultOf(await byHand(main, workflow), 'Count per group');
		assert.deepEqual(new Map(items.map((item) => [item['group_name'], item['count_id']])), expected);
	});
}

async function serialNumberLookup({ checks, main, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const [device] = devices;
	assert(device);
	const ask = async (query: string) => {
		const answer = await main.request(`/webhook/device${query}`);
		return [answer.status, await answer.json()];
	};
	await checks.check('responds with the device, or says why it can’t', async () => {
		await published(main, workflow.id, async () => {
			assert.deepEqual(await ask(`?sn=${device.sn}`), [200, simplified(device)]);
			const unknown = { error: 'No device has the serial number RT00000000' };
			assert.deepEqual(await ask('?sn=RT00000000'), [404, unknown]);
			assert.match(JSON.stringify(await ask('')), /^\[400,.*'Device'/);
			const refused = await faulty(platform, async () => await ask(`?sn=${device.sn}`));
			assert.match(JSON.stringify(refused), /^\[502,.*could not/);
		});
	});
}

async function nightlyInventory({ checks, main, n8n, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const folder = filesFolder(n8n.folder);
	const written = async () => (await readdir(folder)).filter((file) => file.endsWith('.csv'));
	const { fleet } = platform;
	await checks.check('fails if the list is empty, says so, and writes no file', async () => {
		platform.fleet = new Fleet([]);
		const results = await byHand(main, workflow);
		assert.match(results['Stop: no devices']?.error ?? '', /^The platform returned no devices/);
		assert.deepEqual(await written(), []);
	});
	platform.fleet = fleet;
	await checks.check('writes a file, named by the day, with a line for each device by serial number', async () => {
		resultOf(await byHand(main, workflow), 'Write file');
		const [file = '', ...others] = await written();
		assert.match(file, /^fleet-\d{4}-\d{2}-\d{2}\.csv$/);
		assert.deepEqual(others, []);
		const [head, ...lines] = (await readFile(join(folder, file), 'utf8')).trim().split(/\r?\n/);
		assert.equal(head, 'id,sn,onlineStatus,status,modelName,groupName,tags,description,createTime,updateTime');
		const listed = lines.map((line) => line.split(',')[1]);
		assert.deepEqual(listed, serialNumbers(devices).sort());
	});
}

async function heartbeat({ checks, main, platform, workflow }: ExampleSetup): Promise<void> {
	await checks.check('calls the monitor once, and not while the platform is down', async () => {
		const run = async () =>
			(await monitored(platform, workflow, async (watched) => await onSchedule(main, watched))).calls;
		assert.deepEqual([await run(), await faulty(platform, run)], [1, 0]);
	});
}

async function changeDevices({ checks, main, platform, workflow, devices }: ExampleSetup): Promise<void> {
	const chosen = devices.slice(200, 203);
	const [refused] = chosen;
	const sheet = ['Serial Number,New Description', ...chosen.map(({ sn }, shelf) => `${sn},Shelf ${shelf}`)];
	const described = () => chosen.map(({ sn }) => platform.fleet.get(sn)?.description);
	const before = described();
	const submitted = async (rows: readonly string[], action: string, known: number, file?: string) => {
		await submit(main, workflow, rows, action, file);
		return await newestOf(main, workflow.id, known);
	};
	await published(main, workflow.id, async () => {
		await checks.check('Check only shows the old and the new value, and changes nothing', async () => {
			const check = await submitted([...sheet, 'RT00000000,Shelf 9'], 'Check only', 0);
			const shown = chosen.map(({ sn, description }, shelf) => ({
				'Serial Number': sn,
				Description: description ?? '',
				'New Description': `Shelf ${shelf}`,
			}));
			assert.deepEqual(resultOf(check, 'Old and new').items, shown);
			assert.equal(resultOf(check, 'Would change').fileName, 'would-change.csv');
			assert.match(
				String(resultOf(check, 'Row and reason').items[0]?.['Reason']),
				/No device has the serial number RT00000000/,
			);
			assert.deepEqual(described(), before);
		});
		await checks.check(
			'Change devices changes each device, and returns the row that failed with the reason',
			async () => {
				const refuse = ({ method, path }: PlatformRequest) =>
					method === 'PUT' && path.endsWith(refused?.sn ?? '') ? { code: 10004 } : undefined;
				const change = await faulty(platform, async () => await submitted(sheet, 'Change devices', 1), refuse);
				assert.deepEqual(described(), [before[0], 'Shelf 1', 'Shelf 2']);
				const [failed, ...others] = resultOf(change, 'Row and reason').items;
				assert.equal(failed?.['Serial Number'], refused?.sn);
				assert.match(String(failed?.['Reason']), /10004/);
				assert.deepEqual([others, resultOf(change, 'Not changed').fileName], [[], 'not-changed.csv']);
			},
		);
		await checks.check('Change devices writes nothing that the sheet lacks', async () => {
			const [now, { sn } = { sn: '' }] = [described(), chosen[1]];
			const sheets: Array<[file: string | undefined, ...rows: string[]]> = [
				[undefined, 'Serial Number,New description', `${sn},Shelf 7`],
				[undefined, 'Serial Number', sn],
				[undefined, 'Serial Number,New Description', `${sn},`],
				[undefined, 'Serial Number,New Description', `${sn}," "`],
				['devices.csv', 'Serial Number,New Description', `${sn},Gerät`],
			];
			for (const [index, [file, ...rows]] of sheets.entries()) {
				const change = await submitted(rows, 'Change devices', 2 + index, file);
				assert.match(String(resultOf(change, 'Row and reason').items[0]?.['Reason']), /^No new description/);
			}
			assert.deepEqual(described(), now);
		});
	});
}

async function checkSerialNumbers({ checks, main, workflow, devices }: ExampleSetup): Promise<void> {
	const known = devices.slice(100, 103);
	const rows = ['Serial Number,Shelf', ...known.map(({ sn }, shelf) => `${sn},${shelf}`), '00001234,7'];
	await checks.check('returns what was found, and each other row with the reason', async () => {
		const results = await published(main, workflow.id, async () => {
			await submit(main, workflow, rows);
			return await newestOf(main, workflow.id);
		});
		assert.deepEqual(resultOf(results, 'Get device').items, known.map(simplified));
		const Reason = 'No device has the serial number 00001234 (code 10007: device 00001234 non-existent) [item 3]';
		const unknown = { 'Serial Number': '00001234', Shelf: '7', Reason };
		assert.deepEqual(resultOf(results, 'Row and reason').items, [unknown]);
		const files = ['Found', 'Not found'].map((node) => resultOf(results, node).fileName);
		assert.deepEqual(files, ['found.csv', 'not-found.csv']);
	});
}

/** Pinned data replaces the two Google Sheets nodes. All others run. */
async function sheetLookup({ checks, main, platform, workflow }: ExampleSetup): Promise<void> {
	const { fleet } = platform;
	const [online, offline, numeric] = [fleet.at(10), fleet.at(11), fleet.at(12)];
	fleet.update(online.sn, { onlineStatus: 1 });
	fleet.update(offline.sn, { onlineStatus: 0 });
	fleet.update(numeric.sn, { sn: '354762000000018', onlineStatus: 2 });
	const serials = [offline.sn, 'RT00000000', 354762000000018, '', online.sn];
	const rows = serials.map((sn, at) => ({
		row_number: 2 + 3 * at,
		'Serial Number': sn,
		Shelf: `Shelf ${at}`,
		Group: 'Old',
	}));
	const pinData = { 'Read rows': rows.map((json) => ({ json })), 'Write rows': [{ json: {} }] };
	const results = await byHand(main, { ...workflow, pinData });
	for (const device of [online, offline]) fleet.update(device.sn, device);
	fleet.update('354762000000018', numeric);
	await checks.check('writes group and status, unknown, or the reason into the row of each serial number', () => {
		resultOf(results, 'Write rows');
		const [, , , { Status: reason, ...empty } = {}] = resultOf(results, 'Group and status').items;
		assert.deepEqual(resultOf(results, 'Group and status').items.toSpliced(3, 1), [
			{ row_number: 2, Group: offline.group.name, Status: 'offline' },
			{ row_number: 5, Group: '', Status: 'unknown' },
			{ row_number: 8, Group: numeric.group.name, Status: '2' },
			{ row_number: 14, Group: online.group.name, Status: 'online' },
		]);
		assert.deepEqual(empty, { row_number: 11, Group: 'Old' });
		assert.match(String(reason), /'Device'/);
	});
}

async function severalTenants({ checks, main, tenants, workflow }: ExampleSetup): Promise<void> {
	await checks.check('lists the devices of each tenant with its own key, which no execution saves', async () => {
		const results = await byHand(main, workflow);
		const expected = [...tenants].flatMap(([tenant, { fleet }]) => fleet.devices.map(({ sn }) => ({ tenant, sn })));
		const found = resultOf(results, 'Name tenant').items.map(({ tenant, sn }) => ({ tenant, sn }));
		assert.deepEqual(found, expected);
		for (const { apiKey } of tenants.values()) assert(!JSON.stringify(results).includes(apiKey));
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
}

async function readInParts({ checks, main, platform: { fleet }, workflow }: ExampleSetup): Promise<void> {
	await checks.check('reads every device once, part by part', async () => {
		const { results } = await runInParts(main, fleet, workflow);
		assert.deepEqual(resultOf(results, 'All read').items, [{ read: fleet.size }]);
	});
}

/** Submits the form of a published workflow with a spreadsheet. */
async function submit(
	main: Main,
	{ nodes }: ExampleWorkflow,
	rows: readonly string[],
	choice?: string,
	file = 'devices.xlsx',
) {
	const form = new FormData();
	form.set('field-0', new Blob([rows.join('\n')], { type: 'text/csv' }), file);
	if (choice !== undefined) form.set('field-1', choice);
	const webhookId = nodes.find((node) => node['webhookId'] !== undefined)?.['webhookId'];
	const answer = await main.request(`/form/${webhookId}`, { method: 'POST', body: form });
	assert.equal(answer.status, 200, 'the form does not take a spreadsheet');
}
