import { getEventListeners } from 'node:events';

import { beforeEnd, systemClock, whyEnded } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';

test('a wait has the right length', async () => {
	const began = performance.now();
	await systemClock.sleep(30, new AbortController().signal);
	expect(performance.now() - began).toBeGreaterThanOrEqual(29);
});

test('a wait ends with its signal, also if that ended before', async () => {
	jest.useFakeTimers();
	const stop = new AbortController();
	const waiting = systemClock.sleep(5000, stop.signal);
	stop.abort();
	await waiting;
	await systemClock.sleep(5000, stop.signal);
	jest.useRealTimers();
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

test('n8n recognizes a stopped execution by its word', () => {
	const remedy = expect.stringContaining('Nothing more was sent');
	const details = { kind: 'cancelled', cause: 'unknown', message: 'The execution was canceled', remedy };
	expect(whyEnded(AbortSignal.abort()).details).toEqual(details);
});
