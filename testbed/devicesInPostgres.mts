import { escapeIdentifier } from 'pg';
import { z } from 'zod/v4';

import { postgres } from './n8n/postgres.mts';
import { deviceSchema, type Fleet } from './platform/fleet.mts';
import { sortFields } from './platform/listing.mts';
import { pageOf } from './platform/paging.mts';
import type { DeviceSource } from './platform/settings.mts';

const columns = Object.entries(deviceSchema.shape).map(([name, schema]) => {
	const isText = schema instanceof z.ZodString || schema instanceof z.ZodNullable;
	return `${escapeIdentifier(name)} ${isText ? 'text' : schema instanceof z.ZodNumber ? 'int' : 'jsonb'}`;
});
const countSchema = z.object({ count: z.coerce.number() });

/**
 * Returns devices in the table `device` of a new database, for the setting `source`. Lists come from ORDER BY, LIMIT and OFFSET,
 * so that equal values have no order. They sort by columns, and don't filter. `stop` removes the database; `sql` changes or reads the
 * table.
 * @throws Unreachable
 */
export async function devicesInPostgres({ devices }: Fleet) {
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
