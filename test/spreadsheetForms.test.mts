/** What the forms of examples make of a spreadsheet: the Code node that reads the rows, without n8n. test/e2e/sheetExamples.mts has real files. */
import { runInThisContext } from 'node:vm';
import { z } from 'zod/v4';

import { exampleWorkflow } from '../testbed/n8n/examples.mts';

type Run = (this: object, $: () => object, $input: object) => Promise<unknown>;

const DATE_OF_ODS = '2026-11-28T00:00:00.000Z';
const XLSX = Buffer.from('504b0304', 'hex');

/** Runs the Code node of an example with the rows of a sheet, as Extract from File returns them. */
async function check(file: string, rows: readonly object[], bytes: Buffer = XLSX) {
	const { nodes } = await exampleWorkflow(file);
	const code = z.string().parse(nodes.find(({ name }) => name === 'Check rows')?.parameters['jsCode']);
	const items = rows.map((row) => ({ json: Array.isArray(row) ? { row } : row }));
	const [form, input] = [{ binary: { Spreadsheet: {} } }, { all: () => items, first: () => items[0] }];
	const compiled: unknown = runInThisContext(`(async function ($, $input) {${code}})`);
	const run = z.custom<Run>((value) => typeof value === 'function').parse(compiled);
	const output = run.call({ helpers: { getBinaryDataBuffer: () => bytes } }, () => ({ first: () => form }), input);
	return z
		.array(z.object({ json: z.record(z.string(), z.unknown()) }))
		.parse(await output)
		.map(({ json }) => json);
}

const HEAD = ['Serial Number', 'New Description'];

test.each([[46354], [0.354], [true], [DATE_OF_ODS]])('refuse a cell that is no text: %p', async (cell) => {
	const rows = [HEAD, ['RT1', cell], [cell, 'text'], ['00123', '1.10']];
	const refused = (name: string) => `“${name}” is not text. Format the column as text, and enter the value again`;
	const both = [refused('New Description'), refused('Serial Number'), undefined];
	expect((await check('change-devices', rows)).map(({ Reason }) => Reason)).toEqual(both);
	const one = (await check('check-serial-numbers', rows)).map(({ Reason }) => Reason);
	expect(one).toEqual([undefined, refused('Serial Number'), undefined]);
});

test('refuse an empty cell, and skip empty rows', async () => {
	const rows = [[null], HEAD, ['RT1'], [], ['', ' '], ['RT2', ' '], [' ', 'text']];
	const reasons = (await check('change-devices', rows)).map(({ Reason }) => Reason);
	expect(reasons).toEqual(['“New Description” is empty', '“New Description” is empty', '“Serial Number” is empty']);
});

test('keep the other columns of a row, without what an earlier run wrote', async () => {
	const rows = [
		['Shelf', 'sn', 'New Description', 'Reason', null],
		[7, 'RT1', 'text', 'failed', 'x'],
	];
	const [row] = await check('change-devices', rows);
	expect(JSON.parse(JSON.stringify(row))).toEqual({ Shelf: 7, 'Serial Number': 'RT1', 'New Description': 'text' });
});

const VALUES = ['RT1', 'text'];
test.each<[what: string, rows: object[], bytes?: Buffer]>([
	['a header only', [HEAD]],
	['an empty sheet', [{}]],
	['a text file', [HEAD, VALUES], Buffer.from(HEAD.join())],
	['a file with a password', [{ error: 'not in xlsx format' }]],
	['a title above the header', [['Devices'], HEAD, VALUES]],
	['another header', [['serial number', 'New Description'], VALUES]],
	['a space behind the header', [['Serial Number ', 'New Description'], VALUES]],
	[
		'a column twice',
		[
			[...HEAD, 'Serial Number'],
			[...VALUES, 'RT2'],
		],
	],
])('say what was looked for in %s', async (_what, rows, bytes = XLSX) => {
	const columns = [
		['change-devices', 'the columns “Serial Number” and “New Description”'],
		['check-serial-numbers', 'the column “Serial Number”'],
	] as const;
	for (const [file, looked] of columns) {
		const message = `n8n looked for ${looked} in the first row of the first sheet. Nothing was changed.`;
		expect(await check(file, rows, bytes)).toEqual([{ wrongFile: expect.stringContaining(message) }]);
	}
});
