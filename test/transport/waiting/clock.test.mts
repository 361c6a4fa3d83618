import { getEventListeners } from 'node:events';

import { beforeEnd, systemClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';

/** How long a wait of so many milliseconds takes. */
async function lengthOf(ms: number, stop: AbortController): Promise<number> {
	const began = performance.now();
	await systemClock.sleep(ms, stop.signal);
	return performance.now() - began;
}

test('a wait ends as soon as its signal does, and does not begin after it', async () => {
	const stop = new AbortController();
	const waiting = lengthOf(60_000, stop);
	stop.abort();
	expect(await waiting).toBeLessThan(5000);
	expect(await lengthOf(60_000, stop)).toBeLessThan(5000);
});

test('a wait of several steps has the right length', async () => {
	expect(await lengthOf(300, new AbortController())).toBeGreaterThanOrEqual(295);
});

test('waits do not follow the date, which may be set back', () => {
	const before = systemClock.now();
	const date = jest.spyOn(Date, 'now').mockReturnValue(0);
	expect([systemClock.date(), systemClock.now() >= before]).toEqual([0, true]);
	date.mockRestore();
});

test('many waits on one signal share a listener, which is removed with the last of them', async () => {
	const stop = new AbortController();
	const listeners = () => getEventListeners(stop.signal, 'abort').length;
	await Promise.all(Array.from({ length: 20 }, async () => await beforeEnd(stop.signal, Promise.resolve())));
	expect(listeners()).toBe(0);
	const waits = Array.from({ length: 20 }, async () => await beforeEnd(stop.signal, new Promise(() => {})));
	expect(listeners()).toBe(1);
	stop.abort();
	expect(await Promise.all(waits)).toEqual(waits.map(() => undefined));
	expect(listeners()).toBe(0);
});
