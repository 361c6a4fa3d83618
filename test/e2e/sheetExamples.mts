/** The examples with spreadsheets. Each file is written and read as a user's program does it. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FormData } from 'undici';

import { isNote } from '../../testbed/n8n/examples.mts';
import { type NodeResults, resultOf } from '../../testbed/n8n/results.mts';
import { Spreadsheets } from '../../testbed/n8n/spreadsheet.mts';
import { HOSTILE_SERIALS } from '../../testbed/platform/hostileFleet.mts';
import { removing } from '../../testbed/removing.mts';
import type { Example, ExampleSetup } from './exampleSetup.mts';
import { byHand, published, signIn, simplified, submitted } from './runs.mts';

const HEAD = ['Serial Number', 'New Description'];
const FORMATS = ['xlsx', 'ods', 'xls'];
/** The devices in the files of `spreadsheets/`. */
const SAVED = ['RT46643907', 'LG27988829'];
/** Rows that fail. */
const WRONG = [
	['RT00000000', '=1+1'],
	[123, 'a number'],
	['', 'empty'],
];

export const SHEETS: Readonly<Record<string, Example>> = {
	'change-devices': {
		promises: {
			'a form is for people who sign in only': async ({ main, workflow, callersSecret }) =>
				await published(main, workflow.id, async () => {
					const address = `/form/${String(workflow.nodes[0]?.['webhookId'])}`;
					const body = new FormData();
					body.set('field-1', 'Check only');
					for (const asked of [{}, { method: 'POST', body }]) {
						assert.equal((await main.request(address, asked)).status, 401);
					}
					const headers = { Authorization: signIn(callersSecret) };
					assert.match(await (await main.request(address, { headers })).text(), /Rows that are hidden/);
				}),
			'says which columns it looked for in a file that it cannot use, and changes nothing': async (given) => {
				const row = ['RT46643907', 'wrong'];
				const sheets = new Spreadsheets(given.n8n.host);
				const files = [[HEAD], [], [['Devices'], HEAD, row], [['Serial Number'], row], [[...HEAD, HEAD[0]], row]];
				const text = Buffer.from(`${HEAD.join()}\n${row.join()}\n`);
				for (const file of [text, ...files.map((rows) => sheets.write(rows))]) {
					const { message } = await submitted(given, file, 'Change devices');
					assert.match(message ?? '', /looked for the columns “Serial Number” and “New Description” in the first row/);
				}
				assert.equal(writesOf(given), 0);
			},
			'writes nothing from cells that are no text, in any format': async (given) => {
				for (const format of FORMATS) {
					given.platform.forget();
					const [before] = descriptions(given);
					const { results } = await submitted(given, await saved(`cells.${format}`), 'Change devices');
					assert.equal(notText(results).length, 9);
					assert.deepEqual([writesOf(given), ...descriptions(given)], [1, before, '1.10']);
				}
			},
			"accepts this package's own spreadsheet, saved in any format": async (given) => {
				for (const format of FORMATS) {
					given.platform.forget();
					const { results } = await submitted(given, await saved(`export.${format}`), 'Change devices');
					assert.equal(results['Row and reason'], undefined);
					assert.deepEqual([writesOf(given), ...descriptions(given)], [2, 'Shelf 7', 'Shelf 7']);
					for (const device of given.devices) {
						if (SAVED.includes(device.sn)) given.platform.fleet.update(device.sn, device);
					}
				}
			},
		},
		anyFleet: changeDevices,
	},
	'check-serial-numbers': {
		promises: {
			"checks text cells of any format only, also of this package's own spreadsheet": async (given) => {
				for (const format of FORMATS) {
					const { results } = await submitted(given, await saved(`cells.${format}`));
					assert.equal(notText(results).length, 2);
					const { results: own } = await submitted(given, await saved(`export.${format}`));
					assert.equal(resultOf(own, 'Get device').items.length, 2);
				}
			},
		},
		anyFleet: async (given) => {
			const { n8n, devices } = given;
			const rows = [['Serial Number', 'Shelf'], ...devices.map(({ sn }, at) => [sn, at]), ...WRONG];
			const { results } = await submitted(given, new Spreadsheets(n8n.host).write(rows));
			if (devices.length > 0) {
				const [head = [], ...found] = await fileOf(given, results, 'Found');
				const at = head.indexOf('sn');
				assert.deepEqual(column(found, at), column(devices.map(({ sn }) => [sn])));
			}
			const [head, ...missing] = await fileOf(given, results, 'Not found');
			assert.deepEqual(head, ['Serial Number', 'Shelf', 'Reason']);
			assert.deepEqual(firstTwo(missing), WRONG);
			assert.match(String(missing[1]?.[2]), /^“Serial Number” is not text/);
		},
	},
	'nightly-inventory': { anyFleet: nightlyInventory },
	'sheet-lookup': {
		anyFleet: async ({ main, workflow, devices }) => {
			const rows = [...devices.map(({ sn }) => sn), 'RT00000000', 123, true].map((sn, at) => ({
				json: { row_number: at + 2, 'Serial Number': sn, Group: 'Old' },
			}));
			const pinData = { 'Read rows': rows, 'Write rows': [{ json: {} }] };
			const { items } = resultOf(await byHand(main, { ...workflow, pinData }), 'Group and status');
			const words = new Map(Object.entries({ 0: 'offline', false: 'offline', 1: 'online', true: 'online' }));
			const found = devices.map((device, at) => {
				const status = String(device.onlineStatus ?? 'unknown');
				const Group = simplified(device).groupName ?? '';
				return { row_number: at + 2, Group, Status: words.get(status) ?? status };
			});
			const unknown = { row_number: rows.length - 1, Group: '', Status: 'unknown' };
			assert.deepEqual(items.slice(0, -2), [...found, unknown]);
			for (const { Group, Status } of items.slice(-2)) {
				assert.match(`${String(Group)}: ${String(Status)}`, /^Old: The serial number is not text/);
			}
		},
	},
};

/** A spreadsheet that LibreOffice saved: with cells of all types, or what nightly-inventory writes. */
async function saved(name: string): Promise<Buffer> {
	return await readFile(new URL(`spreadsheets/${name}`, import.meta.url));
}

function writesOf({ platform: { requests } }: ExampleSetup): number {
	return requests.filter(({ method }) => method === 'PUT').length;
}

function descriptions({ platform: { fleet } }: ExampleSetup) {
	return SAVED.map((sn) => fleet.get(sn)?.description);
}

/** The reasons of the rows that failed. Each says that a cell is no text. */
function notText(results: NodeResults): string[] {
	const reasons = resultOf(results, 'Row and reason').items.map(({ Reason }) => String(Reason));
	for (const reason of reasons) assert.match(reason, /is not text. Format the column as text/);
	return reasons;
}

/** The rows of the spreadsheet that a node put out, the head included. */
async function fileOf({ n8n, main }: ExampleSetup, results: NodeResults, node: string): Promise<unknown[][]> {
	return new Spreadsheets(n8n.host).read(await main.download(resultOf(results, node).fileId));
}

const column = (rows: readonly unknown[][], at = 0) => rows.map((row) => row[at]);
const firstTwo = (rows: readonly unknown[][]) => rows.map((row) => row.slice(0, 2));

/** With no device, it only has rows that fail. The file of the rows that failed is submitted again. It changes no other device. */
async function changeDevices(given: ExampleSetup): Promise<void> {
	const { n8n, main, platform, devices } = given;
	const chosen = devices.filter(({ sn }) => HOSTILE_SERIALS.includes(sn));
	const wrong = [...WRONG, ['RT00000000', '']];
	const run = async (file: Buffer, action: string) => (await submitted(given, file, action)).results;
	let file = new Spreadsheets(n8n.host).write([HEAD, ...chosen.map(({ sn }) => [sn, `=${sn}`]), ...wrong]);
	const check = await run(file, 'Check only');
	if (chosen.length > 0) {
		const [, ...would] = await fileOf(given, check, 'Would change');
		const expected = chosen.map(({ sn, description }) => [sn, description ?? '', `=${sn}`]);
		assert.deepEqual(would, expected);
	}
	const expected = devices.map((device) => (chosen.includes(device) ? `=${device.sn}` : device.description));
	for (const _time of [1, 2]) {
		const results = await run(file, 'Change devices');
		const [, ...rows] = await fileOf(given, results, 'Not changed');
		assert.deepEqual(firstTwo(rows), wrong);
		const now = platform.fleet.devices.map(({ description }) => description);
		assert.deepEqual(now, expected);
		file = await main.download(resultOf(results, 'Not changed').fileId);
	}
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
	const files = await readdir(folder);
	if (devices.length === 0) {
		assert.match(results['Stop: no devices']?.error ?? '', /^The platform returned no devices/);
		return assert.deepEqual(files, []);
	}
	resultOf(results, 'Write file');
	assert.match(files.join(), /^fleet-\d{4}-\d{2}-\d{2}\.xlsx$/);
	const [head = [], ...rows] = new Spreadsheets(n8n.host).read(await readFile(join(folder, files.join())));
	const expected = devices.map((device) => {
		const { tags, ...fields } = simplified(device);
		return filled({ ...fields, tags: [tags ?? []].flat().join(', ') });
	});
	expected.sort((one, other) => (String(one['sn']) < String(other['sn']) ? -1 : 1));
	const written = rows.map((row) => filled(Object.fromEntries(head.map((title, at) => [title, row[at]]))));
	assert.deepEqual(written, expected);
}

/** The cells of a row that have a value. SheetJS reads two characters differently than the file has them. */
function filled(row: object): Record<string, unknown> {
	const read = (value: unknown) =>
		typeof value === 'string' ? value.replaceAll('&amp;', '&').replaceAll('\r', '') : value;
	const cells = Object.entries(row).filter(([, value]) => (value ?? '') !== '');
	return Object.fromEntries(cells.map(([name, value]) => [name, read(value)]));
}
