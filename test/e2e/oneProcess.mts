/** The packed package in a real n8n as most people run it: one process, SQLite. */
import assert from 'node:assert/strict';
import { execa } from 'execa';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { checkout } from '../../testbed/checkout.mts';
import { Editor, findBrowser } from '../../testbed/editor/editor.mts';
import { exampleCredentials, type ExampleWorkflow, exampleWorkflows, filledIn } from '../../testbed/n8n/examples.mts';
import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import type { Device } from '../../testbed/platform/server.mts';
import { triggerType } from '../../testbed/watch.mts';
import type { Checks } from './checks.mts';
import { examples } from './examples.mts';
import { ownCredentials, type Servers, startServers, withOwn } from './exampleSetup.mts';
import { newUser } from './newUser.mts';
import { sharedSignIn } from './pages.mts';

/** @param n8n a new one, without the package */
export async function oneProcess(n8n: N8nInstance, services: Services, checks: Checks): Promise<void> {
	const servers = await startServers(services);
	const { platform } = servers;
	const own = ownCredentials(servers);
	const workflows = new Map(
		[...(await exampleWorkflows())].map(([name, example]) => [name, withOwn(own, filledIn(example))]),
	);
	const callersSecret = randomUUID();
	console.log('Setting up: the packed package and credentials; starting n8n');
	await n8n.installPackage();
	await n8n.importCredentials([...own.values(), ...exampleCredentials(platform, servers.tenants, callersSecret)]);
	const main = await n8n.startSignedIn();
	console.log('Publishing the examples that poll. The other parts run instead of waiting for the polls');
	const wentOffline = await publish(main, workflows, servers);
	const setup = { ...servers, n8n, main, wentOffline, callersSecret, checks };
	const browser = findBrowser();
	const editor = browser && services.add(await Editor.open(browser, main.url, n8n.owner));
	// First, because n8n selects the credential that changed last, and a sign-in changes it.
	if (editor) await checks.part('A new user in the editor', async () => await newUser({ ...setup, editor }));
	else checks.skip('NOT TRIED: the new user in the editor. There is no Chromium here; install one, and it is found.');
	await checks.part('The credential in HTTP Request', async () => await sharedSignIn(main, platform, checks));
	await checks.part('Many requests', async () => await manyRequests(n8n, checks));
	await examples(setup, workflows);
}

/** Saves all examples, and publishes those that poll. Then devices go offline, which it returns. */
async function publish(
	main: Main,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
	{ watched, tracker }: Servers,
): Promise<Device[]> {
	// So offline-tickets.json fails at the second device.
	tracker.most = 1;
	for (const workflow of workflows.values()) {
		await main.create(workflow);
		if (workflow.nodes.some(({ type }) => type === triggerType)) await main.publish(workflow.id);
	}
	assert(watched.requestsOf('list').length > 0, 'no trigger polls when it is published');
	const inGroups = watched.fleet.devices.filter(({ group }) => group.name !== 'Default');
	const wentOffline = inGroups.filter(({ onlineStatus }) => onlineStatus === 1).slice(0, 3);
	for (const { sn } of wentOffline) watched.fleet.update(sn, { onlineStatus: 0 });
	return wentOffline;
}

async function manyRequests(n8n: N8nInstance, checks: Checks): Promise<void> {
	const script = fileURLToPath(new URL('manyRequests.mts', import.meta.url));
	await checks.check("leave nothing behind in n8n's Node.js", async () => {
		const { stdout } = await execa(n8n.host.node, ['--expose-gc', '--import', 'tsx', script], { cwd: checkout });
		assert(Number(stdout) < 300, `each left ${stdout} bytes behind`);
	});
}
