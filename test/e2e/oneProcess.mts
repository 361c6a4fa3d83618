/** The packed package in a real n8n as most people run it: one process, SQLite. */
import assert from 'node:assert/strict';
import { execa } from 'execa';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { checkout } from '../../testbed/checkout.mts';
import { exampleCredentials, type ExampleWorkflow, exampleWorkflows } from '../../testbed/n8n/examples.mts';
import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import { type Main, newOwner, type Owner } from '../../testbed/n8n/main.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { examples } from './examples.mts';
import { ownCredentials, POLLS, type Servers, startServers, withOwn } from './exampleSetup.mts';
import { newUser, openEditor } from './newUser.mts';
import { shownWorkflows } from './pages.mts';
import { pictureTaker, SCALE, takeOtherPictures } from './pictures.mts';
import { WatchedTrigger } from './watchedTrigger.mts';
import { triggerWorkflow } from '../../testbed/n8n/workflows.mts';

const TRIGGER = 'e2eTrigger';

/**
 * @param n8n a new one, without the package
 * @param takesPictures whether it replaces the pictures of the docs
 */
export async function oneProcess(
	n8n: N8nInstance,
	services: Services,
	checks: Checks,
	takesPictures: boolean,
): Promise<void> {
	const servers = await startServers(services);
	const { platform, mailServer } = servers;
	const own = ownCredentials(servers);
	const workflows = new Map([...(await exampleWorkflows())].map(([name, example]) => [name, withOwn(own, example)]));
	const [toolsToken, owner] = [randomUUID(), newOwner()];
	const main = await checks.prepare('Setting up: the packed package and credentials; starting n8n', async () => {
		await n8n.installPackage();
		await n8n.importCredentials([...own.values(), ...exampleCredentials(platform, servers.tenants, toolsToken)]);
		return await n8n.startSignedIn(owner);
	});
	const trigger = new WatchedTrigger(servers.polled);
	const wentOffline = await checks.prepare(
		'\nPublishing every workflow that polls',
		async () => await publish(main, workflows, trigger, servers),
	);
	const setup = { ...servers, n8n, main, wentOffline, toolsToken, checks };
	// First, because n8n selects the credential that changed last, and a sign-in changes it.
	const editor = await openEditor(main, owner, services, checks, takesPictures ? SCALE : undefined);
	const look = editor && takesPictures ? await pictureTaker(editor, platform) : async () => {};
	if (editor) {
		await checks.part('A new user in the editor', async () => await newUser(editor, main, servers, checks, look));
	}
	await checks.part('Workflows on pages', async () => await shownWorkflows(main, platform, checks));
	await checks.part('Many requests', async () => await manyRequests(n8n, checks));
	await examples(setup, workflows);
	if (editor && takesPictures) {
		await checks.part('Other pictures', async () => await takeOtherPictures(editor, look, mailServer.mails));
	}
	// Until here, other parts ran instead of waiting for polls.
	await checks.part('The trigger', async () => await restart(trigger, n8n, main, owner, checks));
}

/** Saves all workflows, and publishes those that poll. Then devices change. Returns those of the examples. */
async function publish(
	main: Main,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
	trigger: WatchedTrigger,
	{ watched, tracker }: Servers,
): Promise<Device[]> {
	await main.publish(await main.create(triggerWorkflow(TRIGGER, 'polled', { events: ['onlineStatusChanged'] })));
	assert(trigger.platform.requestsOf('list').length > 0, 'the trigger does not poll when it is published');
	trigger.changeStatus();
	// So offline-tickets.json fails at the second device.
	tracker.most = 1;
	for (const workflow of workflows.values()) {
		await main.create(workflow);
		if (workflow.nodes.some(({ type }) => type === POLLS)) await main.publish(workflow.id);
	}
	const inGroups = watched.fleet.devices.filter(({ group }) => group.name !== 'Default');
	const wentOffline = inGroups.filter(({ onlineStatus }) => onlineStatus === 1).slice(0, 3);
	for (const { sn } of wentOffline) watched.fleet.update(sn, { onlineStatus: 0 });
	return wentOffline;
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
	await checks.check('starts the workflow once for a changed device, and for no other', async () => {
		await trigger.reportsAll();
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
}
