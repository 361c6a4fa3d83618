/**
 * `nightly-inventory-postgres.json` in queue mode: after each run, the table is right, or the execution failed with the reason.
 * The ten minutes are one second here. All runs are on workers.
 */
import assert from 'node:assert/strict';
import { z } from 'zod/v4';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Database } from '../../testbed/n8n/postgres.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { type Device, type EmbeddedPlatform, Fleet } from '../../testbed/platform/server.mts';
import { hostileFleets } from '../../testbed/platform/hostileFleet.mts';
import type { Checks } from './checks.mts';
import { byHand, faulty, monitored, newId, serialNumbers, simplified, until } from './runs.mts';

const rowSchema = z.object({
	sn: z.string(),
	seen: z.string(),
	gone: z.string().nullable(),
	device: z.looseObject({}),
});
type Row = z.infer<typeof rowSchema>;

/** What it runs with. The workflow and its credentials are in n8n. */
export interface Inventory {
	n8n: QueueMode;
	platform: EmbeddedPlatform;
	database: Database;
	workflow: ExampleWorkflow;
	checks: Checks;
}

/** From here on, the role of the example may only read and write the table, which exists. */
export async function nightlyInventoryInPostgres(given: Inventory): Promise<void> {
	await given.database.sql('ALTER TABLE device_inventory OWNER TO CURRENT_USER');
	await given.database.sql('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
	await given.database.sql('GRANT SELECT, INSERT, UPDATE ON device_inventory TO PUBLIC');
	const nodes = given.workflow.nodes.map((node) =>
		node.name === 'Wait ten minutes' ? { ...node, parameters: { amount: 1, unit: 'seconds' } } : node,
	);
	const inventory = { ...given, workflow: { ...given.workflow, nodes } };
	await nights(inventory);
	await killed(inventory);
	await failures(inventory);
}

async function nights(inventory: Inventory): Promise<void> {
	const { fleet } = inventory.platform;
	const listed = () => [...fleet.devices].sort(bySn).map(asColumns);
	await inventory.checks.check('writes each listed device, marks removed ones, and calls the monitor', async () => {
		const first = await run(inventory);
		assert.deepEqual([first.present, first.gone, first.calls], [listed(), [], 1]);
		const removed = [removeLast(inventory), removeLast(inventory)];
		fleet.update(fleet.at(0).sn, { description: `Gate 'A' $1 \\ "B"`, tags: ['new', `it's`] });
		fleet.add();
		const next = await run(inventory);
		assert.deepEqual([next.present, next.gone, next.calls], [listed(), serialNumbers(removed).sort(), 1]);
	});
	await inventory.checks.check('writes any text, and a status of any type as text', async () => {
		inventory.platform.fleet = hostileFleets()[0][1];
		const { present } = await run(inventory);
		inventory.platform.fleet = fleet;
		assert.deepEqual(present, [...hostileFleets()[0][1].devices].sort(bySn).map(asColumns));
	});
}

/** A trigger of the database makes the write slow, so the worker is killed in the middle of it. */
async function killed(inventory: Inventory): Promise<void> {
	const { checks, n8n, platform, database, workflow } = inventory;
	const returned = removeLast(inventory);
	const before = (await run(inventory)).rows;
	platform.fleet.add(returned);
	const { sn } = removeLast(inventory);
	await database.sql(
		`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(5); RETURN NEW; END';
		CREATE TRIGGER slow BEFORE UPDATE ON device_inventory
			FOR EACH ROW WHEN (OLD.sn = '${platform.fleet.at(1000).sn}') EXECUTE FUNCTION wait()`,
	);
	const id = await n8n.main.create({ ...workflow, id: newId() });
	void n8n.main.execute(id, 'Every night').catch(() => {});
	await until('the write does not begin', async () => (await others(database, `wait_event = 'PgSleep'`)) === 1);
	await n8n.workerOf((await n8n.executions(id))[0]?.id ?? '').process.kill();
	await until('the database goes on with the write', async () => (await others(database, `state <> 'idle'`)) === 0);
	await database.sql('DROP FUNCTION wait CASCADE');
	await checks.check('a worker killed during the write leaves all rows, all or none new, none gone', async () => {
		const after = await rowsOf(inventory);
		assert.deepEqual(serialNumbers(after), serialNumbers(before));
		const listed = new Set(serialNumbers(before.filter(({ gone }) => gone === null)));
		const seen = after.filter((row) => listed.has(row.sn) && row.sn !== sn).map((row) => row.seen);
		assert.equal(new Set(seen).size, 1);
		assert(after.every((row) => !listed.has(row.sn) || row.gone === null));
	});
	await checks.check('the next run marks what is gone by now, and a device that returned as present', async () => {
		const { gone, present } = await run(inventory);
		assert.deepEqual([gone, serialNumbers(present)], [[sn], listedIn(inventory)]);
	});
	await n8n.restartEnded();
}

/** A device is removed before, so a run that marks devices as gone would be noticed. */
async function failures(inventory: Inventory): Promise<void> {
	const { checks, platform, database } = inventory;
	const { fleet, settings } = platform;
	removeLast(inventory);
	const [one, other] = listedIn(inventory);
	const [read, written] = [0, 1].map((fewer) => (listedIn(inventory).length - fewer).toLocaleString('en'));
	const allButOne = `n8n read ${read} devices, but the table has ${written} of this run, .*:`;
	platform.fleet = new Fleet([]);
	await fails(inventory, 'an empty list', /returned no devices/);
	platform.fleet = fleet;
	await faulty(platform, async () => await fails(inventory, 'a platform that is down', /code 10005/));
	await database.sql('ALTER TABLE device_inventory ADD CONSTRAINT closed CHECK (false) NOT VALID');
	await fails(inventory, 'a database that refuses the write', /PostgreSQL: .*"closed"/);
	await database.sql('ALTER TABLE device_inventory DROP CONSTRAINT closed');
	for (const [what, odd, reason] of [
		['two devices with one serial number', { sn: one }, `${one} \\(listed twice\\)\\.`],
		['a device with an invalid character', { description: '\0' }, `${other} \\(an invalid character\\)\\.`],
	] as const) {
		const change = (device: Record<string, unknown>) => (device['sn'] === other ? { ...device, ...odd } : device);
		settings.changePage = ({ content, ...page }) => ({ ...page, content: content.map(change) });
		await fails(inventory, what, RegExp(`${allButOne} ${reason}`));
	}
	settings.changePage = undefined;
	// A refusal that the node itself does not retry.
	settings.faults = [{ fault: { code: 14103 }, times: 1 }];
	await checks.check('if the platform refuses once, the second attempt writes everything', async () => {
		const { results, calls, present } = await run(inventory);
		assert.match(String(resultOf(results, 'Get many devices').items[0]?.['error']), /code 14103/);
		assert.deepEqual([serialNumbers(present), calls], [listedIn(inventory), 1]);
	});
}

async function fails(inventory: Inventory, what: string, reason: RegExp): Promise<void> {
	const promise = `${what}: fails with the reason, marks no device as gone and doesn't call the monitor`;
	await inventory.checks.check(promise, async () => {
		const before = await rowsOf(inventory);
		const { results, calls, rows } = await run(inventory);
		assert.match(results['Stop with reason']?.error ?? '', reason);
		const kept = (all: Row[]) => all.map(({ sn, gone }) => [sn, gone]);
		assert.deepEqual([kept(rows), calls], [kept(before), 0]);
	});
}

/** Runs the workflow once, and reads the table: all rows, the present devices, and those that this run marked as gone. */
async function run(inventory: Inventory) {
	const { n8n, platform, workflow } = inventory;
	const { results, calls } = await monitored(platform, workflow, async (watched) => await byHand(n8n.main, watched));
	const time = resultOf(results, 'Create table if missing').items[0]?.['run_at'];
	const rows = await rowsOf(inventory);
	const present = rows.filter(({ gone }) => gone === null).map(({ device }) => device);
	return { results, calls, rows, present, gone: serialNumbers(rows.filter(({ gone }) => gone === time)) };
}

async function rowsOf({ database }: Inventory): Promise<Row[]> {
	const sql = `
		SELECT sn, to_json(seen_at) #>> '{}' AS seen, to_json(gone_at) #>> '{}' AS gone, json_build_object(
			'id', id, 'sn', sn, 'onlineStatus', online_status, 'status', status, 'modelName', model_name, 'groupName', group_name,
			'tags', tags, 'description', description, 'createTime', create_time, 'updateTime', update_time) AS device
		FROM device_inventory`;
	return (await database.query(rowSchema, sql)).sort(bySn);
}

/** A device as the columns have it. */
function asColumns(device: Device) {
	const { id, onlineStatus, status, tags, description, ...others } = simplified(device);
	const asText = (value: unknown) => ((value ?? null) === null ? null : String(value));
	const texts = { id: String(id), onlineStatus: asText(onlineStatus), status: asText(status) };
	return { ...others, ...texts, tags: tags ?? null, description: description ?? null };
}

/** Removes the last device of the platform, and returns it. */
function removeLast({ platform: { fleet } }: Inventory) {
	return fleet.remove(fleet.at(fleet.size - 1).sn);
}

function listedIn({ platform }: Inventory): string[] {
	return serialNumbers([...platform.fleet.devices].sort(bySn));
}

/** How many other connections are like this. */
async function others(database: Database, condition: string): Promise<number> {
	const own = 'datname = current_database() AND pid <> pg_backend_pid()';
	return (await database.sql(`SELECT FROM pg_stat_activity WHERE ${own} AND ${condition}`)).length;
}

function bySn(one: { readonly sn: string }, other: { readonly sn: string }): number {
	return one.sn < other.sn ? -1 : 1;
}
