/** The examples about offline devices. They send mail to a server of this machine, and issues to a recorder. */
import assert from 'node:assert/strict';

import { type ExampleWorkflow, exampleWorkflows } from '../../testbed/n8n/examples.mts';
import type { Mail } from '../../testbed/n8n/mailServer.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { byHand, callsOfMonitor, devicesOf, newestOf, newId, onSchedule, simplified } from './runs.mts';

/** `offline-devices.json` */
export async function offlineDevices(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, wentOffline } = setup;
	resultOf(await newestOf(main, workflow.id), 'Send mail');
	await main.unpublish(workflow.id);
	checks.check('sends one mail about all devices that went offline', () => {
		assert.deepEqual(mailsAbout(setup, 'Devices offline for'), [
			{
				to: ['operations@example.com'],
				subject: `Devices offline for 15 minutes: ${wentOffline.length}`,
				text: wentOffline.map(({ sn, group }) => `${sn} (${group.name})`).join('\n'),
			},
		]);
	});
}

/** `offline-report.json` */
export async function offlineReport(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, platform } = setup;
	const offline = devicesOf(setup).filter(({ onlineStatus }) => onlineStatus === 0);
	const [first] = offline.sort((one, other) => (one.sn < other.sn ? -1 : 1));
	assert(first);
	const group = { ...first.group, name: 'Hall <b>7</b>' };
	platform.fleet.update(first.sn, { group, attributes: { offlineSince: '2026-11-20 07:15:00' } });
	const calls = await callsOfMonitor(workflow, async (watched) =>
		resultOf(await onSchedule(setup, watched), 'Call monitor'),
	);
	platform.fleet.update(first.sn, first);
	checks.check('sends one mail with a table of all offline devices, and since when the platform says so', () => {
		const [mail, ...others] = mailsAbout(setup, 'Offline devices');
		assert.deepEqual(others, []);
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

	for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 1 });
	resultOf(await byHand(setup, workflow), 'Send report');
	for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 0 });
	checks.check('says so if no device is offline', () => {
		const [mail] = mailsAbout(setup, 'Offline devices: none of 1,000');
		assert.match(mail?.html ?? '', /^No device is offline\.\s*$/);
	});

	platform.settings.fault = () => ({ code: 10005 });
	const whileDown = await callsOfMonitor(workflow, async (watched) => await onSchedule(setup, watched));
	platform.settings.fault = undefined;
	checks.check('calls the monitor once it sent the report, and not while the platform is down', () => {
		assert.deepEqual([calls, whileDown], [1, 0]);
	});
	checks.check('sends only the reason if the devices could not be listed', () => {
		const [mail] = mailsAbout(setup, 'No report of offline devices today');
		assert.match(mail?.text ?? '', /^n8n could not list the devices\.\n\n.*code 10005.*\n.+/);
		assert.equal(mailsAbout(setup, 'Offline devices').length, 2);
	});
}

/** `offline-tickets.json`: a real poll finds the offline devices; the other events are given by hand. */
export async function offlineTickets(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, tracker, wentOffline } = setup;
	const failed = await newestOf(main, workflow.id);
	await main.unpublish(workflow.id);
	checks.check('stops at the third of five devices if the ticket system refuses it', () => {
		assert.equal(tracker.issues.length, 2);
	});

	tracker.most = Infinity;
	await main.retry((await main.executions(workflow.id))[0] ?? '');
	resultOf(await newestOf(main, workflow.id, 1), 'Remember ticket');
	checks.check('the retried execution opens only the tickets that are missing: one for each device', () => {
		const titles = wentOffline.map(({ sn }) => `Device ${sn} is offline`);
		assert.deepEqual(tracker.issues.map(({ title }) => title).sort(), titles.sort());
		const bodies = wentOffline.map(({ sn, group, model }) => `${sn} (${group.name}, ${model.name})`);
		assert.deepEqual(tracker.issues.map(({ body }) => body.split('\n')[0]).sort(), bodies.sort());
	});

	const [event = {}] = resultOf(failed, 'Online status changed').items;
	const report = async (current: number, devices: readonly Device[]) => {
		const pinned = devices.map((device) => ({ json: { ...event, current, device: simplified(device) } }));
		const pinData = { 'Online status changed': pinned };
		return await main.execute(await main.create({ ...workflow, id: newId(), pinData }), 'Online status changed');
	};
	const states = () => tracker.issues.map(({ state }) => state);
	const many = devicesOf(setup).slice(0, 200);
	const again = await report(0, wentOffline);
	const other = await report(2, [...wentOffline, ...many]);
	checks.check('opens no second ticket for a device, and ignores other values', () => {
		assert.deepEqual(resultOf(again, 'No ticket yet?').items, []);
		assert.deepEqual([other['No ticket yet?'], other['Forget device']], [undefined, undefined]);
		assert.deepEqual(states(), Array(5).fill('open'));
	});

	const back = await report(1, [...many.slice(0, 1), ...wentOffline]);
	checks.check('closes each ticket when its device is back, and ignores a device without a ticket', () => {
		assert.equal(resultOf(back, 'Close ticket').items.length, 5);
		assert.deepEqual(states(), Array(5).fill('closed'));
	});

	resultOf(await report(0, many), 'Remember ticket');
	checks.check('opens one ticket for 200 devices at once, which lists all', () => {
		const [ticket, ...more] = tracker.issues.slice(5);
		assert.deepEqual(more, []);
		assert.equal(ticket?.title, '200 devices are offline');
		for (const { sn } of many) assert(ticket.body.includes(sn));
	});
	await report(1, many.slice(1));
	const beforeTheLast = states().at(-1);
	await report(1, many.slice(0, 1));
	checks.check('closes it when the last of them is back', () => {
		assert.deepEqual([beforeTheLast, states().at(-1)], ['open', 'closed']);
	});
}

/** `failed-executions.json`, as the error workflow of another example. */
export async function failedExecutions(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = setup;
	await main.publish(workflow.id);
	const inventory = (await exampleWorkflows()).get('nightly-inventory');
	assert(inventory);
	platform.settings.fault = () => ({ code: 10005 });
	await onSchedule(setup, { ...inventory, settings: { executionOrder: 'v1', errorWorkflow: workflow.id } });
	resultOf(await newestOf(main, workflow.id), 'Send mail');
	platform.settings.fault = undefined;
	await main.unpublish(workflow.id);
	checks.check('sends one mail about a failed execution, with the message, what to do, the node and a link', () => {
		const [mail, ...others] = mailsAbout(setup, `Failed: ${inventory.name}`);
		assert.deepEqual(others, []);
		assert.match(
			mail?.text ?? '',
			/^.*code 10005.*\n.+\n\nNode: Get many devices\nExecution: http.+\/executions\/\d+$/,
		);
	});
}

function mailsAbout({ mailServer }: ExampleSetup, subject: string): Mail[] {
	return mailServer.mails.filter((mail) => mail.subject?.startsWith(subject));
}
