/** The packed package in a real n8n in queue mode: PostgreSQL, Redis, one main process and two workers. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod/v4';

import { databaseCredential, exampleWorkflow, signInCredentials } from '../../testbed/n8n/examples.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import { type Database, postgres } from '../../testbed/n8n/postgres.mts';
import { type Foundation, QueueMode, type QueueModeOptions } from '../../testbed/n8n/queueMode.mts';
import { type EmbeddedPlatform, startPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { deployment } from './deployment.mts';
import { EventsInStorms } from './eventsInStorms.mts';
import { killWorkerOf } from './heldAnswers.mts';
import { nightlyInventoryInPostgres } from './inventory.mts';
import { runInParts, serialNumbers } from './parts.mts';
import { triggerWorkflow, webhookWorkflow, withCredential } from './workflows.mts';

/** How many executions a worker runs at once: four times n8n's own default, so that many ask at the same moment. */
const CONCURRENCY = 40;

/** Requests of a worker that are refused in a wait: what was on its way when the first of them was. */
const MOST_REFUSED = 4;

const everything = { resource: 'device', operation: 'getAll', returnAll: true, output: 'selected', fields: ['sn'] };
const inPages = { ...everything, options: { pageSize: 100 } };

interface Part {
	name: string;
	size: number;
	signIn: 'apiKey' | 'login';
	/** Of the trigger, or of the node behind a webhook. Without them, the part runs an example. */
	parameters?: object;
}

/** Each part of the run has its own platform, credential and workflow, so that no part depends on another. */
const PARTS: readonly Part[] = [
	{ name: 'sharedToken', size: 300, signIn: 'login', parameters: inPages },
	{ name: 'oneToken', size: 300, signIn: 'login', parameters: inPages },
	{
		name: 'rateLimit',
		size: 200,
		signIn: 'apiKey',
		parameters: {
			resource: 'device',
			operation: 'get',
			device: { __rl: true, mode: 'sn', value: '={{ $json.body.sn }}' },
			// Workers know nothing of each other's waits: with three retries, up to 2 in 1,000 executions are lost.
			options: { maxRetries: 10 },
		},
	},
	{ name: 'trigger', size: 50, signIn: 'login', parameters: { events: ['deviceCreated', 'onlineStatusChanged'] } },
	{
		name: 'killed',
		size: 20_000,
		signIn: 'apiKey',
		parameters: { ...everything, options: { pageSize: 1000, parallelRequests: 2 } },
	},
	{ name: 'overWorkers', size: 2000, signIn: 'apiKey' },
	{ name: 'inventory', size: 10_000, signIn: 'apiKey' },
];

interface QueueRun {
	n8n: QueueMode;
	checks: Checks;
	platformOf: (part: string) => EmbeddedPlatform;
}

const devicesSchema = z.array(z.looseObject({ sn: z.string() }));

export async function queueMode(host: N8nHost, folder: string, foundation: Foundation, checks: Checks): Promise<void> {
	const inventory = await postgres();
	// Not added as it is: its environment would move n8n to this database.
	await foundation.services.add(() => ({ stop: async () => await inventory.stop() }));
	const platforms = new Map<string, EmbeddedPlatform>();
	for (const { name, size } of PARTS) {
		platforms.set(name, await foundation.services.add(async () => await startPlatform({ fleet: { size } })));
	}
	const platformOf = (part: string) => {
		const platform = platforms.get(part);
		assert(platform);
		return platform;
	};
	const n8n = await checks.prepare(
		'Setting up: PostgreSQL, Redis, one main process and two workers',
		async () => await QueueMode.start(host, folder, foundation, setUp(platformOf, inventory)),
	);
	const run = { n8n, checks, platformOf };
	const storms = new EventsInStorms(n8n, foundation, platformOf('trigger'), checks);
	// The polls come while the other parts run.
	await checks.part('The trigger has a durable cursor', async () => await storms.begin());
	await checks.part('examples/queue-mode', async () => await deployment(n8n, host, checks));
	await checks.part('Two workers, one account', async () => await sharedToken(run));
	await checks.part('One token per user', async () => await oneToken(run));
	await checks.part('200 executions at once, 20 requests a second', async () => await rateLimit(run));
	await checks.part('Example parts-over-workers.json', async () => await overWorkers(run));
	await storms.all();
	await checks.part('A worker killed in the middle of 20,000 devices', async () => await killed(run));
	await checks.part('Example nightly-inventory-postgres.json', async () => {
		await nightlyInventoryInPostgres(n8n, platformOf('inventory'), inventory, 'inventory', checks);
	});
	await checks.part('The trigger, at the end', async () => await storms.end());
}

function setUp(platformOf: QueueRun['platformOf'], inventory: Database): QueueModeOptions {
	const credentials = PARTS.flatMap(({ name, signIn }) => {
		const ofPlatform = signInCredentials(platformOf(name)).filter(({ data }) => data['authentication'] === signIn);
		return ofPlatform.map((credential) => ({ ...credential, id: name, name }));
	});
	return {
		credentials: [...credentials, databaseCredential(inventory)],
		workflows: PARTS.flatMap(({ name, parameters }) =>
			parameters ? (name === 'trigger' ? triggerWorkflow : webhookWorkflow)(name, name, parameters) : [],
		),
		concurrency: CONCURRENCY,
		// A job whose worker is gone is found after seconds instead of a minute and more.
		settings: {
			QUEUE_WORKER_LOCK_DURATION: '10000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
			QUEUE_WORKER_STALLED_INTERVAL: '3000',
		},
	};
}

async function sharedToken({ n8n, checks, platformOf }: QueueRun): Promise<void> {
	const platform = platformOf('sharedToken');
	const answers = [await list(n8n, 'sharedToken'), ...(await listAtOnce(30, n8n, 'sharedToken'))];
	await checks.check('every execution lists every device once and in order', () => {
		assertEach(answers, () => serialNumbers(platform.fleet.devices));
	});
	await checks.check('executions run on both workers, each on one of them, and succeed', async () => {
		await assertSpread(n8n, 'sharedToken', answers.length);
		for (const { status } of await n8n.executions('sharedToken')) assert.equal(status, 'success');
	});
	await checks.check('the token that one worker fetched is used by the other', () => {
		assert.deepEqual(platform.logins, { attempted: 1, succeeded: 1 });
		const sent = new Set(platform.requestsOf('list').map(({ headers }) => headers['authorization']));
		assert.deepEqual([...sent], [`Bearer ${platform.issuedTokens[0]}`]);
	});
}

async function oneToken({ n8n, checks, platformOf }: QueueRun): Promise<void> {
	const platform = platformOf('oneToken');
	platform.settings.livingTokens = 'one-per-user';
	const all = serialNumbers(platform.fleet.devices);
	const fromNone = await listAtOnce(40, n8n, 'oneToken');
	await checks.check('40 executions on both workers succeed, without a token at first', () => {
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
	for (let round = 0; round < 6; round++) answers.push(...(await listAtOnce(40, n8n, 'oneToken')));
	await explain(n8n, 'oneToken');
	await checks.check('40 executions at a time succeed if the token expires during them', () => {
		assertEach(answers, () => all);
		assert(expiries >= 6, `${expiries} expiries`);
	});
	console.log(`  ${platform.logins.attempted} logins after ${expiries} expiries`);
}

async function rateLimit({ n8n, checks, platformOf }: QueueRun): Promise<void> {
	const platform = platformOf('rateLimit');
	platform.settings.rateLimit = { requests: 20, perMs: 1000, retryAfter: 1 };
	const wanted = serialNumbers(platform.fleet.devices);
	const answers = await Promise.all(wanted.map(async (sn) => await list(n8n, 'rateLimit', { sn })));
	await explain(n8n, 'rateLimit');
	await checks.check('none of 200 executions is lost, and none is wrong', () => {
		assertEach(answers, (index) => [wanted[index]]);
	});
	const refused = platform.requests.filter(({ status }) => status === 429);
	console.log(`  ${platform.requests.length} requests, ${refused.length} of them refused`);
	await checks.check('after the first burst, each pause delays only a few requests of each worker', () => {
		const [first, last] = [platform.requests[0], platform.requests.at(-1)];
		assert(first && last);
		const waits = Math.ceil((last.at - first.at) / 1000);
		const most = n8n.workers.length * (CONCURRENCY + MOST_REFUSED * waits);
		assert(refused.length <= most, `${refused.length} is more than ${most}`);
	});
}

async function overWorkers({ n8n, checks, platformOf }: QueueRun): Promise<void> {
	const { fleet } = platformOf('overWorkers');
	const workflow = withCredential(await exampleWorkflow('parts-over-workers'), 'overWorkers');
	let id = '';
	await checks.check('reads every device once, each part in a separate execution', async () => {
		({ id } = await runInParts(n8n.main, fleet, workflow));
	});
	await checks.check('both workers read parts, each part by one of them', async () => {
		await assertSpread(n8n, id, Math.ceil(fleet.size / 150));
	});
}

async function killed({ n8n, checks, platformOf }: QueueRun): Promise<void> {
	const platform = platformOf('killed');
	const all = serialNumbers(platform.fleet.devices);
	let answer: Promise<unknown> | undefined;
	let id = '';
	await checks.check('its execution ends failed or crashed', async () => {
		const isLate = ({ page }: { page: number | undefined }) => page === 10;
		id = await killWorkerOf('killed', n8n, platform, isLate, () => {
			answer = list(n8n, 'killed').catch(String);
		});
	});
	await checks.check('no partial result was saved or returned', async () => {
		const answered = await Promise.race([answer, pause(30_000, undefined, { ref: false })]);
		const everywhere = `${await n8n.savedData(id)} ${JSON.stringify(answered)}`;
		assert.deepEqual(
			all.filter((sn) => everywhere.includes(sn)),
			[],
		);
	});
	await checks.check('the next execution lists all 20,000 devices once and in order', async () => {
		assert.deepEqual(await list(n8n, 'killed'), all);
	});
}

/** Runs a part's workflow. Returns the serial numbers of its response, or the response itself without serial numbers. */
async function list({ main }: QueueMode, part: string, body: object = {}): Promise<unknown> {
	const { status, json } = await main.webhook(part, body);
	const devices = devicesSchema.safeParse(json);
	return devices.success ? serialNumbers(devices.data) : { status, json };
}

async function listAtOnce(count: number, n8n: QueueMode, part: string): Promise<unknown[]> {
	return await Promise.all(Array.from({ length: count }, async () => await list(n8n, part)));
}

/** Says why executions failed, which their callers are not told. */
async function explain(n8n: QueueMode, part: string): Promise<void> {
	for (const { id, status } of await n8n.executions(part)) {
		if (status === 'success') continue;
		const errors = Object.values(await n8n.main.results(id)).flatMap(({ error }) => error ?? []);
		console.log(`  execution ${id}: ${status}, ${errors.join()}`);
	}
}

/** Each worker began some of the executions, and none of them was begun twice. */
async function assertSpread(n8n: QueueMode, workflowId: string, executions: number): Promise<void> {
	const begun = await n8n.begunPerWorker(workflowId);
	assert(Math.min(...begun) > 0, `the workers began ${begun.join(' and ')}`);
	assert.equal(
		begun.reduce((sum, count) => sum + count),
		executions,
	);
}

/** Checks every response. Reports the number of wrong ones and the first of them. */
function assertEach(answers: readonly unknown[], wanted: (index: number) => unknown): void {
	const wrong = answers.filter((answer, index) => !isDeepStrictEqual(answer, wanted(index)));
	const words = `${wrong.length} of ${answers.length} are not, like ${JSON.stringify(wrong[0])?.slice(0, 300)}`;
	assert(wrong.length === 0, words);
}
