import fc from 'fast-check';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { z } from 'zod/v4';

import { forgetAccounts } from '../../../nodes/DeviceManagement/transport/account.ts';
import { Execution } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { RateLimit } from '../../../nodes/DeviceManagement/transport/waiting/rateLimit.ts';
import { LONGEST_WAIT_MS } from '../../../nodes/DeviceManagement/transport/waiting/retry.ts';
import { runs } from '../../../testbed/runs.mts';
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
const pass = async <T,>(run: () => Promise<T>, end = forEver) =>
	await limit.pass(run, end, 0, async (send) => await send());
const askedToWait = (retryAfterMs: number, httpStatus = 429) =>
	failureOf({ httpStatus, temporary: true, retryAfterMs });
const times = <T,>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Requests that are sent together, one if not said otherwise. Times are in milliseconds. */
interface Batch {
	at?: number;
	count?: number;
	takes?: number;
	/** Fails without a response, is refused, or fails with a `Retry-After` and this status, 429 by default; default: a response. */
	ends?: 'no response' | 'refused' | number | undefined;
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
	await settled(limit.afterPause(async () => await Promise.reject(askedToWait(retryAfterMs)), forEver));

/** Reads `lists: 3 at 1 s, each takes 0.1 s, stopped at 2 s, no response`, or at the end: `refused`, `told 2 s`, `HTTP 503`. */
function batchOf(line: string): [name: string, Batch] {
	const [, name = '', words = ''] = /(\w+): (.*)/.exec(line) ?? [];
	const ms = <T,>(before: string, otherwise: T) => {
		const [, seconds] = RegExp(`${before} ([\\d.]+) s`).exec(words) ?? [];
		return seconds === undefined ? otherwise : Math.round(Number(seconds) * 1000);
	};
	const status = words.includes('HTTP 503') ? 503 : 429;
	const told = (['no response', 'refused'] as const).find((end) => words.includes(end));
	const ends = told ?? ms('told', status === 503 ? 0 : undefined);
	const count = Number(/^\d+/.exec(words) ?? 1);
	return [name, { count, at: ms('at', 0), takes: ms('takes', 0), stops: ms('stopped at', null), ends, status }];
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
		'A response that is no limit begins the pauses after HTTP 503 again, also a refusal',
		'told: 2 HTTP 503; other: 1 at 0.001 s, refused; again: 1 at 1.001 s, HTTP 503; next: 1 at 1.002 s',
		{ other: '1 at 1 s', next: '1 at 2.001 s' },
	],
	[
		'A pause delays every request, and two at once follow it, in the order in which they came',
		// Failures without a response do not widen the window.
		`told: told 2 s; early: 3 at 0.001 s, each takes 0.1 s, no response;
		late: 3 at 0.002 s, each takes 0.1 s, no response`,
		{ early: '2 at 2 s, 1 at 2.1 s', late: '1 at 2.1 s, 2 at 2.2 s' },
	],
	[
		'A shorter pause does not end a longer one',
		'told: takes 0.01 s, told 2 s; again: takes 0.02 s, told 0.5 s; next: 1 at 0.021 s',
		{ next: '1 at 2.01 s' },
	],
	[
		'A pause ends at once for a request that is stopped, and its place goes to another one',
		`told: told 60 s; inPause: 1 at 0.001 s, stopped at 0.001 s; first: 2 at 0.001 s, each takes 0.1 s;
		inQueue: 30 at 0.002 s, each takes 5 s, stopped at 60.05 s; last: 1 at 0.003 s`,
		{ inPause: '1 at 0.001 s', inQueue: '30 at 60.05 s', last: '1 at 60.1 s' },
	],
	[
		'A pause after another one is waited for no longer than two minutes in all',
		'early: takes 90 s, told 60 s; told: 1 at 0.001 s, told 100 s; next: 1 at 0.002 s',
		{ next: 'never' },
	],
	[
		'The window does not widen with a response to an earlier request',
		'early: 40 each takes 0.1 s; told: 1 at 0.05 s, told 2 s; next: 8 at 0.051 s, each takes 0.1 s',
		{ next: '2 at 2.05 s, 2 at 2.15 s, 2 at 2.25 s, 2 at 2.35 s' },
	],
	[
		'The window halves with each further pause, down to one request',
		// Requests that were sent together are told to wait: that is one pause.
		`told: 3 each takes 0.005 s, told 1 s; afterOne: 4 at 1.1 s, each takes 0.1 s, no response;
		toldAgain: 2 at 2 s, each takes 0.005 s, told 1 s; afterTwo: 3 at 3.1 s, each takes 0.1 s, no response;
		toldAThirdTime: 1 at 4 s, told 1 s; afterThree: 2 at 5.1 s, each takes 0.1 s, no response;
		responses: 8 at 5.4 s; widened: 3 at 5.5 s, each takes 0.1 s`,
		{
			afterOne: '2 at 1.1 s, 2 at 1.2 s',
			afterTwo: '1 at 3.1 s, 1 at 3.2 s, 1 at 3.3 s',
			afterThree: '1 at 5.1 s, 1 at 5.2 s',
			widened: '2 at 5.5 s, 1 at 5.6 s',
		},
	],
	[
		'The window widens by an eighth with each response',
		`told: told 1 s; seven: 7 at 0.001 s; two: 3 at 2 s, each takes 0.1 s, no response;
		eighth: 1 at 2.5 s; three: 4 at 3 s, each takes 0.1 s, no response;
		others: 40 at 4 s; eight: 9 at 5 s, each takes 0.1 s, no response`,
		{ two: '2 at 2 s, 1 at 2.1 s', three: '3 at 3 s, 1 at 3.1 s', eight: '8 at 5 s, 1 at 5.1 s' },
	],
	[
		'Pauses at the same time count once for the two minutes after which all requests fail',
		'told: 3 told 60 s; again: 1 at 60.1 s, told 1 s; next: 1 at 60.2 s',
		{ next: '1 at 61.1 s' },
	],
	[
		'A failure without a response is no response that begins these two minutes again',
		`told: told 60 s; lost: 1 at 60 s, no response; again: 1 at 60.1 s, told 60 s; asks: 1 at 120.2 s, told 1 s;
		next: 1 at 120.3 s`,
		{ asks: '1 at 120.2 s', next: 'never' },
	],
	[
		'A response after two minutes of pauses lets requests wait for a later pause again',
		`told: told 60 s; again: 1 at 60 s, told 60 s; slow: 1 at 60 s, takes 180 s, told 60 s;
		aThirdTime: 1 at 120 s, told 60 s; response: 1 at 180 s; next: 1 at 240.001 s`,
		{ aThirdTime: '1 at 120 s', response: '1 at 180 s', next: '1 at 300 s' },
	],
	[
		'The window is one request after two minutes of pauses, however wide it was',
		`told: told 1 s; others: 60 at 4 s; again: 1 at 10 s, told 120 s; asks: 1 at 131 s, told 1 s;
		next: 3 at 133 s, each takes 0.1 s, no response`,
		{ next: '1 at 133 s, 1 at 133.1 s, 1 at 133.2 s' },
	],
	[
		'The window has a place more after ten seconds of a request, and is gone after a quiet minute',
		'told: told 1 s; slow: 400 at 0.001 s, each takes 300 s; others: 40 at 61.001 s, each takes 1 s',
		{
			slow: `${[1, 11, 21, 31, 41, 51, 61].map((at) => `2 at ${at} s`).join(', ')}, 386 at 61.001 s`,
			others: '40 at 61.001 s',
		},
	],
])('%s', async (_promise, story, expected) => {
	const sent = await play(Object.fromEntries(story.split(';').map(batchOf)));
	expect(Object.fromEntries(Object.keys(expected).map((name) => [name, inWords(sent[name] ?? [])]))).toEqual(expected);
});

test.each<[what: string, told: Batch, chance: number, sent: string]>([
	['HTTP 429', { ends: 0 }, 0, '2 at 1 s, 1 at 2 s, 1 at 3 s, 1 at 4 s'],
	['HTTP 429 with 4 s, longer by chance', { ends: 4000 }, 1, '2 at 4.5 s, 1 at 9 s, 1 at 13.5 s, 1 at 18 s'],
	['HTTP 503', { ends: 0, status: 503 }, 0, '2 at 1 s, 1 at 3 s, 1 at 7 s, 1 at 11 s'],
	['HTTP 502 with 3 s', { ends: 3000, status: 502 }, 0, '2 at 3 s, 1 at 6 s, 1 at 9 s, 1 at 12 s'],
	['HTTP 502 (none)', { ends: 0, status: 502 }, 0, '5 at 0.001 s'],
])('After %s, requests that are all refused are sent after pauses', async (_what, told, by, sent) => {
	chance = () => by;
	const { others = [] } = await play({ told, others: { ...told, at: 1, count: 5 } });
	expect(inWords(others)).toBe(sent);
});

test('A limit that is told after the pause, to a request that was sent before it, asks for no wait', async () => {
	const late = take(5000).then(async () => await Promise.reject(askedToWait(0)));
	const early = settled(pass(async () => await late));
	await pause(1000);
	expect(await virtual.time.until(early)).toMatchObject({ details: { pauseMs: 0 } });
	expect(await virtual.time.until(pass(async () => now()))).toBe(5000);
});

test('Chance lengthens a pause once, although several requests are told of it', async () => {
	const chances = [0, 1];
	chance = () => chances.shift() ?? 0;
	expect(await play({ told: { count: 2, ends: 1000 }, next: { at: 1 } })).toMatchObject({ next: [1000] });
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
	await limit.afterPause(async () => {}, stop.signal);
	await virtual.time.run(60_000);
	await pause(60_000);
	await virtual.time.run(60_000);
	await pause(1000);
	await expect(pass(async () => 'sent')).rejects.toThrow('has refused every request for two minutes');
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
		await Promise.all(times(count, async () => await limit.pass(run, forEver, 0, slots)));
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
	const platforms = new Execution(context as unknown as IExecuteFunctions, { parallelRequests });
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
	const story = () => begins.map(([name, at]) => `${name} at ${at / 1000} s`).join(', ');

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
		[502, 3, 30, 'rejected', 4],
		[503, 10, 10, 'fulfilled', 11],
		[200, 2, 2, 'fulfilled', 3],
	])('after HTTP %i with %i retries and %i refusals are %s', async (status, maxRetries, refusals, end, count) => {
		const answer = async (name: string) => (begins.push([name, now()]) <= refusals ? 1 : undefined);
		const [outcome] = await virtual.time.until(begin(1, answer, status)(0, ['a'], maxRetries));
		expect([outcome?.status, begins.length]).toEqual([end, count]);
		if (count > 1) expect(begins[1]?.[1]).toBeGreaterThanOrEqual(1000);
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
		expect(story()).toBe('waits at 5 s, waits at 5 s, waits at 5.1 s');
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
		expect(story()).toBe('told at 0 s, slow at 0 s, again at 11 s, c at 30 s, a at 71 s, b at 71 s');
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
		limit = new RateLimit();
		await play(Object.fromEntries(batches.entries()));
		// A minute without a pause ends a row of refusals.
		await virtual.time.run(LONGEST_WAIT_MS + 60_001);
		const begins = now();
		const { later = [] } = await play({ told: { ends: 1000 }, later: { at: 1, count: 40, takes: 100 } });
		expect(later).toContain(begins + 1000);
	});
	await fc.assert(check, runs(300));
});
