/** `offline-tickets.json`: a real poll finds the offline devices; the other events are given by hand. */
import MarkdownIt from 'markdown-it';
import assert from 'node:assert/strict';

import { resultOf } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { Example, ExampleSetup } from './exampleSetup.mts';
import { assertListed, changed, listed } from './mailExamples.mts';
import { byHand, newestOf } from './runs.mts';

export const TICKETS: Example = {
	promises: {
		'if the ticket system refuses, the retried execution opens only the missing tickets': async (given) => {
			const { main, tracker, wentOffline, workflow } = given;
			assert.equal(tracker.issues.length, tracker.most);
			tracker.most = Infinity;
			await main.retry((await main.executions(workflow.id))[0] ?? '');
			resultOf(await newestOf(main, workflow.id, 1), 'Remember ticket');
			const tickets = tracker.issues.map(({ title, body }) => [title, body.split('\n')[1]]);
			const wanted = wentOffline.map((device) => [
				`Device ${device.sn} is offline`,
				`- ${listed(device, ['groupName', 'modelName'])}`,
			]);
			assert.deepEqual(tickets.sort(), wanted.sort());
		},
		'opens no second ticket for a device, and ignores other values': async (given) => {
			const { tracker, wentOffline, devices } = given;
			assert.deepEqual(resultOf(await report(given, wentOffline, 0), 'No ticket yet?').items, []);
			const other = await report(given, [...wentOffline, ...devices.slice(0, 200)], 2);
			assert.deepEqual([other['No ticket yet?'], other['Forget device']], [undefined, undefined]);
			assert(tracker.issues.every(({ state }) => state === 'open'));
		},
		'closes each ticket when its device is back, and ignores a device without a ticket': async (given) => {
			const { tracker, wentOffline, devices } = given;
			await report(given, [...devices.slice(0, 1), ...wentOffline], 1);
			assert(tracker.issues.every(({ state }) => state === 'closed'));
			assert.equal(tracker.issues.length, wentOffline.length);
		},
		'closes the other tickets if one was deleted, and then fails': async (given) => {
			const { tracker, wentOffline } = given;
			await report(given, wentOffline, 0);
			const [first, ...others] = tracker.issues.slice(-wentOffline.length);
			tracker.deleted.add(first?.number ?? 0);
			assert.match((await report(given, wentOffline, 1))['Close again']?.error ?? '', /request is invalid/);
			assert(others.every(({ state }) => state === 'closed'));
		},
		'a copy remembers its own tickets only': async (given) => {
			const { tracker, devices } = given;
			await report(given, devices.slice(0, 1), 0);
			const known = tracker.issues.length;
			await report(given, devices.slice(0, 1), 0, '{{ $workflow.id }}');
			assert.equal(tracker.issues.length, known + 1);
		},
	},
	anyFleet: async (given) => {
		const { main, tracker, workflow, devices } = given;
		const table = `${workflow.id}${devices.length}`;
		tracker.most = Infinity;
		const known = tracker.issues.length;
		await byHand(main, workflow);
		assert.equal(tracker.issues.length, known, 'a sample opened a ticket');
		if (devices.length === 0) return;
		resultOf(await report(given, devices, [0, '0', false], table), 'Remember ticket');
		const [ticket, ...others] = tracker.issues.slice(known);
		assert.deepEqual([ticket?.title, others], [`${devices.length} devices are offline`, []]);
		const [block, ...rest] = new MarkdownIt({ html: true }).parse(ticket?.body ?? '', {});
		const types = [block, ...rest].map((token) => token?.type);
		assert.deepEqual(types, ['fence', 'paragraph_open', 'inline', 'paragraph_close']);
		assert.match(rest[1]?.content ?? '', /^Detected: \S+Z$/);
		const lines = devices.map((device) => `- ${listed(device, ['groupName', 'modelName'])}`);
		assertListed(block?.content.trimEnd() ?? '', lines, 250);
		await report(given, devices.slice(1), [1, '1', true], table);
		assert.equal(ticket?.state, 'open');
		await report(given, devices.slice(0, 1), 1, table);
		assert.equal(ticket.state, 'closed');
	},
};

/**
 * Runs the example by hand with devices whose online status has changed.
 * @param owner of the table of tickets, which each copy has on its own; default: the published example
 */
async function report(
	{ main, workflow }: ExampleSetup,
	devices: readonly Device[],
	status: unknown,
	owner = workflow.id,
) {
	const copy: typeof workflow = JSON.parse(JSON.stringify(workflow).replace('{{ $workflow.id }}', owner));
	const events = changed(devices, [status].flat()).map((json) => ({ json }));
	return await byHand(main, { ...copy, pinData: { 'Online status changed': events } });
}
