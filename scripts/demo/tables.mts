import { styleText } from 'node:util';
import Table from 'cli-table3';
import type { IDataObject } from 'n8n-workflow';

const { stdout } = process;

/** The width without a terminal. */
const width = stdout.isTTY ? stdout.columns : 100;

/** Columns of a list, the least important ones last, by their names in the node's output. */
const columns: readonly { title: string; field: string; place: number }[] = [
	{ title: 'Serial number', field: 'sn', place: 0 },
	{ title: 'Model', field: 'modelName', place: 1 },
	{ title: 'Status', field: 'status', place: 5 },
	{ title: 'Group', field: 'groupName', place: 2 },
	{ title: 'Created', field: 'createTime', place: 6 },
	{ title: 'Online', field: 'onlineStatus', place: 4 },
	{ title: 'Tags', field: 'tags', place: 3 },
	{ title: 'Description', field: 'description', place: 7 },
];

/** Returns a table of devices with as many columns as fit the terminal. */
export function listTable(devices: readonly IDataObject[]): string {
	for (let count = columns.length; ; count--) {
		const shown = columns.slice(0, count).sort((one, other) => one.place - other.place);
		const table = new Table({
			head: shown.map(({ title }) => bold(title)),
			style: { head: [], border: [], compact: true },
			colAligns: shown.map(({ field }) => (/status$/i.test(field) ? 'right' : 'left')),
		});
		for (const device of devices) table.push(shown.map(({ field }) => cell(device[field])));
		const text = table.toString();
		if (count <= 3 || fits(text)) return text;
	}
}

/** Returns a table of one device, with a row for each field. */
export function deviceTable(device: IDataObject): string {
	const names = Object.keys(device);
	const make = (colWidths: number[]) => {
		const table = new Table({ style: { head: [], border: [], compact: true }, wordWrap: true, colWidths });
		for (const name of names) table.push([bold(name), cell(device[name])]);
		return table.toString();
	};
	const text = make([]);
	if (fits(text)) return text;
	const longest = Math.max(...names.map((name) => name.length)) + 2;
	return make([longest, Math.max(20, width - longest - 3)]);
}

export function bold(text: string): string {
	return stdout.isTTY && !process.env['NO_COLOR'] ? styleText('bold', text) : text;
}

/** Returns a number with separators. */
export function number(value: number): string {
	return value.toLocaleString('en');
}

/** Returns a text without characters that control the terminal. */
export function plain(text: string): string {
	return text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ');
}

function cell(value: unknown): string {
	if (value === null || value === undefined) return '';
	if (Array.isArray(value)) return value.map(cell).join(', ');
	return plain(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Whether a table fits. Its first line has no text, so its length is the table's width. */
function fits(table: string): boolean {
	return (table.split('\n', 1)[0]?.length ?? 0) <= width;
}
