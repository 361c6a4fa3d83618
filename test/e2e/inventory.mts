/**
 * `nightly-inventory-postgres.json` in queue mode: after each run, the table is right, or the execution failed with the reason.
 * The ten minutes are one second here. All runs are on workers.
 */
import assert from 'node:assert/strict';
import pWaitFor from 'p-wait-for';
import { z } from 'zod/v4';

import { type ExampleWorkflow, exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Database } from '../../testbed/n8n/postgres.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import { type NodeResults, resultOf } from '../../testbed/n8n/results.mts';
import { type EmbeddedPlatform, Fleet } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { byHand, callsOfMonitor, faulty, newId, published, serialNumbers, simplified } from './runs.mts';
import { withCredential } from './workflows.mts';

const rowSchema = z.object({
	sn: z.string(),
	seen: z.string(),
	gone: z.string().nullable(),
	device: z.looseObject({}),
});
type Row = z.infer<typeof rowSchema>;

/**
 * @param role of the credential for PostgreSQL. From here on, it may only read and write the table, which exists.
 * @param credential the id of the platform's credential
 */
export async function nightlyInventoryInPostgres(
	n8n: QueueMode,
	platform: EmbeddedPlatform,
	database: Database,
	role: string,
	credential: string,
	checks: Checks,
): Promise<void> {
	const example = withCredential(await exampleWorkflow('nightly-inventory-postgres'), credential);
	for (const sql of [
		'ALTER TABLE device_inventory OWNER TO CURRENT_USER',
		`REVOKE CREATE ON SCHEMA public FROM ${role}`,
		`GRANT SELECT, INSERT, UPDATE ON device_inventory TO ${role}`,
	]) {
		await database.query(z.unknown(), sql);
	}
	const nodes = example.nodes.map((node) =>
		node.name === 'Wait ten minutes' ? { ...node, parameters: { amount: 1, unit: 'seconds' } } : node,
	);
	const inventory = new Inventory(n8n, platform, database, { ...example, nodes }, checks);
	await inventory.nights();
	await inventory.killed();
	await inventory.failures();
}

class Inventory {
	constructor(
		private readonly n8n: QueueMode,
		private readonly platform: EmbeddedPlatform,
		private readonly database: Database,
		private readonly workflow: ExampleWorkflow,
		private readonly checks: Checks,
	) {}

	async nights(): Promise<void> {
		const { fleet } = this.platform;
		const listed = () => [...fleet.devices].sort(bySn).map(simplified);
		await this.checks.check(
			'writes each listed device, marks removed ones as gone, and calls the monitor',
			async () => {
				const first = await this.run();
				assert.deepEqual([first.present, first.gone, first.calls], [listed(), [], 1]);
				const removed = [this.remove(), this.remove()];
				fleet.update(fleet.at(0).sn, { description: `Gate 'A' $1 \\ "B"`, tags: ['new', `it's`] });
				fleet.add();
				const next = await this.run();
				assert.deepEqual([next.present, next.gone, next.calls], [listed(), serialNumbers(removed).sort(), 1]);
			},
		);
	}

	/** A trigger of the database makes the write slow, so the worker is killed in the middle of it. */
	async killed(): Promise<void> {
		const { checks, n8n, platform } = this;
		const returned = this.remove();
		const before = (await this.run()).rows;
		platform.fleet.add(returned);
		const { sn } = this.remove();
		await this.query(
			`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(5); RETURN NEW; END'`,
		);
		await this.query(`CREATE TRIGGER slow BEFORE UPDATE ON device_inventory
			FOR EACH ROW WHEN (OLD.sn = '${platform.fleet.at(1000).sn}') EXECUTE FUNCTION wait()`);
		await this.startOnWorker(async (id) => {
			await this.until('The write does not begin', `wait_event = 'PgSleep'`, 1);
			await n8n.workerOf((await n8n.executions(id))[0]?.id ?? '').kill();
		});
		await this.until('The database goes on with the write', `state <> 'idle'`, 0);
		await this.query('DROP FUNCTION wait CASCADE');
		await checks.check(
			'a worker killed during the write leaves all rows, all or none new, and marks none gone',
			async () => {
				const after = await this.rows();
				assert.deepEqual(serialNumbers(after), serialNumbers(before));
				const listed = new Set(serialNumbers(before.filter(({ gone }) => gone === null)));
				const seen = after.filter((row) => listed.has(row.sn) && row.sn !== sn).map((row) => row.seen);
				assert.equal(new Set(seen).size, 1);
				for (const row of after) if (listed.has(row.sn)) assert.equal(row.gone, null);
			},
		);
		await checks.check('the next run marks what is gone by now, and a device that returned as present', async () => {
			const { gone, present } = await this.run();
			assert.deepEqual([gone, serialNumbers(present)], [[sn], this.listed()]);
		});
		await n8n.restartEnded();
	}

	/** A device is removed before, so a run that marks devices as gone would be noticed. */
	async failures(): Promise<void> {
		const { platform } = this;
		const { fleet, settings } = platform;
		this.remove();
		const [one, other] = this.listed();
		const [read, written] = [0, 1].map((fewer) => (this.listed().length - fewer).toLocaleString('en'));
		const allButOne = `n8n read ${read} devices, but the table has ${written} of this run, .*:`;
		platform.fleet = new Fleet([]);
		await this.fails('an empty list', /returned no devices/);
		platform.fleet = fleet;
		await faulty(platform, async () => await this.fails('a platform that is down', /code 10005/));
		await this.query('ALTER TABLE device_inventory ADD CONSTRAINT closed CHECK (false) NOT VALID');
		await this.fails('a database that refuses the write', /PostgreSQL: .*"closed"/);
		await this.query('ALTER TABLE device_inventory DROP CONSTRAINT closed');
		for (const [what, odd, reason] of [
			['two devices with one serial number', { sn: one }, RegExp(`${allButOne} ${one} \\(listed twice\\)\\.`)],
			['a device with an odd status', { status: 'x' }, RegExp(`${allButOne} ${other} \\(status "x"\\)\\.`)],
			[
				'a device with an invalid character',
				{ description: '\0' },
				RegExp(`${allButOne} ${other} \\(an invalid character\\)\\.`),
			],
		] as const) {
			const change = (device: Record<string, unknown>) => (device['sn'] === other ? { ...device, ...odd } : device);
			settings.changePage = ({ content, ...page }) => ({ ...page, content: content.map(change) });
			await this.fails(what, reason);
		}
		settings.changePage = undefined;
		// A refusal that the node itself does not retry.
		settings.faults = [{ fault: { code: 14103 }, times: 1 }];
		await this.checks.check('if the platform refuses once, the second attempt writes everything', async () => {
			const { results, calls, present } = await this.run();
			assert.match(String(resultOf(results, 'Get many devices').items[0]?.['error']), /code 14103/);
			assert.deepEqual([serialNumbers(present), calls], [this.listed(), 1]);
		});
	}

	private async fails(what: string, reason: RegExp): Promise<void> {
		const promise = `${what}: fails with the reason, marks no device as gone and doesn't call the monitor`;
		await this.checks.check(promise, async () => {
			const before = await this.rows();
			const { results, calls, rows } = await this.run();
			assert.match(results['Stop with reason']?.error ?? '', reason);
			const kept = (all: Row[]) => all.map(({ sn, gone }) => [sn, gone]);
			assert.deepEqual([kept(rows), calls], [kept(before), 0]);
		});
	}

	/** Runs the workflow once, and reads the table: all rows, the present devices, and those that this run marked as gone. */
	private async run() {
		let results: NodeResults = {};
		const calls = await callsOfMonitor(this.platform, this.workflow, async (watched) => {
			results = await byHand(this.n8n.main, watched);
		});
		const time = resultOf(results, 'Create table if missing').items[0]?.['run_at'];
		const rows = await this.rows();
		const present = rows.filter(({ gone }) => gone === null).map(({ device }) => device);
		return { results, calls, rows, present, gone: serialNumbers(rows.filter(({ gone }) => gone === time)) };
	}

	/** Starts a copy whose first node is a webhook instead of the schedule. */
	private async startOnWorker(then: (id: string) => Promise<void>): Promise<void> {
		const { main } = this.n8n;
		const id = newId();
		const parameters = { httpMethod: 'POST', path: id, responseMode: 'onReceived' };
		const webhook = { type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: id, parameters };
		const [first, ...others] = this.workflow.nodes;
		await main.create({ ...this.workflow, id, nodes: [{ ...first, ...webhook }, ...others] });
		await published(main, id, async () => {
			assert.equal((await main.webhook(id, {})).status, 200);
			await then(id);
		});
	}

	private async rows(): Promise<Row[]> {
		const sql = `
			SELECT sn, to_json(seen_at) #>> '{}' AS seen, to_json(gone_at) #>> '{}' AS gone, json_build_object(
				'id', id, 'sn', sn, 'onlineStatus', online_status, 'status', status, 'modelName', model_name, 'groupName', group_name,
				'tags', tags, 'description', description, 'createTime', create_time, 'updateTime', update_time) AS device
			FROM device_inventory`;
		return (await this.database.query(rowSchema, sql)).sort(bySn);
	}

	/** Removes the last device of the platform, and returns it. */
	private remove() {
		const { fleet } = this.platform;
		return fleet.remove(fleet.at(fleet.size - 1).sn);
	}

	private listed(): string[] {
		return serialNumbers([...this.platform.fleet.devices].sort(bySn));
	}

	private async query(sql: string): Promise<void> {
		await this.database.query(z.unknown(), sql);
	}

	/** Waits until so many other connections are like this. */
	private async until(message: string, condition: string, count: number): Promise<void> {
		const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`;
		const isSo = async () => (await this.database.query(z.unknown(), sql)).length === count;
		await pWaitFor(isSo, { interval: 100, timeout: { milliseconds: 60_000, message } });
	}
}

function bySn(one: { readonly sn: string }, other: { readonly sn: string }): number {
	return one.sn < other.sn ? -1 : 1;
}
