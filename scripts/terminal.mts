/** What the commands print: progress, tables and numbers. */
import Table from 'cli-table3';
import { styleText } from 'node:util';

/** What a step shows: its title, which it may change, and a line while it runs. */
export interface Task {
	title: string;
	say(line: string): void;
}

/**
 * Runs `work` and shows its progress on standard error: in a line that changes on a terminal, otherwise in plain lines.
 * @throws the error of `work`, after its message was shown
 */
export async function step<T>(title: string, work: (task: Task) => Promise<T>): Promise<T> {
	const { stderr: out } = process;
	const show = (line: string) => out.write(out.isTTY ? `\r\x1b[K${line.slice(0, out.columns - 1)}` : `${line}\n`);
	const end = (line: string) => void (show(line), out.isTTY && out.write('\n'));
	const task = { title, say: (line: string) => void show(`› ${line}`) };
	show(`❯ ${title}`);
	try {
		const result = await work(task);
		end(`✔ ${task.title}`);
		return result;
	} catch (error) {
		end(`✖ ${error instanceof Error ? error.message : String(error)}`);
		throw error;
	}
}

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
	return process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText('bold', text) : text;
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
