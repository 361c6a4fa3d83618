/** Test fixtures that jest opens and closes. Only tests import this file, because it needs jest's functions. */
import { setImmediate } from 'node:timers/promises';

import { forgetAccounts } from '../nodes/DeviceManagement/transport/account.ts';
import { type Clock, replaceClock, systemClock } from '../nodes/DeviceManagement/transport/waiting/clock.ts';
import { forgetPolls } from '../nodes/DeviceManagement/trigger/poll/memory.ts';
import { type Bench, openBench } from './bench.mts';
import { type StartOptions, startPlatform } from './platform/server.mts';
import { stopClock } from './virtualTime.mts';

/**
 * Opens one bench for all tests of a file, before its first `beforeEach`. Each test begins with the original settings,
 * devices (250 by default) and credentials, and without recorded requests.
 */
export function useBench({
	fleet = { size: 250, seed: 7 },
	...options
}: Omit<StartOptions, 'fleet'> & { fleet?: { size: number; seed?: number } } = {}): Omit<Bench, 'reset' | 'close'> {
	const open = useBenches();
	// Filled when it opens.
	const bench = {} as Bench;
	beforeAll(async () => {
		Object.defineProperties(bench, Object.getOwnPropertyDescriptors(await open({ ...options, fleet })));
	}, 120_000);
	beforeEach(async () => await bench.reset({ ...options, fleet }));
	return bench;
}

/**
 * Returns a function that resets a bench with these options for the rest of the test. A bench is only opened for the first
 * test that needs it: one for each call within a test, and for TLS.
 */
export function useBenches(): (options?: StartOptions) => Promise<Bench> {
	const opened: Bench[] = [];
	const used = new Set<Bench>();
	beforeEach(() => {
		used.clear();
		forgetAccounts();
		forgetPolls();
	});
	afterAll(async () => void (await Promise.all(opened.map(async (bench) => await bench.close()))));
	return async (options = {}) => {
		const scheme = options.tls === true ? 'https:' : 'http:';
		let bench = opened.find((one) => !used.has(one) && one.platform.baseUrl.startsWith(scheme));
		if (bench === undefined) opened.push((bench = await openBench(options)));
		else await bench.reset(options);
		used.add(bench);
		return bench;
	};
}

/** Sends a request to this machine and waits for the response: earlier requests have arrived by then. */
export async function roundTrip(): Promise<void> {
	const platform = await startPlatform();
	await fetch(platform.baseUrl);
	await platform.stop();
}

/**
 * For the rest of the test, the node's waits take no time, and its timeouts end so many times sooner. Each wait moves the
 * clock.
 * @param onWait called at each wait with its length in milliseconds
 */
export function hurry(times = 1, onWait: (ms: number) => void = () => {}): void {
	let ahead = 0;
	const now = () => systemClock.now() + ahead;
	const date = () => systemClock.date() + ahead;
	useClock({
		...systemClock,
		now,
		date,
		sleep: async (ms) => {
			const until = now() + ms;
			onWait(ms);
			await setImmediate();
			ahead = Math.max(ahead, until - systemClock.now());
		},
		timeout: (ms) => systemClock.timeout(Math.ceil(ms / times)),
	});
}

/** A clock that only moves when a test moves it, and by the node's waits. Each test begins on November 1, 2026. */
export function useStillClock(): { now: number } {
	const clock = { now: 0 };
	beforeEach(() => {
		clock.now = Date.UTC(2026, 10, 1);
		putBack.push(stopClock(clock));
	});
	return clock;
}

/** Replaces the node's clock for the rest of the test. */
export function useClock(clock: Clock): void {
	putBack.push(replaceClock(clock));
}

const putBack: Array<() => void> = [];
afterEach(() => {
	// The last first: each puts back what it replaced.
	for (const clock of putBack.splice(0).reverse()) clock();
});
