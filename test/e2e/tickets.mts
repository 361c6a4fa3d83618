/** `offline-tickets.json`: a real poll finds the offline devices; the other events are given by hand. */
import assert from 'node:assert/strict';

import { resultOf } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { byHand, newestOf, simplified } from './runs.mts';

export async function offlineTickets(setup: ExampleSetup): Promise<void> {
	const { checks, main, tracker, wentOffline, workflow } = setup;
	const failed = await newestOf(main, workflow.id);
	await main.unpublish(workflow.id);
	await checks.check('if the ticket system refuses, the retried execution opens only the missing tickets', async () => {
		assert.equal(tracker.issues.length, tracker.most);
		tracker.most = Infinity;
		await main.retry((await main.executions(workflow.id))[0] ?? '');
		resultOf(await newestOf(main, workflow.id, 1), 'Remember ticket');
		const tickets = tracker.issues.map(({ title, body }) => [title, body.split('\n')[1]]);
		const wanted = wentOffline.map(({ sn, group, model }) => [
			`Device ${sn} is offline`,
			`- ${sn} (${group.name}, ${model.name})`,
		]);
		assert.deepEqual(tickets.sort(), wanted.sort());
	});

	const [event = {}] = resultOf(failed, 'Online status changed').items;
	await ticketsByHand(setup, event);
}

async function ticketsByHand(setup: ExampleSetup, event: object): Promise<void> {
	const { checks, main, tracker, wentOffline, devices, workflow: copied } = setup;
	// Each run by hand is of a copy, which would have a table of its own.
	const workflow: typeof copied = JSON.parse(JSON.stringify(copied).replace('{{ $workflow.id }}', copied.id));
	/** Runs the example with devices whose online status has changed to a value. */
	const report = async (current: number, changed: readonly Device[]) => {
		const pinned = changed.map((device) => ({ json: { ...event, current, device: simplified(device) } }));
		return await byHand(main, { ...workflow, pinData: { 'Online status changed': pinned } });
	};
	const assertTickets = (state: 'open' | 'closed') => {
		const found = tracker.issues.map((issue) => issue.state);
		assert.deepEqual(found, Array(wentOffline.length).fill(state));
	};
	const many = devices.slice(0, 200);
	await checks.check('opens no second ticket for a device, and ignores other values', async () => {
		assert.deepEqual(resultOf(await report(0, wentOffline), 'No ticket yet?').items, []);
		const other = await report(2, [...wentOffline, ...many]);
		assert.deepEqual([other['No ticket yet?'], other['Forget device']], [undefined, undefined]);
		assertTickets('open');
	});
	await checks.check('closes each ticket when its device is back, and ignores a device without a ticket', async () => {
		await report(1, [...many.slice(0, 1), ...wentOffline]);
		assertTickets('closed');
	});
	await checks.check('closes the other tickets if one was deleted, and then fails', async () => {
		await report(0, wentOffline);
		const [first, ...others] = tracker.issues.slice(-wentOffline.length);
		tracker.deleted.add(first?.number ?? 0);
		const results = await report(1, wentOffline);
		assert.match(results['Close again']?.error ?? '', /request is invalid/);
		assert.deepEqual(
			others.map(({ state }) => state),
			others.map(() => 'closed'),
		);
	});
	await checks.check('a copy remembers its own tickets only', async () => {
		const results = await report(0, many.slice(0, 1));
		const [pinned] = resultOf(results, 'Online status changed').items;
		const known = tracker.issues.length;
		await byHand(main, { ...copied, pinData: { 'Online status changed': [{ json: pinned }] } });
		assert.equal(tracker.issues.length, known + 1);
	});
}
