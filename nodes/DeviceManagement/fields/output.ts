import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import type { OutputMode } from '../core/shape';
import { deviceFieldChoices } from './deviceFields';
import { choiceField } from './formFields';
import { check, checkChoice, type ReadParameter } from './check';

const OUTPUT = choiceField('Output', 'output', 'simplified', 'Which fields of each device to return', [
	{ name: 'Raw', value: 'raw', description: 'All fields, as the platform sends them' },
	{ name: 'Selected Fields', value: 'selected', description: 'Only the fields you choose, plus the ID' },
	{ name: 'Simplified', value: 'simplified', description: 'Ten common fields, not nested' },
]);

/** 'Output' and 'Fields': which fields of a device the node returns. */
export const outputFields: INodeProperties[] = [
	OUTPUT,
	{
		displayName: 'Fields',
		name: 'fields',
		type: 'multiOptions',
		options: deviceFieldChoices,
		default: ['sn', 'onlineStatus', 'status'],
		// With the slash, n8n's editor keeps the choice when an expression replaces 'Output'.
		displayOptions: { show: { '/output': ['selected'] } },
		description: 'The fields to return. The ID is always included.',
	},
];

export function readOutputMode(read: ReadParameter): OutputMode {
	const output = checkChoice(read('output') ?? '', OUTPUT);
	if (output !== 'selected') return { output };
	const fields = check(z.array(z.string()), read('fields'), 'Fields');
	const undocumented = fields.filter((field) => !deviceFieldChoices.some(({ value }) => value === field));
	return { output, fields, undocumented };
}
