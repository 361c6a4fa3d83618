/** The trigger in queue mode with durable cursors, while processes are replaced or killed and their services are away. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';
import { z } from 'zod/v4';

import { held } from '../../testbed/held.mts';
import { exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Gate } from '../../testbed/n8n/gate.mts';
import type { Foundation, QueueMode } from '../../testbed/n8n/queueMode.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { packVersion } from '../../testbed/pack.mts';
import type { EmbeddedPlatform, PlatformRequest } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { type PollWatch, pollWatch } from './pollWatch.mts';
import { newId } from './runs.mts';
import { WatchedTrigger } from './watchedTrigger.mts';
import { withCredential } from './workflows.mts';

/** Polls come once a minute. Requests that are closer belong to two polls of one tick. */
const BETWEEN_POLLS_MS = 45_000;

const countSchema = z.object({ count: z.coerce.number() });

/** The workflow has the id `trigger`, and tells the platform of each event that starts an execution. */
export class EventsInStorms {
	private readonly trigger: WatchedTrigger;

	constructor(
		private readonly n8n: QueueMode,
		private readonly foundation: Foundation,
		private readonly platform: EmbeddedPlatform,
		private readonly watch: PollWatch,
		private readonly checks: Checks,
	) {
		this.trigger = new WatchedTrigger(platform);
	}

	/** Makes the first changes once n8n has saved what the trigger saw before. A later poll reports them; this does not wait for it. */
	async begin(): Promise<void> {
		const sql = `SELECT count(*) FROM poller_state WHERE cursor::text <> '{}'`;
		await this.trigger.until('n8n does not save its memory', async () => {
			const [row] = await this.foundation.database.query(countSchema, sql);
			// This trigger, the one over PostgreSQL, and the quiet one.
			return row?.count === 3;
		});
		this.platform.forget();
		this.change();
	}

	/** Each part is over when all that changed in it was reported, once. */
	async all(): Promise<void> {
		const { postgres, redis } = this.foundation.gates;
		const parts: ReadonlyArray<[what: string, work: () => Promise<void>]> = [
			['polls', async () => await this.polls()],
			['an inventory by hand on a worker', async () => await this.inventory(true)],
			['an inventory by hand on main', async () => await this.inventoryOnMain()],
			['an old Postgres node on main, with poll-watch.json', async () => await this.deadScheduler()],
			['an update to a second build', async () => await this.update()],
			['back to the first build', async () => await this.rollBack()],
			['main killed between two polls, and during the next one', async () => await this.mainKilled()],
			['a worker killed while it handles an event', async () => await this.workerKilled()],
			['PostgreSQL away for a minute, which ends no process', async () => await this.away(postgres, 60_000, 0)],
			['Redis away, which ends all processes', async () => await this.away(redis, 30_000, 3)],
		];
		for (const [what, work] of parts) {
			await this.checks.part(`The trigger: ${what}`, async () => {
				await work();
				await this.checks.check('reports once what changed', async () => await this.trigger.reportsAll());
			});
		}
	}

	/** What should not be reported would have come by now, if other parts ran in between. */
	async end(): Promise<void> {
		await this.checks.check('nothing was reported twice, nothing is lost, and all processes needed one login', () => {
			this.trigger.assertReported();
			assert(this.platform.logins.attempted <= 1);
		});
	}

	private async polls(): Promise<void> {
		const { checks, n8n, platform, trigger } = this;
		// Each poll sends one request that reads all devices; the fleet is small.
		const begins = () => platform.requestsOf('list').filter(({ query }) => query['sort'] === 'id asc');
		await trigger.until('it does not poll', () => begins().length > 1);
		await checks.check('polls once per tick, not once per process, and its executions run on workers', async () => {
			for (const [index, { at }] of begins().entries()) {
				const after = at - (begins()[index - 1]?.at ?? -Infinity);
				assert(after > BETWEEN_POLLS_MS, `two polls are ${after} ms apart`);
			}
			await trigger.reportsAll();
			const [one = 0, other = 0] = await n8n.begunPerWorker('trigger');
			assert.equal(one + other, (await n8n.executions('trigger')).length);
		});
	}

	/** Old versions of n8n's Postgres node stop all polls of their process. */
	private async inventory(isOnWorker: boolean, typeVersion = 2.7): Promise<void> {
		const { main } = this.n8n;
		const workflow = withCredential(await exampleWorkflow('nightly-inventory-postgres'), 'listed');
		const nodes = workflow.nodes.map((node) =>
			node.type === 'n8n-nodes-base.postgres' ? { ...node, typeVersion } : node,
		);
		const id = await main.create({ ...workflow, nodes, id: newId() });
		resultOf(await main.execute(id, 'Every night'), 'Mark gone devices');
		assert.equal((await this.n8n.begunPerWorker(id)).includes(1), isOnWorker);
		this.change();
	}

	private async inventoryOnMain(): Promise<void> {
		await this.n8n.main.process.stop();
		await this.n8n.startMain({ OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'false' });
		await this.inventory(false);
	}

	private async deadScheduler(): Promise<void> {
		await pollWatch(this.n8n, this.watch, this.checks, async () => await this.inventory(false, 2.6));
		await this.n8n.main.process.stop();
		await this.n8n.startMain();
	}

	/** Workers first and main last, as the docs say. */
	private async update(): Promise<void> {
		const { n8n } = this;
		const next = await packVersion(dirname(n8n.tarball), '0.0.2');
		await n8n.replaceWorkers(next);
		await n8n.replaceMain(next, () => this.change());
	}

	private async rollBack(): Promise<void> {
		const { n8n } = this;
		await n8n.replaceMain(n8n.tarball, () => this.change());
		await n8n.replaceWorkers(n8n.tarball);
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
	}

	/** The worker has told the platform of the event, but not n8n that its execution ended. */
	private async workerKilled(): Promise<void> {
		const { n8n, platform } = this;
		const { held, release } = holdAnswers(platform, ({ kind }) => kind === 'other');
		// One event only: with two, the worker may be killed before it told the platform of the other one.
		this.trigger.changeStatus();
		await held();
		const id = (await n8n.executions('trigger')).at(-1)?.id ?? '';
		const worker = n8n.workerOf(id);
		await worker.kill();
		release();
		const { status } = await n8n.ended('trigger', id);
		await worker.restart();
		assert(['crashed', 'error'].includes(status), `its status is ${status}`);
	}

	/** @param ends how many processes end by that; Docker starts them again */
	private async away(gate: Gate, milliseconds: number, ends: number): Promise<void> {
		await gate.close();
		this.change();
		await pause(milliseconds);
		await gate.open();
		assert.equal(await this.n8n.restartEnded(), ends);
	}

	private change(): void {
		this.trigger.changeStatus();
		this.trigger.addDevice();
	}
}

/**
 * Keeps back the platform's answers to the requests that `isWanted` chooses.
 * @returns `held`: waits some minutes for the first such request. `release`: answers all of them, and each later one at once.
 */
function holdAnswers(
	{ settings }: EmbeddedPlatform,
	isWanted: (request: PlatformRequest) => boolean,
): { held: () => Promise<void>; release: () => void } {
	let isHolding = false;
	const opened = held();
	settings.beforeAnswer = async (request) => {
		if (!isWanted(request)) return;
		isHolding = true;
		await opened.promise;
	};
	const timeout = { milliseconds: 300_000, message: 'The request to hold did not come' };
	return {
		held: async () => await pWaitFor(() => isHolding, { interval: 50, timeout }),
		release() {
			settings.beforeAnswer = undefined;
			opened.resolve();
		},
	};
}
