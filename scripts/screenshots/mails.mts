import pWaitFor from 'p-wait-for';

import { type ExampleWorkflow, exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import { startMailServer } from '../../testbed/n8n/mailServer.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { Fleet } from '../../testbed/platform/server.mts';
import { mail } from './html.mts';

/**
 * Runs the example `offline-devices.json` until its mail about three devices arrives; returns the mail as a page.
 * It takes up to two minutes: n8n polls once a minute. The example's 15 minutes are left out. The workflow stays published.
 */
export async function alert(n8n: N8nInstance, main: Main, fleet: Fleet): Promise<string> {
	return await mailOf(n8n, main, 'offline-devices', async ({ id }) => {
		await main.publish(id);
		const online = fleet.devices.filter(({ onlineStatus, group }) => onlineStatus === 1 && group.name !== 'Default');
		for (const { sn } of online.slice(0, 3)) fleet.update(sn, { onlineStatus: 0 });
	});
}

/** Runs the example `offline-report.json` with four offline devices in groups; returns its mail as a page. */
export async function report(n8n: N8nInstance, main: Main, fleet: Fleet): Promise<string> {
	const offline = fleet.devices.filter(({ onlineStatus }) => onlineStatus === 0);
	for (const { sn } of offline) fleet.update(sn, { onlineStatus: 1 });
	const shown = offline.filter(({ group }) => group.name !== 'Default').slice(0, 4);
	for (const [day, { sn }] of shown.entries()) {
		fleet.update(sn, { onlineStatus: 0, attributes: { offlineSince: `2026-11-${15 + day} 07:${15 + 9 * day}:00` } });
	}
	return await mailOf(n8n, main, 'offline-report', async ({ id, nodes }) => {
		await main.execute(id, nodes[0]?.name ?? '');
	});
}

/** Starts an example without its hold, waits for its mail, and returns the mail as a page. */
async function mailOf(
	n8n: N8nInstance,
	main: Main,
	file: string,
	start: (workflow: ExampleWorkflow) => Promise<void>,
): Promise<string> {
	const example = await exampleWorkflow(file);
	const server = await startMailServer();
	try {
		const { id, name, type } = server.credential;
		await n8n.importCredentials([server.credential]);
		const nodes = example.nodes.map((node) => {
			if (node.type === 'n8n-nodes-base.emailSend') return { ...node, credentials: { [type]: { id, name } } };
			return 'forAtLeast' in node.parameters ? { ...node, parameters: { ...node.parameters, forAtLeast: 0 } } : node;
		});
		const workflow = { ...example, id: `${example.id}Mail`, nodes };
		await main.create(workflow);
		await start(workflow);
		const first = () => (server.mails[0] ? pWaitFor.resolveWith(server.mails[0]) : false);
		const sent = await pWaitFor(first, { interval: 500, timeout: 180_000 });
		const sender = example.nodes.find(({ parameters }) => 'fromEmail' in parameters)?.parameters['fromEmail'];
		return mail(String(sender), sent);
	} finally {
		await server.stop();
	}
}
