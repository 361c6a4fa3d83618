import fc from 'fast-check';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { z } from 'zod/v4';

import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { RateLimit } from '../../../nodes/DeviceManagement/transport/waiting/rateLimit.ts';
import { replaceClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { LONGEST_WAIT_MS } from '../../../nodes/DeviceManagement/transport/waiting/retry.ts';
import { openPlatformForItems, type Platform } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { forgetAccounts } from '../../../nodes/DeviceManagement/transport/auth/account.ts';
import { runs } from '../../../testbed/runs.mts';
import { VirtualTime } from '../../../testbed/virtualTime.mts';
import { responseOf } from '../auth/signedOut.mts';

const forEver = new AbortController().signal;
let time: VirtualTime;
let limit: RateLimit;
let putBack: () => void;
beforeEach(() => {
	time = new VirtualTime();
	limit = new RateLimit();
	putBack = replaceClock(time);
	forgetAccounts();
});
afterEach(() => putBack());

const askedToWait = (retryAfterMs: number, httpStatus = 429) =>
	new Failure({
		kind: 'status',
		cause: 'platform',
		message: 'Wait',
		remedy: '',
		httpStatus,
		temporary: true,
		retryAfterMs,
	});

/** Another request gets a response with `Retry-After`. */
async function pause(ms: number, httpStatus?: number): Promise<void> {
	await limit.afterPause(async () => await Promise.reject(askedToWait(ms, httpStatus)), time, forEver).catch(() => {});
}

/** Sends requests, all at once; each takes so many milliseconds. */
function sendAll(count: number, takesMs: number, end = forEver) {
	const begins: number[] = [];
	let underWay = 0;
	let peak = 0;
	const send = async () =>
		await limit.pass(
			async () => {
				begins.push(time.now());
				peak = Math.max(peak, ++underWay);
				await time.sleep(takesMs);
				underWay--;
			},
			time,
			end,
		);
	const all = Promise.all(Array.from({ length: count }, send));
	return { begins, peak: () => peak, all };
}

test('limits nothing before the platform requests a pause', async () => {
	const { peak, all } = sendAll(400, 10);
	await time.run();
	await all;
	expect(peak()).toBe(400);
});

test.each([0, -1])('a Retry-After of %d ms is no pause', async (ms) => {
	await pause(ms);
	const { begins, peak, all } = sendAll(40, 10);
	await time.run(0);
	await time.run();
	await all;
	expect({ first: begins[0], peak: peak() }).toEqual({ first: 0, peak: 40 });
});

test('a failure that no retry helps against starts no pause', async () => {
	const { details } = askedToWait(2000);
	const refused = new Failure({ ...details, temporary: false });
	await expect(limit.pass(async () => await Promise.reject(refused), time, forEver)).rejects.toBe(refused);
	await expect(limit.pass(async () => time.now(), time, forEver)).resolves.toBe(0);
});

test('a pause delays every request, and two at once follow it, in the order in which they came', async () => {
	await pause(2000);
	const order: number[] = [];
	const all = Array.from({ length: 60 }, async (_, n) => {
		const run = async () => {
			order.push(n);
			await time.sleep(100);
			throw new Error('no response');
		};
		await limit.pass(run, time, forEver).catch(() => {});
	});
	await time.run(1999);
	expect(order).toEqual([]);
	await time.run(1);
	expect(order).toEqual([0, 1]);
	await time.run(100);
	// Failures without a response do not widen the window.
	expect(order).toEqual([0, 1, 2, 3]);
	await time.until(Promise.all(all));
	expect(order).toEqual(Array.from({ length: 60 }, (_, n) => n));
});

/**
 * Begins an execution whose items 0 and 1 have different accounts, and returns a function that sends reads for an item.
 * @param answer carries out the request of this name; returns the seconds of a `Retry-After`, or 0 for a success
 */
function begin(parallelRequests: number, answer: (name: string) => Promise<number>) {
	const context = {
		getInputData: () => [],
		getExecutionCancelSignal: () => undefined,
		getCredentials: async (_type: string, item: number) => ({
			baseUrl: 'https://platform.example',
			apiKey: `k${item}`,
		}),
		helpers: {
			httpRequestWithAuthentication: async (_type: string, { url }: IHttpRequestOptions) => {
				const seconds = await answer(url.slice(url.lastIndexOf('/') + 1));
				if (seconds === 0) return responseOf({ code: 0 });
				return { ...responseOf({ code: 9999 }), statusCode: 429, headers: { 'retry-after': String(seconds) } };
			},
		},
	};
	const platforms = openPlatformForItems(context as unknown as IExecuteFunctions, { parallelRequests });
	const read = async (platform: Platform, name: string, maxRetries: number) =>
		await platform.request({
			method: 'GET',
			path: `/api/${name}`,
			purpose: 'read',
			schema: z.unknown(),
			settings: { timeoutMs: 60_000, maxRetries },
		});
	return async (item: number, names: readonly string[], maxRetries = 0) => {
		const platform = await platforms.forItem(item);
		return await Promise.allSettled(names.map(async (name) => await read(platform, name, maxRetries)));
	};
}

test('a retry is sent before the requests that wait since before it', async () => {
	const sent: string[] = [];
	const send = begin(8, async (name) => {
		const isTold = sent.push(name) <= 2;
		await time.sleep(10);
		return isTold ? 1 : 0;
	});
	await time.until(send(0, ['x']));
	await time.until(send(0, ['a', 'b', 'c', 'd'], 1));
	expect(sent).toEqual(['x', 'a', 'b', 'a', 'c', 'd']);
});

test('executions take turns, so that a dropdown does not wait for all requests of eight lists', async () => {
	await pause(1000);
	const sent: string[] = [];
	const execution = (name: string) => {
		const slots = pLimit(8);
		const run = async () => {
			sent.push(name);
			await time.sleep(100);
		};
		return async (count: number) =>
			await Promise.all(Array.from({ length: count }, async () => await limit.pass(run, time, forEver, 0, slots)));
	};
	const [lists, poll, early, late] = ['lists', 'poll', 'early', 'late'].map(execution);
	const all = [lists?.(64), poll?.(10), early?.(1), time.sleep(1000).then(async () => await late?.(1))];
	await time.until(Promise.all(all));
	expect(sent.indexOf('early')).toBeLessThan(20);
	expect(sent.lastIndexOf('poll')).toBeLessThan(30);
	expect(sent.indexOf('late')).toBeLessThan(50);
	sent.length = 0;
	// Many executions that send one request after the other leave the list as much as if all had arrived in turn.
	await pause(1000);
	const others = Array.from({ length: 20 }, async (_, other) => {
		const send = execution(`other ${other}`);
		for (let count = 0; count < 10; count++) await send(1);
	});
	await time.until(Promise.all([...others, lists?.(64)]));
	expect(sent.slice(0, 140).filter((name) => name === 'lists').length).toBeGreaterThan(35);
});

test('eight lists of one execution lose no page to new requests, and send nothing during a pause', async () => {
	let [second, inSecond, underWay, peak, pauseEnd, duringPause] = [0, 0, 0, 0, 0, 0];
	const send = begin(8, async () => {
		if (time.now() < pauseEnd) duringPause++;
		peak = Math.max(peak, ++underWay);
		await time.sleep(10);
		underWay--;
		if (time.now() - second >= 1000) [second, inSecond] = [time.now(), 0];
		if (++inSecond <= 2) return 0;
		pauseEnd = time.now() + 1000;
		return 1;
	});
	const outcomes: string[] = [];
	let pages = 320;
	// Eight pages of each list at once.
	const worker = async () => {
		while (pages-- > 0) for (const { status } of await send(0, ['page'], 3)) outcomes.push(status);
	};
	await time.until(Promise.all(Array.from({ length: 64 }, worker)));
	const lost = outcomes.filter((status) => status === 'rejected').length;
	expect({ read: outcomes.length - lost, lost, peak, duringPause }).toEqual({
		read: 320,
		lost: 0,
		peak: 8,
		duringPause: 0,
	});
});

test('one account that pauses leaves the parallel requests of the execution to another account', async () => {
	const begins: Array<[string, number]> = [];
	let [underWay, peak] = [0, 0];
	const send = begin(2, async (name) => {
		begins.push([name, time.now()]);
		peak = Math.max(peak, ++underWay);
		await time.sleep(100);
		underWay--;
		return begins.length <= 2 ? 60 : 0;
	});
	const paused = send(0, ['a', 'b', 'c', 'd']);
	await time.run(100);
	const other = send(1, ['e', 'f', 'g']);
	await time.run(59_950);
	const last = send(1, ['h', 'i', 'j', 'k']);
	await time.until(Promise.all([paused, other, last]));
	const order = ['a', 'b', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'c', 'd'];
	const times = [0, 0, 100, 100, 200, 60_050, 60_050, 60_150, 60_150, 60_250, 60_250];
	expect({ begins, peak }).toEqual({ begins: order.map((name, n) => [name, times[n]]), peak: 2 });
});

test('if requests wait for a slot during a whole pause, two at once follow it', async () => {
	const begins: number[] = [];
	const answer = async (name: string) => {
		if (name === 'waits') begins.push(time.now());
		await time.sleep(name === 'slow' ? 5000 : 100);
		return name === 'told' ? 1 : 0;
	};
	const slow = begin(3, answer);
	const sent = [slow(1, ['slow', 'slow', 'slow']), slow(0, ['waits', 'waits', 'waits']), begin(1, answer)(0, ['told'])];
	await time.until(Promise.all(sent));
	expect(begins).toEqual([5000, 5000, 5100]);
});

test('requests that wait for a slot keep their places for ten seconds, and no slot during a pause', async () => {
	const begins: Array<[string, number]> = [];
	const answer = async (name: string) => {
		begins.push([name, time.now()]);
		await time.sleep(name === 'slow' ? 30_000 : 0);
		return { told: 1, 'told again': 60 }[name] ?? 0;
	};
	const [send, sendOther] = [begin(1, answer), begin(1, answer)];
	await time.until(sendOther(0, ['told']));
	const sent = [send(1, ['slow']), send(0, ['a', 'b'])];
	await time.run(2000);
	sent.push(send(1, ['c']), sendOther(0, ['told again']));
	await time.until(Promise.all(sent));
	const order = ['told', 'slow', 'told again', 'c', 'a', 'b'];
	expect(begins).toEqual([0, 0, 11_000, 30_000, 71_000, 71_000].map((at, n) => [order[n], at]));
});

/** How many of fifty requests are sent at once. None gets a response. */
async function placesInWindow(): Promise<number> {
	const stop = new AbortController();
	let places = 0;
	const run = async () => {
		if (!stop.signal.aborted) places++;
		await time.sleep(100);
		throw new Error('no response');
	};
	const all = Promise.allSettled(Array.from({ length: 50 }, async () => await limit.pass(run, time, stop.signal)));
	await time.run(50);
	stop.abort();
	await time.until(all);
	return places;
}

test('each response widens the window by an eighth', async () => {
	await pause(1000);
	await time.run(1000);
	const places: number[] = [];
	for (const responses of [16, 7, 1, 8, 16]) {
		for (let n = 0; n < responses; n++) await limit.pass(async () => 'a response', time, forEver);
		places.push(await placesInWindow());
	}
	expect(places).toEqual([4, 4, 5, 6, 8]);
});

test('each further pause halves the window, down to one request; late refusals do not halve it again', async () => {
	const places: number[] = [];
	for (let n = 0; n < 5; n++) {
		// Requests that were sent together are told to wait: that is one pause.
		const refuse = async () => {
			await time.sleep(5);
			throw askedToWait(1000);
		};
		await time.until(Promise.allSettled([1, 2, 3].map(async () => await limit.afterPause(refuse, time, forEver))));
		await time.run(1000);
		places.push(await placesInWindow());
	}
	expect(places).toEqual([2, 1, 1, 1, 1]);
	for (let n = 0; n < 8; n++) await limit.pass(async () => 'a response', time, forEver);
	expect(await placesInWindow()).toBe(2);
});

test('a late response does not widen the window', async () => {
	const early = Promise.all(
		Array.from({ length: 40 }, async () => await limit.pass(async () => await time.sleep(100), time, forEver)),
	);
	await time.run(50);
	await pause(2000);
	const { begins, all } = sendAll(20, 100);
	await time.run(2000);
	await early;
	expect(begins).toHaveLength(2);
	await time.until(all);
});

test('a quiet minute ends the limit, also for the requests that wait for a place', async () => {
	await pause(1000);
	await time.run(1000);
	const slow = sendAll(400, 300_000);
	await time.run(60_000);
	// Each slow request has given its place to the next one, every ten seconds.
	expect(slow.begins).toHaveLength(14);
	await time.run(1);
	const { peak, all } = sendAll(40, 10);
	await time.run(5);
	expect({ slow: slow.begins.length, peak: peak() }).toEqual({ slow: 400, peak: 40 });
	await time.until(Promise.all([slow.all, all]));
});

test('after ten seconds, a request lets one more request start', async () => {
	await pause(1000);
	await time.run(1000);
	const slow = sendAll(8, 15_000);
	await time.run(9_999);
	expect(slow.begins).toHaveLength(2);
	await time.run(2);
	expect(slow.begins).toHaveLength(4);
	await time.until(slow.all);
	expect(await placesInWindow()).toBe(3);
});

test('the node waits for a pause of two minutes; a longer one fails the request, and is forgotten after two minutes', async () => {
	await pause(LONGEST_WAIT_MS);
	const waiting = limit.pass(async () => time.now(), time, forEver);
	await time.run();
	await expect(waiting).resolves.toBe(LONGEST_WAIT_MS);

	await pause(3_600_000);
	await expect(limit.pass(async () => 'sent', time, forEver)).rejects.toMatchObject({
		message: 'The platform asked for a pause that ends in 60 minutes, so the node sent nothing',
		details: { kind: 'status', httpStatus: 429, retryable: false },
	});
	await time.run(LONGEST_WAIT_MS);
	await expect(limit.pass(async () => 'sent', time, forEver)).resolves.toBe('sent');
});

test('pauses that follow each other are not waited for longer than two minutes in all', async () => {
	const early = limit.pass(
		async () => {
			await time.sleep(90_000);
			throw askedToWait(60_000, 503);
		},
		time,
		forEver,
	);
	early.catch(() => {});
	await pause(100_000);
	const waiting = limit.pass(async () => 'sent', time, forEver).catch((thrown: unknown) => thrown);
	await time.until(waiting);
	expect(await waiting).toMatchObject({ details: { kind: 'status', httpStatus: 503, retryable: false } });
});

test('a shorter pause does not end a longer one', async () => {
	const both = [2000, 500].map(
		async (ms) =>
			await limit
				.pass(
					async () => {
						await time.sleep(ms === 500 ? 20 : 10);
						throw askedToWait(ms);
					},
					time,
					forEver,
				)
				.catch(() => {}),
	);
	await time.run();
	await Promise.all(both);
	const next = limit.pass(async () => time.now(), time, forEver);
	await time.run();
	await expect(next).resolves.toBe(2010);
});

test('an end lets a waiting request go on at once, and its place goes to another one', async () => {
	const stop = new AbortController();
	await pause(60_000);
	const inPause = limit.pass(async () => time.now(), time, stop.signal);
	stop.abort();
	await expect(inPause).resolves.toBe(0);

	await time.run(60_000);
	const ends = new AbortController();
	const first = sendAll(2, 100);
	const ended = sendAll(30, 5000, ends.signal);
	const last = sendAll(1, 100);
	await time.run(50);
	expect(ended.begins).toEqual([]);
	ends.abort();
	await time.run(0);
	expect(ended.begins).toHaveLength(30);
	await time.run(60);
	expect(last.begins).toEqual([60_100]);
	await time.until(Promise.all([first.all, ended.all, last.all]));
});

test('a pause of one second slows 200 requests of 500 ms, eight at once, to at most 20 seconds', async () => {
	await pause(1000);
	const work = async () => {
		for (let n = 0; n < 25; n++) await limit.pass(async () => await time.sleep(500), time, forEver);
	};
	await time.until(Promise.all(Array.from({ length: 8 }, work)));
	expect(time.now()).toBeLessThanOrEqual(20_000);
});

/** Processes that send requests to a platform which answers so many in each second, and asks the others to wait for one. */
interface Crowd {
	processes: number;
	/** Of each process. */
	requests: number;
	parallel: number;
	perSecond: number;
	maxRetries: number;
	seed: number;
}

/** Returns the number of requests that each process lost. */
async function lostRequests({ processes, requests, parallel, perSecond, maxRetries, seed }: Crowd): Promise<number[]> {
	let chance = seed;
	const random = () => (chance = (chance * 48_271) % 2_147_483_647) / 2_147_483_647;
	time = new VirtualTime();
	let second = { begin: 0, requests: 0 };
	const answer = () => {
		if (time.now() - second.begin >= 1000) second = { begin: time.now(), requests: 0 };
		if (++second.requests > perSecond) throw askedToWait(1000);
	};
	const send = async (own: RateLimit, knownPause: { end: number }) => {
		for (let attempts = 0; attempts <= maxRetries; attempts++) {
			const attempt = async () => {
				if (time.now() < knownPause.end) throw new Error('sent during a known pause');
				await time.sleep(1 + Math.floor(random() * 20));
				try {
					answer();
				} catch (thrown) {
					knownPause.end = time.now() + 1000;
					throw thrown;
				}
				return true;
			};
			if (await own.pass(attempt, time, forEver, attempts).catch(refusedOnly)) return 0;
		}
		return 1;
	};
	const process = async () => {
		const own = new RateLimit();
		const knownPause = { end: 0 };
		let [sent, lost] = [0, 0];
		const work = async () => {
			while (sent++ < requests) {
				// Not `lost += await`, which adds to the number before the wait.
				const missing = await send(own, knownPause);
				lost += missing;
			}
		};
		await Promise.all(Array.from({ length: parallel }, work));
		return lost;
	};
	const all = Promise.all(Array.from({ length: processes }, process));
	await time.until(all);
	return await all;
}

function refusedOnly(thrown: unknown): false {
	if (thrown instanceof Failure) return false;
	throw thrown;
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

test.each([
	{ processes: 4, maxRetries: 10, most: 0 },
	{ processes: 8, maxRetries: 10, most: 0 },
	{ processes: 2, maxRetries: 3, most: 1 },
	{ processes: 4, maxRetries: 3, most: 1 },
])(
	'where 200 executions in each of $processes processes share 20 requests a second, $maxRetries retries lose at most $most of 200',
	async ({ processes, maxRetries, most }) => {
		const { numRuns: rounds, seed = 1 + (Date.now() % 1_000_000) } = runs(20, 1);
		let lost = 0;
		for (let round = 0; round < rounds; round++) {
			const crowd = { processes, requests: 200, parallel: 40, perSecond: 20, maxRetries, seed: seed + round };
			lost += sum(await lostRequests(crowd));
		}
		expect({ seed, lost, isFew: lost <= most * rounds * processes }).toEqual({ seed, lost, isFew: true });
	},
);

test('of lists of 40 pages that share 1 to 10 requests a second, at most 60% lose a page; those of one process lose none', async () => {
	const lost: Array<{ processes: number; pages: number }> = [];
	for (const perSecond of [1, 4, 7, 10]) {
		for (const processes of [1, 2, 5, 8]) {
			const crowd = { processes, requests: 40, parallel: 8, perSecond, maxRetries: 3, seed: perSecond };
			for (const pages of await lostRequests(crowd)) lost.push({ processes, pages });
		}
	}
	expect(lost.filter(({ processes, pages }) => processes === 1 && pages > 0)).toEqual([]);
	expect(lost.filter(({ pages }) => pages > 0).length / lost.length).toBeLessThanOrEqual(0.6);
});

test('no request waits forever, and never more are under way than the window allows', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(
				fc.record({
					takes: fc.integer({ min: 1, max: 15_000 }),
					begins: fc.integer({ min: 0, max: 3000 }),
					ends: fc.constantFrom('response', 'response', 'failure', 'pause', 'long pause'),
					stops: fc.option(fc.integer({ min: 0, max: 4000 })),
				}),
				{ minLength: 1, maxLength: 40 },
			),
			async (requests) => {
				time = new VirtualTime();
				limit = new RateLimit();
				let ended = 0;
				const all = requests.map(async ({ takes, begins, ends, stops }) => {
					const stop = new AbortController();
					if (stops !== null) time.after(stops, () => stop.abort());
					await time.sleep(begins);
					const run = async () => {
						await time.sleep(takes);
						if (ends === 'failure') throw new Error('x');
						if (ends === 'pause') throw askedToWait(takes * 4);
						if (ends === 'long pause') throw askedToWait(200_000);
					};
					await limit.pass(run, time, stop.signal).catch(() => {});
					ended++;
				});
				await time.run();
				expect(ended).toBe(requests.length);
				await Promise.all(all);
				// Every place was given back.
				await time.run(LONGEST_WAIT_MS);
				await pause(1000);
				const { begins, all: later } = sendAll(40, 100);
				await time.run(1050);
				expect(begins.length).toBeGreaterThan(0);
				await time.until(later);
			},
		),
		runs(300),
	);
});
