import type { INodeProperties } from 'n8n-workflow';

import { DEVICE_FIELDS } from '../core/output';

/** Labels of the device fields, in the order of DEVICE_FIELDS. */
const FIELD_LABELS: Record<(typeof DEVICE_FIELDS)[number], string> = {
	attributes: 'Attributes',
	createTime: 'Create Time',
	creator: 'Creator',
	description: 'Description',
	group: 'Group',
	iccid: 'ICCID',
	iccidOverwrite: 'ICCID Overwrite',
	id: 'ID',
	imei: 'IMEI',
	model: 'Model',
	onlineStatus: 'Online Status',
	sensorOverwrite: 'Sensor Overwrite',
	sensorSn: 'Sensor Serial Number',
	sn: 'Serial Number',
	status: 'Status',
	tags: 'Tags',
	updateTime: 'Update Time',
	updator: 'Updator',
};

const byLabel = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
const fieldOptions = DEVICE_FIELDS.map((field) => ({ name: FIELD_LABELS[field], value: field }));

/** Query parameters by name. */
export const queryParametersField: INodeProperties = {
	displayName: 'Query Parameters',
	name: 'query',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Parameter',
	default: {},
	options: [
		{
			displayName: 'Parameter',
			name: 'parameter',
			values: [
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. description',
					description: 'Name of the query parameter',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					description: 'Value of the query parameter; it is encoded for you',
				},
			],
		},
	],
};

/** 'Filters' of a list (section 1.4 of the API document). */
export const filtersField: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description: 'Only devices that meet all filters. Which of them a platform supports is up to it.',
	options: [
		{
			displayName: 'Attributes',
			name: 'attributes',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true },
			placeholder: 'Add Attribute',
			default: {},
			description: 'Devices whose attributes have these values',
			options: [
				{
					displayName: 'Attribute',
					name: 'pair',
					values: [
						{
							displayName: 'Key',
							name: 'key',
							type: 'string',
							default: '',
							placeholder: 'e.g. site',
							description: "The attribute's name, without spaces or commas",
						},
						{
							displayName: 'Value',
							name: 'value',
							type: 'string',
							default: '',
							placeholder: 'e.g. North Harbour',
							description: 'The value to look for. It may hold spaces, but no comma.',
						},
					],
				},
			],
		},
		{
			displayName: 'Composite Status',
			name: 'compositeStatus',
			type: 'number',
			default: 0,
			description: "A whole number whose meaning is in your platform's own documentation",
		},
		{
			displayName: 'Name',
			name: 'name',
			type: 'string',
			default: '',
			placeholder: 'e.g. harbour',
			description: 'Text to look for in the name',
		},
		{ ...queryParametersField, description: 'Further filters that your platform knows' },
		{
			displayName: 'Search Criteria (JSON)',
			name: 'body',
			type: 'json',
			default: '{}',
			description: 'A JSON object whose fields are added to the search criteria in the request body',
		},
		{
			displayName: 'Tags',
			name: 'tags',
			type: 'string',
			default: '',
			placeholder: 'e.g. harbour, spare',
			description: 'One tag, or several separated by commas',
		},
	],
};

/** 'Sort' of a list (section 1.3 of the API document). */
export const sortField: INodeProperties = {
	displayName: 'Sort',
	name: 'sort',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Sort Rule',
	default: {},
	description: 'Order in which the platform lists the devices; the first rule weighs most',
	options: [
		{
			displayName: 'Rule',
			name: 'rule',
			values: [
				{
					displayName: 'Field',
					name: 'field',
					type: 'options',
					options: [
						...fieldOptions.filter(({ value }) => value !== 'attributes'),
						{ name: 'Attribute', value: 'attributes' },
						{ name: 'Custom', value: 'custom' },
					].sort(byLabel),
					default: 'createTime',
					description: 'What to sort by',
				},
				{
					displayName: 'Attribute or Field Name',
					name: 'attribute',
					type: 'string',
					default: '',
					displayOptions: { show: { field: ['attributes', 'custom'] } },
					placeholder: 'e.g. site',
					description: 'Key of the attribute; for a custom field, its name as the platform knows it',
				},
				{
					displayName: 'Direction',
					name: 'direction',
					type: 'options',
					options: [
						{ name: 'Ascending', value: 'asc' },
						{ name: 'Descending', value: 'desc' },
					],
					default: 'desc',
					description: 'Which end comes first',
				},
			],
		},
	],
};

/** 'Output' and 'Fields': how much of a device goes on in the workflow. */
export const outputFields: INodeProperties[] = [
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		options: [
			{
				name: 'Raw',
				value: 'raw',
				description: 'Everything the platform sends, untouched',
			},
			{
				name: 'Selected Fields',
				value: 'selected',
				description: 'Only the fields you choose, and the ID',
			},
			{
				name: 'Simplified',
				value: 'simplified',
				description: 'The ten most used fields, flat',
			},
		],
		default: 'simplified',
		description: 'How much of each device to pass on',
	},
	{
		displayName: 'Fields',
		name: 'fields',
		type: 'multiOptions',
		options: [...fieldOptions].sort(byLabel),
		default: ['sn', 'onlineStatus', 'status'],
		displayOptions: { show: { output: ['selected'] } },
		description: 'The fields to pass on. The ID always comes along.',
	},
];

/** The number fields under 'Options'. Their defaults and limits are those that the values are checked against. */
export const optionFields = {
	maxRetries: {
		displayName: 'Max Retries',
		name: 'maxRetries',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 10 },
		default: 3,
		description:
			'How often a request that only reads is sent again after a time-out, a dropped connection or HTTP 429, 502, 503 or 504',
	},
	pageSize: {
		displayName: 'Page Size',
		name: 'pageSize',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 10_000 },
		default: 1000,
		description:
			'How many devices to ask for in one request. A platform that allows fewer sends fewer; none is lost.',
	},
	parallelRequests: {
		displayName: 'Parallel Requests',
		name: 'parallelRequests',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 16 },
		default: 8,
		description:
			'How many requests may be under way at once. The value of the first item holds for the whole run.',
	},
	timeout: {
		displayName: 'Timeout',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 3_600_000 },
		default: 60_000,
		description: 'How long one request may take, in milliseconds',
	},
} as const satisfies Record<string, INodeProperties>;

/**
 * 'Options' with the given fields.
 * @param fields in alphabetical order of their labels
 */
export function optionsField(fields: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: fields,
	};
}

/** Shows fields for one operation only. */
export function forOperation(
	resource: string,
	operation: string,
	fields: INodeProperties[],
): INodeProperties[] {
	return fields.map((field) => ({
		...field,
		displayOptions: {
			show: { ...field.displayOptions?.show, resource: [resource], operation: [operation] },
		},
	}));
}
