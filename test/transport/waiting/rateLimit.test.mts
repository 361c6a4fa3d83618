import fc from 'fast-check';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { z } from 'zod/v4';

import { openPlatformForItems } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { RateLimit } from '../../../nodes/DeviceManagement/transport/waiting/rateLimit.ts';
import { LONGEST_WAIT_MS } from '../../../nodes/DeviceManagement/transport/waiting/retry.ts';
import { runs } from '../../../testbed/runs.mts';
import { VirtualTime } from '../../../testbed/virtualTime.mts';
import { failureOf, responseOf, settled, useVirtualTime } from '../fakes.mts';

const forEver = new AbortController().signal;
const virtual = useVirtualTime();
let limit: RateLimit;
beforeEach(() => (limit = new RateLimit()));

const now = () => virtual.time.now();
const take = async (ms: number) => await virtual.time.sleep(ms);
const pass = async <T,>(run: () => Promise<T>, end = forEver) => await limit.pass(run, virtual.time, end);
const askedToWait = (retryAfterMs: number, httpStatus = 429) =>
	failureOf({ httpStatus, temporary: true, retryAfterMs });
const times = <T,>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Another request gets a response with `Retry-After` after so many milliseconds. */
async function pause(retryAfterMs: number, takesMs = 0): Promise<void> {
	const run = async () => {
		if (takesMs > 0) await take(takesMs);
		throw askedToWait(retryAfterMs);
	};
	await settled(limit.afterPause(run, virtual.time, forEver));
}

/** Sends requests, all at once; each takes so many milliseconds. */
function sendAll(count: number, takesMs: number, end = forEver) {
	const sent = { begins: new Array<number>(), peak: 0, all: Promise.resolve<unknown>(undefined) };
	let underWay = 0;
	const run = async () => {
		sent.begins.push(now());
		sent.peak = Math.max(sent.peak, ++underWay);
		await take(takesMs);
		underWay--;
	};
	sent.all = Promise.all(times(count, async () => await pass(run, end)));
	return sent;
}

/** Returns a function that sends so many requests of one execution, which has eight slots. */
function executionOf(name: string, sent: string[]) {
	const slots = pLimit(8);
	const run = async () => {
		sent.push(name);
		await take(100);
	};
	const send = async () => await limit.pass(run, virtual.time, forEver, 0, slots);
	return async (count: number) => await Promise.all(times(count, send));
}

/** How many of fifty requests are sent at once. None gets a response. */
async function placesInWindow(): Promise<number> {
	const stop = new AbortController();
	let places = 0;
	const run = async () => {
		if (!stop.signal.aborted) places++;
		await take(100);
		throw new Error('no response');
	};
	const all = Promise.allSettled(times(50, async () => await pass(run, stop.signal)));
	await virtual.time.run(50);
	stop.abort();
	await virtual.time.until(all);
	return places;
}

test.each([0, -1, 2000])(
	'a Retry-After of %i ms limits nothing if no retry helps, or if it asks for no pause',
	async (ms) => {
		await pause(Math.min(0, ms));
		await settled(pass(async () => await Promise.reject(failureOf({ retryAfterMs: ms }))));
		const sent = sendAll(400, 10);
		await virtual.time.until(sent.all);
		expect({ first: sent.begins[0], peak: sent.peak }).toEqual({ first: 0, peak: 400 });
	},
);

describe('a pause', () => {
	test('delays every request, and two at once follow it, in the order in which they came', async () => {
		await pause(2000);
		const begins: Array<readonly [number, number]> = [];
		const all = times(8, async (n) => {
			const run = async () => {
				begins.push([n, now()]);
				await take(100);
				// Failures without a response do not widen the window.
				throw new Error('no response');
			};
			await settled(pass(run));
		});
		await virtual.time.until(Promise.all(all));
		expect(begins).toEqual(times(8, (n) => [n, 2000 + 100 * Math.floor(n / 2)]));
	});

	test('of two minutes is waited for; a longer one fails the request, and is forgotten after two minutes', async () => {
		await pause(LONGEST_WAIT_MS);
		const waiting = pass(async () => now());
		await virtual.time.until(waiting);
		expect(await waiting).toBe(LONGEST_WAIT_MS);
		await pause(3_600_000);
		await expect(pass(async () => 'sent')).rejects.toMatchObject({
			message: 'The platform asked for a pause that ends in 60 minutes, so the node sent nothing',
			details: { kind: 'status', httpStatus: 429, retryable: false },
		});
		await virtual.time.run(LONGEST_WAIT_MS);
		await expect(pass(async () => 'sent')).resolves.toBe('sent');
	});

	test('after another one is waited for no longer than two minutes in all', async () => {
		const early = async () => {
			await take(90_000);
			throw askedToWait(60_000, 503);
		};
		void settled(pass(early));
		await pause(100_000);
		const waiting = settled(pass(async () => 'sent'));
		await virtual.time.until(waiting);
		expect(await waiting).toMatchObject({ details: { kind: 'status', httpStatus: 503, retryable: false } });
	});

	test('that is shorter does not end a longer one', async () => {
		await virtual.time.until(Promise.all([pause(2000, 10), pause(500, 20)]));
		const next = pass(async () => now());
		await virtual.time.until(next);
		expect(await next).toBe(2010);
	});

	test('ends at once for a request that is stopped, and its place goes to another one', async () => {
		const stop = new AbortController();
		await pause(60_000);
		const inPause = pass(async () => now(), stop.signal);
		stop.abort();
		expect(await inPause).toBe(0);

		await virtual.time.run(60_000);
		const ends = new AbortController();
		const first = sendAll(2, 100);
		const ended = sendAll(30, 5000, ends.signal);
		const last = sendAll(1, 100);
		virtual.time.after(50, () => ends.abort());
		await virtual.time.until(Promise.all([first.all, ended.all, last.all]));
		expect([ended.begins, last.begins]).toEqual([times(30, () => 60_050), [60_100]]);
	});
});

describe('the window', () => {
	test('widens by an eighth with each response', async () => {
		await pause(1000);
		await virtual.time.run(1000);
		const places: number[] = [];
		for (const responses of [16, 7, 1, 8, 16]) {
			for (let n = 0; n < responses; n++) await pass(async () => 'a response');
			places.push(await placesInWindow());
		}
		expect(places).toEqual([4, 4, 5, 6, 8]);
	});

	test('halves with each further pause, down to one request; late refusals do not halve it again', async () => {
		const places: number[] = [];
		for (let n = 0; n < 5; n++) {
			// Requests that were sent together are told to wait: that is one pause.
			await virtual.time.until(Promise.all(times(3, async () => await pause(1000, 5))));
			await virtual.time.run(1000);
			places.push(await placesInWindow());
		}
		expect(places).toEqual([2, 1, 1, 1, 1]);
		for (let n = 0; n < 8; n++) await pass(async () => 'a response');
		expect(await placesInWindow()).toBe(2);
	});

	test('does not widen with a late response', async () => {
		const early = sendAll(40, 100);
		await virtual.time.run(50);
		await pause(2000);
		const { begins, all } = sendAll(20, 100);
		await virtual.time.run(2000);
		expect(begins).toHaveLength(2);
		await virtual.time.until(Promise.all([early.all, all]));
	});

	test('is gone after a quiet minute, also for the requests that wait for a place', async () => {
		await pause(1000);
		const slow = sendAll(400, 300_000);
		// Each slow request gives its place to the next one, every ten seconds.
		await virtual.time.run(61_000);
		expect(slow.begins).toHaveLength(14);
		await virtual.time.run(1);
		const others = sendAll(40, 10);
		await virtual.time.run(5);
		expect({ slow: slow.begins.length, peak: others.peak }).toEqual({ slow: 400, peak: 40 });
		await virtual.time.until(Promise.all([slow.all, others.all]));
	});

	test('has a place more after ten seconds of a request', async () => {
		await pause(1000);
		const { begins, all } = sendAll(8, 15_000);
		await virtual.time.until(all);
		expect(begins.slice(0, 5)).toEqual([1000, 1000, 11_000, 11_000, 21_000]);
		expect(await placesInWindow()).toBe(3);
	});

	test('is shared by turns, so that a dropdown does not wait for all requests of eight lists', async () => {
		await pause(1000);
		const sent: string[] = [];
		const [lists, poll, early, late] = ['lists', 'poll', 'early', 'late'].map((name) => executionOf(name, sent));
		const all = [lists?.(64), poll?.(10), early?.(1), take(1000).then(async () => await late?.(1))];
		await virtual.time.until(Promise.all(all));
		expect(sent.indexOf('early')).toBeLessThan(20);
		expect(sent.lastIndexOf('poll')).toBeLessThan(30);
		expect(sent.indexOf('late')).toBeLessThan(50);
	});

	test('is shared by turns of many executions that send one request after the other, too', async () => {
		await pause(1000);
		const sent: string[] = [];
		const others = times(20, async (other) => {
			const send = executionOf(`other ${other}`, sent);
			for (let count = 0; count < 10; count++) await send(1);
		});
		await virtual.time.until(Promise.all([...others, executionOf('lists', sent)(64)]));
		expect(sent.slice(0, 140).filter((name) => name === 'lists').length).toBeGreaterThan(35);
	});
});

/**
 * Begins an execution whose items 0 and 1 have different accounts, and returns a function that sends reads for an item.
 * @param answer carries out the request of this name; returns the seconds of a `Retry-After`, or 0 for a success
 */
function begin(parallelRequests: number, answer: (name: string) => Promise<number>) {
	const httpRequestWithAuthentication = async (_type: string, { url }: IHttpRequestOptions) => {
		const seconds = await answer(url.slice(url.lastIndexOf('/') + 1));
		return seconds === 0
			? responseOf({ code: 0 })
			: responseOf({ code: 9999 }, { 'retry-after': String(seconds) }, 429);
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
			return isTold ? 1 : 0;
		});
		await virtual.time.until(send(0, ['x']));
		await virtual.time.until(send(0, ['a', 'b', 'c', 'd'], 1));
		expect(begins.map(([name]) => name).join(' ')).toBe('x a b a c d');
	});

	test('of one account that pauses leave the parallel requests to another account', async () => {
		let [underWay, peak] = [0, 0];
		const send = begin(2, async (name) => {
			begins.push([name, now()]);
			peak = Math.max(peak, ++underWay);
			await take(100);
			underWay--;
			return begins.length <= 2 ? 60 : 0;
		});
		const paused = send(0, ['a', 'b', 'c', 'd']);
		await virtual.time.run(100);
		const other = send(1, ['e', 'f', 'g']);
		await virtual.time.run(59_950);
		const last = send(1, ['h', 'i', 'j', 'k']);
		await virtual.time.until(Promise.all([paused, other, last]));
		const moments = [0, 0, 100, 100, 200, 60_050, 60_050, 60_150, 60_150, 60_250, 60_250];
		expect({ begins, peak }).toEqual({ begins: at('a b e f g h i j k c d', moments), peak: 2 });
	});

	test('that wait for a slot during a whole pause follow it two at once', async () => {
		const answer = async (name: string) => {
			if (name === 'waits') begins.push([name, now()]);
			await take(name === 'slow' ? 5000 : 100);
			return name === 'told' ? 1 : 0;
		};
		const slow = begin(3, answer);
		const sent = [slow(1, ['slow', 'slow', 'slow']), slow(0, ['waits', 'waits', 'waits'])];
		await virtual.time.until(Promise.all([...sent, begin(1, answer)(0, ['told'])]));
		expect(begins).toEqual(at('waits waits waits', [5000, 5000, 5100]));
	});

	test('that wait for a slot keep their places for ten seconds, and no slot during a pause', async () => {
		const answer = async (name: string) => {
			begins.push([name, now()]);
			await take(name === 'slow' ? 30_000 : 0);
			return { told: 1, again: 60 }[name] ?? 0;
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

/**
 * Returns how many of 40 pages each process loses, eight at once with three retries. All share one limit of the platform, which asks
 * for a second's pause.
 */
async function lossesOf(processes: number, perSecond: number): Promise<number[]> {
	let chance = perSecond;
	const random = () => (chance = (chance * 48_271) % 2_147_483_647) / 2_147_483_647;
	let [second, inSecond] = [now(), 0];
	const attempt = async () => {
		await take(1 + Math.floor(random() * 20));
		if (now() - second >= 1000) [second, inSecond] = [now(), 0];
		if (++inSecond > perSecond) throw askedToWait(1000);
		return true;
	};
	const process = async () => {
		const own = new RateLimit();
		const slots = pLimit(8);
		let lost = 40;
		const send = async () => {
			for (let attempts = 0; attempts <= 3; attempts++) {
				if ((await settled(own.pass(attempt, virtual.time, forEver, attempts))) === true) return void lost--;
			}
		};
		await Promise.all(times(40, async () => await slots(send)));
		return lost;
	};
	const all = Promise.all(times(processes, process));
	await virtual.time.until(all);
	return await all;
}

/** docs/maintainers/decisions.md compares this with other windows. */
test('of lists of 40 pages that share 1 to 10 requests a second, at most 60% lose a page, and none of one process', async () => {
	const losses: number[] = [];
	for (const perSecond of [1, 4, 7, 10]) {
		expect(await lossesOf(1, perSecond)).toEqual([0]);
		for (const processes of [2, 5, 8]) losses.push(...(await lossesOf(processes, perSecond)));
	}
	expect(losses.filter((pages) => pages > 0).length / losses.length).toBeLessThanOrEqual(0.6);
});

const request = fc.record({
	takes: fc.integer({ min: 1, max: 15_000 }),
	begins: fc.integer({ min: 0, max: 3000 }),
	ends: fc.constantFrom('response', 'response', 'failure', 'pause', 'long pause'),
	stops: fc.option(fc.integer({ min: 0, max: 4000 })),
});

test('no request waits forever, and each gives its place back', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 40 }), async (requests) => {
			[virtual.time, limit] = [new VirtualTime(), new RateLimit()];
			const all = requests.map(async ({ takes, begins, ends, stops }) => {
				const stop = new AbortController();
				if (stops !== null) virtual.time.after(stops, () => stop.abort());
				await take(begins);
				const run = async () => {
					await take(takes);
					if (ends === 'failure') throw new Error('x');
					if (ends === 'pause') throw askedToWait(takes * 4);
					if (ends === 'long pause') throw askedToWait(200_000);
				};
				await settled(pass(run, stop.signal));
			});
			await virtual.time.until(Promise.all(all));
			await virtual.time.run(LONGEST_WAIT_MS);
			await pause(1000);
			const later = sendAll(40, 100);
			await virtual.time.run(1050);
			expect(later.begins.length).toBeGreaterThan(0);
			await virtual.time.until(later.all);
		}),
		runs(300),
	);
});
