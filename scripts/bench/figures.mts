/** The figures in the tables of `npm run bench`. */
import { readFile } from 'node:fs/promises';

import type { N8nProcess } from '../../testbed/n8n/process.mts';

/** The highest memory of a process since its start, in bytes; undefined if one has ended. */
export async function highestMemory(processes: readonly N8nProcess[]): Promise<number | undefined> {
	if (processes.some(({ hasEnded }) => hasEnded)) return undefined;
	const statuses = await Promise.all(processes.map(async ({ pid }) => await readFile(`/proc/${pid}/status`, 'utf8')));
	return Math.max(...statuses.map((status) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024));
}

export function duration(milliseconds: number): string {
	return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function megabytes(bytes: number): string {
	return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`;
}
