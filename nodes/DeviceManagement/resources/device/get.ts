import { deepCopy } from 'n8n-workflow';
import { z } from 'zod/v4';

import { meansNotFound } from '../../core/codes';
import { Failure } from '../../core/failure';
import { shapeDevice } from '../../core/output';
import type { Device } from '../../core/page';
import { readOutputMode } from '../../shared/deviceParameters';
import { forOperation, optionFields, optionsField, outputFields } from '../../shared/descriptions';
import { fetchDevice } from '../../shared/devices';
import { check, readCollection, textSchema } from '../../shared/parameters';
import { type NodeSettings, readSettings } from '../../shared/settings';
import type { Execution, Operation } from '../operation';

const notFoundSchema = z.enum(['error', 'empty']).default('error');

/** Device: Get — one device by its serial number (section 4.2 of the API document). */
export const get: Operation = {
	fields: forOperation('device', 'get', [
		{
			displayName: 'Device',
			name: 'device',
			type: 'resourceLocator',
			default: { mode: 'sn', value: '' },
			required: true,
			description: 'The device to read',
			modes: [
				{
					displayName: 'From List',
					name: 'list',
					type: 'list',
					placeholder: 'Select a device…',
					typeOptions: { searchListMethod: 'searchDevices', searchable: true },
				},
				{
					displayName: 'By Serial Number',
					name: 'sn',
					type: 'string',
					placeholder: 'e.g. RT-2024-000117',
				},
			],
		},
		...outputFields,
		optionsField([
			{
				displayName: 'If Not Found',
				name: 'ifNotFound',
				type: 'options',
				options: [
					{
						name: 'Return an Empty Item',
						value: 'empty',
						description: 'The item goes on without any fields',
					},
					{
						name: 'Stop',
						value: 'error',
						description: "The item fails, and the node's On Error setting decides what happens",
					},
				],
				default: 'error',
				description: 'What to do when there is no such device or the serial number is not valid',
			},
			optionFields.maxRetries,
			optionFields.parallelRequests,
			optionFields.timeout,
		]),
	]),

	async run(execution, itemIndex) {
		const { context } = execution;
		const serialNumber = check(
			textSchema,
			context.getNodeParameter('device', itemIndex, '', { extractValue: true }),
			'Device',
		);
		const mode = readOutputMode(context, itemIndex);
		const options = readCollection(context, 'options', itemIndex);
		const ifNotFound = check(notFoundSchema, options['ifNotFound'], 'If Not Found');
		const settings = readSettings(context, itemIndex);
		const pairedItem = { item: itemIndex };
		const device = await readOnce(execution, serialNumber, settings).catch((thrown: unknown) => {
			const nothing = thrown instanceof Failure && meansNotFound(thrown.details.code);
			if (nothing && ifNotFound === 'empty') return undefined;
			throw thrown;
		});
		return [{ json: device === undefined ? {} : shapeDevice(device, mode), pairedItem }];
	},
};

/** Reads a device; equal serial numbers of one execution are asked for once, and each item gets its own copy. */
async function readOnce(
	{ platform, devices }: Execution,
	serialNumber: string,
	settings: NodeSettings,
): Promise<Device> {
	const sn = serialNumber.trim();
	const known = devices.get(sn);
	if (known !== undefined) return deepCopy(await known);
	const device = fetchDevice(platform, sn, settings);
	devices.set(sn, device);
	return await device;
}
