import fc from 'fast-check';
import { z } from 'zod/v4';

import { forgetAccounts } from '../../../nodes/DeviceManagement/transport/account.ts';
import { Execution } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { Traffic } from '../../../nodes/DeviceManagement/transport/waiting/traffic.ts';
import { runs } from '../../../testbed/runs.mts';
import { FakeN8n, failureOf, responseOf, settled, useVirtualTime } from '../../../testbed/fakeN8n.mts';

const forEver = new AbortController().signal;
/** What chance adds to pauses, from 0 to 1. */
let chance: () => number;
const virtual = useVirtualTime(() => chance());
let limit: Traffic;
const LONGEST_WAIT_MS = 120_000;
beforeEach(() => {
	chance = () => 0;
	limit = new Traffic();
});

const now = () => virtual.time.now();
const take = async (ms: number) => await virtual.time.sleep(ms);
const pass = async <T,>(run: () => Promise<T>, end = forEver) =>
	await limit.send(run, { most: 0, costOf: () => 1, end });
const askedToWait = (retryAfterMs: number) => failureOf({ httpStatus: 429, temporary: true, retryAfterMs });
const times = <T,>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Requests that are sent together, one if not said otherwise. Times are in milliseconds. */
interface Batch {
	at?: number;
	count?: number;
	takes?: number;
	/** Fails without a response, or fails with HTTP 429 and a `Retry-After`; default: a response. */
	ends?: 'no response' | number | undefined;
	/** When their execution is stopped. */
	stops?: number | null;
}

/** Plays requests of one account to their end. Returns when those of each batch were sent. */
async function play<Name extends string>(batches: Record<Name, Batch>): Promise<Record<string, number[]>> {
	const sent: Record<string, number[]> = {};
	const playOne = async (name: string, { at = 0, count = 1, takes = 0, ends, stops = null }: Batch) => {
		const begins: number[] = (sent[name] = []);
		const stop = new AbortController();
		if (stops !== null) virtual.time.after(stops, () => stop.abort());
		const run = async () => {
			begins.push(now());
			await take(takes);
			if (ends === 'no response') throw new Error(ends);
			if (ends !== undefined) throw askedToWait(ends);
		};
		await take(at);
		await Promise.all(times(count, async () => await settled(pass(run, stop.signal))));
	};
	await virtual.time.until(Promise.all(Object.entries<Batch>(batches).map(async (batch) => await playOne(...batch))));
	return sent;
}

/** The platform has just asked the account for a pause. */
const pause = async (retryAfterMs: number) =>
	await settled(pass(async () => await Promise.reject(askedToWait(retryAfterMs))));

/** Reads `lists: 3 at 1 s, each takes 0.1 s, stopped at 2 s, no response`, or at the end `told 2 s`. */
function batchOf(line: string): [name: string, Batch] {
	const [, name = '', words = ''] = /(\w+): (.*)/.exec(line) ?? [];
	const ms = <T,>(before: string, otherwise: T) => {
		const [, seconds] = RegExp(`${before} ([\\d.]+) s`).exec(words) ?? [];
		return seconds === undefined ? otherwise : Math.round(Number(seconds) * 1000);
	};
	const ends = words.includes('no response') ? 'no response' : ms('told', undefined);
	const count = Number(/^\d+/.exec(words) ?? 1);
	return [name, { count, at: ms('at', 0), takes: ms('takes', 0), stops: ms('stopped at', null), ends }];
}

/** `2 at 1 s, 1 at 1.1 s` */
function inWords(moments: readonly number[]): string {
	const counts = [...new Set(moments)].map(
		(at) => `${moments.filter((other) => other === at).length} at ${at / 1000} s`,
	);
	return counts.join(', ') || 'never';
}

test.each<[promise: string, story: string, sent: Record<string, string>]>([
	[
		'A pause delays every request, and they follow it one by one, in the order in which they came',
		`told: told 2 s; early: 3 at 0.001 s, each takes 0.1 s, no response;
		late: 3 at 0.002 s, each takes 0.1 s, no response`,
		{ early: '1 at 2 s, 1 at 2.1 s, 1 at 2.2 s', late: '1 at 2.3 s, 1 at 2.4 s, 1 at 2.5 s' },
	],
	[
		'A pause ends at once for a request that is stopped, and its place goes to another one',
		`told: told 60 s; inPause: 1 at 0.001 s, stopped at 0.001 s; first: 2 at 0.001 s, each takes 0.1 s;
		inQueue: 30 at 0.002 s, each takes 5 s, stopped at 60.05 s; last: 1 at 0.003 s`,
		{ inPause: 'never', inQueue: 'never', last: '1 at 60.2 s' },
	],
	[
		'A failure without a response does not begin the two minutes again after which requests fail',
		`told: told 60 s; lost: 1 at 60 s, no response; again: 1 at 60.1 s, told 60 s; asks: 1 at 120.2 s, told 1 s;
		next: 1 at 120.3 s`,
		{ asks: '1 at 120.2 s', next: 'never' },
	],
	[
		'A request that takes long lets the next one begin after ten seconds, and all run again after a quiet minute',
		'told: told 1 s; slow: 3 at 0.001 s, each takes 300 s; others: 40 at 61.001 s, each takes 1 s',
		{ slow: '1 at 1 s, 1 at 11 s, 1 at 21 s', others: '40 at 61.001 s' },
	],
	[
		'A minute after the pause, all that still wait are sent at once',
		'told: told 1 s; all: 9 at 0.001 s, each takes 9 s',
		{ all: '1 at 1 s, 1 at 10 s, 1 at 19 s, 1 at 28 s, 1 at 37 s, 1 at 46 s, 1 at 55 s, 2 at 64 s' },
	],
])('%s', async (_promise, story, expected) => {
	const sent = await play(Object.fromEntries(story.split(';').map(batchOf)));
	expect(Object.fromEntries(Object.keys(expected).map((name) => [name, inWords(sent[name] ?? [])]))).toEqual(expected);
});

test.each<[what: string, status: number, named: number | undefined, chance: number, sent: string]>([
	['HTTP 429', 429, undefined, 0, '1 at 0 s, 1 at 1 s, 1 at 2 s, 1 at 3 s'],
	['HTTP 429 with 4 s, longer by chance', 429, 4, 1, '1 at 0 s, 1 at 4.5 s, 1 at 9 s, 1 at 13.5 s'],
	['HTTP 503', 503, undefined, 0, '1 at 0 s, 1 at 1 s, 1 at 3 s, 1 at 7 s'],
	['HTTP 502 with 3 s', 502, 3, 0, '1 at 0 s, 1 at 3 s, 1 at 6 s, 1 at 9 s'],
	['HTTP 502', 502, undefined, 0, '1 at 0 s, 1 at 0.25 s, 1 at 0.75 s, 1 at 1.75 s'],
])('After %s, a read that is always refused is sent after pauses', async (_what, httpStatus, named, by, expected) => {
	chance = () => by;
	const sent: number[] = [];
	const told = failureOf({ httpStatus, temporary: true, retryAfterMs: named && named * 1000 });
	const run = async () => {
		sent.push(now());
		throw told;
	};
	await virtual.time.until(settled(limit.send(run, { most: 3, costOf: () => 1, end: forEver })));
	expect(inWords(sent)).toBe(expected);
});

test('After two minutes of pauses without another response, requests fail in the next ones, before which one asks', async () => {
	const refuseAll = async () => {
		let sent = 0;
		const refuse = async () => await Promise.reject((sent++, askedToWait(60_000)));
		const all = times(40, async () => await settled(limit.send(refuse, { most: 9, costOf: () => 0, end: forEver })));
		const words = (await virtual.time.until(Promise.all(all))).map(String);
		return [sent, words.filter((text) => text.includes('accepts no requests for 60 seconds')).length, now()];
	};
	await pause(60_000);
	expect([await refuseAll(), await refuseAll()]).toEqual([
		[2, 40, 120_000],
		[0, 40, 120_000],
	]);
	await virtual.time.run(119_000);
	expect(await refuseAll()).toEqual([1, 40, 239_000]);
});

test('After the end of an execution, a failure with the status of the limit is no response', async () => {
	const stop = new AbortController();
	const fail = async () => await take(2).then(() => Promise.reject(failureOf({ kind: 'timeout', httpStatus: 429 })));
	await pause(60_000);
	await virtual.time.run(60_000);
	const late = settled(pass(fail, stop.signal));
	await virtual.time.run(1);
	stop.abort();
	await virtual.time.until(late);
	await pause(60_000);
	await virtual.time.run(60_000);
	await pause(1000);
	await expect(pass(async () => 'sent')).rejects.toThrow('accepts no requests');
});

/**
 * Begins an execution whose items 0 and 1 have different accounts, and returns a function that sends reads for an item.
 * @param answer carries out the request of this name; returns nothing for a success, or the seconds of a `Retry-After`
 */
function begin(parallelRequests: number, answer: (name: string) => Promise<number | undefined>, status = 429) {
	const n8n = new FakeN8n(async ({ url }) => {
		const seconds = await answer(url.slice(url.lastIndexOf('/') + 1));
		return seconds === undefined
			? responseOf({ code: 0 })
			: responseOf({ code: 9999 }, { 'retry-after': String(seconds) }, status);
	});
	const baseUrl = 'https://platform.example';
	const getCredentials = async (_type: string, item: number) => ({ baseUrl, apiKey: `k${item}` });
	const platforms = new Execution(n8n.context({ getCredentials, getInputData: () => [] }), { parallelRequests });
	return async (item: number, names: readonly string[], maxRetries = 0) => {
		const { request } = await platforms.forItem(item);
		const settings = { timeoutMs: 60_000, maxRetries };
		const read = { method: 'GET', words: 'apiRequest', schema: z.unknown(), settings } as const;
		return await Promise.allSettled(names.map(async (name) => await request({ ...read, path: `/api/${name}` })));
	};
}

describe('the requests of executions', () => {
	/** What was sent, and when. */
	let begins: Array<[name: string, at: number]>;
	beforeEach(() => (begins = []));

	test('that wait for a slot leave it to another account during a pause', async () => {
		const answer = async (name: string) => {
			begins.push([name, now()]);
			await take(name === 'slow' ? 5000 : 100);
			return { told: 60 }[name];
		};
		const [send, sendOther] = [begin(1, answer), begin(1, answer)];
		const sent = [send(1, ['slow']), send(0, ['waits'])];
		await virtual.time.run(100);
		sent.push(sendOther(0, ['told']), send(1, ['free']));
		await virtual.time.until(Promise.all(sent));
		expect(begins.filter(([name]) => name !== 'told')).toEqual([
			['slow', 0],
			['free', 5000],
			['waits', 60_200],
		]);
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
		[502, 3, 30, 'rejected', 4],
		[503, 10, 10, 'fulfilled', 11],
		[200, 2, 2, 'fulfilled', 3],
	])('after HTTP %i with %i retries and %i refusals are %s', async (status, maxRetries, refusals, end, count) => {
		const answer = async (name: string) => (begins.push([name, now()]) <= refusals ? 1 : undefined);
		const [outcome] = await virtual.time.until(begin(1, answer, status)(0, ['a'], maxRetries));
		expect([outcome?.status, begins.length]).toEqual([end, count]);
		if (count > 1) expect(begins[1]?.[1]).toBeGreaterThanOrEqual(1000);
	});
});

/** Returns how many of 40 pages each process loses, if all share one limit of the platform. It names so many seconds, or none. */
async function lossesOf(processes: number, perSecond: number, status: number, named: number): Promise<number[]> {
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
		const pages = await begin(8, answer, status)(account, new Array<string>(40).fill('page'), 3);
		return pages.filter(({ status }) => status === 'rejected').length;
	});
	await virtual.time.until(Promise.all(all));
	return await Promise.all(all);
}

/** docs/maintainers/decisions.md compares this with other pauses. */
test.each([
	[429, 0, 8],
	[429, 1, 5],
	[503, 0, 1],
])('lists of 40 pages lose none, if HTTP %i names %i seconds and %i processes share a limit', async (...row) => {
	const [status, named, processes] = row;
	for (const perSecond of [2, 7]) {
		expect(await lossesOf(processes, perSecond, status, named)).toEqual(times(processes, () => 0));
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
		limit = new Traffic();
		await play(Object.fromEntries(batches.entries()));
		// A minute without a pause ends a row of refusals.
		await virtual.time.run(LONGEST_WAIT_MS + 60_001);
		const begins = now();
		const { later = [] } = await play({ told: { ends: 1000 }, later: { at: 1, count: 40, takes: 100 } });
		expect(later).toContain(begins + 1000);
	});
	await fc.assert(check, runs(300));
});
