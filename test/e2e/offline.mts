/** The examples that send mail. The mails go to a server of this machine. */
import assert from 'node:assert/strict';

import { exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Mail } from '../../testbed/n8n/mailServer.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { byHand, faulty, monitored, newestOf, newId, onSchedule, published, until } from './runs.mts';

/** `offline-devices.json` */
export async function offlineDevices({ checks, main, mailServer, wentOffline, workflow }: ExampleSetup): Promise<void> {
	resultOf(await newestOf(main, workflow.id), 'Send mail');
	await main.unpublish(workflow.id);
	await checks.check('sends one mail about all devices that went offline', () => {
		const [mail, ...others] = mailsAbout('Devices offline for', mailServer);
		assert.equal(mail?.subject, `Devices offline for 15 minutes: ${wentOffline.length}`);
		const byId = wentOffline.toSorted((one, other) => (one.id < other.id ? -1 : 1));
		assert.equal(mail.text, byId.map(({ sn, group }) => `${sn} (${group.name}): offline`).join('\n'));
		assert.deepEqual([mail.to, others], [['operations@example.com'], []]);
	});
	await checks.check('sends the mail once, also if the mail server refuses it for seconds', async () => {
		const known = mailsAbout('Sample: Devices', mailServer).length;
		mailServer.refusals.push(421, 451, 421);
		resultOf(await byHand(main, workflow), 'Send mail');
		assert.equal(mailsAbout('Sample: Devices', mailServer).length, known + 1);
	});
	await checks.check('counts and lists what went offline and what is back', async () => {
		const events = [0, 0, 1].map((current, at) => ({
			current,
			device: { sn: `RT${at}`, groupName: 'Warehouse Hamburg' },
		}));
		const pinData = { 'Online status changed': events.map((json) => ({ json })) };
		resultOf(await byHand(main, { ...workflow, pinData }), 'Send mail');
		const [mail] = mailsAbout('Devices offline for 15 minutes: 2, back online for 15 minutes: 1', mailServer);
		const [first, second, back] = events.map(({ device }) => `${device.sn} (Warehouse Hamburg)`);
		assert.equal(mail?.text, `${first}: offline\n${second}: offline\n${back}: back online`);
	});
}

/** `offline-report.json` */
export async function offlineReport(setup: ExampleSetup): Promise<void> {
	const { checks, main, mailServer, workflow } = setup;
	const { fleet } = setup.platform;
	const wereOffline = setup.devices.filter(({ onlineStatus }) => onlineStatus === 0);
	const run = async () =>
		(await monitored(setup.platform, workflow, async (watched) => await byHand(main, watched))).calls;
	for (const { sn } of wereOffline) fleet.update(sn, { onlineStatus: 1 });
	await checks.check('says so if no device is offline, and calls the monitor', async () => {
		assert.equal(await run(), 1);
		const [mail] = mailsAbout('Offline devices: none of 1,000', mailServer);
		assert.match(mail?.html ?? '', /^No device is offline\.\s*$/);
	});

	// The docs have a picture of this mail.
	for (const [at, { sn }] of wereOffline
		.filter(({ group }) => group.name !== 'Default')
		.slice(0, 4)
		.entries()) {
		fleet.update(sn, { onlineStatus: 0, attributes: { offlineSince: `2026-11-${15 + at} 07:${15 + 9 * at}:00` } });
	}
	await checks.check('sends one mail if some are offline', async () => {
		await run();
		assert.equal(mailsAbout('Offline devices: 4 of 1,000', mailServer).length, 1);
	});
	for (const device of wereOffline) fleet.update(device.sn, device);

	await checks.check('sends only the reason if the devices could not be listed, and calls no monitor', async () => {
		assert.equal(await faulty(setup.platform, run), 0);
		const [mail] = mailsAbout('No report of offline devices today', mailServer);
		assert.match(mail?.text ?? '', /^n8n could not list the devices\.\n\n.*code 10005.*\n.+/);
		assert.equal(mailsAbout('Offline devices', mailServer).length, 2);
	});
}

const SCHEDULE = { type: 'n8n-nodes-base.scheduleTrigger', typeVersion: 1.2 };

/** `failed-executions.json`, as the error workflow of another example. n8n starts it for no execution by hand. */
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
	await checks.check('sends one mail about a failed part of a fleet that is read in parts', async () => {
		const parts = await exampleWorkflow('read-in-parts');
		const nodes = parts.nodes.map((node) => (node.name === 'Start' ? { ...node, ...SCHEDULE } : node));
		await published(main, workflow.id, async () => {
			const known = (await main.executions(workflow.id)).length;
			await faulty(platform, async () => await onSchedule(main, { ...parts, nodes, settings }));
			// One for the part, and one for the execution that called it.
			await until('n8n reports the part only', async () => (await main.executions(workflow.id)).length === known + 2);
			for (const id of (await main.executions(workflow.id)).slice(0, 2)) await main.results(id);
		});
		const mails = mailsAbout(`Failed: ${parts.name}`, mailServer);
		assert.deepEqual(
			mails.map(({ text }) => /Node: (.*)/.exec(text ?? '')?.[1]),
			['Get this part'],
		);
	});
	await checks.check('sends one mail about a failed poll, which has no execution, as a sample', async () => {
		const error = { message: 'The platform rejected the sign-in', description: 'Enter the new key.' };
		const failure = { trigger: { error, mode: 'trigger' }, workflow: { id: 'watched', name: 'watched' } };
		await main.execute(await main.create({ ...workflow, id: newId() }), 'An execution failed', failure);
		const [mail] = mailsAbout('Sample: Failed: watched', mailServer);
		assert.equal(
			mail?.text,
			`${error.message}\n${error.description}\n\nA trigger of the workflow could not poll or start.`,
		);
	});
}

/** The mails that the server got, with subjects that begin like this. */
function mailsAbout(subject: string, { mails }: ExampleSetup['mailServer']): Mail[] {
	return mails.filter((mail) => mail.subject?.startsWith(subject));
}
