/** The packed package in a real n8n in queue mode: PostgreSQL, Redis, one main process and two workers. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { glob } from 'tinyglobby';

import { baseImage, commentedVariables, readCompose } from '../../testbed/n8n/deployment.mts';
import {
	callersCredentials,
	databaseCredential,
	exampleWorkflow,
	keyCredential,
	loginCredential,
} from '../../testbed/n8n/examples.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import { postgres } from '../../testbed/n8n/postgres.mts';
import { type Foundation, QueueMode } from '../../testbed/n8n/queueMode.mts';
import { type EmbeddedPlatform, startPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { beginStorms, endStorms, storms } from './eventsInStorms.mts';
import { nightlyInventoryInPostgres } from './inventory.mts';
import { type PrivateNetwork, startPrivateNetwork } from './privateNetwork.mts';
import { MONITORS_SECRET } from './pollWatch.mts';
import { serialNumbers } from './runs.mts';
import { WatchedTrigger } from './watchedTrigger.mts';
import { triggerWorkflow, webhookWorkflow, withCredential } from '../../testbed/n8n/workflows.mts';

export async function queueMode(host: N8nHost, folder: string, foundation: Foundation, checks: Checks): Promise<void> {
	const { services } = foundation;
	const inventory = services.add(await postgres());
	const network = services.add(await startPrivateNetwork(folder));
	const start = async (size: number, tls = false) => services.add(await startPlatform({ fleet: { size }, tls }));
	// Each has its own platform, so that none depends on another.
	const [shared, watched, listed, quiet] = [await start(300, true), await start(50), await start(2000), await start(9)];
	await inventory.sql('GRANT CREATE ON SCHEMA public TO PUBLIC');
	const credentials = [
		...[loginCredential('shared', 'shared', shared), loginCredential('trigger', 'trigger', watched)],
		...[keyCredential('listed', 'listed', listed), keyCredential('quiet', 'quiet', quiet)],
		databaseCredential('inventoryDatabase', inventory, await inventory.role()),
		databaseCredential('n8nDatabase', foundation.database, await foundation.database.role()),
		...callersCredentials(MONITORS_SECRET).values(),
	];
	console.log('Setting up: PostgreSQL, Redis, one main process and two workers');
	const settings = { ...SETTINGS, ...network.environment };
	const n8n = await QueueMode.start(host, folder, foundation, { credentials, workflows: WORKFLOWS, settings });
	const storm = { n8n, gates: foundation.gates, trigger: new WatchedTrigger(watched), quiet, checks };
	// The polls come while the other parts run.
	await checks.part('The trigger has a durable cursor', async () => await beginStorms(storm));
	await checks.part('examples/queue-mode', async () => await deployment(host, checks));
	await checks.part('Two workers, one account', async () => await sharedToken(n8n, shared, network, checks));
	await storms(storm);
	await checks.part('Example nightly-inventory-postgres.json', async () => {
		const workflow = withCredential(await exampleWorkflow('nightly-inventory-postgres'), 'listed');
		await nightlyInventoryInPostgres({ n8n, platform: listed, database: inventory, workflow, checks });
	});
	await checks.part('The trigger, at the end', async () => await endStorms(storm));
}

/** For all processes. */
const SETTINGS = {
	// A worker runs four times as many executions at once as by default, so that many ask at the same moment.
	N8N_CONCURRENCY_PRODUCTION_LIMIT: '40',
	// A job whose worker is gone is found after seconds instead of a minute and more.
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '3000',
};

const LIST = { resource: 'device', operation: 'getAll' };
const WORKFLOWS = [
	webhookWorkflow('shared', 'shared', { ...LIST, returnAll: true, options: { pageSize: 100 } }),
	triggerWorkflow('trigger', 'trigger', { events: ['deviceCreated', 'onlineStatusChanged'] }),
	triggerWorkflow('quiet', 'quiet', { events: ['onlineStatusChanged'] }),
];

/** What `examples/queue-mode` promises beside an n8n that runs. On GitHub, another job builds the image, starts it and waits for health. */
async function deployment(host: N8nHost, checks: Checks): Promise<void> {
	const { main, worker } = (await readCompose('http://127.0.0.1/')).services;
	await checks.check('n8n has the tested version, reads each variable, and each process has all of them', async () => {
		assert.equal(await baseImage(), `docker.n8n.io/n8nio/n8n:${host.version}`);
		const folders = ['@n8n/config/dist/**/*.js', 'n8n-core/dist/instance-settings/**/*.js', 'n8n/dist/*.js'];
		const files = await glob(folders, { cwd: dirname(dirname(dirname(host.n8n))), absolute: true });
		const known = (await Promise.all(files.map(async (file) => await readFile(file, 'utf8')))).join('\n');
		// Code has each variable's name after a single quote or a dot.
		const unknown = Object.keys(main.environment).filter((name) => !new RegExp(`['.]${name}\\b`).test(known));
		assert.deepEqual(unknown, []);
		assert.deepEqual(worker.environment, main.environment);
	});
}

async function sharedToken(
	n8n: QueueMode,
	platform: EmbeddedPlatform,
	{ environment, reached }: PrivateNetwork,
	checks: Checks,
): Promise<void> {
	const { logins, settings } = platform;
	/** Lists all devices in so many executions at once. */
	const list = async (executions: number) => {
		const listed = Array.from({ length: executions }, async () => (await n8n.main.webhook('shared', {})).json);
		for (const devices of await Promise.all(listed)) {
			assert.deepEqual(serialNumbers(devices), serialNumbers(platform.fleet.devices));
		}
	};
	await checks.check('executions on both workers list every device, with the token of the first', async () => {
		await list(1);
		await list(30);
		await assertSpread(n8n, 'shared', 31);
		assert.deepEqual(logins, { attempted: 1, succeeded: 1 });
	});
	await checks.check('with the commented variables, n8n trusts a private authority and takes the proxy', async () => {
		assert.deepEqual(await commentedVariables(), Object.keys(environment));
		assert(reached.has(new URL(platform.baseUrl).host), [...reached].join());
	});
	await checks.check('executions go on when the token expires, and each worker signs in once for it', async () => {
		let expiries = 0;
		settings.beforeAnswer = ({ kind, orderOfKind }) => {
			if (kind !== 'list' || orderOfKind % 60 !== 0) return;
			platform.expireTokens();
			expiries++;
		};
		await list(40);
		assert(expiries > 0);
		assert(logins.attempted <= 1 + expiries * n8n.workers.length, `${logins.attempted} sign-ins`);
	});
}

/** Each worker began some of the executions, and none of them was begun twice. */
async function assertSpread(n8n: QueueMode, workflowId: string, executions: number): Promise<void> {
	const [one = 0, other = 0] = await n8n.begunPerWorker(workflowId);
	assert(Math.min(one, other) > 0 && one + other === executions, `the workers began ${one} and ${other}`);
}
