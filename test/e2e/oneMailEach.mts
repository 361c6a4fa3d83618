/** The examples that send one mail about a poll, or one to each person in charge. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Mail } from '../../testbed/n8n/mailServer.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { byHand, newestOf } from './runs.mts';

const events = (...all: ReadonlyArray<[event: string, sn: string, groupName?: string | null, previous?: string]>) =>
	all.map(([event, sn, groupName, previous]) => ({
		json: { event, previous, current: groupName, device: { sn, groupName } },
	}));

/** `fleet-changes.json` */
export async function fleetChanges({ checks, main, mailServer, workflow }: ExampleSetup): Promise<void> {
	await main.unpublish(workflow.id);
	await checks.check('sends one mail about all devices that are new, moved or removed', async () => {
		const known = mailServer.mails.length;
		const changes = events(
			['deviceCreated', 'RT1', 'North'],
			['deviceRemoved', 'RT2'],
			['groupChanged', 'RT3', 'North', 'South'],
			['groupChanged', 'RT4', null, 'South'],
		);
		resultOf(await byHand(main, { ...workflow, pinData: { 'Devices changed': changes } }), 'Send mail');
		const [mail, ...others] = mailServer.mails.slice(known);
		assert.deepEqual([mail?.subject, others], ['Devices new: 1, moved: 2, removed: 1', []]);
		const moved = ['RT3: moved from South to North', 'RT4: moved from South to no group'];
		assert.equal(mail?.text, ['RT1: new in North', 'RT2: removed', ...moved].join('\n'));
	});
}

/** `low-battery.json` */
export async function lowBattery({ checks, main, mailServer, workflow }: ExampleSetup): Promise<void> {
	await main.unpublish(workflow.id);
	await checks.check('sends one mail about all devices with a low battery', async () => {
		const known = mailServer.mails.length;
		const low = events(['attributeChanged', 'RT1', 'North'], ['attributeChanged', 'RT2']);
		const pinned = low.map(({ json }, at) => ({ json: { ...json, previous: 30, current: 19 - at } }));
		resultOf(await byHand(main, { ...workflow, pinData: { 'Battery below 20': pinned } }), 'Send mail');
		const [mail, ...others] = mailServer.mails.slice(known);
		assert.deepEqual([mail?.subject, others], ['Low batteries: 2', []]);
		assert.equal(mail?.text, 'RT1 (North): 19\nRT2 (no group): 18');
	});
}

/** `person-in-charge.json` */
export async function personInCharge({ checks, main, mailServer, workflow, wentOffline }: ExampleSetup): Promise<void> {
	resultOf(await newestOf(main, workflow.id), 'Send mail');
	await main.unpublish(workflow.id);
	await checks.check('sends the devices of a poll to the people in charge of their groups', () => {
		const texts = mailServer.mails
			.filter(({ subject }) => subject?.startsWith('Devices offline or'))
			.map(({ text }) => text);
		for (const { sn } of wentOffline) assert.equal(texts.join('\n').split(`${sn} (`).length, 2);
	});
	const run = async () => {
		const known = mailServer.mails.length;
		const offline = events(['', 'RT1', 'North'], ['', 'RT2', 'South'], ['', 'RT3'], ['', 'RT4', 'North']);
		const pinned = offline.map(({ json }) => ({ json: { ...json, current: 0 } }));
		const pinData = { 'Online status changed': pinned };
		const results = await byHand(main, { ...withPeople(workflow, 'North', 'South'), pinData });
		return { results, mails: mailServer.mails.slice(known) };
	};
	const textsTo = (mails: readonly Mail[]) => mails.map(({ to, text }) => [to.join(), text]);
	const [north, south, others] = [
		['first@example.com', 'RT1 (North): offline\nRT4 (North): offline'],
		['second@example.com', 'RT2 (South): offline'],
		['others@example.com', 'RT3 (no group): offline, no person in charge'],
	];
	await checks.check('sends each mail once, also if the mail server refuses one for seconds', async () => {
		mailServer.refusals.push(451, 421);
		assert.deepEqual(textsTo((await run()).mails), [north, south, others]);
	});
	await checks.check('sends the other mails if one cannot be sent, and then fails with the address', async () => {
		mailServer.refusals.push(451, 451, 451, 451, 451);
		const { results, mails } = await run();
		assert.deepEqual(textsTo(mails), [south, others]);
		assert.match(results['Stop with reason']?.error ?? '', /No email to first@example.com: .*451/);
	});
}

/** The example with people in charge of two groups, and one for all others. */
export function withPeople(workflow: ExampleWorkflow, ...groups: [string, string]): ExampleWorkflow {
	const addresses = ['first', 'second', 'others'].map((person) => `${person}@example.com`);
	const people = [...groups, 'All other groups'].map((name, at) => {
		return { id: String(at), name, type: 'string', value: addresses[at] };
	});
	const nodes = workflow.nodes.map((node) =>
		node.name === 'People'
			? { ...node, parameters: { ...node.parameters, assignments: { assignments: people } } }
			: node,
	);
	return { ...workflow, nodes };
}
