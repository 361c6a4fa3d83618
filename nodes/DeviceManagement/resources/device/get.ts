import { meansNotFound } from '../../core/errors/table';
import { Failure } from '../../core/failure';
import { shapeDevice, withHint } from '../../core/shape';
import { FAIL_THE_ITEM, optionsField } from '../../fields/options';
import { outputFields, readOutputMode } from '../../fields/output';
import { check, checkChoice, textSchema } from '../../fields/check';
import { choiceField } from '../../fields/formFields';
import { fetchDevice } from '../../transport/devices';
import type { Operation } from '../operation';

const IF_NOT_FOUND = choiceField('If Not Found', 'ifNotFound', 'error', 'What to do if no device has this number', [
	{ name: 'Fail the Item', value: 'error', description: FAIL_THE_ITEM },
	{ name: 'Return an Empty Item', value: 'empty' },
]);

/** The platform's own ID of a device: a long number, 24 hexadecimal digits, or a UUID. */
const LIKE_AN_ID = /^(\d{16,}|[\da-f]{24}|[\da-f-]{36})$/i;

/** A model can't set it. */
const GO_ON = "To go on without it, set 'If Not Found' under 'Options'.";

/** Device: Get (section 4.2 of the API document). */
export const get: Operation = {
	name: 'Get',
	action: 'Get device',
	description: 'Retrieve a device by its serial number',
	fields: [
		{
			displayName: 'Device',
			name: 'device',
			type: 'resourceLocator',
			default: { mode: 'list', value: '' },
			required: true,
			description: 'The device to read',
			modes: [
				{
					displayName: 'From List',
					name: 'list',
					type: 'list',
					placeholder: 'Select a device…',
					hint: 'Search by full serial number or name. Other text matches only the first 1,000 devices.',
					typeOptions: { searchListMethod: 'searchDevices', searchable: true },
				},
				{ displayName: 'By SN', name: 'sn', type: 'string', placeholder: 'e.g. RT46643907' },
			],
		},
		...outputFields,
		...optionsField([IF_NOT_FOUND]),
	],

	async run({ platform, byAgent, hint, read, settings }) {
		const serialNumber = check(textSchema, read('device', '', { extractValue: true }), 'Device');
		const mode = readOutputMode(read);
		const ifNotFound = checkChoice(settings.options[IF_NOT_FOUND.name], IF_NOT_FOUND);
		const device = await fetchDevice(platform, serialNumber, settings).catch((thrown: unknown) => {
			if (!(thrown instanceof Failure) || !meansNotFound(thrown.details)) throw thrown;
			if (ifNotFound === 'empty') return undefined;
			const isLikeId = LIKE_AN_ID.test(serialNumber.trim());
			const remedy = isLikeId ? 'This looks like an ID. Enter the serial number.' : thrown.details.remedy;
			throw new Failure({ ...thrown.details, remedy: byAgent ? remedy : `${remedy} ${GO_ON}` });
		});
		return device === undefined ? [{}] : withHint([shapeDevice(device, mode)], mode, hint);
	},
};
