/** A platform with a million devices, and the trigger that polls it in the main process of a real n8n: `npm run bench -- --million`. */
import { writeFile } from 'node:fs/promises';
import pWaitFor from 'p-wait-for';
import { z } from 'zod/v4';

import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import { chain } from '../../testbed/n8n/workflows.mts';
import { timeText } from '../../testbed/platform/fleet.mts';
import { pageOf } from '../../testbed/platform/paging.mts';
import { type Device, type DeviceSource, Fleet, startPlatform } from '../../testbed/platform/server.mts';
import { triggerType } from '../../testbed/watch.mts';
import { duration, highestMemory, megabytes } from './figures.mts';

const SIZE = 1_000_000;
/** Digits of an ID, and characters of a serial number. */
const LONG = 20;
/** How many devices go offline at once. */
const OUTAGE = 270_000;
const OLDEST = Date.UTC(2026, 0, 1);
/** Longest time until a poll begins and ends. */
const TAKES_MS = { milliseconds: 600_000, message: 'No poll ended' };

const figureSchema = z.object({ figure: z.coerce.number() });
const EXECUTION = `SELECT EXTRACT(EPOCH FROM "createdAt") * 1000 AS figure FROM execution_entity
	WHERE "workflowId" = $1 AND status = 'success'`;
const STATE = 'SELECT octet_length(cursor::text) AS figure FROM poller_state WHERE "workflowId" = $1';

type Million = Awaited<ReturnType<typeof startMillion>>;

/** Starts a platform whose devices are in the order of their IDs and times. Each is computed when a page has it. */
export async function startMillion(latencyMs: number) {
	const fleet = {
		id: 'million',
		size: SIZE,
		/** How many of the oldest devices are offline. */
		offline: 0,
	};
	const example = Fleet.seeded({ size: 1 }).at(0);
	const deviceAt = (index: number): Device => {
		const number = String(index).padStart(LONG, '0');
		const own = { id: `1${number.slice(1)}`, sn: `SN${number.slice(2)}`, onlineStatus: index < fleet.offline ? 0 : 1 };
		return { ...example, ...own, createTime: timeText(OLDEST + index * 1000) };
	};
	// The metadata of a page depend on the length of the list only.
	const empty: Device[] = [];
	const source: DeviceSource = async ({ query }, settings) => {
		empty.length = fleet.size;
		const { metadata } = pageOf(empty, query, settings);
		const isNewestFirst = String(query['sort']).endsWith('desc');
		const items = Array.from({ length: metadata.numberOfElements }, (_, at) => {
			const place = metadata.pageable.offset + at;
			return deviceAt(isNewestFirst ? fleet.size - 1 - place : place);
		});
		return { items, metadata };
	};
	const platform = await startPlatform({ latencyMs, source });
	return Object.assign(fleet, { platform, baseUrl: platform.baseUrl, apiKey: platform.apiKey });
}

const watch = trigger('watch', { events: ['onlineStatusChanged'], forAtLeast: 1 });
const created = trigger('created', { events: ['deviceCreated'] });

function trigger(id: string, choices: object) {
	const parameters = {
		pollTimes: { item: [{ mode: 'everyMinute' }] },
		...{ output: 'selected', fields: ['sn'], options: { pageSize: 2000, emit: 'perPoll' } },
		...choices,
	};
	return chain(id, 'million', [{ name: id, type: triggerType, typeVersion: 1, parameters }]);
}

/** Publishes the triggers in turn, and prints what their polls cost. */
export async function pollMillion({ main, database }: QueueMode, million: Million): Promise<void> {
	const { platform } = million;
	/** @param reports whether this poll starts an execution */
	const row = async (name: string, { id }: { id: string }, begin: () => unknown, reports = false) => {
		// Sets the highest memory back.
		await writeFile(`/proc/${main.process.pid}/clear_refs`, '5');
		platform.forget();
		await begin();
		const arrivals = () => platform.requests.map(({ at }) => at);
		const hasEnded = async () => {
			const isQuiet = platform.requests.length > 0 && Date.now() - Math.max(...arrivals()) > 10_000;
			const [execution] = await database.query(figureSchema, EXECUTION, id);
			return isQuiet && (!reports || execution !== undefined) && pWaitFor.resolveWith(execution?.figure ?? Infinity);
		};
		const executedAt = await pWaitFor(hasEnded, { interval: 500, timeout: TAKES_MS });
		const took = (reports ? executedAt : Math.max(...arrivals())) - Math.min(...arrivals());
		const [state] = await database.query(figureSchema, STATE, id);
		const memory = (await highestMemory([main.process])) ?? NaN;
		const cells = [name, arrivals().length, duration(took), megabytes(memory)];
		console.log(`| ${cells.join(' | ')} | ${((state?.figure ?? NaN) / 1e6).toFixed(1)} MB |`);
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
	await database.query(z.object({}), 'DELETE FROM execution_entity');
	await row('they are reported', watch, () => {}, true);
}
