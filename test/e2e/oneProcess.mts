/** The packed package in a real n8n as most people run it: one process, SQLite. */
import assert from 'node:assert/strict';
import { execa } from 'execa';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { checkout } from '../../testbed/checkout.mts';
import {
	exampleCredentials,
	exampleFleet,
	type ExampleWorkflow,
	exampleWorkflows,
	keyCredential,
	startTenants,
} from '../../testbed/n8n/examples.mts';
import type { Credential, N8nInstance } from '../../testbed/n8n/instance.mts';
import { startMailServer } from '../../testbed/n8n/mailServer.mts';
import { type Main, newOwner, type Owner } from '../../testbed/n8n/main.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import { startPlatform } from '../../testbed/platform/server.mts';
import { startChatModel } from './chatModel.mts';
import type { Checks } from './checks.mts';
import type { Servers } from './exampleSetup.mts';
import { examples } from './examples.mts';
import { startIssueTracker } from './issueTracker.mts';
import { newUser } from './newUser.mts';
import { shownWorkflows } from './pages.mts';
import { WatchedTrigger } from './watchedTrigger.mts';
import { signInWorkflow, triggerWorkflow } from './workflows.mts';

const POLLS = 'n8n-nodes-device-management.deviceManagementTrigger';
const KEY = 'deviceManagementKey';
const LOGIN = 'deviceManagementLogin';
const TRIGGER = 'e2eTrigger';

/** @param n8n a new one, without the package */
export async function oneProcess(n8n: N8nInstance, services: Services, checks: Checks): Promise<void> {
	const servers = await startServers(services);
	const { platform, watched } = servers;
	const toolsToken = randomUUID();
	const own = ownCredentials(servers);
	const workflows = await examplesWith(own);
	const owner = newOwner();
	const main = await checks.prepare(
		'Setting up: the packed package, credentials, workflows; starting n8n',
		async () => {
			await n8n.installPackage();
			await n8n.importCredentials([...own.values(), ...exampleCredentials(platform, servers.tenants, toolsToken)]);
			await n8n.importWorkflows([
				...workflows.values(),
				...[KEY, LOGIN].map((id) => signInWorkflow(id, platform.baseUrl, platform.fleet.at(417).sn)),
				triggerWorkflow(TRIGGER, 'polled', { events: ['onlineStatusChanged'] }),
			]);
			return await n8n.startSignedIn(owner);
		},
	);

	const trigger = new WatchedTrigger(servers.polled);
	const wentOffline = watched.fleet.devices.filter(({ onlineStatus }) => onlineStatus === 1).slice(0, 5);
	// So offline-tickets.json fails at the third device.
	servers.tracker.most = 2;
	await checks.prepare('\nPublishing every workflow that polls', async () => {
		await main.publish(TRIGGER);
		await checks.check('polls when it is published, and reports no device that existed before', () => {
			assert(trigger.platform.requestsOf('list').length > 0);
			trigger.assertReported();
		});
		trigger.changeStatus();
		for (const { id, nodes } of workflows.values())
			if (nodes.some(({ type }) => type === POLLS)) await main.publish(id);
		for (const { sn } of wentOffline) watched.fleet.update(sn, { onlineStatus: 0 });
	});
	const setup = { ...servers, n8n, main, wentOffline, toolsToken, checks };
	// First, because n8n selects the credential that changed last, and a sign-in changes it.
	await checks.part('A new user in the editor', async () => await newUser(main, owner, platform, checks));
	await checks.part('The API key', async () => await signIn(main, servers, checks, KEY, 0));
	await checks.part('A login', async () => await signIn(main, servers, checks, LOGIN, 1));
	await checks.part('Many requests', async () => await manyRequests(n8n, checks));
	await examples(setup, workflows);
	await checks.part('Workflows on pages', async () => await shownWorkflows(main, platform, KEY, checks));
	// Until here, other parts ran instead of waiting for polls.
	await checks.part('The trigger', async () => await restart(trigger, n8n, main, owner, checks));
}

async function startServers(services: Services): Promise<Servers> {
	const tenants = await startTenants();
	for (const tenant of tenants.values()) await services.add(() => tenant);
	return {
		// The largest page is small, so that every list takes several.
		platform: await services.add(async () => await startPlatform({ fleet: exampleFleet, largestSize: 300 })),
		tenants,
		watched: await services.add(async () => await startPlatform({ fleet: { size: 50 } })),
		polled: await services.add(async () => await startPlatform({ fleet: { size: 50 } })),
		mailServer: await services.add(startMailServer),
		tracker: await services.add(startIssueTracker),
		model: await services.add(startChatModel),
	};
}

/** The credentials that no example names, by the type of the node that uses them in the examples, or by their ids. */
function ownCredentials({ watched, polled, mailServer, tracker, model }: Servers): Map<string, Credential> {
	return new Map([
		[POLLS, keyCredential('watched', 'watched', watched)],
		['polled', keyCredential('polled', 'polled', polled)],
		['n8n-nodes-base.emailSend', mailServer.credential],
		['n8n-nodes-base.github', tracker.credential],
		['@n8n/n8n-nodes-langchain.lmChatOpenAi', model.credential],
	]);
}

/** The examples with these credentials. Their triggers report a change at the next poll, so that no test waits 15 minutes. */
async function examplesWith(credentials: ReadonlyMap<string, Credential>): Promise<Map<string, ExampleWorkflow>> {
	const changed = new Map<string, ExampleWorkflow>();
	for (const [name, workflow] of await exampleWorkflows()) {
		const nodes = workflow.nodes.map((node) => {
			const { id, name, type } = credentials.get(node.type) ?? {};
			const parameters = { ...node.parameters, ...('forAtLeast' in node.parameters && { forAtLeast: 0 }) };
			return { ...node, parameters, ...(type !== undefined && { credentials: { [type]: { id, name } } }) };
		});
		changed.set(name, { ...workflow, nodes });
	}
	return changed;
}

/** @param logins how often it logs in */
async function signIn(main: Main, { platform }: Servers, checks: Checks, credential: string, logins: number) {
	const { fleet } = platform;
	platform.forget();
	const results = await main.execute(credential, 'Start');
	await checks.check('lists every device that meets the filter, over several pages, in order and untouched', () => {
		const wanted = fleet.devices.filter(({ status }) => status === 2).sort((a, b) => (a.sn < b.sn ? -1 : 1));
		assert.deepEqual(resultOf(results, 'Get Many').items, wanted);
		assert(platform.requestsOf('list').length > 2);
	});
	await checks.check("n8n's own HTTP Request node reads and posts with the same credential", () => {
		const [device] = resultOf(results, 'HTTP Request').items;
		assert.deepEqual([device?.['code'], device?.['data']], [0, fleet.at(417)]);
		assert.equal(resultOf(results, 'HTTP Request, list').items[0]?.['code'], 0);
	});
	await checks.check(logins === 0 ? 'never logs in' : 'logs in once for all of it', () => {
		assert.equal(platform.logins.attempted, logins);
	});
}

async function manyRequests(n8n: N8nInstance, checks: Checks): Promise<void> {
	const script = fileURLToPath(new URL('manyRequests.mts', import.meta.url));
	await checks.check("leave nothing behind in n8n's Node.js", async () => {
		const { stdout } = await execa(n8n.node, ['--expose-gc', '--import', 'tsx', script], { cwd: checkout });
		assert(Number(stdout) < 300, `each left ${stdout} bytes behind`);
	});
}

/** Looks at what was reported, then stops n8n and starts it again. */
async function restart(trigger: WatchedTrigger, n8n: N8nInstance, main: Main, owner: Owner, checks: Checks) {
	await checks.check('starts the workflow for a changed device', async () => await trigger.reportsAll());
	await checks.check('starts nothing if nothing changed', async () => {
		const reported = trigger.reported()[0]?.at ?? 0;
		const isLater = ({ at }: { at: number }) => at > reported + 30_000;
		await trigger.until('a later poll did not come', () => trigger.platform.requestsOf('list').some(isLater));
		trigger.assertReported();
		assert.equal((await main.executions(TRIGGER)).length, 1);
	});
	await main.process.stop();
	trigger.changeStatus();
	const again = await n8n.startSignedIn(owner);
	await checks.check('reports what changed while n8n was stopped, and repeats nothing', async () => {
		await trigger.reportsAll();
		// n8n saves the execution after its last node, which told the platform.
		const executions = async () => (await again.executions(TRIGGER)).length;
		await trigger.until('its execution is not saved', async () => (await executions()) > 1);
		assert.equal(await executions(), 2);
	});
	await again.unpublish(TRIGGER);
}
