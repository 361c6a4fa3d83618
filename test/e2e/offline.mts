/** The examples about offline devices. They send mail to a server of this machine, and issues to a recorder. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { startIssueTracker } from './issueTracker.mts';
import { startMailServer } from '../../testbed/n8n/mailServer.mts';
import { devicesOf, newestOf, newId, onSchedule, simplified, withCredential } from './runs.mts';

const SEND_EMAIL = 'n8n-nodes-base.emailSend';
const GITHUB = 'n8n-nodes-base.github';

/** `offline-devices.json` */
export async function offlineDevices(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, n8n, platform } = setup;
	const server = await startMailServer();
	try {
		const id = await main.create(withoutHold(await withCredential(n8n, workflow, SEND_EMAIL, server.credential)));
		await main.publish(id);
		const offline = devicesOf(setup)
			.filter(({ onlineStatus }) => onlineStatus === 1)
			.slice(0, 2);
		for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 0 });
		resultOf(await newestOf(main, id), 'Send mail');
		await main.unpublish(id);
		for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 1 });
		checks.check('sends one mail about all devices that went offline', () => {
			assert.deepEqual(server.mails, [
				{
					to: ['operations@example.com'],
					subject: 'Devices offline for 15 minutes: 2',
					text: offline.map(({ sn, group }) => `${sn} (${group.name})`).join('\n'),
				},
			]);
		});
	} finally {
		await server.stop();
	}
}

/** `offline-report.json` */
export async function offlineReport(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const server = await startMailServer();
	try {
		const sending = await withCredential(setup.n8n, workflow, SEND_EMAIL, server.credential);
		resultOf(await onSchedule(setup, sending), 'Send report');
		const offline = devicesOf(setup).filter(({ onlineStatus }) => onlineStatus === 0);
		const [mail] = server.mails;
		setup.checks.check('sends one mail that counts all offline devices', () => {
			assert.equal(server.mails.length, 1);
			assert.equal(mail?.subject, `Offline devices: ${offline.length}`);
		});
		setup.checks.check('has a line per group, and the serial numbers below it', () => {
			const groups = [...new Set(offline.map(({ group }) => group.name))];
			const expected = groups.map((name) => {
				const serialNumbers = offline.filter(({ group }) => group.name === name).map(({ sn }) => sn);
				return `${name}: ${serialNumbers.length}\n${serialNumbers.sort().join(', ')}`;
			});
			assert.deepEqual(mail?.text?.split('\n\n').sort(), expected.sort());
		});
	} finally {
		await server.stop();
	}
}

/** `offline-tickets.json`: a real poll finds the offline device; the other events are given by hand. */
export async function offlineTickets(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, n8n, platform } = setup;
	const tracker = await startIssueTracker();
	try {
		const copy = withoutHold(await withCredential(n8n, workflow, GITHUB, tracker.credential));
		const id = await main.create(copy);
		await main.publish(id);
		const device = devicesOf(setup).find(({ onlineStatus }) => onlineStatus === 1);
		assert(device);
		platform.fleet.update(device.sn, { onlineStatus: 0 });
		const offline = await newestOf(main, id);
		await main.unpublish(id);
		platform.fleet.update(device.sn, { onlineStatus: 1 });
		checks.check('opens a ticket when a device goes offline', () => {
			resultOf(offline, 'Remember ticket');
			const [ticket] = tracker.issues;
			assert.equal(tracker.issues.length, 1);
			assert.equal(ticket?.title, `Device ${device.sn} is offline`);
			assert.match(ticket.body, new RegExp(`^Group: ${device.group.name}\nModel: ${device.model.name}\nDetected: 20`));
			assert.equal(ticket.state, 'open');
		});

		const [event = {}] = resultOf(offline, 'Online status changed').items;
		const report = async (pinned: object) => {
			const pinData = { 'Online status changed': [{ json: pinned }] };
			return await main.execute(await main.create({ ...copy, id: newId(), pinData }), 'Online status changed');
		};
		const again = await report(event);
		checks.check('opens no second ticket for the same event', () => {
			assert.deepEqual(resultOf(again, 'No ticket yet?').items, []);
			assert.equal(tracker.issues.length, 1);
		});

		const back = { ...event, eventId: 'back', previous: 0, current: 1, device: simplified(device) };
		resultOf(await report(back), 'Forget ticket');
		checks.check('closes the ticket when the device is back', () => assert.equal(tracker.issues[0]?.state, 'closed'));

		const backAgain = await report(back);
		checks.check('does nothing for a device without a ticket', () => {
			assert.deepEqual(resultOf(backAgain, 'Find ticket').items, []);
			assert.equal(backAgain['Close ticket'], undefined);
		});
	} finally {
		await tracker.stop();
	}
}

/** A copy whose trigger reports a change at the next poll, so that no test waits 15 minutes. */
function withoutHold(workflow: ExampleWorkflow): ExampleWorkflow {
	const nodes = workflow.nodes.map((node) =>
		node.parameters['forAtLeast'] === 15 ? { ...node, parameters: { ...node.parameters, forAtLeast: 0 } } : node,
	);
	assert.notDeepEqual(nodes, workflow.nodes);
	return { ...workflow, nodes, id: newId() };
}
