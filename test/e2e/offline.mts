/** The examples about offline devices. They send mail to a server of this machine, and issues to a recorder. */
import assert from 'node:assert/strict';

import { exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Mail } from '../../testbed/n8n/mailServer.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { byHand, callsOfMonitor, faulty, newestOf, newId, onSchedule, published, simplified } from './runs.mts';

/** `offline-devices.json` */
export async function offlineDevices({ checks, main, mailServer, wentOffline, workflow }: ExampleSetup): Promise<void> {
	resultOf(await newestOf(main, workflow.id), 'Send mail');
	await main.unpublish(workflow.id);
	await checks.check('sends one mail about all devices that went offline', () => {
		const to = ['operations@example.com'];
		const subject = `Devices offline for 15 minutes: ${wentOffline.length}`;
		const text = wentOffline.map(({ sn, group }) => `${sn} (${group.name})`).join('\n');
		assert.deepEqual(mailsAbout('Devices offline for', mailServer), [{ to, subject, text }]);
	});
}

/** `offline-report.json` */
export async function offlineReport(setup: ExampleSetup): Promise<void> {
	const { checks, main, mailServer, platform, workflow } = setup;
	const offline = setup.devices.filter(({ onlineStatus }) => onlineStatus === 0);
	const [first, ...others] = offline.sort((one, other) => (one.sn < other.sn ? -1 : 1));
	assert(first);
	const group = { ...first.group, name: 'Hall <b>7</b>' };
	platform.fleet.update(first.sn, { group, attributes: { offlineSince: '2026-11-20 07:15:00' } });
	const calls = await callsOfMonitor(workflow, async (watched) =>
		resultOf(await onSchedule(main, watched), 'Call monitor'),
	);
	platform.fleet.update(first.sn, first);
	await checks.check('sends one mail with a table of all offline devices, and since when the platform says so', () => {
		const [mail, ...more] = mailsAbout('Offline devices', mailServer);
		assert.deepEqual(more, []);
		assert.equal(mail?.subject, `Offline devices: ${offline.length} of 1,000`);
		const rows = [...(mail.html ?? '').matchAll(/<tr.*?<\/tr>/g)].map(([row]) =>
			[...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell),
		);
		assert.deepEqual(rows, [
			['Serial number', 'Group', 'Offline since'],
			[first.sn, 'Hall &lt;b>7&lt;/b>', '2026-11-20 07:15:00'],
			...others.map((device) => [device.sn, device.group.name, '']),
		]);
	});

	for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 1 });
	await checks.check('says so if no device is offline', async () => {
		resultOf(await byHand(main, workflow), 'Send report');
		const [mail] = mailsAbout('Offline devices: none of 1,000', mailServer);
		assert.match(mail?.html ?? '', /^No device is offline\.\s*$/);
	});
	for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 0 });

	await checks.check('calls the monitor once it sent the report, and not while the platform is down', async () => {
		const again = async () => await callsOfMonitor(workflow, async (watched) => await onSchedule(main, watched));
		assert.deepEqual([calls, await faulty(platform, again)], [1, 0]);
	});
	await checks.check('sends only the reason if the devices could not be listed', () => {
		const [mail] = mailsAbout('No report of offline devices today', mailServer);
		assert.match(mail?.text ?? '', /^n8n could not list the devices\.\n\n.*code 10005.*\n.+/);
		assert.equal(mailsAbout('Offline devices', mailServer).length, 2);
	});
}

/** `offline-tickets.json`: a real poll finds the offline devices; the other events are given by hand. */
export async function offlineTickets(setup: ExampleSetup): Promise<void> {
	const { checks, main, tracker, wentOffline, workflow } = setup;
	const failed = await newestOf(main, workflow.id);
	await main.unpublish(workflow.id);
	await checks.check('stops at the third of five devices if the ticket system refuses it', () => {
		assert.equal(tracker.issues.length, 2);
	});

	tracker.most = Infinity;
	await main.retry((await main.executions(workflow.id))[0] ?? '');
	resultOf(await newestOf(main, workflow.id, 1), 'Remember ticket');
	await checks.check('the retried execution opens only the tickets that are missing: one for each device', () => {
		const tickets = tracker.issues.map(({ title, body }) => [title, body.split('\n')[0]]);
		const wanted = wentOffline.map(({ sn, group, model }) => [
			`Device ${sn} is offline`,
			`${sn} (${group.name}, ${model.name})`,
		]);
		assert.deepEqual(tickets.sort(), wanted.sort());
	});

	const [event = {}] = resultOf(failed, 'Online status changed').items;
	const report = async (current: number, devices: readonly Device[]) => {
		const pinned = devices.map((device) => ({ json: { ...event, current, device: simplified(device) } }));
		const pinData = { 'Online status changed': pinned };
		return await main.execute(await main.create({ ...workflow, id: newId(), pinData }), 'Online status changed');
	};
	const states = () => tracker.issues.map(({ state }) => state);
	const many = setup.devices.slice(0, 200);
	await checks.check('opens no second ticket for a device, and ignores other values', async () => {
		assert.deepEqual(resultOf(await report(0, wentOffline), 'No ticket yet?').items, []);
		const other = await report(2, [...wentOffline, ...many]);
		assert.deepEqual([other['No ticket yet?'], other['Forget device']], [undefined, undefined]);
		assert.deepEqual(states(), Array(5).fill('open'));
	});
	await checks.check('closes each ticket when its device is back, and ignores a device without a ticket', async () => {
		const back = await report(1, [...many.slice(0, 1), ...wentOffline]);
		assert.equal(resultOf(back, 'Close ticket').items.length, 5);
		assert.deepEqual(states(), Array(5).fill('closed'));
	});
	await checks.check('opens one ticket for 200 devices at once, which lists all', async () => {
		resultOf(await report(0, many), 'Remember ticket');
		const [ticket, ...more] = tracker.issues.slice(5);
		assert.deepEqual([ticket?.title, more], ['200 devices are offline', []]);
		for (const { sn } of many) assert(ticket?.body.includes(sn));
	});
	await checks.check('closes it when the last of them is back', async () => {
		await report(1, many.slice(1));
		assert.equal(states().at(-1), 'open');
		await report(1, many.slice(0, 1));
		assert.equal(states().at(-1), 'closed');
	});
}

/** `failed-executions.json`, as the error workflow of another example. */
export async function failedExecutions({ checks, main, mailServer, platform, workflow }: ExampleSetup): Promise<void> {
	const inventory = await exampleWorkflow('nightly-inventory');
	const settings = { executionOrder: 'v1', errorWorkflow: workflow.id };
	await published(main, workflow.id, async () => {
		await faulty(platform, async () => await onSchedule(main, { ...inventory, settings }));
		resultOf(await newestOf(main, workflow.id), 'Send mail');
	});
	await checks.check('sends one mail about a failed execution: the message, what to do, the node and a link', () => {
		const [mail, ...others] = mailsAbout(`Failed: ${inventory.name}`, mailServer);
		assert.deepEqual(others, []);
		assert.match(
			mail?.text ?? '',
			/^.*code 10005.*\n.+\n\nNode: Get many devices\nExecution: http.+\/executions\/\d+$/,
		);
	});
}

function mailsAbout(subject: string, { mails }: ExampleSetup['mailServer']): Mail[] {
	return mails.filter((mail) => mail.subject?.startsWith(subject));
}
