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
	startTenants,
} from '../../testbed/n8n/examples.mts';
import type { Credential, N8nInstance } from '../../testbed/n8n/instance.mts';
import { startMailServer } from '../../testbed/n8n/mailServer.mts';
import { newOwner } from '../../testbed/n8n/main.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import { type Device, startPlatform } from '../../testbed/platform/server.mts';
import { startChatModel } from './chatModel.mts';
import type { Checks } from './checks.mts';
import type { ExampleSetup, Servers } from './exampleSetup.mts';
import { examples } from './examples.mts';
import { startIssueTracker } from './issueTracker.mts';
import { newUser } from './newUser.mts';
import { shownWorkflows } from './pages.mts';
import { devicesOf } from './runs.mts';
import { WatchedTrigger } from './trigger.mts';
import { signInWorkflow, wrongKeyWorkflow } from './workflows.mts';

const POLLS = 'n8n-nodes-device-management.deviceManagementTrigger';
const SIGN_INS = ['deviceManagementKey', 'deviceManagementLogin'] as const;

/** @param n8n a new one, without the package */
export async function oneProcess(n8n: N8nInstance, services: Services, checks: Checks): Promise<void> {
	const servers = await startServers(services);
	const { platform, watched, polled } = servers;
	const toolsToken = randomUUID();
	const own = ownCredentials(servers);
	const workflows = await examplesWith(own);
	await checks.prepare('Setting up: the packed package, credentials and workflows in a new n8n', async () => {
		await n8n.installPackage();
		await n8n.importCredentials([...own.values(), ...exampleCredentials(platform, servers.tenants, toolsToken)]);
		await n8n.importWorkflows([
			...workflows.values(),
			...SIGN_INS.map((id) => signInWorkflow(id, id, platform.baseUrl, chosenOf(servers).sn)),
			wrongKeyWorkflow('wrongKey', 'wrongKey'),
		]);
	});
	const owner = newOwner();
	const main = await checks.prepare('Starting n8n', async () => await n8n.startSignedIn(owner));

	const trigger = new WatchedTrigger(polled, checks);
	const wentOffline = watched.fleet.devices.filter(({ onlineStatus }) => onlineStatus === 1).slice(0, 5);
	// So offline-tickets.json fails at the third device.
	servers.tracker.most = 2;
	await checks.prepare('\nPublishing every workflow that polls', async () => {
		await trigger.publish(main);
		for (const { id, nodes } of workflows.values())
			if (nodes.some(({ type }) => type === POLLS)) await main.publish(id);
		for (const { sn } of wentOffline) watched.fleet.update(sn, { onlineStatus: 0 });
	});
	const setup = { ...servers, n8n, main, wentOffline, toolsToken, checks };
	// First, because n8n selects the credential that changed last, and a sign-in changes it.
	await checks.part('A new user in the editor', async () => await newUser(main, owner, platform, checks));
	for (const id of SIGN_INS) await checks.part(id, async () => await signIn(setup, id));
	await checks.part('A wrong API key', async () => await wrongKey(setup));
	await checks.part('Many requests', async () => await manyRequests(n8n, checks));
	await examples(setup, workflows);
	await checks.part('Workflows on pages', async () => await shownWorkflows(main, platform, SIGN_INS[0], checks));
	await checks.part('The trigger', async () => await trigger.look(n8n, main, owner));
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
function ownCredentials({ platform, watched, polled, mailServer, tracker, model }: Servers): Map<string, Credential> {
	const withKey = (id: string, baseUrl: string, apiKey: string): Credential => ({
		...{ id, name: id, type: 'deviceManagementApi' },
		data: { baseUrl, authentication: 'apiKey', apiKey },
	});
	return new Map([
		[POLLS, withKey('watched', watched.baseUrl, watched.apiKey)],
		['polled', withKey('polled', polled.baseUrl, polled.apiKey)],
		['wrongKey', withKey('wrongKey', platform.baseUrl, `${platform.apiKey}-wrong`)],
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

async function signIn(setup: ExampleSetup, credential: (typeof SIGN_INS)[number]): Promise<void> {
	const { main, platform, checks } = setup;
	const wanted = devicesOf(setup)
		.filter(({ status }) => status === 2)
		.sort((a, b) => (a.sn < b.sn ? -1 : 1));
	const chosen = chosenOf(setup);
	platform.forget();
	const results = await main.execute(credential, 'Start');
	checks.check('lists every device that meets the filter, over several pages, in order and untouched', () => {
		assert.deepEqual(resultOf(results, 'Get Many').items, wanted);
		assert(platform.requestsOf('list').length > 1);
	});
	checks.check('reads one device by its serial number', () => {
		assert.deepEqual(resultOf(results, 'Get').items, [chosen]);
	});
	checks.check('counts devices', () => {
		assert.deepEqual(resultOf(results, 'Count').items, [{ count: wanted.length }]);
	});
	checks.check("n8n's own HTTP Request node reads the same device with the same credential", () => {
		const [answer] = resultOf(results, 'HTTP Request').items;
		assert.equal(answer?.['code'], 0);
		assert.deepEqual(answer['data'], chosen);
	});
	checks.check("n8n's own HTTP Request node posts a list request with the same credential", () => {
		const [answer] = resultOf(results, 'HTTP Request, list').items;
		assert.equal(answer?.['code'], 0);
	});
	if (credential === 'deviceManagementLogin') {
		checks.check('logs in once for all of it', () => assert.equal(platform.logins.attempted, 1));
	}
}

async function wrongKey({ main, platform, checks }: ExampleSetup): Promise<void> {
	const refused = (await main.execute('wrongKey', 'Start'))['Get Many'];
	checks.check('stops the node with a message that does not tell the key', () => {
		assert(refused?.error);
		assert(!JSON.stringify(refused).includes(`${platform.apiKey}-wrong`));
	});
}

async function manyRequests(n8n: N8nInstance, checks: Checks): Promise<void> {
	const script = fileURLToPath(new URL('manyRequests.mts', import.meta.url));
	const { stdout } = await execa(n8n.node, ['--expose-gc', '--import', 'tsx', script], { cwd: checkout });
	checks.check("leave nothing behind in n8n's Node.js", () =>
		assert(Number(stdout) < 300, `each left ${stdout} bytes behind`),
	);
}

function chosenOf({ platform }: Servers): Device {
	return platform.fleet.at(417);
}
