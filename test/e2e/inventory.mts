/**
 * `nightly-inventory-postgres.json` in queue mode: after each run, the table is right, or the execution failed with the reason.
 * A worker is killed while the database holds the write back, and each kind of failure comes once. The ten minutes are one second
 * here. Only the first and the killed run are on a worker, started by a webhook: n8n's main process runs the others.
 */
import assert from 'node:assert/strict';
import pWaitFor from 'p-wait-for';
import { z } from 'zod/v4';

import { type ExampleWorkflow, exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Database } from '../../testbed/n8n/postgres.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import { type NodeResults, resultOf } from '../../testbed/n8n/results.mts';
import { type Device, type EmbeddedPlatform, Fleet } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { serialNumbers } from './parts.mts';
import { byHand, callsOfMonitor, faulty, newestOf, newId, published, simplified } from './runs.mts';
import { withCredential } from './workflows.mts';

const rowSchema = z.object({
	sn: z.string(),
	seen: z.string(),
	gone: z.string().nullable(),
	device: z.looseObject({}),
});
type Row = z.infer<typeof rowSchema>;

/** @param credential the id of the platform's credential */
export async function nightlyInventoryInPostgres(
	n8n: QueueMode,
	platform: EmbeddedPlatform,
	database: Database,
	credential: string,
	checks: Checks,
): Promise<void> {
	const example = withCredential(await exampleWorkflow('nightly-inventory-postgres'), credential);
	const nodes = example.nodes.map((node) =>
		node.name === 'Wait ten minutes' ? { ...node, parameters: { amount: 1, unit: 'seconds' } } : node,
	);
	const run = new InventoryRun(n8n, platform, database, { ...example, nodes }, checks);
	await run.nights();
	await run.killed();
	await run.failures();
	await run.retry();
}

class InventoryRun {
	private readonly removed: Device[] = [];

	constructor(
		private readonly n8n: QueueMode,
		private readonly platform: EmbeddedPlatform,
		private readonly database: Database,
		private readonly workflow: ExampleWorkflow,
		private readonly checks: Checks,
	) {}

	async nights(): Promise<void> {
		const { checks } = this;
		const { fleet } = this.platform;
		const first = await this.run(onWorker);
		await checks.check('a run on a worker writes 10,000 devices, and calls the monitor', () => {
			assert.deepEqual(first.present, [...fleet.devices].sort(bySn).map(simplified));
			assert.deepEqual([states(first.rows), first.calls], [{ [`${first.time} null`]: 10_000 }, 1]);
		});

		this.remove(3);
		fleet.update(fleet.at(0).sn, { description: `Gate 'A' $1 \\ "B"`, tags: ['new', `it's`] });
		fleet.add();
		const second = await this.run();
		await checks.check(
			'the second run has the new and the changed device, and marks the three removed ones as gone',
			() => {
				assert.deepEqual(second.present, [...fleet.devices].sort(bySn).map(simplified));
				assert.deepEqual(states(second.rows), { [`${second.time} null`]: 9_998, [`${first.time} ${second.time}`]: 3 });
				assert.equal(second.calls, 1);
			},
		);
	}

	/** The test locks a row, so the worker is killed while the database waits in the middle of the write. */
	async killed(): Promise<void> {
		const { checks, n8n, platform } = this;
		const before = await this.rows();
		const [returned] = this.removed;
		assert(returned);
		platform.fleet.add(returned);
		this.remove(1);
		const release = await this.lock(platform.fleet.at(5000).sn);
		await startOnWorker(n8n, { ...this.workflow, id: newId() }, async (id) => {
			await this.until('The write does not wait for the row', `wait_event_type = 'Lock'`, 1);
			await n8n.workerOf((await n8n.executions(id))[0]?.id ?? '').kill();
		});
		await release();
		await this.until('The database goes on with the write', `state <> 'idle'`, 0);
		const after = await this.rows();
		await checks.check(
			'a worker killed during the write leaves all rows, all or none of them new, and marks none gone',
			() => {
				assert.deepEqual(serialNumbers(after), serialNumbers(before));
				const times = after.filter(({ sn }) => platform.fleet.get(sn) && sn !== returned.sn).map(({ seen }) => seen);
				assert.equal(new Set(times).size, 1);
				const wasGone = new Map(before.map(({ sn, gone }) => [sn, gone]));
				for (const { sn, gone } of after) if (gone !== null) assert.equal(gone, wasGone.get(sn));
			},
		);

		const { rows, time, present } = await this.run();
		await checks.check('the next run marks what is gone by now, and a device that returned as present', () => {
			assert.deepEqual(serialNumbers(present), this.listed());
			assert.equal(rows.filter(({ seen }) => seen === time).length, platform.fleet.size);
			assert.deepEqual([rows.filter(({ gone }) => gone === time).length, rows.length], [1, before.length]);
		});
		await n8n.restartEnded();
	}

	/** A device is removed before, so a run that marks devices as gone would be noticed. */
	async failures(): Promise<void> {
		const { platform } = this;
		const { fleet, settings } = platform;
		this.remove(1);
		const [one, other] = this.listed();
		platform.fleet = new Fleet([]);
		await this.fails('an empty list', /returned no devices/, 'untouched');
		platform.fleet = fleet;
		await faulty(platform, async () => await this.fails('a platform that is down', /code 10005/, 'untouched'));
		await this.query('ALTER TABLE device_inventory ADD CONSTRAINT closed CHECK (false) NOT VALID');
		await this.fails('a database that refuses the write', /PostgreSQL: .*"closed"/, 'untouched');
		await this.query('ALTER TABLE device_inventory DROP CONSTRAINT closed');
		const twin = (device: Record<string, unknown>) => (device['sn'] === other ? { ...device, sn: one } : device);
		settings.changePage = ({ content, ...page }) => ({ ...page, content: content.map(twin) });
		await this.fails('two devices with one serial number', /read 9,997 devices, but the table has 9,996/, 'written');
		settings.changePage = undefined;
		await this.query(`UPDATE device_inventory SET seen_at = now() + '1 day' WHERE sn = $1`, one);
		await this.fails('a newer run that writes first', /the table has 9,996/, 'written');
		await this.query('UPDATE device_inventory SET seen_at = now() WHERE sn = $1', one);
	}

	async retry(): Promise<void> {
		// A refusal that the node itself does not retry.
		this.platform.settings.faults = [{ fault: { code: 14103 }, times: 1 }];
		const { results, calls, present } = await this.run();
		await this.checks.check('if the platform refuses once, the second attempt writes everything', () => {
			assert.match(String(resultOf(results, 'Get many devices').items[0]?.['error']), /code 14103/);
			assert.deepEqual(serialNumbers(present), this.listed());
			assert.equal(calls, 1);
		});
	}

	private async fails(what: string, reason: RegExp, table: 'untouched' | 'written'): Promise<void> {
		const before = await this.rows();
		const { results, calls, rows } = await this.run();
		await this.checks.check(
			`${what}: fails with the reason, marks no device as gone and doesn't call the monitor`,
			() => {
				assert.match(results['Stop with reason']?.error ?? '', reason);
				const compared = (all: Row[]) => (table === 'untouched' ? all : all.map(({ sn, gone }) => [sn, gone]));
				assert.deepEqual(compared(rows), compared(before));
				assert.equal(calls, 0);
			},
		);
	}

	/** Runs the workflow once, and reads the table: all rows, and the devices that are present. */
	private async run(how = onMain) {
		let results: NodeResults = {};
		const calls = await callsOfMonitor({ ...this.workflow, id: newId() }, async (watched) => {
			results = await how(this.n8n, watched);
		});
		const rows = await this.rows();
		const present = rows.filter(({ gone }) => gone === null).map(({ device }) => device);
		return { results, calls, rows, present, time: resultOf(results, 'Create table if missing').items[0]?.['run_at'] };
	}

	private async rows(): Promise<Row[]> {
		const sql = `
			SELECT sn, to_json(seen_at) #>> '{}' AS seen, to_json(gone_at) #>> '{}' AS gone, json_build_object(
				'id', id, 'sn', sn, 'onlineStatus', online_status, 'status', status, 'modelName', model_name, 'groupName', group_name,
				'tags', tags, 'description', description, 'createTime', create_time, 'updateTime', update_time) AS device
			FROM device_inventory`;
		return (await this.database.query(rowSchema, sql)).sort(bySn);
	}

	/** Removes the last devices of the platform. */
	private remove(count: number): void {
		const { fleet } = this.platform;
		for (const { sn } of fleet.devices.slice(-count)) this.removed.push(fleet.remove(sn));
	}

	private listed(): string[] {
		return serialNumbers([...this.platform.fleet.devices].sort(bySn));
	}

	private async query(sql: string, ...values: unknown[]): Promise<void> {
		await this.database.query(z.unknown(), sql, ...values);
	}

	/** Locks the row of a device. Returns how to release it. */
	private async lock(sn: string): Promise<() => Promise<void>> {
		const locked = 'SELECT FROM device_inventory WHERE sn = $1 FOR UPDATE';
		const held = this.query(`SELECT pg_sleep(90) FROM (${locked}) AS locked`, sn).catch(() => {});
		await this.until('The row is not locked', `wait_event = 'PgSleep'`, 1);
		return async () => {
			await this.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`);
			await held;
		};
	}

	/** Waits until so many other connections are like this. */
	private async until(message: string, condition: string, count: number): Promise<void> {
		const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`;
		const isSo = async () => (await this.database.query(z.unknown(), sql)).length === count;
		await pWaitFor(isSo, { interval: 100, timeout: { milliseconds: 60_000, message } });
	}
}

async function onMain({ main }: QueueMode, workflow: ExampleWorkflow): Promise<NodeResults> {
	await main.create(workflow);
	return await byHand(main, workflow);
}

/** Starts a copy whose first node is a webhook instead of the schedule, which may be due a minute later. */
async function startOnWorker<T>(
	{ main }: QueueMode,
	workflow: ExampleWorkflow,
	then: (id: string) => Promise<T>,
): Promise<T> {
	const webhook = { type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: workflow.id };
	const parameters = { httpMethod: 'POST', path: workflow.id, responseMode: 'onReceived' };
	const [first, ...others] = workflow.nodes;
	const id = await main.create({ ...workflow, nodes: [{ ...first, ...webhook, parameters }, ...others] });
	return await published(main, id, async () => {
		assert.equal((await main.webhook(id, {})).status, 200);
		return await then(id);
	});
}

async function onWorker(n8n: QueueMode, workflow: ExampleWorkflow): Promise<NodeResults> {
	return await startOnWorker(n8n, workflow, async (id) => await newestOf(n8n.main, id));
}

function bySn(one: { readonly sn: string }, other: { readonly sn: string }): number {
	return one.sn < other.sn ? -1 : 1;
}

/** How many rows have each pair of times. */
function states(rows: readonly Row[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { seen, gone } of rows) counts[`${seen} ${gone}`] = (counts[`${seen} ${gone}`] ?? 0) + 1;
	return counts;
}
