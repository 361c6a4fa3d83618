import {
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { filterChoices } from './listSearch/choices';
import { triggerFields, triggerHints, triggerSubtitle } from './trigger/form/form';
import { pollDevices } from './trigger/poll/poll';
import { ruleChoices } from './trigger/form/ruleForm';

export class DeviceManagementTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Device Management Trigger',
		name: 'deviceManagementTrigger',
		icon: { light: 'file:../../icons/deviceManagement.svg', dark: 'file:../../icons/deviceManagement.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: triggerSubtitle,
		description: 'Starts the workflow when a device is created, changes, or is removed',
		defaults: { name: 'Device Management Trigger' },
		polling: true,
		// n8n's lint requires the property. Any value would turn the trigger into a tool.
		usableAsTool: undefined!,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'deviceManagementApi', required: true }],
		hints: triggerHints,
		properties: triggerFields,
	};

	methods = { listSearch: { ...filterChoices, ...ruleChoices } };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await pollDevices(this);
	}
}
