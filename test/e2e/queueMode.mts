/** The packed package in a real n8n in queue mode: PostgreSQL, Redis, one main process and two workers. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod/v4';

import { databaseCredential, exampleWorkflows, signInCredentials } from '../../testbed/n8n/examples.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import { type Database, postgres } from '../../testbed/n8n/postgres.mts';
import { type Execution, type Foundation, QueueMode } from '../../testbed/n8n/queueMode.mts';
import { type EmbeddedPlatform, startPlatform } from '../../testbed/platform/server.mts';
import { packVersion } from '../../testbed/pack.mts';
import type { Checks } from './checks.mts';
import { deployment } from './deployment.mts';
import { type Builds, EventsInStorms } from './eventsInStorms.mts';
import { holdAnswers } from './heldAnswers.mts';
import { nightlyInventoryInPostgres } from './inventory.mts';
import { inPartsOf150, oldestFirst, partsOf, serialNumbers } from './parts.mts';
import { triggerWorkflow, webhookWorkflow } from './workflows.mts';

/** How many executions a worker runs at once: four times n8n's own default, so that many ask at the same moment. */
const CONCURRENCY = 40;

/** Requests of a worker that are refused in a wait: what was on its way when the first of them was. */
const MOST_REFUSED = 4;

const everything = { resource: 'device', operation: 'getAll', returnAll: true, output: 'selected', fields: ['sn'] };

/** Each part of the run has its own workflow, platform and credential, so that no part depends on another. */
const parts = {
	sharedToken: {
		fleet: { size: 300 },
		credential: 'login',
		parameters: { ...everything, options: { pageSize: 100 } },
	},
	oneToken: {
		fleet: { size: 300 },
		credential: 'login',
		parameters: { ...everything, options: { pageSize: 100 } },
	},
	rateLimit: {
		fleet: { size: 200 },
		credential: 'apiKey',
		parameters: {
			resource: 'device',
			operation: 'get',
			device: { __rl: true, mode: 'sn', value: '={{ $json.body.sn }}' },
			// Workers know nothing of each other's waits: with three retries, up to 2 in 1,000 executions are lost.
			options: { maxRetries: 10 },
		},
	},
	trigger: {
		fleet: { size: 50 },
		credential: 'login',
		parameters: { events: ['deviceCreated', 'onlineStatusChanged'] },
	},
	killed: {
		fleet: { size: 20_000 },
		credential: 'apiKey',
		parameters: { ...everything, options: { pageSize: 1000, parallelRequests: 2 } },
	},
	overWorkers: { fleet: { size: 2000 }, credential: 'apiKey' },
	inventory: { fleet: { size: 10_000 }, credential: 'apiKey' },
} as const;

type PartName = keyof typeof parts;
/** The parts whose workflows are made for them; the last ones run examples. */
const ownWorkflows = [
	'sharedToken',
	'oneToken',
	'rateLimit',
	'trigger',
	'killed',
] as const satisfies readonly PartName[];
const partNames = [...ownWorkflows, 'overWorkers', 'inventory'] as const;

const devicesSchema = z.array(z.looseObject({ sn: z.string() }));

export async function queueMode(host: N8nHost, folder: string, foundation: Foundation, checks: Checks): Promise<void> {
	const platforms = new Map<PartName, EmbeddedPlatform>();
	const inventory = await postgres();
	// Not added as it is: its environment would move n8n to this database.
	await foundation.services.add(() => ({ stop: async () => await inventory.stop() }));
	try {
		for (const name of partNames) platforms.set(name, await startPlatform({ fleet: parts[name].fleet }));
		const n8n = await start(host, folder, foundation, checks, platforms, inventory);
		const builds = { first: await packVersion(folder, '0.0.1'), second: await packVersion(folder, '0.0.2') };
		await new QueueRun(host, n8n, foundation, builds, platforms, inventory, checks).all();
	} finally {
		await Promise.all([...platforms.values()].map(async (platform) => await platform.stop()));
	}
}

async function start(
	host: N8nHost,
	folder: string,
	foundation: Foundation,
	checks: Checks,
	platforms: ReadonlyMap<PartName, EmbeddedPlatform>,
	inventory: Database,
): Promise<QueueMode> {
	const credentials = [...platforms].flatMap(([name, platform]) => {
		const [apiKey, login] = signInCredentials(platform);
		const credential = parts[name].credential === 'apiKey' ? apiKey : login;
		return credential === undefined ? [] : [{ ...credential, id: name, name }];
	});
	return await checks.prepare(
		'Setting up: PostgreSQL, Redis, one main process and two workers',
		async () =>
			await QueueMode.start(host, folder, foundation, {
				credentials: [...credentials, databaseCredential(inventory)],
				workflows: ownWorkflows.map((name) =>
					(name === 'trigger' ? triggerWorkflow : webhookWorkflow)(name, name, parts[name].parameters),
				),
				concurrency: CONCURRENCY,
				// A job whose worker is gone is found after seconds instead of a minute and more.
				settings: {
					QUEUE_WORKER_LOCK_DURATION: '10000',
					QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
					QUEUE_WORKER_STALLED_INTERVAL: '3000',
				},
			}),
	);
}

class QueueRun {
	constructor(
		private readonly host: N8nHost,
		private readonly n8n: QueueMode,
		private readonly foundation: Foundation,
		private readonly builds: Builds,
		private readonly platforms: ReadonlyMap<PartName, EmbeddedPlatform>,
		private readonly inventory: Database,
		private readonly checks: Checks,
	) {}

	async all(): Promise<void> {
		const { checks } = this;
		const storms = new EventsInStorms(this.n8n, this.foundation, this.platform('trigger'), this.builds, checks);
		// The polls come while the other parts run.
		await checks.part('The trigger has a durable cursor', async () => await storms.begin());
		await checks.part('examples/queue-mode', async () => await deployment(this.n8n, this.host, checks));
		await checks.part('Two workers, one account', async () => await this.sharedToken());
		await checks.part('One token per user', async () => await this.oneToken());
		await checks.part('200 executions at once, 20 requests a second', async () => await this.rateLimit());
		await checks.part('Example parts-over-workers.json', async () => await this.overWorkers());
		await storms.all();
		await checks.part('A worker killed in the middle of 20,000 devices', async () => await this.killed());
		await checks.part('Example nightly-inventory-postgres.json', async () => {
			await nightlyInventoryInPostgres(this.n8n, this.platform('inventory'), this.inventory, 'inventory', checks);
		});
		await checks.part('The trigger, at the end', async () => storms.end());
	}

	private async sharedToken(): Promise<void> {
		const { checks, n8n } = this;
		const platform = this.platform('sharedToken');
		const answers = [await this.list('sharedToken')];
		answers.push(...(await this.atOnce(30, async () => await this.list('sharedToken'))));
		checks.check('every execution lists every device once and in order', () => {
			assertEach(answers, () => serialNumbers(platform.fleet.devices));
		});
		const executions = await n8n.executions('sharedToken');
		checks.check('executions run on both workers, each on one of them, and succeed', () => {
			const ran = n8n.workers.map((worker) => executions.filter(({ id }) => worker.executions.includes(id)).length);
			assert(
				ran.every((count) => count > 0),
				`the workers ran ${ran.join(' and ')}`,
			);
			assert.equal(
				ran.reduce((sum, count) => sum + count),
				answers.length,
			);
			assert.deepEqual(statuses(executions), { success: answers.length });
		});
		checks.check('the token that one worker fetched is used by the other', () => {
			assert.deepEqual(platform.logins, { attempted: 1, succeeded: 1 });
			const sent = new Set(platform.requestsOf('list').map(({ headers }) => headers['authorization']));
			assert.deepEqual([...sent], [`Bearer ${platform.issuedTokens[0]}`]);
		});
	}

	private async oneToken(): Promise<void> {
		const { checks } = this;
		const platform = this.platform('oneToken');
		platform.settings.livingTokens = 'one-per-user';
		const all = serialNumbers(platform.fleet.devices);
		const listAll = async () => await this.atOnce(40, async () => await this.list('oneToken'));

		const fromNone = await listAll();
		await this.explain('oneToken');
		checks.check('40 executions on both workers succeed, without a token at first', () => {
			assertEach(fromNone, () => all);
		});
		// The first expiry is that there is no token at all.
		let expiries = 1;
		platform.settings.beforeAnswer = ({ kind, orderOfKind }) => {
			if (kind !== 'list' || orderOfKind % 120 !== 60) return;
			platform.expireTokens();
			expiries++;
		};
		const answers: unknown[] = [];
		for (let round = 0; round < 6; round++) answers.push(...(await listAll()));
		await this.explain('oneToken');
		checks.check('40 executions at a time succeed if the token expires during them', () => {
			assertEach(answers, () => all);
			assertAtLeast(6, expiries);
		});
		console.log(`  ${platform.logins.attempted} logins after ${expiries} expiries`);
	}

	private async rateLimit(): Promise<void> {
		const { checks, n8n } = this;
		const platform = this.platform('rateLimit');
		platform.settings.rateLimit = { requests: 20, perMs: 1000, retryAfter: 1 };
		const wanted = serialNumbers(platform.fleet.devices);
		const answers = await Promise.all(wanted.map(async (sn) => await this.list('rateLimit', { sn })));
		await this.explain('rateLimit');
		checks.check('none of 200 executions is lost, and none is wrong', () => {
			assertEach(answers, (index) => [wanted[index]]);
		});
		const refused = platform.requests.filter(({ status }) => status === 429);
		console.log(`  ${platform.requests.length} requests, ${refused.length} of them refused`);
		const [first, last] = [platform.requests[0], platform.requests.at(-1)];
		assert(first && last);
		const waits = Math.ceil((last.at - first.at) / 1000);
		checks.check('after the first burst, each pause delays only a few requests of each worker', () => {
			assertAtMost(n8n.workers.length * (CONCURRENCY + MOST_REFUSED * waits), refused.length);
		});
	}

	private async overWorkers(): Promise<void> {
		const { checks, n8n } = this;
		const platform = this.platform('overWorkers');
		const example = (await exampleWorkflows()).get('parts-over-workers');
		assert(example);
		const text = JSON.stringify(inPartsOf150(example)).replaceAll('deviceManagementKey', 'overWorkers');
		const id = await n8n.main.create(z.looseObject({}).parse(JSON.parse(text)));
		await n8n.main.publish(id);
		await n8n.main.execute(id, 'Start');
		const parts = await partsOf(n8n.main, id);
		checks.check('reads every device once, each part in a separate execution', () => {
			const { size, devices } = platform.fleet;
			assert.equal(parts.length, Math.ceil(size / 150));
			assert.deepEqual(parts.flat(), serialNumbers([...devices].sort(oldestFirst)));
		});
		const executions = await n8n.executions(id);
		checks.check('both workers read parts, each part by one of them', () => {
			const ran = n8n.workers.map((worker) => executions.filter(({ id }) => worker.executions.includes(id)).length);
			assert(
				ran.every((count) => count > 0),
				`the workers ran ${ran.join(' and ')}`,
			);
			assert.equal(
				ran.reduce((sum, count) => sum + count),
				parts.length,
			);
		});
	}

	private async killed(): Promise<void> {
		const { checks, n8n } = this;
		const platform = this.platform('killed');
		const { held, release } = holdAnswers(platform, ({ page }) => page === 10);
		const answer = n8n.main.webhook('killed', {}).catch((error: unknown) => ({ status: 0, json: String(error) }));
		await held();
		const [execution] = await n8n.executions('killed');
		assert(execution);
		const worker = n8n.workers.find(({ executions }) => executions.includes(execution.id));
		assert(worker, 'no worker says that it runs the execution');
		await worker.kill();
		release();

		const ended = await n8n.ended('killed', execution.id);
		checks.check('its execution ends failed or crashed', () => {
			assert(['crashed', 'error'].includes(ended.status), `its status is ${ended.status}`);
		});
		const answered = await Promise.race([answer, pause(30_000, undefined, { ref: false })]);
		const saved = await n8n.savedData(execution.id);
		checks.check('no partial result was saved or returned', () => {
			const everywhere = `${saved} ${JSON.stringify(answered)}`;
			assert.deepEqual(
				serialNumbers(platform.fleet.devices).filter((sn) => everywhere.includes(sn)),
				[],
			);
		});
		const next = await this.list('killed');
		checks.check('the next execution lists all 20,000 devices once and in order', () => {
			assert.deepEqual(next, serialNumbers(platform.fleet.devices));
		});
		await worker.restart();
	}

	private platform(part: PartName): EmbeddedPlatform {
		const platform = this.platforms.get(part);
		assert(platform);
		return platform;
	}

	/** Runs a part's workflow. Returns the serial numbers of its response, or the response itself without serial numbers. */
	private async list(part: PartName, body: object = {}): Promise<unknown> {
		const { status, json } = await this.n8n.main.webhook(part, body);
		const devices = devicesSchema.safeParse(json);
		return devices.success ? devices.data.map(({ sn }) => sn) : { status, json };
	}

	/** Says why executions failed, which their callers are not told. */
	private async explain(part: PartName): Promise<void> {
		for (const { id, status } of await this.n8n.executions(part)) {
			if (status !== 'success') console.log(`  execution ${id}: ${status}, ${await this.n8n.errorOf(id)}`);
		}
	}

	private async atOnce<T>(count: number, work: () => Promise<T>): Promise<T[]> {
		return await Promise.all(Array.from({ length: count }, work));
	}
}

function statuses(executions: readonly Execution[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { status } of executions) counts[status] = (counts[status] ?? 0) + 1;
	return counts;
}

/** Checks every response. Reports the number of wrong ones and the first of them. */
function assertEach(answers: readonly unknown[], wanted: (index: number) => unknown): void {
	const wrong = answers.filter((answer, index) => !isDeepStrictEqual(answer, wanted(index)));
	assert(
		wrong.length === 0,
		`${wrong.length} of ${answers.length} are not, like ${JSON.stringify(wrong[0])?.slice(0, 300)}`,
	);
}

function assertAtLeast(least: number, count: number): void {
	assert(count >= least, `${count} is less than ${least}`);
}

function assertAtMost(most: number, count: number): void {
	assert(count <= most, `${count} is more than ${most}`);
}
