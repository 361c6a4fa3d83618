import type { INodeProperties } from 'n8n-workflow';

import { optionNames } from '../fields/options';
import { request } from './api/request';
import { count } from './device/count';
import { get } from './device/get';
import { getAll } from './device/getAll';
import type { Resource } from './operation';

/** All resources and their operations by the names in saved workflows, in alphabetical order of their labels. */
export const RESOURCES: Readonly<Record<string, Resource>> = {
	api: { name: 'API Request', operations: { request }, defaultOperation: 'request' },
	device: { name: 'Device', operations: { count, get, getAll }, defaultOperation: 'getAll' },
};

/** The node's form: 'Resource', 'Operation', and the fields of each operation. */
export const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: Object.entries(RESOURCES).map(([value, { name }]) => ({ name, value })),
		default: 'device',
	},
	...Object.entries(RESOURCES).flatMap(([name, resource]) => fieldsOf(name, resource)),
];

export const OPTION_NAMES = optionNames(properties);

const LABELS = Object.fromEntries(
	Object.entries(RESOURCES).flatMap(([resource, { name, operations }]) =>
		Object.entries(operations).map(([operation, { name: label }], _, { length }) => [
			`${resource}:${operation}`,
			length === 1 ? name : `${name}: ${label}`,
		]),
	),
);

/** The subtitle on the canvas, like “Device: Get Many”. n8n names a new node by the action, so it would say the same. */
export const subtitle = `={{ (${JSON.stringify(LABELS)})[$parameter["resource"] + ":" + $parameter["operation"]] }}`;

function fieldsOf(resource: string, { operations, defaultOperation }: Resource): INodeProperties[] {
	const list: INodeProperties = {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
		options: Object.entries(operations).map(([value, { name, action, description }]) => ({
			name,
			value,
			action,
			description,
		})),
		default: defaultOperation,
	};
	const fields = Object.entries(operations).flatMap(([operation, { fields: own }]) =>
		own.map((field) => {
			const show = { ...field.displayOptions?.show, resource: [resource], operation: [operation] };
			return { ...field, displayOptions: { show } };
		}),
	);
	return [list, ...fields];
}
