import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { buildSort } from '../core/query';
import { byLabel, fieldOptions } from './deviceFields';
import { checkEntries, type ReadParameter, textSchema } from './check';

/** 'Sort' of a list (section 1.3 of the API document). */
export const sortField: INodeProperties = {
	displayName: 'Sort',
	name: 'sort',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Sort Rule',
	default: {},
	description: 'Sort order of the devices. The first rule has priority.',
	options: [
		{
			displayName: 'Rule',
			name: 'rule',
			values: [
				{
					displayName: 'Field',
					name: 'field',
					type: 'options',
					options: [
						...fieldOptions.filter(({ value }) => value !== 'attributes'),
						{ name: 'Attribute', value: 'attributes' },
						{ name: 'Custom', value: 'custom' },
					].sort(byLabel),
					default: 'createTime',
					description: 'What to sort by',
				},
				{
					displayName: 'Attribute or Field Name',
					name: 'attribute',
					type: 'string',
					default: '',
					displayOptions: { show: { field: ['attributes', 'custom'] } },
					placeholder: 'e.g. site',
					description: 'Key of the attribute, or the name that the platform uses for a custom field',
				},
				{
					displayName: 'Direction',
					name: 'direction',
					type: 'options',
					options: [
						{ name: 'Ascending', value: 'asc' },
						{ name: 'Descending', value: 'desc' },
					],
					default: 'desc',
					description: 'Whether the lowest or the highest value comes first',
				},
			],
		},
	],
};

/**
 * Returns the value of 'Sort' for one item: the values of the `sort` parameter. Without any, the platform chooses the order.
 * @throws Failure `input` that names the label
 */
export function readSort(read: ReadParameter): string[] {
	const rules = checkEntries(read('sort', {}), 'rule', RULES, 'Sort');
	return buildSort(rules.map(({ field, attribute, direction }) => ({ field: sortName(field, attribute), direction })));
}

const RULES = z.array(
	z.strictObject({
		field: z.string().default('createTime'),
		attribute: textSchema,
		direction: z.enum(['asc', 'desc']).default('desc'),
	}),
);

function sortName(field: string, attribute: string): string {
	if (field === 'custom') return attribute;
	if (field !== 'attributes') return field;
	return attribute.trim() === '' ? '' : `attributes.${attribute.trim()}`;
}
