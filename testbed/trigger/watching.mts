import { unescape } from 'node:querystring';

import type { IDataObject } from 'n8n-workflow';

import { currentClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { forgetPolls } from '../../nodes/DeviceManagement/trigger/poll/memory.ts';
import { BareEngine } from '../engine/bareNode.mts';
import { useClock, useStillClock } from '../jest.mts';
import type { Device } from '../platform/fleet.mts';
import { EmbeddedPlatform, type PlatformRequest } from '../platform/server.mts';
import { Watch, type WatchBench, type WatchOptions } from '../watch.mts';

/** Later than the times of all sample devices. */
export const LATER = '2026-10-01 00:00:00';
export const HOUR = 3_600_000;

/**
 * A trigger and an embedded platform without n8n's engine and HTTP, for tests of the requests of a poll and its events, and a clock
 * that a test moves. Each test begins with 250 devices, and without requests and log lines.
 */
export function useTrigger() {
	const open = () => {
		const platform = new EmbeddedPlatform({ fleet: { size: 250, seed: 7 } });
		return { platform, engine: new BareEngine(platform), apiKey: 'key' };
	};
	const bench = open();
	beforeEach(() => {
		Object.assign(bench, open());
		forgetPolls();
	});
	const clock = useStillClock();
	const fleet = () => bench.platform.fleet;
	return {
		bench,
		clock,
		fleet,
		/** Publishes a trigger, which takes its baseline. */
		watch: async (parameters: IDataObject = {}, options?: WatchOptions) => await published(bench, parameters, options),
		/** These return the serial number of the device. */
		add: (changes: Partial<Device> = {}, position = 0) => fleet().add(fleet().make(changes), position).sn,
		change: (position: number, changes: Partial<Device>) => fleet().update(fleet().at(position).sn, changes).sn,
		remove: (position: number) => fleet().remove(fleet().at(position).sn).sn,
		/** Lets the platform return something else to some requests; without a status as usual. */
		answer: (status?: number, body = '', isMeant: (request: PlatformRequest) => boolean = () => true) => {
			bench.platform.settings.fault = (request) =>
				status !== undefined && isMeant(request) ? { status, body } : undefined;
		},
		/** The requests so far: the query of a list, or the path of a device. */
		asked: () =>
			bench.platform.requests.map(({ kind, url, path }) =>
				kind === 'list' ? unescape(url.split('?')[1] ?? '') : path,
			),
		warnings: () => warningsOf(bench.engine.logs),
	};
}

/** Publishes a trigger, which takes its baseline. */
export async function published(bench: WatchBench, parameters: IDataObject, options?: WatchOptions): Promise<Watch> {
	const watching = new Watch(bench, parameters, options);
	expect(await watching.activate()).toBeNull();
	return watching;
}

/** From now on in this test, no timeout of the node occurs. Returns the length of each, and its signal. */
export function recordTimeouts(): Array<{ ms: number; signal: AbortSignal }> {
	const timeouts: Array<{ ms: number; signal: AbortSignal }> = [];
	useClock({
		...currentClock(),
		timeout: (ms) => {
			const { signal } = new AbortController();
			timeouts.push({ ms, signal });
			return signal;
		},
	});
	return timeouts;
}

/** The serial numbers in items. */
export const snsOf = (items: IDataObject[] | null) => (items ?? []).map(({ device }) => (device as IDataObject)['sn']);

/** Event and serial number of each item. */
export const told = (items: IDataObject[] | null) =>
	snsOf(items).map((sn, position) => `${items?.[position]?.['event']} ${sn}`);

/** The warnings in n8n's log. */
export const warningsOf = (logs: ReadonlyArray<{ level: string; message: string }>) =>
	logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
