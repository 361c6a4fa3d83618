/**
 * Every example with devices whose names, serial numbers and statuses break spreadsheets, mails, tickets and chats, with no device,
 * and with 400 at once. Each output is read with the program that a user reads it with.
 */
import assert from 'node:assert/strict';
import { mkdir, rm, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { CALLER, type ExampleWorkflow, isNote } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { Spreadsheets } from '../../testbed/n8n/spreadsheet.mts';
import { hostileFleets, HOSTILE_SERIALS } from '../../testbed/platform/hostileFleet.mts';
import { removing } from '../../testbed/removing.mts';
import { offlineByMcp, offlineInChat } from './agent.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { ALERTS } from './hostileAlerts.mts';
import { byHand, faulty, published, runInParts, simplified, submitted } from './runs.mts';

/** `devices`: those of each platform. */
type Show = (given: ExampleSetup) => Promise<void>;

/** Runs all of them with each of the fleets. */
export async function hostileFleet(
	setup: Omit<ExampleSetup, 'devices' | 'workflow'>,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
): Promise<void> {
	const { checks } = setup;
	const platforms = [setup.platform, setup.watched, ...setup.tenants.values()];
	const before = platforms.map((platform) => platform.fleet);
	for (const [name, workflow] of workflows) {
		if (IN_QUEUE_MODE.includes(name)) continue;
		const show = SHOWS[name];
		assert(show, `nothing here runs the example ${name}`);
		for (const [fleet] of hostileFleets()) {
			// Each platform has its own copy.
			for (const platform of platforms) platform.fleet = new Map(hostileFleets()).get(fleet) ?? platform.fleet;
			const devices = [...setup.platform.fleet.devices];
			await checks.check(`${name}.json: ${fleet}`, async () => await show({ ...setup, workflow, devices }));
		}
	}
	for (const [at, platform] of platforms.entries()) platform.fleet = before[at] ?? platform.fleet;
}

/** They need PostgreSQL: inventory.mts writes the hostile fleet, and poll-watch reads no devices. */
const IN_QUEUE_MODE = ['nightly-inventory-postgres', 'poll-watch'];

/** By the names of the examples' files. */
const SHOWS: Readonly<Record<string, Show>> = {
	...ALERTS,
	'agent-chat': offlineInChat,
	'agent-tools': offlineByMcp,
	'change-devices': changeDevices,
	'check-serial-numbers': checkSerialNumbers,
	'devices-per-group': devicesPerGroup,
	'nightly-inventory': nightlyInventory,
	'read-in-parts': readInParts,
	'serial-number-lookup': serialNumberLookup,
	'several-tenants': severalTenants,
	'sheet-lookup': sheetLookup,
};

async function devicesPerGroup({ main, workflow, devices }: ExampleSetup): Promise<void> {
	const items = (await byHand(main, workflow))['Count per group']?.items ?? [];
	const counted = items.flatMap((item) => Array<unknown>(Number(item['count_id'])).fill(item['group_name'] ?? ''));
	assert.deepEqual(counted.sort(), devices.map((device) => simplified(device).groupName ?? '').sort());
}

/** A device without a serial number is read, too. */
async function readInParts({ main, platform: { settings }, workflow, devices }: ExampleSetup): Promise<void> {
	const nameless = devices.at(-2)?.sn;
	settings.changePage = ({ content, ...page }) => ({
		...page,
		content: content.map((device) => (device['sn'] === nameless ? { ...device, sn: undefined } : device)),
	});
	const others = devices.filter(({ sn }) => sn !== nameless);
	const results = await runInParts(main, { devices: others }, workflow).finally(() => delete settings.changePage);
	assert.equal(results['All read']?.items[0]?.['read'], devices.length);
}

async function severalTenants({ main, tenants, workflow, devices }: ExampleSetup): Promise<void> {
	const results = await byHand(main, workflow);
	const found = results['Name tenant']?.items ?? [];
	for (const { apiKey } of tenants.values()) assert(!JSON.stringify(results).includes(apiKey), 'a key was saved');
	assert.deepEqual(
		found,
		asJson([...tenants.keys()].flatMap((tenant) => devices.map((device) => ({ ...simplified(device), tenant })))),
	);
}

async function serialNumberLookup(given: ExampleSetup): Promise<void> {
	const { main, platform, workflow, devices, callersSecret } = given;
	const headers = { [CALLER.header]: callersSecret };
	await published(main, workflow.id, async () => {
		for (const device of [...devices.slice(0, 50), undefined]) {
			const sn = device?.sn ?? 'RT00000000';
			const answer = await main.request(`/webhook/device?sn=${encodeURIComponent(sn)}`, { headers });
			const expected = device
				? [200, asJson(simplified(device))]
				: [404, { error: `No device has the serial number ${sn}` }];
			assert.deepEqual([answer.status, await answer.json()], expected);
		}
		const ask = async (query: string) => {
			const answer = await main.request(`/webhook/device${query}`, { headers });
			return `${answer.status} ${await answer.text()}`;
		};
		assert.match(await ask(''), /^400 .*'Device'/);
		for (const query of ['?sn=RT1&sn=RT2', '?sn[a]=RT1']) assert.match(await ask(query), /^400 /);
		assert.match(await faulty(platform, async () => await ask('?sn=007')), /^502 .*could not/);
	});
}

async function nightlyInventory({ n8n, main, workflow, devices }: ExampleSetup): Promise<void> {
	// What the note says to create. n8n starts in the user's folder.
	const note = String(workflow.nodes.find(isNote)?.parameters['content']);
	const [, name] = /create the folder `(.+?)`/.exec(note) ?? [];
	assert(name);
	const folder = join(n8n.folder, name);
	await rm(folder, removing);
	if (devices.length > 0) assert.match((await byHand(main, workflow))['Write file']?.error ?? '', /does not exist/);
	await mkdir(folder);
	const results = await byHand(main, workflow);
	const [file = '', ...others] = await readdir(folder);
	if (devices.length === 0) {
		assert.match(results['Stop: no devices']?.error ?? '', /^The platform returned no devices/);
		return assert.equal(file, '');
	}
	resultOf(results, 'Write file');
	assert.match(file, /^fleet-\d{4}-\d{2}-\d{2}\.xlsx$/);
	assert.deepEqual(others, []);
	const [head = [], ...rows] = new Spreadsheets(n8n.host).read(await readFile(join(folder, file)));
	const listed = rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at]])));
	const expected = devices.map((device) => {
		const { tags, ...fields } = simplified(device);
		return { ...fields, tags: [tags ?? []].flat().join(', ') };
	});
	assertCells(
		listed,
		expected.sort((one, other) => (one.sn < other.sn ? -1 : 1)),
	);
}

async function sheetLookup({ main, workflow, devices }: ExampleSetup): Promise<void> {
	const rows = [...devices.map(({ sn }) => sn), 'RT00000000', 123, true].map((sn, at) => ({
		row_number: at + 2,
		'Serial Number': sn,
		Group: 'Old',
	}));
	const pinData = { 'Read rows': rows.map((json) => ({ json })), 'Write rows': [{ json: {} }] };
	const { items } = resultOf(await byHand(main, { ...workflow, pinData }), 'Group and status');
	const names = { 0: 'offline', false: 'offline', 1: 'online', true: 'online' };
	const statusOf = (value: unknown) => new Map(Object.entries(names)).get(String(value)) ?? String(value ?? 'unknown');
	const known = devices.map((device, at) => ({
		row_number: at + 2,
		Group: simplified(device).groupName ?? '',
		Status: statusOf(device.onlineStatus),
	}));
	const refused = items.slice(-2);
	assert.deepEqual(items.slice(0, -2), [...known, { row_number: rows.length - 1, Group: '', Status: 'unknown' }]);
	assert.deepEqual(
		refused.map(({ Group }) => Group),
		['Old', 'Old'],
	);
	for (const { Status } of refused) assert.match(String(Status), /^The serial number is not text/);
}

async function checkSerialNumbers(given: ExampleSetup): Promise<void> {
	const { n8n, main, devices } = given;
	const sheets = new Spreadsheets(n8n.host);
	const wrong = [
		['RT00000000', '=1+1'],
		[123, 'a number'],
		['', 'empty'],
	];
	const rows = [['Serial Number', 'Shelf'], ...devices.map(({ sn }, at) => [sn, at]), ...wrong];
	const { results } = await submitted(given, sheets.write(rows));
	if (devices.length > 0) {
		const [head, ...found] = sheets.read(await main.download(resultOf(results, 'Found').fileId));
		assert.deepEqual(
			found.map((row) => row[head?.indexOf('sn') ?? 0]),
			devices.map(({ sn }) => sn),
		);
	}
	const [head, ...missing] = sheets.read(await main.download(resultOf(results, 'Not found').fileId));
	assert.deepEqual(head, ['Serial Number', 'Shelf', 'Reason']);
	assert.deepEqual(
		missing.map((row) => row.slice(0, 2)),
		wrong,
	);
	assert.match(String(missing[1]?.[2]), /^“Serial Number” is not text/);
}

/** With no device, it only has rows that fail. */
async function changeDevices(given: ExampleSetup): Promise<void> {
	const { n8n, main, platform, devices } = given;
	const sheets = new Spreadsheets(n8n.host);
	const chosen = devices.filter(({ sn }) => HOSTILE_SERIALS.includes(sn));
	const head = ['Serial Number', 'New Description'];
	const wrong = [
		['RT00000000', '=1+1'],
		[123, 'a number'],
		['', 'empty'],
		['RT00000000', ''],
	];
	const run = async (file: Buffer, action: string) => (await submitted(given, file, action)).results;
	const rows = sheets.write([head, ...chosen.map(({ sn }) => [sn, `=${sn}`]), ...wrong]);
	const check = await run(rows, 'Check only');
	if (chosen.length > 0) {
		const [, ...would] = sheets.read(await main.download(resultOf(check, 'Would change').fileId));
		assert.deepEqual(
			would,
			chosen.map(({ sn, description }) => [sn, description ?? '', `=${sn}`]),
		);
	}
	let file = rows;
	// The file of the rows that failed is submitted again. It changes no other device.
	for (const _time of [1, 2]) {
		file = await main.download(resultOf(await run(file, 'Change devices'), 'Not changed').fileId);
		assert.deepEqual(
			sheets
				.read(file)
				.slice(1)
				.map((row) => row.slice(0, 2)),
			wrong,
		);
		const expected = devices.map((device) => (chosen.includes(device) ? `=${device.sn}` : device.description));
		assert.deepEqual(
			platform.fleet.devices.map(({ description }) => description),
			expected,
		);
	}
}

/** As n8n saves it. */
function asJson(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value));
}

/** Each cell has its value, also the text of a serial number. An empty cell is no value. */
function assertCells(rows: ReadonlyArray<Record<string, unknown>>, expected: readonly object[]): void {
	// SheetJS reads these two differently than the file has them.
	const read = (value: unknown) =>
		typeof value === 'string' ? value.replaceAll('&amp;', '&').replaceAll('\r', '') : value;
	const filled = (row: object) =>
		Object.fromEntries(
			Object.entries(row).flatMap(([name, value]) => ((value ?? '') === '' ? [] : [[name, read(value)]])),
		);
	assert.deepEqual(rows.map(filled), expected.map(filled));
}
