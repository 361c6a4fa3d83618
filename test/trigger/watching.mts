import type { IDataObject } from 'n8n-workflow';

import { useBareBench, useStillClock } from '../../testbed/jest.mts';
import type { Device } from '../../testbed/platform/fleet.mts';
import type { InProcessRequest } from '../../testbed/platform/inProcess.mts';
import { Watch, type WatchBench, type WatchOptions } from '../../testbed/watch.mts';

/** Later than the times of all sample devices. */
export const LATER = '2031-01-01 00:00:00';
export const HOUR = 3_600_000;

/** A trigger and a platform without n8n's engine, and a clock that a test moves. */
export function useTrigger() {
	const bench = useBareBench();
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
		answer: (statusCode?: number, body = '', isMeant: (request: InProcessRequest) => boolean = () => true) => {
			bench.platform.intervene = async (request) =>
				statusCode !== undefined && isMeant(request) ? { statusCode, body } : undefined;
		},
		warnings: () => warningsOf(bench.engine.logs),
	};
}

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
