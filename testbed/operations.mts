import type { IDataObject } from 'n8n-workflow';

import type { Bench } from './bench.mts';

/**
 * The parameters of each operation of each resource, the same for every input item except for what they take from it: Get reads the
 * serial number in the item's `sn`, the others send the item's `mark` as a query parameter, so that a test can tell at
 * the platform which item a request is for.
 */
export const operations = {
	get: {
		resource: 'device',
		operation: 'get',
		device: { __rl: true, mode: 'sn', value: '={{ $json.sn }}' },
		output: 'raw',
	},
	getAll: {
		resource: 'device',
		operation: 'getAll',
		returnAll: true,
		output: 'raw',
		filters: { query: { parameter: [{ name: 'mark', value: '={{ $json.mark ?? "" }}' }] } },
	},
	count: {
		resource: 'device',
		operation: 'count',
		filters: { query: { parameter: [{ name: 'mark', value: '={{ $json.mark ?? "" }}' }] } },
	},
	request: {
		resource: 'api',
		operation: 'request',
		method: 'GET',
		path: '/api/echo',
		query: { parameter: [{ name: 'mark', value: '={{ $json.mark ?? "" }}' }] },
	},
};

export type OperationName = keyof typeof operations;

/** Every set, for suites that run each operation into the same. `test/metadata.test.mts` fails when an operation has none. */
export const operationNames: readonly OperationName[] = Object.keys(operations).filter(
	(name): name is OperationName => name in operations,
);

/** Input items for Get: one for each of the first devices of the fleet. */
export function serialNumberItems({ fleet }: Pick<Bench, 'fleet'>, count: number): IDataObject[] {
	return fleet.devices.slice(0, count).map(({ sn }) => ({ sn }));
}
