import type { IDataObject } from 'n8n-workflow';

import type { Bench } from './bench.mts';

const marked = { parameter: [{ name: 'mark', value: '={{ $json.mark ?? "none" }}' }] };
const request = { resource: 'api', operation: 'request', method: 'GET', query: marked };

/**
 * One set of parameters for each operation, and one for 'Return All' of API Request. The key is the name of the operation, with the resource in front if another resource has
 * the same name: `groupGetAll`. Get reads the serial number from the item's `sn`. The others, if they have a query,
 * send the item's `mark` as a parameter, so that a test can see at the platform which item a request is for.
 */
export const operations = {
	get: {
		resource: 'device',
		operation: 'get',
		device: { __rl: true, mode: 'sn', value: '={{ $json.sn }}' },
		output: 'raw',
	},
	getAll: { resource: 'device', operation: 'getAll', returnAll: true, output: 'raw', filters: { query: marked } },
	count: { resource: 'device', operation: 'count', filters: { query: marked } },
	request: { ...request, path: '/api/echo' },
	requestAll: { ...request, path: '/api/device/list', returnAll: true },
};

export type OperationName = keyof typeof operations;

/** The key of every set. Some suites run all of them; `test/metadata.test.mts` fails if an operation has no set. */
export const operationNames = Object.keys(operations) as readonly OperationName[];

/** The sets that read what the platform has of a resource: all but a request of the user's own. */
export const recordNames = operationNames.filter((name) => operations[name].resource !== 'api');

/** Input items for Get: one for each of the first devices of the fleet. */
export function serialNumberItems({ fleet }: Pick<Bench, 'fleet'>, count: number): IDataObject[] {
	return fleet.devices.slice(0, count).map(({ sn }) => ({ sn }));
}
