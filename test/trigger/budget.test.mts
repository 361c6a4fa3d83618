import { getEventListeners } from 'node:events';

import type { FaultRule } from '../../testbed/platform/settings.mts';
import { hurry, roundTrip, useBench } from '../../testbed/jest.mts';
import { published, recordTimeouts } from './watching.mts';

const bench = useBench();

/** A trigger that knows the fleet and has so many milliseconds for each poll from now on. */
async function withBudget(budgetMs: number | undefined, credential = bench.apiKey) {
	const options = { pageSize: 10, parallelRequests: 1, maxRetries: 10 };
	const watching = await published(bench, { events: ['onlineStatusChanged'], options }, { credential });
	const staticData = JSON.parse(watching.database.staticData);
	const node = bench.engine.pollingNode(watching.workflow(), { staticData });
	Object.assign(node.context, { getPollBudgetMs: budgetMs === undefined ? undefined : () => budgetMs });
	bench.fleet.update(bench.fleet.at(3).sn, { onlineStatus: 77 });
	bench.platform.forget();
	return { node, before: JSON.stringify(staticData) };
}

it('ends a walk that would take too long, sends no more requests, and says what helps', async () => {
	const { node, before } = await withBudget(200);
	bench.platform.settings.latencyMs = 50;
	await expect(node.poll()).rejects.toMatchObject({
		message: expect.stringContaining("The poll didn't end within n8n's limit of 1 second"),
		description: expect.stringContaining(
			"Raise 'Page Size' or 'Parallel Requests' under 'Options', or watch fewer devices with 'Filters'.",
		),
		failure: { cause: 'temporarily-unavailable' },
	});
	// A request that was under way may still arrive.
	await roundTrip();
	const { length } = bench.platform.requests;
	expect(length).toBeLessThan(10);
	bench.platform.settings.latencyMs = 0;
	await roundTrip();
	expect(bench.platform.requests).toHaveLength(length);
	expect(JSON.stringify(node.workflow.staticData)).toBe(before);
	Object.assign(node.context, { getPollBudgetMs: () => 60_000 });
	expect(await node.poll()).toHaveLength(1);
});

const WAITED = "The platform's rate limit delayed the poll beyond n8n's limit of 1 second";
const AFTER_30 = { 'retry-after': '30' };

it.each<[string, Omit<FaultRule, 'times'>, words?: string, failure?: object]>([
	['a response that never comes', { fault: 'hang' }],
	['a response that stops half way', { fault: 'stall' }],
	['the waits between retries', { fault: { status: 502 } }],
	['a pause', { fault: { status: 503 } }, WAITED, { cause: 'temporarily-unavailable', retryAfterMs: 1000 }],
	[
		'a named pause',
		{ fault: { status: 429, headers: AFTER_30 } },
		WAITED,
		{ cause: 'rate-limited', retryAfterMs: 30_000 },
	],
	['a sign-in that takes long', { fault: 'hang', kind: 'login' }],
])('ends %s', async (_, fault, words = "didn't end within n8n's limit of 1 second", failure = {}) => {
	const { node, before } = await withBudget(200, fault.kind === 'login' ? bench.login : bench.apiKey);
	if (fault.kind === 'login') bench.platform.expireTokens();
	bench.platform.settings.faults = [{ ...fault, times: Infinity }];
	await expect(node.poll()).rejects.toMatchObject({ message: expect.stringContaining(words), failure });
	expect(JSON.stringify(node.workflow.staticData)).toBe(before);
});

it.each([
	['of n8n', 90_000, 90_000],
	['of five minutes in an n8n that names none', undefined, 300_000],
	['of five minutes in an n8n that names 0', 0, 300_000],
])('has the limit %s, and leaves nothing that waits for a timeout', async (_, budgetMs, expected) => {
	const { node } = await withBudget(budgetMs);
	bench.platform.settings.faults = [{ fault: { status: 429, headers: { 'retry-after': '1' } }, times: 1 }];
	hurry();
	const timeouts = recordTimeouts();
	expect(await node.poll()).toHaveLength(1);
	expect(timeouts.filter(({ signal }) => getEventListeners(signal, 'abort').length > 0)).toEqual([]);
	// The timeouts of the poll and of its requests.
	expect(new Set(timeouts.map(({ ms }) => ms))).toEqual(new Set([expected, 60_000]));
});
