/** The trigger in queue mode with durable cursors, while processes are replaced or killed and their services are away. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';
import { z } from 'zod/v4';

import type { Gate } from '../../testbed/n8n/gate.mts';
import type { Foundation, QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { holdAnswers } from './heldAnswers.mts';

/** Two tarballs with different versions. */
export interface Builds {
	first: string;
	second: string;
}

/** Polls come once a minute. Requests that are closer belong to two polls of one tick. */
const BETWEEN_POLLS_MS = 45_000;
const AWAY_MS = 60_000;
/** After an outage, n8n waits up to some minutes before it polls again. */
const LONGEST_MS = 300_000;

const countSchema = z.object({ count: z.coerce.number() });

/** The workflow has the id `trigger`, and tells the platform of each event that starts an execution. */
export class EventsInStorms {
	/** What has to have been reported by now. */
	private readonly expected: string[] = [];
	/** Serial numbers of devices that did not change so far. */
	private readonly unchanged: string[];

	constructor(
		private readonly n8n: QueueMode,
		private readonly foundation: Foundation,
		private readonly platform: EmbeddedPlatform,
		private readonly builds: Builds,
		private readonly checks: Checks,
	) {
		this.unchanged = platform.fleet.devices.map(({ sn }) => sn);
	}

	/** Makes the first changes once n8n has saved what the trigger saw before. A later poll reports them; this does not wait for it. */
	async begin(): Promise<void> {
		await this.until('n8n does not save the memory of the trigger', async () => (await this.cursors()) === 1);
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
	end(): void {
		this.checks.check('nothing was reported twice, and nothing is lost', () => {
			assert.deepEqual(this.reported(), this.expected.toSorted());
		});
		this.checks.check('the polls of all main processes, and the workers, needed one login', () => {
			assert(this.platform.logins.attempted <= 1);
		});
	}

	private async polls(): Promise<void> {
		const { checks, n8n } = this;
		await this.until('The trigger does not poll', () => this.begins().length > 1);
		checks.check('polls once per tick, not once per process', () => {
			const begins = this.begins();
			const [closest = Infinity] = begins
				.slice(1)
				.map((at, index) => at - (begins[index] ?? 0))
				.sort((one, other) => one - other);
			assert(closest > BETWEEN_POLLS_MS, `two polls are ${closest} ms apart`);
		});
		await this.reportsAll('reports each event once');
		const executions = await n8n.executions('trigger');
		checks.check('its executions run on workers', () => {
			const ran = n8n.workers.flatMap((worker) => executions.filter(({ id }) => worker.executions.includes(id)));
			assert.deepEqual(
				ran.map(({ status }) => status),
				executions.map(() => 'success'),
			);
		});
	}

	/** Workers first and main last, as the docs say; back in the opposite order. */
	private async update(): Promise<void> {
		const { n8n, builds } = this;
		const workers = async (build: string) =>
			await Promise.all(n8n.workers.map(async (worker) => await worker.replace(build)));
		await workers(builds.second);
		await n8n.replaceMain(builds.second, () => this.change());
		await this.reportsAll('reports once what changed during the update');
		await n8n.replaceMain(builds.first, () => this.change());
		await workers(builds.first);
		await this.reportsAll('reports once what changed during the rollback');
	}

	private async mainKilled(): Promise<void> {
		const { n8n, platform } = this;
		await n8n.main.kill();
		this.change();
		const { held, release } = holdAnswers(platform, ({ kind }) => kind === 'list');
		await n8n.startMain();
		await held();
		this.change();
		await n8n.main.kill();
		release();
		await n8n.startMain();
		await this.reportsAll('reports once what changed before, between and after');
	}

	private async workerKilled(): Promise<void> {
		const { checks, n8n, platform } = this;
		const { held, release } = holdAnswers(platform, ({ kind }) => kind === 'other');
		this.change();
		await held();
		const execution = (await n8n.executions('trigger')).at(-1);
		assert(execution);
		const worker = n8n.workers.find(({ executions }) => executions.includes(execution.id));
		assert(worker, 'no worker says that it runs the execution');
		await worker.kill();
		release();
		const { status } = await n8n.ended('trigger', execution.id);
		checks.check('its execution ends failed or crashed', () => {
			assert(['crashed', 'error'].includes(status), `its status is ${status}`);
		});
		await worker.restart();
	}

	/** @param ends how many processes end by that; Docker starts them again */
	private async away(gate: Gate, ends: number): Promise<void> {
		await gate.close();
		this.change();
		await pause(AWAY_MS);
		await gate.open();
		const ended = await this.n8n.restartEnded();
		this.checks.check(ends > 0 ? 'all processes end' : 'no process ends', () => assert.equal(ended, ends));
		await this.reportsAll('reports afterwards what changed meanwhile, once');
	}

	/** A new device, and another one goes offline. */
	private change(): void {
		const { fleet } = this.platform;
		const sn = this.unchanged.pop() ?? '';
		fleet.update(sn, { onlineStatus: 77 });
		this.expected.push(`onlineStatusChanged ${sn}`, `deviceCreated ${fleet.add().sn}`);
	}

	private async reportsAll(promise: string): Promise<void> {
		const isMissing = () => this.expected.filter((event) => !this.reported().includes(event));
		await this.checks.step(promise, async () => {
			await this.until(`not reported: ${this.expected.join(', ')}`, () => isMissing().length === 0);
			assert.deepEqual(this.reported(), this.expected.toSorted());
		});
	}

	/** The events that executions were started for. */
	private reported(): string[] {
		return this.platform
			.requestsOf('other')
			.map(({ query }) => `${String(query['event'])} ${String(query['sn'])}`)
			.sort();
	}

	/** When polls began. Each sends one request that reads all devices; the fleet is small. */
	private begins(): number[] {
		return this.platform
			.requestsOf('list')
			.filter(({ query }) => query['sort'] === undefined)
			.map(({ at }) => at);
	}

	/** How many triggers have a durable cursor that is not empty. */
	private async cursors(): Promise<number> {
		const sql = `SELECT count(*) FROM poller_state WHERE cursor::text <> '{}'`;
		const [row] = await this.foundation.database.query(countSchema, sql);
		return row?.count ?? 0;
	}

	private async until(message: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
		await pWaitFor(isSo, { interval: 100, timeout: { milliseconds: LONGEST_MS, message } });
	}
}
