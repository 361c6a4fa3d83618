/** A platform with a million devices, and the trigger that polls it in the main process of a real n8n: `npm run bench -- --million`. */
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';
import { z } from 'zod/v4';

import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import { Fleet, timeText } from '../../testbed/platform/fleet.mts';
import { listen } from '../../testbed/platform/httpServer.mts';
import { triggerType } from '../../testbed/watch.mts';

/** Larger than other fleets. */
export const SIZE = 1_000_000;
/** Digits of an ID, and characters of a serial number. */
const LONG = 20;
/** How many devices go offline at once. */
const OUTAGE = 270_000;
const OLDEST = Date.UTC(2026, 0, 1);
/** Longest time until a poll begins and ends. */
const TAKES_MS = { milliseconds: 600_000, message: 'No poll ended' };

const executionSchema = z.object({ at: z.coerce.number() });
const bytesSchema = z.object({ bytes: z.coerce.number() });
const EXECUTION = `SELECT EXTRACT(EPOCH FROM "createdAt") * 1000 AS at FROM execution_entity
	WHERE "workflowId" = $1 AND status = 'success'`;
const STATE = 'SELECT octet_length(cursor::text) AS bytes FROM poller_state WHERE "workflowId" = $1';
const DELETE = 'DELETE FROM execution_entity';

/** Devices in the order of their IDs and times, each computed when a page has it. */
export class Million {
	readonly id = 'million';
	readonly apiKey = 'any';
	baseUrl = '';
	size = SIZE;
	/** How many of the oldest devices are offline. */
	offline = 0;
	/** When list requests arrived. */
	requests: number[] = [];

	/** Starts it. It waits so long before each response. */
	static async start(latencyMs: number): Promise<Million> {
		const million = new Million();
		const { origin } = await listen(({ url = '' }, response) => {
			million.requests.push(Date.now());
			const { searchParams: query } = new URL(url, 'http://platform.invalid');
			void setTimeout(latencyMs).then(() => {
				response.setHeader('Content-Type', 'application/json');
				response.end(`{"code":0,"msg":"success","data":${million.page(query)}}`);
			});
		});
		million.baseUrl = origin;
		return million;
	}

	private page(query: URLSearchParams): string {
		const [page = 1, size = 1] = ['page', 'size'].map((name) => Number(query.get(name) ?? 1));
		const isNewestFirst = query.get('sort')?.endsWith('desc') === true;
		const first = (page - 1) * size;
		const numberOfElements = Math.max(0, Math.min(size, this.size - first));
		const content = Array.from({ length: numberOfElements }, (_, index) =>
			this.device(isNewestFirst ? this.size - 1 - first - index : first + index),
		);
		const totalPages = Math.ceil(this.size / size);
		const metadata = { totalElements: this.size, totalPages, last: page >= totalPages, first: page === 1 };
		const rest = { ...metadata, number: page, size, numberOfElements };
		return `{"content":[${content.join(',')}],${JSON.stringify(rest).slice(1)}`;
	}

	private device(index: number): string {
		const number = String(index).padStart(LONG, '0');
		const values = [`"1${number.slice(1)}"`, `"SN${number.slice(2)}"`, index < this.offline ? '0' : '1'];
		return [...values, `"${timeText(OLDEST + index * 1000)}"`].reduce(
			(text, value, at) => text + value + (PARTS[at + 1] ?? ''),
			PARTS[0] ?? '',
		);
	}
}

/** A device's JSON around the values that differ. */
const { id: _id, sn: _sn, onlineStatus: _status, createTime: _time, ...shared } = Fleet.seeded({ size: 1 }).at(0);
const PARTS = ['{"id":', ',"sn":', ',"onlineStatus":', ',"createTime":', `,${JSON.stringify(shared).slice(1)}`];

export const watch = trigger('watch', { events: ['onlineStatusChanged'], forAtLeast: 1 });
export const created = trigger('created', { events: ['deviceCreated'] });

function trigger(id: string, parameters: object) {
	const node = {
		...{ id, name: id, type: triggerType, typeVersion: 1, position: [0, 0] },
		credentials: { deviceManagementApi: { id: 'million', name: 'million' } },
		parameters: {
			pollTimes: { item: [{ mode: 'everyMinute' }] },
			...{ output: 'selected', fields: ['sn'], options: { pageSize: 2000, emit: 'perPoll' } },
			...parameters,
		},
	};
	return { id, name: id, nodes: [node], connections: {}, settings: { executionOrder: 'v1' } };
}

/** Publishes the triggers in turn, and prints what their polls cost. */
export async function pollMillion({ main, database }: QueueMode, million: Million): Promise<void> {
	const status = `/proc/${main.process.pid}`;
	const read = async <Row extends object>(schema: z.ZodType<Row>, sql: string, id: string) => {
		const [row] = await database.query(schema, sql, id);
		return row;
	};
	/** @param reports whether this poll starts an execution */
	const row = async (name: string, { id }: { id: string }, begin: () => unknown, reports = false) => {
		// Sets the highest memory back.
		await writeFile(`${status}/clear_refs`, '5');
		const requests = (million.requests = []);
		await begin();
		const hasEnded = async () => {
			const isQuiet = requests.length > 0 && Date.now() - Math.max(...requests) > 10_000;
			const execution = await read(executionSchema, EXECUTION, id);
			return isQuiet && (!reports || execution !== undefined) && pWaitFor.resolveWith(execution?.at ?? Infinity);
		};
		const executedAt = await pWaitFor(hasEnded, { interval: 500, timeout: TAKES_MS });
		const took = (reports ? executedAt : Math.max(...requests)) - Math.min(...requests);
		const state = await read(bytesSchema, STATE, id);
		const memory = Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`${status}/status`, 'utf8'))?.[1]) / 1024;
		const cells = [name, requests.length, `${(took / 1000).toFixed(1)} s`, `${memory.toFixed()} MB`];
		console.log(`| ${cells.join(' | ')} | ${((state?.bytes ?? NaN) / 1e6).toFixed(1)} MB |`);
	};
	const publish = (workflow: object) => async () => await main.publish(await main.create(workflow));
	console.log('\n| poll | requests | time | peak of main | state |\n| --- | ---: | ---: | ---: | ---: |');
	await row('Device Created, the first poll', created, publish(created));
	await row('nothing changed', created, () => {});
	await row('a new device', created, () => million.size++, true);
	await main.unpublish(created.id);
	await row('Online Status Changed, the first poll', watch, publish(watch));
	await row('nothing changed', watch, () => {});
	await row('100 devices go offline', watch, () => (million.offline = 100));
	await row('they are reported', watch, () => {}, true);
	await row(`${OUTAGE} devices go offline`, watch, () => (million.offline = OUTAGE));
	await database.query(z.object({}), DELETE);
	await row('they are reported', watch, () => {}, true);
}
