import { styleText } from 'node:util';
import Table from 'cli-table3';
import type { IDataObject } from 'n8n-workflow';

const { stdout } = process;

/** Columns of a list by their names in the node's output. They fit a terminal of 80 columns. */
const columns = [
	{ title: 'Serial number', field: 'sn' },
	{ title: 'Group', field: 'groupName' },
	{ title: 'Online', field: 'onlineStatus' },
	{ title: 'Status', field: 'status' },
	{ title: 'Created', field: 'createTime' },
];

const style = { head: [], border: [], compact: true };

/** Returns a table of devices. */
export function listTable(devices: readonly IDataObject[]): string {
	const table = new Table({ head: columns.map(({ title }) => bold(title)), style });
	for (const device of devices) table.push(columns.map(({ field }) => cell(device[field])));
	return table.toString();
}

/** Returns a table of one device, with a row for each field. */
export function deviceTable(device: IDataObject): string {
	const table = new Table({ style });
	for (const [name, value] of Object.entries(device)) table.push([bold(name), cell(value)]);
	return table.toString();
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
