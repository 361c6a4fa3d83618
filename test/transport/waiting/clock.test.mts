import { getEventListeners } from 'node:events';

import { beforeEnd, systemClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';

test('a wait on the system clock ends as soon as its signal does', async () => {
	const stop = new AbortController();
	const began = systemClock.now();
	const waiting = systemClock.sleep(60_000, stop.signal);
	stop.abort();
	await waiting;
	expect(systemClock.now() - began).toBeLessThan(5000);
});

test('a wait whose signal was aborted before does not begin', async () => {
	const began = systemClock.now();
	await systemClock.sleep(60_000, AbortSignal.abort());
	expect(systemClock.now() - began).toBeLessThan(5000);
});

test('waits do not follow the date, which may be set back', () => {
	const before = systemClock.now();
	const date = jest.spyOn(Date, 'now').mockReturnValue(0);
	expect([systemClock.date(), systemClock.now() >= before]).toEqual([0, true]);
	date.mockRestore();
});

test('a wait of several steps has the right length', async () => {
	const began = performance.now();
	await systemClock.sleep(300, new AbortController().signal);
	expect(performance.now() - began).toBeGreaterThanOrEqual(295);
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
