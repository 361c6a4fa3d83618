/**
 * The trigger on each of the three hosts that n8n has for a polling trigger, in a real n8n. All three run the same story at the
 * same time, because a story is mostly waiting for polls, which come once a minute. It kills nothing: restarts are orderly.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { signInCredentials } from '../../testbed/n8n/examples.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import { N8nInstance } from '../../testbed/n8n/instance.mts';
import type { Environment, Services } from '../../testbed/n8n/services.mts';
import { startPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { WatchedTrigger } from './watchedTrigger.mts';
import { triggerWorkflow } from '../../testbed/n8n/workflows.mts';

const SCHEDULER = {
	N8N_SCHEDULER_ENABLED: 'true',
	N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
	N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
};
const CURSORS = { ...SCHEDULER, N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true' };

/** What switches each host on, and whether n8n's database then holds a job, and a cursor, for the trigger. */
const HOSTS: Array<{ name: string; settings: Environment; kept: { job: boolean; cursor: boolean } }> = [
	{ name: 'plain', settings: {}, kept: { job: false, cursor: false } },
	{ name: 'durable scheduler', settings: SCHEDULER, kept: { job: true, cursor: false } },
	{ name: 'durable cursors', settings: CURSORS, kept: { job: true, cursor: true } },
];

const WORKFLOW = 'e2eHost';
const FOR_AT_LEAST_MINUTES = 1;

const countSchema = z.object({ count: z.number() });

type Story = Awaited<ReturnType<typeof setUp>>;

export async function pollHosts(host: N8nHost, folder: string, services: Services, checks: Checks): Promise<void> {
	console.log('Setting up an n8n with each host');
	const stories = await Promise.all(
		HOSTS.map(async (pollHost) => {
			const { name, settings } = pollHost;
			const n8n = services.add(new N8nInstance(host, join(folder, name.replace(' ', '-')), settings));
			return await setUp(n8n, services, pollHost, checks);
		}),
	);
	const all = async (title: string, part: (story: Story) => Promise<void>) =>
		await checks.part(title, async () => void (await Promise.all(stories.map(part))));
	await all('A new device, and a status that holds', changes);
	await all('An outage', outage);
	await all('An orderly restart between two polls', restart);
}

/** Publishes the trigger on one host. */
async function setUp(n8n: N8nInstance, services: Services, { name, kept }: (typeof HOSTS)[number], checks: Checks) {
	const platform = services.add(await startPlatform({ fleet: { size: 50 } }));
	const trigger = new WatchedTrigger(platform, name);
	const returning = trigger.take().sn;
	platform.fleet.update(returning, { onlineStatus: 0 });
	await n8n.installPackage();
	await n8n.importCredentials(signInCredentials(platform));
	const main = await n8n.startSignedIn();
	const rules = [{ to: '77' }, { from: '1', to: '0' }];
	const parameters = {
		events: ['deviceCreated', 'onlineStatusChanged'],
		conditions: { rule: rules.map((rule) => ({ field: 'onlineStatus', ...rule })) },
		forAtLeast: FOR_AT_LEAST_MINUTES,
		options: { maxRetries: 0 },
	};
	await main.create(triggerWorkflow(WORKFLOW, 'deviceManagementLogin', parameters));
	await main.publish(WORKFLOW);
	const check = async (promise: string, attempt: () => void | Promise<void>) =>
		await checks.check(`${name}: ${promise}`, attempt);
	/** The number of rows of the trigger in n8n's database. */
	const count = async (rows: string) => {
		const [row] = await n8n.query(countSchema, `SELECT count(*) AS count FROM ${rows}`);
		return row?.count ?? 0;
	};
	/** @param between runs while n8n is stopped */
	const restart = async (between: () => void) => {
		await main.process.stop();
		between();
		await n8n.startMain();
	};
	return { kept, trigger, platform, returning, check, count, restart };
}

async function changes({ kept, trigger, platform, check, count }: Story): Promise<void> {
	const [holding, reverting] = [trigger.take(), trigger.take()];
	await trigger.polls(1);
	trigger.addDevice();
	for (const { sn } of [holding, reverting]) platform.fleet.update(sn, { onlineStatus: 77 });
	await check('reports a new device, and a status only after it held for the time', async () => {
		await trigger.reportsAll();
		const seen = Date.now();
		platform.fleet.update(reverting.sn, { onlineStatus: reverting.onlineStatus });
		trigger.expected.push(`onlineStatusChanged ${holding.sn}`);
		await trigger.reportsAll();
		const waited = (trigger.reported().at(-1)?.at ?? 0) - seen;
		assert(waited > (FOR_AT_LEAST_MINUTES * 60 - 20) * 1000, `it came after ${waited} ms`);
	});
	await check("n8n's database shows that this is the host", async () => {
		const job = (await count(`scheduled_job WHERE ownerId = '${WORKFLOW}'`)) > 0;
		const cursor = (await count(`poller_state WHERE workflowId = '${WORKFLOW}'`)) > 0;
		assert.deepEqual({ job, cursor }, kept);
	});
}

async function outage({ trigger, platform, check, count }: Story): Promise<void> {
	platform.settings.faults = [{ fault: { status: 503 }, kind: 'list', times: Infinity }];
	await trigger.polls(1);
	trigger.change();
	await trigger.polls(1);
	platform.settings.faults = [];
	await check('an outage is one failed execution, and what changed in it is reported once', async () => {
		await trigger.reportsAll();
		assert.equal(await count(`execution_entity WHERE workflowId = '${WORKFLOW}' AND status = 'error'`), 1);
	});
}

/** A device that only quiet polls saw come back goes offline again afterwards. */
async function restart({ trigger, platform, returning, check, restart }: Story): Promise<void> {
	platform.fleet.update(returning, { onlineStatus: 1 });
	await trigger.polls(3);
	await restart(() => trigger.change());
	await trigger.polls(1);
	platform.fleet.update(returning, { onlineStatus: 0 });
	trigger.expected.push(`onlineStatusChanged ${returning}`);
	await check(
		'reports once what changed while n8n was stopped and what only quiet polls saw, and repeats nothing',
		async () => {
			await trigger.reportsAll();
			await trigger.polls(2);
			trigger.assertReported();
			const ids = trigger.reported().map(({ eventId }) => eventId);
			assert.equal(new Set(ids).size, ids.length);
		},
	);
}
