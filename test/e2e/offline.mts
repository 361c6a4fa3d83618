/** The examples about offline devices. They send mail to a server of this machine, and issues to a recorder. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Mail } from '../../testbed/n8n/mailServer.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { devicesOf, newestOf, newId, onSchedule, simplified } from './runs.mts';

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
	resultOf(await onSchedule(setup, workflow), 'Send report');
	const offline = devicesOf(setup).filter(({ onlineStatus }) => onlineStatus === 0);
	const [mail, ...others] = mailsAbout(setup, 'Offline devices');
	setup.checks.check('sends one mail that counts all offline devices', () => {
		assert.deepEqual(others, []);
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
}

/** `offline-tickets.json`: a real poll finds the offline devices; the other events are given by hand. */
export async function offlineTickets(setup: ExampleSetup, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, tracker, wentOffline } = setup;
	const offline = await newestOf(main, workflow.id);
	await main.unpublish(workflow.id);
	checks.check('opens a ticket for each device that goes offline', () => {
		assert.equal(resultOf(offline, 'Remember ticket').items.length, wentOffline.length);
		assert.equal(tracker.issues.length, wentOffline.length);
		for (const [index, { sn, group, model }] of wentOffline.entries()) {
			const ticket = tracker.issues[index];
			assert.equal(ticket?.title, `Device ${sn} is offline`);
			assert.match(ticket.body, new RegExp(`^Group: ${group.name}\nModel: ${model.name}\nDetected: 20`));
			assert.equal(ticket.state, 'open');
		}
	});

	const [event = {}] = resultOf(offline, 'Online status changed').items;
	const report = async (pinned: object) => {
		const pinData = { 'Online status changed': [{ json: pinned }] };
		return await main.execute(await main.create({ ...workflow, id: newId(), pinData }), 'Online status changed');
	};
	const again = await report(event);
	checks.check('opens no second ticket for the same event', () => {
		assert.deepEqual(resultOf(again, 'No ticket yet?').items, []);
		assert.equal(tracker.issues.length, wentOffline.length);
	});

	const [device] = wentOffline;
	assert(device);
	const back = { ...event, eventId: 'back', previous: 0, current: 1, device: simplified(device) };
	resultOf(await report(back), 'Forget ticket');
	checks.check('closes the ticket of the device that is back, and no other', () => {
		assert.deepEqual(
			tracker.issues.map(({ state }) => state),
			wentOffline.map((_, index) => (index === 0 ? 'closed' : 'open')),
		);
	});

	const backAgain = await report(back);
	checks.check('does nothing for a device without a ticket', () => {
		assert.deepEqual(resultOf(backAgain, 'Find ticket').items, []);
		assert.equal(backAgain['Close ticket'], undefined);
	});
}

function mailsAbout({ mailServer }: ExampleSetup, subject: string): Mail[] {
	return mailServer.mails.filter((mail) => mail.subject?.startsWith(subject));
}
