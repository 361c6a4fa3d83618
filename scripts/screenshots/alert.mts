import pWaitFor from 'p-wait-for';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import { startMailServer } from '../../testbed/n8n/mailServer.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { Fleet } from '../../testbed/platform/server.mts';
import { mail } from './html.mts';

/**
 * Runs the example `offline-devices.json` until its mail about three devices arrives; returns the mail as a page.
 * It takes up to two minutes: n8n polls once a minute. The example's 15 minutes are left out.
 */
export async function alert(n8n: N8nInstance, main: Main, fleet: Fleet, example: ExampleWorkflow): Promise<string> {
	const server = await startMailServer();
	try {
		const { id, name, type } = server.credential;
		await n8n.importCredentials([server.credential]);
		const nodes = example.nodes.map((node) => {
			if (node.type === 'n8n-nodes-base.emailSend') return { ...node, credentials: { [type]: { id, name } } };
			return 'forAtLeast' in node.parameters ? { ...node, parameters: { ...node.parameters, forAtLeast: 0 } } : node;
		});
		const workflow = await main.create({ ...example, id: 'alertForPicture', nodes });
		await main.publish(workflow);
		const online = fleet.devices.filter(({ onlineStatus, group }) => onlineStatus === 1 && group.name !== 'Default');
		for (const { sn } of online.slice(0, 3)) fleet.update(sn, { onlineStatus: 0 });
		await pWaitFor(() => server.mails.length > 0, { interval: 500, timeout: 180_000 });
		await main.unpublish(workflow);
		const { to = [], subject = '', text = '' } = server.mails[0] ?? {};
		const sender = example.nodes.find(({ parameters }) => 'fromEmail' in parameters)?.parameters['fromEmail'];
		return mail({ from: String(sender), to: to.join(', '), subject, text });
	} finally {
		await server.stop();
	}
}
