import type { INodeProperties } from 'n8n-workflow';

import { request } from './request';

/** The API Request resource: its one operation and its fields. */
export const apiFields: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: ['api'] } },
		options: [
			{
				name: 'Request',
				value: 'request',
				action: 'Make API request',
				description: 'Call any other endpoint of the platform with the same sign-in',
			},
		],
		default: 'request',
	},
	...request.fields,
];
