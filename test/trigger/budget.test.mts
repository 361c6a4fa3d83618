import { getEventListeners } from 'node:events';

import { currentClock, replaceClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { roundTrip } from '../../testbed/rawServer.mts';
import { Watch, type WatchOptions } from '../../testbed/watch.mts';

const bench = useBench();

const parameters = { events: ['onlineStatusChanged'], options: { pageSize: 10, parallelRequests: 1, maxRetries: 10 } };

/** A trigger that knows the fleet and has so many milliseconds for each poll from now on. */
async function withBudget(budgetMs: number, options: WatchOptions = {}) {
	const watching = new Watch(bench, parameters, options);
	await watching.activate();
	const staticData = JSON.parse(watching.database.staticData);
	const node = bench.engine.pollingNode(watching.workflow(), { staticData, budgetMs });
	bench.fleet.update(bench.fleet.at(3).sn, { onlineStatus: 77 });
	bench.platform.forget();
	return { node, before: JSON.stringify(staticData) };
}

it('ends a walk that would take too long, and says what helps', async () => {
	const { node, before } = await withBudget(1100);
	bench.platform.settings.latencyMs = 200;
	await expect(node.poll()).rejects.toMatchObject({
		message: expect.stringContaining("The poll did not end within n8n's limit of 2 seconds"),
		description: expect.stringContaining(
			"Raise 'Page Size' or 'Parallel Requests' under 'Options', or watch fewer devices with 'Filters'.",
		),
		failure: { cause: 'temporarily-unavailable' },
	});
	expect(JSON.stringify(node.workflow.staticData)).toBe(before);
	bench.platform.settings.latencyMs = 0;
	Object.assign(node.context, { getPollBudgetMs: () => 60_000 });
	expect(await node.poll()).toHaveLength(1);
});

it.each<[string, WatchOptions, () => void]>([
	['an answer that never comes', {}, () => (bench.platform.settings.faults = [{ fault: 'hang', times: Infinity }])],
	['an answer that stops half way', {}, () => (bench.platform.settings.faults = [{ fault: 'stall', times: Infinity }])],
	[
		'the waits between retries',
		{},
		() =>
			(bench.platform.settings.faults = [
				{ fault: { status: 503, headers: { 'retry-after': '30' } }, times: Infinity },
			]),
	],
	[
		'a login that takes long',
		{},
		() => {
			bench.platform.expireTokens();
			bench.platform.settings.faults = [{ fault: 'hang', kind: 'login', times: Infinity }];
		},
	],
])('ends %s', async (words, options, hinder) => {
	const credential = words.includes('login') ? bench.login : bench.apiKey;
	const { node, before } = await withBudget(200, { ...options, credential });
	hinder();
	await expect(node.poll()).rejects.toThrow("did not end within n8n's limit of 1 second");
	expect(JSON.stringify(node.workflow.staticData)).toBe(before);
});

it('sends no more requests afterwards', async () => {
	const { node } = await withBudget(500);
	bench.platform.settings.latencyMs = 100;
	await expect(node.poll()).rejects.toThrow();
	const { length } = bench.platform.requests;
	bench.platform.settings.latencyMs = 0;
	await roundTrip();
	expect(bench.platform.requests).toHaveLength(length);
	expect(bench.platform.requests.length).toBeLessThan(10);
});

it('leaves nothing that waits for a timeout', async () => {
	const { node } = await withBudget(90_000);
	bench.platform.settings.faults = [{ fault: { status: 429, headers: { 'retry-after': '1' } }, times: 1 }];
	const timeouts: Array<{ ms: number; signal: AbortSignal }> = [];
	hurry();
	const timeout = (ms: number) => {
		const { signal } = new AbortController();
		timeouts.push({ ms, signal });
		return signal;
	};
	const putBack = replaceClock({ ...currentClock(), timeout });
	expect(await node.poll()).toHaveLength(1);
	putBack();
	const left = timeouts.filter(({ signal }) => getEventListeners(signal, 'abort').length > 0).map(({ ms }) => ms);
	expect(left).toEqual([]);
	// The timeouts of the poll, of its requests, and of requests after a pause.
	expect(new Set(timeouts.map(({ ms }) => ms))).toEqual(new Set([90_000, 60_000, 10_000]));
});

it('has five minutes in an n8n that says nothing of a budget', async () => {
	const { node } = await withBudget(100);
	Object.assign(node.context, { getPollBudgetMs: undefined });
	bench.platform.settings.latencyMs = 20;
	expect(await node.poll()).toHaveLength(1);
});
