import Table from 'cli-table3';
import { styleText } from 'node:util';

const { stdout } = process;

/** Returns a table of any values. */
export function tableOf(
	rows: readonly (readonly unknown[])[],
	{ head = [], ...options }: Table.TableConstructorOptions = {},
): string {
	const style = { head: [], border: [], compact: true };
	const table = new Table({ head: head.map(bold), style, ...options });
	table.push(...rows.map((row) => row.map(cell)));
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
