/** The examples about offline devices. They send mail to a server of this machine, and issues to a recorder. */
import assert from 'node:assert/strict';

import { type ExampleWorkflow, exampleWorkflows } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';
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
	const { checks, main, n8n, platform } = setup;
	const server = await startMailServer();
	try {
		const sending = await withCredential(n8n, workflow, SEND_EMAIL, server.credential);
		const offline = devicesOf(setup).filter(({ onlineStatus }) => onlineStatus === 0);
		const [first] = offline.sort((one, other) => (one.sn < other.sn ? -1 : 1));
		assert(first);
		const group = { ...first.group, name: 'Hall <b>7</b>' };
		platform.fleet.update(first.sn, { group, attributes: { offlineSince: '2026-11-20 07:15:00' } });
		resultOf(await onSchedule(setup, sending), 'Send report');
		platform.fleet.update(first.sn, first);
		const [mail] = server.mails;
		checks.check('sends one mail with a table of all offline devices, and since when the platform says so', () => {
			assert.equal(server.mails.length, 1);
			assert.equal(mail?.subject, `Offline devices: ${offline.length} of 1,000`);
			const rows = [...(mail.html ?? '').matchAll(/<tr.*?<\/tr>/g)].map(([row]) =>
				[...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell),
			);
			assert.deepEqual(rows, [
				['Serial number', 'Group', 'Offline since'],
				[first.sn, 'Hall &lt;b>7&lt;/b>', '2026-11-20 07:15:00'],
				...offline.slice(1).map((device) => [device.sn, device.group.name, '']),
			]);
		});

		const id = await main.create({ ...sending, id: newId() });
		for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 1 });
		resultOf(await main.execute(id, 'Every day at 8'), 'Send report');
		for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 0 });
		checks.check('says so if no device is offline', () => {
			assert.equal(server.mails[1]?.subject, 'Offline devices: none of 1,000');
			assert.match(server.mails[1].html ?? '', /^No device is offline\.\s*$/);
		});

		platform.settings.fault = () => ({ code: 10005 });
		await main.execute(id, 'Every day at 8');
		platform.settings.fault = undefined;
		checks.check('sends the reason if the devices could not be listed', () => {
			assert.equal(server.mails.length, 3);
			assert.equal(server.mails[2]?.subject, 'No report of offline devices today');
			assert.match(server.mails[2].text ?? '', /^n8n could not list the devices\.\n\n.*code 10005.*\n.+/);
		});
	} finally {
		await server.stop();
	}
}

/** `offline-tickets.json`: a real poll finds five offline devices; the other events are given by hand. */
export async function offlineTickets(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, n8n, platform } = setup;
	const tracker = await startIssueTracker();
	try {
		const copy = withoutHold(await withCredential(n8n, workflow, GITHUB, tracker.credential));
		const id = await main.create(copy);
		await main.publish(id);
		const [other, ...devices] = devicesOf(setup).filter(({ onlineStatus }) => onlineStatus === 1);
		const five = devices.slice(0, 5);
		assert(other);
		tracker.most = 2;
		for (const { sn } of five) platform.fleet.update(sn, { onlineStatus: 0 });
		const failed = await newestOf(main, id);
		checks.check('stops at the third of five devices if the ticket system refuses it', () => {
			assert.equal(tracker.issues.length, 2);
		});
		await main.unpublish(id);
		for (const { sn } of five) platform.fleet.update(sn, { onlineStatus: 1 });

		tracker.most = Infinity;
		await main.retry((await main.executions(id))[0] ?? '');
		resultOf(await newestOf(main, id, 1), 'Remember ticket');
		checks.check('the retried execution opens only the tickets that are missing: one for each device', () => {
			assert.deepEqual(tracker.issues.map(({ title }) => title).sort(), five.map(titleOf).sort());
			const [ticket] = tracker.issues;
			const device = five.find((each) => titleOf(each) === ticket?.title);
			assert.equal(ticket?.body.split('\n')[0], `${device?.sn} (${device?.group.name}, ${device?.model.name})`);
		});

		const [event = {}] = resultOf(failed, 'Online status changed').items;
		const report = async (changes: ReadonlyArray<readonly [Device, number]>) => {
			const reported = changes.map(([device, current]) => ({
				json: { ...event, current, device: simplified(device) },
			}));
			const pinData = { 'Online status changed': reported };
			return await main.execute(await main.create({ ...copy, id: newId(), pinData }), 'Online status changed');
		};
		const states = () => tracker.issues.map(({ state }) => state);
		const again = await report([...five.map((device) => [device, 0] as const), [other, 2]]);
		checks.check('opens no second ticket for a device, and ignores other values', () => {
			assert.deepEqual(resultOf(again, 'No ticket yet?').items, []);
			assert.equal(again['Forget device'], undefined);
			assert.deepEqual(states(), Array(5).fill('open'));
		});

		const back = await report([other, ...five].map((device) => [device, 1]));
		checks.check('closes each ticket when its device is back, and ignores a device without a ticket', () => {
			assert.equal(resultOf(back, 'Close ticket').items.length, 5);
			assert.deepEqual(states(), Array(5).fill('closed'));
		});

		const many = devices.slice(0, 200);
		resultOf(await report(many.map((device) => [device, 0])), 'Remember ticket');
		checks.check('opens one ticket for 200 devices at once, which lists all', () => {
			const [ticket, ...more] = tracker.issues.slice(5);
			assert.deepEqual(more, []);
			assert.equal(ticket?.title, '200 devices are offline');
			for (const { sn } of many) assert(ticket.body.includes(sn));
		});
		await report(many.slice(1).map((device) => [device, 1]));
		const beforeTheLast = states().at(-1);
		resultOf(await report(many.slice(0, 1).map((device) => [device, 1])), 'Close ticket');
		checks.check('closes it when the last of them is back', () => {
			assert.deepEqual([beforeTheLast, states().at(-1)], ['open', 'closed']);
		});
	} finally {
		await tracker.stop();
	}
}

/** `failed-executions.json`, as the error workflow of another example. */
export async function failedExecutions(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, n8n, platform } = setup;
	const server = await startMailServer();
	try {
		const sending = await withCredential(n8n, workflow, SEND_EMAIL, server.credential);
		const id = await main.create({ ...sending, id: newId() });
		await main.publish(id);
		const inventory = (await exampleWorkflows()).get('nightly-inventory');
		assert(inventory);
		platform.settings.fault = () => ({ code: 10005 });
		await onSchedule(setup, { ...inventory, settings: { executionOrder: 'v1', errorWorkflow: id } });
		resultOf(await newestOf(main, id), 'Send mail');
		platform.settings.fault = undefined;
		await main.unpublish(id);
		checks.check('sends one mail about a failed execution, with the message, what to do, the node and a link', () => {
			assert.equal(server.mails.length, 1);
			const [{ subject, text } = { subject: '', text: '' }] = server.mails;
			assert.equal(subject, `Failed: ${inventory.name}`);
			assert.match(text ?? '', /^.*code 10005.*\n.+\n\nNode: Get many devices\nExecution: http.+\/executions\/\d+$/);
		});
	} finally {
		await server.stop();
	}
}

function titleOf({ sn }: Device): string {
	return `Device ${sn} is offline`;
}

/** A copy whose trigger reports a change at the next poll, so that no test waits 15 minutes. */
function withoutHold(workflow: ExampleWorkflow): ExampleWorkflow {
	const nodes = workflow.nodes.map((node) =>
		node.parameters['forAtLeast'] === 15 ? { ...node, parameters: { ...node.parameters, forAtLeast: 0 } } : node,
	);
	assert.notDeepEqual(nodes, workflow.nodes);
	return { ...workflow, nodes, id: newId() };
}
