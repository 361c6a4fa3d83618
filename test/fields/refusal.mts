import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import type { ReadParameter } from '../../nodes/DeviceManagement/fields/check.ts';
import { readSettings } from '../../nodes/DeviceManagement/fields/options.ts';
import { OPTION_NAMES, RESOURCES } from '../../nodes/DeviceManagement/resources/index.ts';
import type { Item } from '../../nodes/DeviceManagement/resources/operation.ts';
import { operationNames, operations } from '../../testbed/operations.mts';

/** Each collection in the form of each operation, with parameters to which it can be added. */
export const COLLECTIONS = operationNames.flatMap((operation) => {
	const { resource, operation: name } = operations[operation];
	const fields = RESOURCES[resource]?.operations[name]?.fields ?? [];
	const parameters = { ...operations[operation], device: { __rl: true, mode: 'sn', value: 'RT1' } };
	const collections = fields.filter(({ type }) => type === 'collection' || type === 'fixedCollection');
	const labels = new Map(collections.map((field) => [field.name, field.displayName]));
	return [...labels].map(([field, label]) => ({ label, name: field, operation, parameters }));
});

/**
 * Runs an operation for one item without n8n and without a platform.
 * @param parameters as a workflow holds them; an expression sees an empty item
 * @returns why the operation refuses them
 * @throws when it sends a request
 */
export async function refusalOf(parameters: Record<string, unknown>): Promise<Failure> {
	const { resource, operation } = parameters;
	const { run } = RESOURCES[String(resource)]?.operations[String(operation)] ?? {};
	if (run === undefined) throw new Error(`There is no operation ${String(operation)}`);
	const refuse = async () => await Promise.reject(new Error('It was not refused'));
	const runItem = async () => await run(itemWith(parameters, refuse));
	return await runItem().then(
		() => {
			throw new Error('It was not refused');
		},
		(thrown: unknown) => {
			if (thrown instanceof Failure) return thrown;
			throw thrown;
		},
	);
}

/** Returns an item with these parameters, without n8n. */
export function itemWith(parameters: Record<string, unknown>, request: Item['platform']['request']): Item {
	const read = readerOf(parameters);
	const platform = { request, largestPage: { size: Infinity }, stop: () => {} };
	const settings = readSettings(read, OPTION_NAMES);
	return { platform, byModel: false, hint: () => {}, read, settings };
}

function readerOf(parameters: Record<string, unknown>): ReadParameter {
	return (name, fallback, options) => {
		const value = Object.hasOwn(parameters, name) ? resolved(parameters[name]) : (DEFAULTS[name] ?? fallback);
		return options?.extractValue === true ? Object(value).value : value;
	};
}

/** What n8n fills in for fields that are not set, where that matters. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
	returnAll: false,
	limit: 50,
	output: 'simplified',
	fields: [],
	method: 'GET',
};

/** Evaluates expressions at any depth. */
function resolved(value: unknown): unknown {
	if (typeof value === 'string') {
		const [, expression] = /^=\{\{(.*)\}\}$/s.exec(value) ?? [];
		return expression === undefined ? value : new Function('$json', `return (${expression});`)({});
	}
	if (Array.isArray(value)) return value.map(resolved);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, resolved(field)]));
}
