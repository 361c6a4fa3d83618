import type { INodeProperties } from 'n8n-workflow';

import { count } from './count';
import { get } from './get';
import { getAll } from './getAll';

/** The device resource: its operations and their fields. */
export const deviceFields: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: ['device'] } },
		options: [
			{
				name: 'Count',
				value: 'count',
				action: 'Count devices',
				description: 'Count the devices that meet the filters',
			},
			{
				name: 'Get',
				value: 'get',
				action: 'Get device',
				description: 'Read one device by its serial number',
			},
			{
				name: 'Get Many',
				value: 'getAll',
				action: 'Get many devices',
				description: 'List devices, filtered and sorted, over as many pages as it takes',
			},
		],
		default: 'getAll',
	},
	...get.fields,
	...getAll.fields,
	...count.fields,
];
