/** The trigger in queue mode with durable cursors, while processes are replaced or killed and their services are away. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod/v4';

import type { Gate } from '../../testbed/n8n/gate.mts';
import type { Foundation, QueueMode } from '../../testbed/n8n/queueMode.mts';
import { packVersion } from '../../testbed/pack.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { holdAnswers, killWorkerOf } from './heldAnswers.mts';
import { WatchedTrigger } from './watchedTrigger.mts';

/** Polls come once a minute. Requests that are closer belong to two polls of one tick. */
const BETWEEN_POLLS_MS = 45_000;
const AWAY_MS = 60_000;

const countSchema = z.object({ count: z.coerce.number() });

/** The workflow has the id `trigger`, and tells the platform of each event that starts an execution. */
export class EventsInStorms {
	private readonly trigger: WatchedTrigger;

	constructor(
		private readonly n8n: QueueMode,
		private readonly foundation: Foundation,
		private readonly platform: EmbeddedPlatform,
		private readonly checks: Checks,
	) {
		this.trigger = new WatchedTrigger(platform);
	}

	/** Makes the first changes once n8n has saved what the trigger saw before. A later poll reports them; this does not wait for it. */
	async begin(): Promise<void> {
		const sql = `SELECT count(*) FROM poller_state WHERE cursor::text <> '{}'`;
		await this.trigger.until('n8n does not save its memory', async () => {
			const [row] = await this.foundation.database.query(countSchema, sql);
			return row?.count === 1;
		});
		this.platform.forget();
		this.change();
	}

	async all(): Promise<void> {
		const { checks, foundation } = this;
		const { postgres, redis } = foundation.gates;
		await checks.part('The trigger', async () => await this.polls());
		await checks.part('A second build, and back to the first', async () => await this.update());
		await checks.part('Main killed between two polls, and during the next one', async () => await this.mainKilled());
		await checks.part('A worker killed while it handles an event', async () => await this.workerKilled());
		await checks.part('PostgreSQL away for a minute', async () => await this.away(postgres, 0));
		await checks.part('Redis away for a minute', async () => await this.away(redis, 3));
	}

	/** What should not be reported would have come by now, if other parts ran in between. */
	async end(): Promise<void> {
		await this.checks.check('nothing was reported twice, and nothing is lost', () => this.trigger.assertReported());
		await this.checks.check('the polls of all main processes, and the workers, needed one login', () => {
			assert(this.platform.logins.attempted <= 1);
		});
	}

	private async polls(): Promise<void> {
		const { checks, n8n, platform, trigger } = this;
		// Each poll sends one request that reads all devices; the fleet is small.
		const begins = () => platform.requestsOf('list').filter(({ query }) => query['sort'] === undefined);
		await trigger.until('it does not poll', () => begins().length > 1);
		await checks.check('polls once per tick, not once per process', () => {
			for (const [index, { at }] of begins().entries()) {
				const after = at - (begins()[index - 1]?.at ?? -Infinity);
				assert(after > BETWEEN_POLLS_MS, `two polls are ${after} ms apart`);
			}
		});
		await this.reportsAll('reports each event once');
		await checks.check('its executions run on workers', async () => {
			const executions = await n8n.executions('trigger');
			for (const { id, status } of executions) assert.equal(status, 'success', id);
			const begun = await n8n.begunPerWorker('trigger');
			assert.equal(
				begun.reduce((sum, count) => sum + count),
				executions.length,
			);
		});
	}

	/** Workers first and main last, as the docs say; back in the opposite order. */
	private async update(): Promise<void> {
		const { n8n } = this;
		const next = await packVersion(dirname(n8n.tarball), '0.0.2');
		await n8n.replaceWorkers(next);
		await n8n.replaceMain(next, () => this.change());
		await this.reportsAll('reports once what changed during the update');
		await n8n.replaceMain(n8n.tarball, () => this.change());
		await n8n.replaceWorkers(n8n.tarball);
		await this.reportsAll('reports once what changed during the rollback');
	}

	private async mainKilled(): Promise<void> {
		const { n8n, platform } = this;
		await n8n.main.process.kill();
		this.change();
		const { held, release } = holdAnswers(platform, ({ kind }) => kind === 'list');
		await n8n.startMain();
		await held();
		this.change();
		await n8n.main.process.kill();
		release();
		await n8n.startMain();
		await this.reportsAll('reports once what changed before, between and after');
	}

	private async workerKilled(): Promise<void> {
		const { checks, n8n, platform } = this;
		const isEvent = ({ kind }: { kind: string }) => kind === 'other';
		await checks.check('its execution ends failed or crashed', async () => {
			await killWorkerOf('trigger', n8n, platform, isEvent, () => this.change());
		});
	}

	/** @param ends how many processes end by that; Docker starts them again */
	private async away(gate: Gate, ends: number): Promise<void> {
		await gate.close();
		this.change();
		await pause(AWAY_MS);
		await gate.open();
		const ended = await this.n8n.restartEnded();
		await this.checks.check(ends > 0 ? 'all processes end' : 'no process ends', () => assert.equal(ended, ends));
		await this.reportsAll('reports afterwards what changed meanwhile, once');
	}

	private change(): void {
		this.trigger.changeStatus();
		this.trigger.addDevice();
	}

	private async reportsAll(promise: string): Promise<void> {
		await this.checks.check(promise, async () => await this.trigger.reportsAll());
	}
}
