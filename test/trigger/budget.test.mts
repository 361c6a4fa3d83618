import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

import { systemClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { hurry, roundTrip, useBench, useClock } from '../../testbed/jest.mts';
import type { FaultRule, Settings } from '../../testbed/platform/settings.mts';
import { published, recordTimeouts } from '../../testbed/trigger/watching.mts';

const bench = useBench();

// A wait that the poll ends leaves its timer, which would keep the process of the tests for 30 seconds.
const sleep = async (ms: number, signal: AbortSignal) => await pause(ms, undefined, { signal }).catch(() => {});
beforeEach(() => useClock({ ...systemClock, sleep }));

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

const ENDED = "The poll didn't end within n8n's limit of 1 second";
const WAITED = "The platform's rate limit delayed the poll beyond n8n's limit of 1 second";
const RAISE =
	"Raise 'Page Size' or 'Parallel Requests' under 'Options', or watch fewer devices with 'Filters'. No event is lost";
const unavailable = { cause: 'temporarily-unavailable' };
const failing = (fault: FaultRule['fault'], kind?: 'login'): Partial<Settings> => ({
	faults: [{ fault, times: Infinity, ...(kind && { kind }) }],
});
const limited = failing({ status: 429, headers: { 'retry-after': '30' } });

it.each<[string, Partial<Settings>, words?: string, failure?: object]>([
	['a walk that would take too long', { latencyMs: 50 }],
	['a response that never comes', failing('hang')],
	[
		'a response that stops half way',
		failing((response) => void response.writeHead(200, { 'content-length': 9 }).write('{')),
	],
	['the waits between retries', failing({ status: 502 })],
	['a pause', failing({ status: 503 }), WAITED, { ...unavailable, retryAfterMs: 1000 }],
	['a named pause', limited, WAITED, { cause: 'rate-limited', retryAfterMs: 30_000 }],
	['a sign-in that takes long', failing('hang', 'login')],
])(
	'ends %s, sends no more requests, and says what helps',
	async (what, settings, words = ENDED, failure = unavailable) => {
		const { node, before } = await withBudget(200, what.startsWith('a sign-in') ? bench.login : bench.apiKey);
		if (what.startsWith('a sign-in')) bench.platform.expireTokens();
		Object.assign(bench.platform.settings, settings);
		const description = expect.stringContaining(words === ENDED ? RAISE : 'Poll less often');
		await expect(node.poll()).rejects.toMatchObject({ message: expect.stringContaining(words), description, failure });
		// A request that was under way may still arrive.
		await roundTrip();
		const { length } = bench.platform.requests;
		expect(length).toBeLessThan(10);
		Object.assign(bench.platform.settings, { faults: [], latencyMs: 0 });
		await roundTrip();
		expect(bench.platform.requests).toHaveLength(length);
		expect(JSON.stringify(node.workflow.staticData)).toBe(before);
	},
);

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
