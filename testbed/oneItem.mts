/** Runs an operation for one input item, without n8n and without a platform. Parameters are the values of their expressions. */
import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../nodes/DeviceManagement/core/failure.ts';
import type { ReadParameter } from '../nodes/DeviceManagement/fields/check.ts';
import { readSettings } from '../nodes/DeviceManagement/fields/options.ts';
import { OPTION_NAMES, RESOURCES } from '../nodes/DeviceManagement/resources/index.ts';
import type { Item } from '../nodes/DeviceManagement/resources/operation.ts';
import type { PlatformRequest } from '../nodes/DeviceManagement/transport/platform.ts';
import { operationNames, operations } from './operations.mts';

export type Parameters = Record<string, unknown>;
/** A request of the operation, and the payload of its response. */
type Sent = Omit<PlatformRequest<unknown>, 'schema'>;
type Respond = (request: Sent) => unknown;

export const bySerialNumber = (value: unknown, mode = 'sn') => ({ __rl: true as const, mode, value });
export const get = { resource: 'device', operation: 'get', device: bySerialNumber('RT1') };
export const getMany = { resource: 'device', operation: 'getAll' };
export const count = { resource: 'device', operation: 'count' };
export const request = { resource: 'api', operation: 'request', path: '/api/version' };

/** Each collection in the form of each operation, with parameters to which it can be added. */
export const COLLECTIONS = operationNames.flatMap((operation) => {
	const { resource, operation: name } = operations[operation];
	const fields = RESOURCES[resource]?.operations[name]?.fields ?? [];
	const parameters = { ...operations[operation], device: get.device };
	const collections = fields.filter(({ type }) => type === 'collection' || type === 'fixedCollection');
	const labels = new Map(collections.map((field) => [field.name, field.displayName]));
	return [...labels].map(([field, label]) => ({ label, name: field, operation, parameters }));
});

/**
 * Runs the operation that the parameters name.
 * @param noteRead is called with the name of each parameter that it reads
 * @returns its requests, the data of its output items, and its hints
 */
export async function runAlone(
	parameters: Parameters,
	respond: Respond = () => ({}),
	noteRead: (name: string) => void = () => {},
) {
	const { resource, operation } = parameters;
	const { run } = RESOURCES[String(resource)]?.operations[String(operation)] ?? {};
	if (run === undefined) throw new Error(`There is no operation ${String(operation)}`);
	const sent: Sent[] = [];
	const hints: string[] = [];
	const request: Item['platform']['request'] = async ({ schema, ...one }) => {
		sent.push(one);
		return schema.parse(await respond(one));
	};
	const read: ReadParameter = (name, fallback, options) => {
		noteRead(name);
		const value = Object.hasOwn(parameters, name) ? parameters[name] : (DEFAULTS[name] ?? fallback);
		return options?.extractValue === true ? Object(value).value : value;
	};
	const platform = { request, stop: () => {} };
	const hint = (message: string) => void hints.push(message);
	const item: Item = {
		platform,
		byAgent: false,
		isOnly: false,
		hint,
		read,
		settings: readSettings(read, OPTION_NAMES),
	};
	const output: readonly IDataObject[] = await run(item);
	return { sent, output, hints };
}

/** Returns why the operation refuses the parameters. Throws if it sends a request. */
export async function refusalOf(parameters: Parameters): Promise<Failure['details']> {
	const refuse = () => {
		throw new Error('It was not refused');
	};
	const thrown: unknown = await runAlone(parameters, refuse).then(refuse, (reason: unknown) => reason);
	if (thrown instanceof Failure) return thrown.details;
	throw thrown;
}

/** What n8n fills in for fields that are not set, where that matters. */
const DEFAULTS: Parameters = { returnAll: false, limit: 50, output: 'simplified', fields: [], method: 'GET' };
