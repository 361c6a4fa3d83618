import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { searchDevices } from './listSearch/searchDevices';
import { apiFields } from './resources/api';
import { deviceFields } from './resources/device';
import { runItems } from './resources/router';

export class DeviceManagement implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Device Management',
		name: 'deviceManagement',
		icon: {
			light: 'file:../../icons/deviceManagement.svg',
			dark: 'file:../../icons/deviceManagement.dark.svg',
		},
		group: ['input'],
		version: 1,
		subtitle:
			'={{ ({ count: "Count: Device", get: "Get: Device", getAll: "Get Many: Device", request: "API Request" })[$parameter["operation"]] }}',
		description: 'List, count and read the devices of an IoT device-management platform',
		defaults: { name: 'Device Management' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'deviceManagementApi', required: true }],
		properties: [
			{
				displayName: 'Resource',
				name: 'resource',
				type: 'options',
				noDataExpression: true,
				options: [
					{ name: 'API Request', value: 'api' },
					{ name: 'Device', value: 'device' },
				],
				default: 'device',
			},
			...deviceFields,
			...apiFields,
		],
	};

	methods = { listSearch: { searchDevices } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await runItems(this)];
	}
}
