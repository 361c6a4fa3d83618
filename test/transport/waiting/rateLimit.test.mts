import fc from 'fast-check';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { z } from 'zod/v4';

import { forgetAccounts } from '../../../nodes/DeviceManagement/transport/auth/account.ts';
import { openPlatformForItems } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { RateLimit } from '../../../nodes/DeviceManagement/transport/waiting/rateLimit.ts';
import { LONGEST_WAIT_MS } from '../../../nodes/DeviceManagement/transport/waiting/retry.ts';
import { runs } from '../../../testbed/runs.mts';
import { VirtualTime } from '../../../testbed/virtualTime.mts';
import { failureOf, responseOf, settled, useVirtualTime } from '../fakes.mts';

const forEver = new AbortController().signal;
/** What chance adds to pauses, from 0 to 1. */
let chance: () => number;
const virtual = useVirtualTime(() => chance());
let limit: RateLimit;
beforeEach(() => {
	chance = () => 0;
	limit = new RateLimit();
});

const now = () => virtual.time.now();
const take = async (ms: number) => await virtual.time.sleep(ms);
const pass = async <T,>(run: () => Promise<T>, end = forEver) => await limit.pass(run, virtual.time, end);
const askedToWait = (retryAfterMs: number, httpStatus = 429) =>
	failureOf({ httpStatus, temporary: true, retryAfterMs });
const times = <T,>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Requests that are sent together, one if not said otherwise. */
interface Batch {
	/** When they come, in milliseconds; default: 0. */
	at?: number;
	count?: number;
	takes?: number;
	/** Fails without a response, is refused, or fails with the milliseconds of a `Retry-After`; default: a response. */
	ends?: 'no response' | 'refused' | number | undefined;
	/** The status of that response; default: 429. */
	status?: number;
	/** When their execution is stopped. */
	stops?: number | null;
}

/** Plays requests of one account to their end. Returns when those of each batch were sent. */
async function play<Name extends string>(batches: Record<Name, Batch>): Promise<Record<string, number[]>> {
	const sent: Record<string, number[]> = {};
	const playOne = async (name: string, { at = 0, count = 1, takes = 0, ends, status, stops = null }: Batch) => {
		const begins: number[] = (sent[name] = []);
		const stop = new AbortController();
		if (stops !== null) virtual.time.after(stops, () => stop.abort());
		const run = async () => {
			begins.push(now());
			await take(takes);
			if (ends === 'no response') throw new Error(ends);
			if (ends === 'refused') throw failureOf({ kind: 'refused', httpStatus: 200 });
			if (ends !== undefined) throw askedToWait(ends, status);
		};
		await take(at);
		await Promise.all(times(count, async () => await settled(pass(run, stop.signal))));
	};
	await virtual.time.until(Promise.all(Object.entries<Batch>(batches).map(async (batch) => await playOne(...batch))));
	return sent;
}

/** The platform has just asked the account for a pause. */
const pause = async (retryAfterMs: number) =>
	await settled(limit.afterPause(async () => await Promise.reject(askedToWait(retryAfterMs)), virtual.time, forEver));

const LIMIT_503: Batch = { ends: 0, status: 503 };
const both = (...moments: number[]) => moments.flatMap((moment) => [moment, moment]);

test.each<[promise: string, batches: Record<string, Batch>, sent: Record<string, number[]>]>([
	[
		'A response that is no limit begins the pauses after HTTP 503 again, also a refusal',
		{
			told: { ...LIMIT_503, count: 2 },
			other: { at: 1, ends: 'refused' },
			again: { ...LIMIT_503, at: 1001 },
			next: { at: 1002 },
		},
		{ other: [1000], next: [2001] },
	],
	[
		'A pause delays every request, and two at once follow it, in the order in which they came',
		// Failures without a response do not widen the window.
		{
			told: { ends: 2000 },
			early: { at: 1, count: 3, takes: 100, ends: 'no response' },
			late: { at: 2, count: 3, takes: 100, ends: 'no response' },
		},
		{ early: [2000, 2000, 2100], late: [2100, 2200, 2200] },
	],
	[
		'A shorter pause does not end a longer one',
		{ told: { takes: 10, ends: 2000 }, again: { takes: 20, ends: 500 }, next: { at: 21 } },
		{ next: [2010] },
	],
	[
		'A pause ends at once for a request that is stopped, and its place goes to another one',
		{
			told: { ends: 60_000 },
			inPause: { at: 1, stops: 1 },
			first: { at: 1, count: 2, takes: 100 },
			inQueue: { at: 2, count: 30, takes: 5000, stops: 60_050 },
			last: { at: 3 },
		},
		{ inPause: [1], inQueue: times(30, () => 60_050), last: [60_100] },
	],
	[
		'A pause after another one is waited for no longer than two minutes in all',
		{ early: { takes: 90_000, ends: 60_000 }, told: { at: 1, ends: 100_000 }, next: { at: 2 } },
		{ next: [] },
	],
	[
		'The window does not widen with a response to an earlier request',
		{ early: { count: 40, takes: 100 }, told: { at: 50, ends: 2000 }, next: { at: 51, count: 8, takes: 100 } },
		{ next: [...both(2050), 2150] },
	],
	[
		'The window halves with each further pause, down to one request',
		{
			// Requests that were sent together are told to wait: that is one pause.
			told: { count: 3, takes: 5, ends: 1000 },
			afterOne: { at: 1100, count: 4, takes: 100, ends: 'no response' },
			toldAgain: { at: 2000, count: 2, takes: 5, ends: 1000 },
			afterTwo: { at: 3100, count: 3, takes: 100, ends: 'no response' },
			toldAThirdTime: { at: 4000, ends: 1000 },
			afterThree: { at: 5100, count: 2, takes: 100, ends: 'no response' },
			responses: { at: 5400, count: 8 },
			widened: { at: 5500, count: 3, takes: 100 },
		},
		{
			afterOne: both(1100, 1200),
			afterTwo: [3100, 3200, 3300],
			afterThree: [5100, 5200],
			widened: [...both(5500), 5600],
		},
	],
	[
		'The window has a place more after ten seconds of a request, and is gone after a quiet minute',
		{ told: { ends: 1000 }, slow: { at: 1, count: 400, takes: 300_000 }, others: { at: 61_001, count: 40 } },
		{
			slow: [...both(1000, 11_000, 21_000, 31_000, 41_000, 51_000, 61_000), ...times(386, () => 61_001)],
			others: times(40, () => 61_001),
		},
	],
])('%s', async (_promise, batches, expected) => {
	const sent = await play(batches);
	for (const [name, moments] of Object.entries(expected)) {
		expect({ [name]: sent[name]?.slice(0, moments.length || 1) }).toEqual({ [name]: moments });
	}
});

test.each<[what: string, told: Batch, chance: number, sent: number[]]>([
	['HTTP 429', { ends: 0 }, 0, [...both(1000), 2000, 3000, 4000]],
	['HTTP 429 with a Retry-After of a millisecond', { ends: 1 }, 0, [...both(1000), 2000, 3000, 4000]],
	['HTTP 429 with a Retry-After, longer by chance', { ends: 4000 }, 1, [...both(4500), 9000, 13_500, 18_000]],
	['HTTP 503', LIMIT_503, 0, [...both(1000), 3000, 7000, 11_000]],
	['HTTP 503, longer by chance', LIMIT_503, 1, [...both(1500), 4500, 10_500, 16_500]],
	['HTTP 502 with a Retry-After', { ends: 3000, status: 502 }, 0, [...both(3000), 6000, 9000, 12_000]],
	['HTTP 502 (none)', { ends: 0, status: 502 }, 0, [1, 1, 1, 1, 1]],
])('The pauses after %s', async (_what, told, by, sent) => {
	chance = () => by;
	expect(await play({ told, others: { ...told, at: 1, count: 5 } })).toEqual({ told: [0], others: sent });
});

test.each([
	[7, 2],
	[8, 3],
	[16, 4],
	[48, 8],
])('The window widens by an eighth with each response: after %i, it has %i places', async (responses, places) => {
	const probes: Batch = { at: 2000, count: 20, takes: 100, ends: 'no response' };
	const sent = await play({ told: { ends: 1000 }, responses: { at: 1, count: responses }, probes });
	expect(sent['probes']?.filter((at) => at === 2000)).toHaveLength(places);
});

test('A failure that no retry helps against limits nothing', async () => {
	await settled(pass(async () => await Promise.reject(failureOf({ retryAfterMs: 2000 }))));
	expect(await play({ all: { count: 400 } })).toEqual({ all: times(400, () => 0) });
});

test('A pause of two minutes is waited for; a longer one fails the request, and is forgotten after two minutes', async () => {
	expect(await play({ told: { ends: LONGEST_WAIT_MS }, next: { at: 1 } })).toMatchObject({ next: [LONGEST_WAIT_MS] });
	await pause(3_600_000);
	await expect(pass(async () => 'sent')).rejects.toMatchObject({
		message: 'The platform asked for a pause that ends in 60 minutes, so the node sent nothing',
		details: { kind: 'status', httpStatus: 429, retryable: false },
	});
	await virtual.time.run(LONGEST_WAIT_MS);
	await expect(pass(async () => 'sent')).resolves.toBe('sent');
});

test('After two minutes of pauses without another response, requests fail in the next ones, before which one asks', async () => {
	const refuseAll = async () => {
		let sent = 0;
		const refuse = async () => await Promise.reject(askedToWait(60_000, (sent++, 429)));
		const outcomes = await virtual.time.until(Promise.all(times(40, async () => String(await settled(pass(refuse))))));
		const words =
			'Failure: The platform has refused every request for two minutes, so the node sends nothing for 60 seconds';
		return [sent, outcomes.filter((outcome) => outcome === words).length, now()];
	};
	await pause(60_000);
	expect([await refuseAll(), await refuseAll()]).toEqual([
		[2, 38, 120_000],
		[0, 40, 120_000],
	]);
	await virtual.time.run(119_000);
	expect(await refuseAll()).toEqual([1, 39, 239_000]);
	await virtual.time.run(120_001);
	expect(await refuseAll()).toEqual([40, 0, 359_001]);
});

test('After the end of an execution, a failure with the status of the limit is no response, and a stopped sign-in neither', async () => {
	const stop = new AbortController();
	const fail = async () => await Promise.reject(failureOf({ kind: 'timeout', httpStatus: 429 }));
	await pause(60_000);
	stop.abort();
	await settled(pass(fail, stop.signal));
	await limit.afterPause(async () => {}, virtual.time, stop.signal);
	await virtual.time.run(60_000);
	await pause(60_000);
	await virtual.time.run(60_000);
	await pause(1000);
	await expect(pass(async () => 'sent')).rejects.toThrow('has refused every request for two minutes');
});

test('A response after two minutes of pauses lets requests wait for a later pause again', async () => {
	const slow = take(240_000).then(async () => await Promise.reject(askedToWait(60_000)));
	for (let n = 0; n < 3; n++) {
		await pause(60_000);
		if (n === 1) void settled(limit.afterPause(async () => await slow, virtual.time, forEver));
		await virtual.time.run(60_000);
	}
	await virtual.time.until(pass(async () => 'sent'));
	await virtual.time.run(60_000);
	await expect(virtual.time.until(pass(async () => 'sent'))).resolves.toBe('sent');
});

describe('The window is shared by turns', () => {
	let sent: string[];
	beforeEach(async () => {
		sent = [];
		await pause(1000);
	});
	const execution = async (name: string, count: number, slots = pLimit(8)) => {
		const run = async () => {
			sent.push(name);
			await take(100);
		};
		await Promise.all(times(count, async () => await limit.pass(run, virtual.time, forEver, 0, slots)));
	};

	test('so that a dropdown does not wait for all requests of eight lists', async () => {
		const late = take(1000).then(async () => await execution('late', 1));
		await virtual.time.until(Promise.all([execution('lists', 64), execution('poll', 10), execution('early', 1), late]));
		expect(sent.indexOf('early')).toBeLessThan(20);
		expect(sent.lastIndexOf('poll')).toBeLessThan(30);
		expect(sent.indexOf('late')).toBeLessThan(50);
	});

	test('so that a list does not wait for many executions that send one request after the other', async () => {
		const others = times(20, async () => {
			const slots = pLimit(8);
			for (let count = 0; count < 10; count++) await execution('other', 1, slots);
		});
		await virtual.time.until(Promise.all([...others, execution('lists', 64)]));
		expect(sent.slice(0, 140).filter((name) => name === 'lists').length).toBeGreaterThan(35);
	});
});

/**
 * Begins an execution whose items 0 and 1 have different accounts, and returns a function that sends reads for an item.
 * @param answer carries out the request of this name; returns nothing for a success, or the seconds of a `Retry-After`
 */
function begin(parallelRequests: number, answer: (name: string) => Promise<number | undefined>, status = 429) {
	const httpRequestWithAuthentication = async (_type: string, { url }: IHttpRequestOptions) => {
		const seconds = await answer(url.slice(url.lastIndexOf('/') + 1));
		return seconds === undefined
			? responseOf({ code: 0 })
			: responseOf({ code: 9999 }, { 'retry-after': String(seconds) }, status);
	};
	const baseUrl = 'https://platform.example';
	const context = {
		getInputData: () => [],
		getExecutionCancelSignal: () => undefined,
		getCredentials: async (_type: string, item: number) => ({ baseUrl, apiKey: `k${item}` }),
		helpers: { httpRequestWithAuthentication },
	};
	const platforms = openPlatformForItems(context as unknown as IExecuteFunctions, { parallelRequests });
	return async (item: number, names: readonly string[], maxRetries = 0) => {
		const { request } = await platforms.forItem(item);
		const settings = { timeoutMs: 60_000, maxRetries };
		const read = { method: 'GET', purpose: 'read', schema: z.unknown(), settings } as const;
		return await Promise.allSettled(names.map(async (name) => await request({ ...read, path: `/api/${name}` })));
	};
}

describe('the requests of executions', () => {
	/** What was sent, and when. */
	let begins: Array<[name: string, at: number]>;
	beforeEach(() => (begins = []));
	const at = (order: string, moments: number[]) => order.split(' ').map((name, n) => [name, moments[n]]);

	test('are sent after a retry, although they waited since before it', async () => {
		const send = begin(8, async (name) => {
			const isTold = begins.push([name, now()]) <= 2;
			await take(10);
			return isTold ? 1 : undefined;
		});
		await virtual.time.until(send(0, ['x']));
		await virtual.time.until(send(0, ['a', 'b', 'c', 'd'], 1));
		expect(begins.map(([name]) => name).join(' ')).toBe('x a b a c d');
	});

	test('do not fail because HTTP 429 always refuses one of them', async () => {
		chance = () => 0.5;
		const names = ['refused', ...times(30, String)];
		const send = begin(8, async (name) => await take(10).then(() => (name === 'refused' ? 1 : undefined)));
		const outcomes = await virtual.time.until(send(0, names, 3));
		expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...times(30, () => 'fulfilled')]);
	});

	test.each([
		[429, 1, 30, 'fulfilled', 31],
		[429, 0, 30, 'rejected', 1],
		[502, 3, 30, 'rejected', 4],
		[503, 3, 30, 'rejected', 4],
		[503, 10, 10, 'fulfilled', 11],
	])('after HTTP %i with %i retries and %i refusals are %s', async (status, maxRetries, refusals, end, count) => {
		const answer = async (name: string) => (begins.push([name, now()]) <= refusals ? 1 : undefined);
		const [outcome] = await virtual.time.until(begin(1, answer, status)(0, ['a'], maxRetries));
		expect([outcome?.status, begins.length]).toEqual([end, count]);
	});

	test('that wait for a slot during a whole pause follow it two at once', async () => {
		const answer = async (name: string) => {
			if (name === 'waits') begins.push([name, now()]);
			await take(name === 'slow' ? 5000 : 100);
			return name === 'told' ? 1 : undefined;
		};
		const slow = begin(3, answer);
		const sent = [slow(1, ['slow', 'slow', 'slow']), slow(0, ['waits', 'waits', 'waits'])];
		await virtual.time.until(Promise.all([...sent, begin(1, answer)(0, ['told'])]));
		expect(begins).toEqual(at('waits waits waits', [5000, 5000, 5100]));
	});

	test('that wait for a slot keep their places for ten seconds, and leave it to another account during a pause', async () => {
		const answer = async (name: string) => {
			begins.push([name, now()]);
			await take(name === 'slow' ? 30_000 : 0);
			return { told: 1, again: 60 }[name];
		};
		const [send, sendOther] = [begin(1, answer), begin(1, answer)];
		await virtual.time.until(sendOther(0, ['told']));
		const sent = [send(1, ['slow']), send(0, ['a', 'b'])];
		await virtual.time.run(2000);
		sent.push(send(1, ['c']), sendOther(0, ['again']));
		await virtual.time.until(Promise.all(sent));
		expect(begins).toEqual(at('told slow again c a b', [0, 0, 11_000, 30_000, 71_000, 71_000]));
	});
});

/** Returns how many of 40 pages each process loses, if all share one limit of the platform. It names so many seconds, or none. */
async function lossesOf(processes: number, perSecond: number, named: number): Promise<number[]> {
	let state = perSecond;
	const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
	chance = random;
	let [second, inSecond] = [now(), 0];
	const answer = async () => {
		await take(1 + Math.floor(random() * 20));
		if (now() - second >= 1000) [second, inSecond] = [now(), 0];
		return ++inSecond > perSecond ? named : undefined;
	};
	forgetAccounts();
	const all = times(processes, async (account) => {
		const pages = await begin(8, answer)(account, new Array<string>(40).fill('page'), 3);
		return pages.filter(({ status }) => status === 'rejected').length;
	});
	await virtual.time.until(Promise.all(all));
	return await Promise.all(all);
}

/** docs/maintainers/decisions.md compares this with other pauses. */
test.each([0, 1])('lists of 40 pages that share a limit lose none, if HTTP 429 names %i seconds', async (named) => {
	for (const perSecond of [1, 4, 7, 10]) {
		for (const processes of [1, 2, 5, 8]) {
			expect(await lossesOf(processes, perSecond, named)).toEqual(times(processes, () => 0));
		}
	}
});

test('no request waits forever, and each gives its place back', async () => {
	const batch = fc.record({
		takes: fc.integer({ min: 1, max: 15_000 }),
		at: fc.nat(3000),
		ends: fc.constantFrom(undefined, undefined, 'no response' as const, 4000, 30_000, 200_000),
		stops: fc.option(fc.nat(4000)),
	});
	const check = fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 40 }), async (batches) => {
		[virtual.time, limit] = [new VirtualTime(() => 0), new RateLimit()];
		await play(Object.fromEntries(batches.entries()));
		// A minute without a pause ends a row of refusals.
		await virtual.time.run(LONGEST_WAIT_MS + 60_001);
		const begins = now();
		const { later = [] } = await play({ told: { ends: 1000 }, later: { at: 1, count: 40, takes: 100 } });
		expect(later).toContain(begins + 1000);
	});
	await fc.assert(check, runs(300));
});
