/** The trigger in queue mode with durable cursors, while processes are replaced or killed and their services are away. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { held } from '../../testbed/held.mts';
import { packVersion } from '../../testbed/pack.mts';
import { exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Foundation, QueueMode } from '../../testbed/n8n/queueMode.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { EmbeddedPlatform, PlatformRequest } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { pollWatch } from './pollWatch.mts';
import { newId, until } from './runs.mts';
import type { WatchedTrigger } from './watchedTrigger.mts';
import { withCredential } from '../../testbed/n8n/workflows.mts';

/** Polls come once a minute. Requests that are closer belong to two polls of one tick. */
const BETWEEN_POLLS_MS = 45_000;

/** What happens to the trigger. The workflow has the id `trigger`, and tells the platform of each event that starts an execution. */
interface Storm {
	n8n: QueueMode;
	gates: Foundation['gates'];
	trigger: WatchedTrigger;
	/** Its credential, and the workflow that polls it, have the id `quiet`. */
	quiet: EmbeddedPlatform;
	checks: Checks;
}

/** Makes the first changes once n8n has saved what the trigger saw before. A later poll reports them; this does not wait for it. */
export async function beginStorms({ n8n, trigger }: Storm): Promise<void> {
	const sql = `SELECT FROM poller_state WHERE cursor::text <> '{}'`;
	await until('n8n does not save its memory', async () => {
		// This trigger and the quiet one.
		return (await n8n.database.sql(sql)).length === 2;
	});
	trigger.platform.forget();
	trigger.change();
}

/** Each part is over when all that changed in it was reported, once. */
export async function storms(storm: Storm): Promise<void> {
	for (const [what, happens] of Object.entries(STORMS)) {
		await storm.checks.part(`The trigger: ${what}`, async () => {
			await happens(storm);
			await storm.checks.check('reports once what changed', async () => await storm.trigger.reportsAll());
		});
	}
}

/** What should not be reported would have come by now, if other parts ran in between. */
export async function endStorms({ checks, trigger }: Storm): Promise<void> {
	await checks.check('nothing was reported twice, nothing is lost, and all processes needed one login', () => {
		trigger.assertReported();
		assert(trigger.platform.logins.attempted <= 1);
	});
}

const STORMS: Readonly<Record<string, (storm: Storm) => Promise<void>>> = {
	polls,
	'an inventory by hand on main': inventoryOnMain,
	'an old Postgres node on main, with poll-watch.json': deadScheduler,
	'an update to a second build': async ({ n8n, trigger }) =>
		await n8n.update(await packVersion(n8n.folder, '0.0.2'), () => trigger.change()),
	'main killed between two polls, and during the next one': mainKilled,
	'a worker killed while it handles an event': workerKilled,
	'PostgreSQL away for a minute, which ends no process': async (storm) => await away(storm, 'postgres', 60_000, 0),
	'Redis away, which ends all processes': async (storm) => await away(storm, 'redis', 30_000, 3),
};

async function polls({ checks, n8n, trigger }: Storm): Promise<void> {
	// Each poll sends one request that reads all devices; the fleet is small.
	const begins = () => trigger.platform.requestsOf('list').filter(({ query }) => query['sort'] === 'id asc');
	await until('the trigger does not poll', () => begins().length > 1);
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
async function inventory({ n8n, trigger }: Storm, typeVersion = 2.7): Promise<void> {
	const { main } = n8n;
	const workflow = withCredential(await exampleWorkflow('nightly-inventory-postgres'), 'listed');
	const nodes = workflow.nodes.map((node) =>
		node.type === 'n8n-nodes-base.postgres' ? { ...node, typeVersion } : node,
	);
	const id = await main.create({ ...workflow, nodes, id: newId() });
	resultOf(await main.execute(id, 'Every night'), 'Mark gone devices');
	assert.deepEqual(await n8n.begunPerWorker(id), [0, 0]);
	trigger.change();
}

async function inventoryOnMain(storm: Storm): Promise<void> {
	await storm.n8n.main.process.stop();
	await storm.n8n.startMain({ OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'false' });
	await inventory(storm);
}

async function deadScheduler(storm: Storm): Promise<void> {
	const { n8n, quiet, checks } = storm;
	await pollWatch(n8n, quiet, checks, async () => await inventory(storm, 2.6));
	await n8n.main.process.stop();
	await n8n.startMain();
}

async function mainKilled({ n8n, trigger }: Storm): Promise<void> {
	await n8n.main.process.kill();
	trigger.change();
	const { held, release } = holdAnswers(trigger.platform, 'list');
	await n8n.startMain();
	await held();
	trigger.change();
	await n8n.main.process.kill();
	release();
	await n8n.startMain();
}

/** The worker has told the platform of the event, but not n8n that its execution ended. */
async function workerKilled({ n8n, trigger }: Storm): Promise<void> {
	const { held, release } = holdAnswers(trigger.platform, 'other');
	// One event only: with two, the worker may be killed before it told the platform of the other one.
	trigger.changeStatus();
	await held();
	const newest = async () => (await n8n.executions('trigger')).at(-1) ?? { id: '', status: '' };
	const worker = n8n.workerOf((await newest()).id);
	await worker.process.kill();
	release();
	const hasFailed = async () => ['crashed', 'error'].includes((await newest()).status);
	await until('its execution does not fail', hasFailed);
	await worker.restart();
}

/** @param ends how many processes end by that; Docker starts them again */
async function away(
	{ n8n, gates, trigger }: Storm,
	service: 'postgres' | 'redis',
	milliseconds: number,
	ends: number,
): Promise<void> {
	const gate = gates[service];
	await gate.close();
	trigger.change();
	await pause(milliseconds);
	// n8n fails an execution that begins on a worker without its database, so the next poll ends once all are back.
	const { release } = holdAnswers(trigger.platform, 'list');
	await gate.open();
	assert.equal(await n8n.restartEnded(), ends);
	const areHealthy = async () => await Promise.all(n8n.workers.map(async (worker) => await worker.isHealthy()));
	await until('a worker is not healthy', async () => (await areHealthy()).every(Boolean));
	release();
}

/** Keeps back the platform's answers to requests of a kind. `held` waits for the first one. `release` answers all of them. */
function holdAnswers({ settings }: EmbeddedPlatform, kept: PlatformRequest['kind']) {
	const answers = held();
	let isHolding = false;
	settings.beforeAnswer = async ({ kind }) => {
		if (kind !== kept) return;
		isHolding = true;
		await answers.promise;
	};
	return {
		held: async () => await until('the request to hold does not come', () => isHolding),
		release() {
			settings.beforeAnswer = undefined;
			answers.resolve();
		},
	};
}
