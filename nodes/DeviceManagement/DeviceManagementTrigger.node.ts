import {
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { triggerFields } from './trigger/parameters';
import { pollDevices } from './trigger/poll';

export class DeviceManagementTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Device Management Trigger',
		name: 'deviceManagementTrigger',
		icon: {
			light: 'file:../../icons/deviceManagement.svg',
			dark: 'file:../../icons/deviceManagement.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["events"].map((event) => ({ attributeChanged: "Attribute Changed", deviceCreated: "Device Created", deviceRemoved: "Device Removed", deviceUpdated: "Device Updated", onlineStatusChanged: "Online Status Changed", statusChanged: "Status Changed" })[event]).join(", ") }}',
		description: 'Starts the workflow when devices of an IoT device-management platform change',
		defaults: { name: 'Device Management Trigger' },
		polling: true,
		// n8n's lint wants the property in every node, and n8n makes a tool of every node that gives it a value: none is given.
		usableAsTool: undefined!,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'deviceManagementApi', required: true }],
		properties: triggerFields,
	};

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await pollDevices(this);
	}
}
