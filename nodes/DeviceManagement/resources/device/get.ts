import { deepCopy } from 'n8n-workflow';
import { z } from 'zod/v4';

import { meansNotFound } from '../../core/codes';
import { Failure } from '../../core/failure';
import { shapeDevice } from '../../core/output';
import type { Device } from '../../core/device';
import { asGiven } from '../../fields/asGiven';
import { optionFields, optionsField, readOptions, readSettings } from '../../fields/options';
import { outputFields, readOutputMode } from '../../fields/output';
import { check, textSchema } from '../../fields/values';
import { fetchDevice } from '../../transport/devices';
import type { RequestSettings } from '../../transport/platform';
import { type Execution, forOperation, type Operation } from '../operation';

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
			description: 'The device to read, by its whole serial number',
			modes: [
				{
					displayName: 'From List',
					name: 'list',
					type: 'list',
					placeholder: 'Select a device…',
					typeOptions: { searchListMethod: 'searchDevices', searchable: true },
				},
				{
					displayName: 'By SN',
					name: 'sn',
					type: 'string',
					placeholder: 'e.g. RT-2024-000117',
				},
			],
		},
		...outputFields,
		...asGiven(
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
		),
	]),

	async run(execution, read) {
		const serialNumber = check(textSchema, read('device', '', { extractValue: true }), 'Device');
		const mode = readOutputMode(read);
		const ifNotFound = check(notFoundSchema, readOptions(read)['ifNotFound'], 'If Not Found');
		const device = await readDeviceOnce(execution, serialNumber, readSettings(read)).catch((thrown: unknown) => {
			if (ifNotFound === 'empty' && thrown instanceof Failure && meansNotFound(thrown.details)) return undefined;
			throw thrown;
		});
		return [device === undefined ? {} : shapeDevice(device, mode)];
	},
};

/** Reads a device; equal serial numbers of one execution are asked for once, and each item gets its own copy. */
async function readDeviceOnce(
	{ platform, askedDevices }: Execution,
	serialNumber: string,
	settings: RequestSettings,
): Promise<Device> {
	const sn = serialNumber.trim();
	const asked = askedDevices.get(sn);
	if (asked !== undefined) return deepCopy(await asked);
	const device = fetchDevice(platform, sn, settings);
	askedDevices.set(sn, device);
	return await device;
}
