import type { IDataObject } from 'n8n-workflow';

import { Watch, type WatchBench, type WatchOptions } from '../../testbed/watch.mts';

/** Later than the times of all sample devices. */
export const LATER = '2031-01-01 00:00:00';
export const HOUR = 3_600_000;

/** Publishes a trigger, which takes its baseline. */
export async function published(bench: WatchBench, parameters: IDataObject, options?: WatchOptions): Promise<Watch> {
	const watching = new Watch(bench, parameters, options);
	expect(await watching.activate()).toBeNull();
	return watching;
}

/** The serial numbers in items. */
export const snsOf = (items: IDataObject[] | null) => (items ?? []).map(({ device }) => (device as IDataObject)['sn']);

/** Event and serial number of each item. */
export const told = (items: IDataObject[] | null) =>
	snsOf(items).map((sn, position) => `${items?.[position]?.['event']} ${sn}`);

/** The warnings in n8n's log. */
export const warningsOf = (logs: ReadonlyArray<{ level: string; message: string }>) =>
	logs.filter(({ level }) => level === 'warn').map(({ message }) => message);

/** A promise, and the function that resolves it. */
export function held(): { released: Promise<undefined>; release: () => void } {
	let release = () => {};
	const released = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));
	return { released, release: () => release() };
}
