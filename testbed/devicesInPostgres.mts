import { escapeIdentifier, escapeLiteral } from 'pg';
import { z } from 'zod/v4';

import { postgres } from './n8n/postgres.mts';
import { Refusal } from './platform/codes.mts';
import { deviceSchema, type Fleet } from './platform/fleet.mts';
import { plainFields, sortFields } from './platform/listing.mts';
import { pageOf, type Query } from './platform/paging.mts';
import type { DeviceSource, Settings } from './platform/settings.mts';

const columns = Object.entries(deviceSchema.shape).map(([name, schema]) => {
	const isText = schema instanceof z.ZodString || schema instanceof z.ZodNullable;
	return `${escapeIdentifier(name)} ${isText ? 'text' : schema instanceof z.ZodNumber ? 'int' : 'jsonb'}`;
});
const countSchema = z.object({ count: z.coerce.number() });

/**
 * Returns devices in the table `device` of a new database, for the setting `source`. Lists come from ORDER BY, LIMIT and OFFSET,
 * so that equal values have no order. `stop` removes the database; `sql` changes or reads the table.
 * @throws Unreachable
 */
export async function devicesInPostgres({ devices }: Fleet) {
	// Sorts in memory: a sort in files often keeps the order of equal values.
	const { query: select, stop } = await postgres('-c work_mem=64MB');
	const sql = async (text: string, ...values: unknown[]) => await select(z.unknown(), text, ...values);
	await sql(`CREATE TABLE device (${columns.join(', ')})`);
	await sql('INSERT INTO device SELECT * FROM json_populate_recordset(NULL::device, $1)', JSON.stringify(devices));
	await sql('VACUUM ANALYZE device');
	const source: DeviceSource = async ({ query, body }, settings) => {
		const { where, values } = conditions(query, body);
		const [total] = await select(countSchema, `SELECT count(*) FROM device ${where}`, ...values);
		const { metadata } = pageOf(Array.from({ length: total?.count ?? 0 }), query, settings);
		const rows = `${where} ${orderOf(query, settings)} LIMIT ${metadata.size} OFFSET ${metadata.pageable.offset}`;
		return { metadata, items: await select(deviceSchema, `SELECT * FROM device ${rows}`, ...values) };
	};
	return { source, sql, stop };
}

function orderOf({ sort = [] }: Query, settings: Settings): string {
	const orders = sortFields([sort].flat(), settings).map(
		({ name, ascending }) => `${columnOf(name, '->')} ${ascending ? 'ASC' : 'DESC'}`,
	);
	return orders.length === 0 ? '' : `ORDER BY ${orders.join(', ')}`;
}

/** Returns a plain column, or a key of the attributes. Throws 10005 for any other name. */
function columnOf(name: string, arrow: '->' | '->>'): string {
	if (name.startsWith('attributes.')) return `attributes${arrow}${escapeLiteral(name.slice('attributes.'.length))}`;
	if (!plainFields.safeParse(name).success) throw new Refusal(10005);
	return escapeIdentifier(name);
}

/** Each filter is equal as text to a column or one of its values; `compositeStatus` is the status. */
function conditions({ page: _page, size: _size, sort: _sort, ...filters }: Query, body: unknown) {
	const { compositeStatus: status = [], ...criteria } = z.record(z.string(), z.coerce.string()).parse(body);
	const wanted = Object.entries({ ...filters, ...criteria, status }).filter(([, value]) => value?.length);
	const tests = wanted.map(([name], at) => `${columnOf(name, '->>')}::text = ANY ($${at + 1})`);
	const where = tests.length === 0 ? '' : `WHERE ${tests.join(' AND ')}`;
	return { where, values: wanted.map(([, value]) => [value ?? []].flat()) };
}
