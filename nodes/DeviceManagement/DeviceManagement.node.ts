import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { filterChoices } from './listSearch/choices';
import { searchDevices } from './listSearch/searchDevices';
import { properties, subtitle } from './resources';
import { runItems } from './resources/router';

export class DeviceManagement implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Device Management',
		name: 'deviceManagement',
		icon: { light: 'file:../../icons/deviceManagement.svg', dark: 'file:../../icons/deviceManagement.dark.svg' },
		group: ['input'],
		version: 1,
		subtitle,
		description: 'Get and count devices, or call the API of an IoT device management platform',
		defaults: { name: 'Device Management' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'deviceManagementApi', required: true }],
		properties,
	};

	methods = { listSearch: { searchDevices, ...filterChoices } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await runItems(this)];
	}
}
