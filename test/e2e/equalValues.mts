/** Devices in PostgreSQL, which lists those with equal sort values in another order on each page: lists and events are complete. */
import assert from 'node:assert/strict';
import { escapeIdentifier } from 'pg';
import { z } from 'zod/v4';

import type { Main } from '../../testbed/n8n/main.mts';
import { postgres } from '../../testbed/n8n/postgres.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import { deviceSchema } from '../../testbed/platform/fleet.mts';
import { sortFields } from '../../testbed/platform/listing.mts';
import { pageOf } from '../../testbed/platform/paging.mts';
import { type DeviceSource, Fleet, startPlatform } from '../../testbed/platform/server.mts';
import { serialNumbers } from './runs.mts';
import { WatchedTrigger } from './watchedTrigger.mts';
import { triggerWorkflow, webhookWorkflow } from '../../testbed/n8n/workflows.mts';

const columns = Object.entries(deviceSchema.shape).map(([name, schema]) => {
	const isText = schema instanceof z.ZodString || schema instanceof z.ZodNullable;
	return `${escapeIdentifier(name)} ${isText ? 'text' : schema instanceof z.ZodNumber ? 'int' : 'jsonb'}`;
});
const countSchema = z.object({ count: z.coerce.number() });

const IMPORTED = '2026-06-01 12:00:00';
const byStatus = { rule: [{ field: 'onlineStatus', direction: 'asc' }] };
const all = { resource: 'device', operation: 'getAll', returnAll: true, options: { pageSize: 200 } };

/** The workflows, for a credential of this name. The trigger has its id, too. */
export const equalValuesWorkflows = (credential: string) => [
	webhookWorkflow('own-order', credential, all),
	webhookWorkflow('by-status', credential, { ...all, sort: byStatus }),
	triggerWorkflow(credential, credential, {
		events: ['deviceCreated', 'onlineStatusChanged'],
		options: { pageSize: 200 },
	}),
];

/** Starts the platform. Two thirds of its devices were created in one second. */
export async function equalValues(services: Services) {
	const fleet = Fleet.seeded({ size: 3000 });
	fleet.reorder((devices) => devices.map((device, at) => (at < 2000 ? { ...device, createTime: IMPORTED } : device)));
	const { source, sql } = services.add(await devicesInPostgres(fleet));
	const platform = services.add(await startPlatform({ source, ownSort: 'createTime desc', fleet: { size: 0 } }));
	const trigger = new WatchedTrigger(platform, 'the trigger over PostgreSQL');
	return {
		platform,
		trigger,
		/** 500 new devices in one second, and 1,000 others have another online status. */
		async change(): Promise<void> {
			const made = Array.from({ length: 500 }, () => fleet.make({ createTime: '2026-06-01 12:00:01' }));
			const insert = 'INSERT INTO device SELECT * FROM json_populate_recordset(NULL::device, $1)';
			await sql(insert, JSON.stringify(made));
			const changed = fleet.devices.slice(0, 1000).map(({ sn }) => sn);
			await sql('UPDATE device SET "onlineStatus" = 77 WHERE sn = ANY($1)', changed);
			for (const { sn } of made) trigger.expected.push(`deviceCreated ${sn}`);
			for (const sn of changed) trigger.expected.push(`onlineStatusChanged ${sn}`);
		},
		async listsAll(main: Main): Promise<void> {
			const rows = serialNumbers(await sql('SELECT sn FROM device')).sort();
			const pages = Array.from({ length: rows.length / 100 }, (_, at) => ({ page: String(at + 1), size: '100' }));
			const alone = await Promise.all(pages.map(async (query) => await source({ query, body: {} }, platform.settings)));
			const read = new Set(alone.flatMap(({ items }) => serialNumbers(items)));
			assert(read.size < 0.95 * rows.length, `the pages alone have ${read.size} devices, so the rest proves nothing`);
			for (const path of ['own-order', 'by-status']) {
				assert.deepEqual(serialNumbers((await main.webhook(path, {})).json).sort(), rows);
			}
		},
	};
}

/**
 * Returns devices in the table `device` of a new database. Lists come from ORDER BY, LIMIT and OFFSET, so that equal values have no
 * order. They sort by columns, and don't filter. `stop` removes the database; `sql` changes or reads the table.
 * @throws Unreachable
 */
async function devicesInPostgres({ devices }: Fleet) {
	// Sorts in memory: a sort in files often keeps the order of equal values.
	const { query: select, stop } = await postgres('-c work_mem=64MB');
	const sql = async (text: string, ...values: unknown[]) => await select(z.unknown(), text, ...values);
	await sql(`CREATE TABLE device (${columns.join(', ')})`);
	await sql('INSERT INTO device SELECT * FROM json_populate_recordset(NULL::device, $1)', JSON.stringify(devices));
	await sql('VACUUM ANALYZE device');
	const source: DeviceSource = async ({ query }, settings) => {
		const [total] = await select(countSchema, 'SELECT count(*) FROM device');
		const { metadata } = pageOf(Array.from({ length: total?.count ?? 0 }), query, settings);
		const orders = sortFields([query['sort'] ?? []].flat(), settings).map(
			({ name, ascending }) => `${escapeIdentifier(name)} ${ascending ? 'ASC' : 'DESC'}`,
		);
		const order = orders.length === 0 ? '' : `ORDER BY ${orders.join(', ')}`;
		const rows = `${order} LIMIT ${metadata.size} OFFSET ${metadata.pageable.offset}`;
		return { metadata, items: await select(deviceSchema, `SELECT * FROM device ${rows}`) };
	};
	return { source, sql, stop };
}
