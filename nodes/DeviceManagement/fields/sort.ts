import { z } from 'zod/v4';

import { trimmed } from '../core/text';
import { checkEntries, checkName, oneOf, type ReadParameter, textSchema } from './check';
import { deviceFieldChoices } from './deviceFields';
import { choiceField, entriesField, textField } from './formFields';

const DIRECTIONS = [
	{ name: 'Ascending', value: 'asc' },
	{ name: 'Descending', value: 'desc' },
] as const;

const SORT_FIELDS = [
	...deviceFieldChoices.filter(({ value }) => value !== 'attributes'),
	{ name: 'Attribute', value: 'attributes' },
	{ name: 'Name', value: 'name' },
	{ name: 'Other Field', value: 'custom' },
].sort((one, other) => (one.name < other.name ? -1 : 1));

/** 'Sort' of a list (section 1.3 of the API document). */
export const sortField = entriesField(
	{
		displayName: 'Sort',
		name: 'sort',
		typeOptions: { multipleValues: true, sortable: true },
		placeholder: 'Add Sort Rule',
		description: 'Sort order of the devices. The first rule has priority.',
	},
	{ displayName: 'Rule', name: 'rule' },
	[
		choiceField('Field', 'field', 'createTime', 'What to sort by', SORT_FIELDS),
		{
			...textField('Attribute', 'attribute', 'site', 'Name of the attribute'),
			displayOptions: { show: { field: ['attributes'] } },
		},
		{
			...textField('Field Name', 'attribute', 'model.name', "Name of the field in your platform's API"),
			displayOptions: { show: { field: ['custom'] } },
		},
		choiceField('Direction', 'direction', 'desc', 'Sort direction', DIRECTIONS),
	],
);

/**
 * Returns the value of 'Sort' for one item: the values of the `sort` parameter. Consecutive rules of one direction share one, like
 * `name,createTime asc`. Without any, the platform chooses the order.
 */
export function readSort(read: ReadParameter): string[] {
	const groups: Array<{ direction: string; fields: string[] }> = [];
	for (const { field, attribute, direction } of checkEntries(read('sort', {}), 'rule', ruleSchema, 'Sort')) {
		// The direction comes last, so the key of an attribute may contain spaces.
		const name = checkName(sortName(field, attribute), "a field name under 'Sort'", field === 'attributes');
		const current = groups.at(-1);
		if (current?.direction === direction) current.fields.push(name);
		else groups.push({ direction, fields: [name] });
	}
	return groups.map(({ direction, fields }) => `${fields.join(',')} ${direction}`);
}

const ruleSchema = z.strictObject({
	field: z.string().transform(trimmed).default('createTime'),
	attribute: textSchema,
	direction: oneOf(DIRECTIONS).default('desc'),
});

function sortName(field: string, attribute: string): string {
	if (field === 'custom') return attribute;
	if (field !== 'attributes') return field;
	const key = trimmed(attribute);
	return key === '' ? '' : `attributes.${key}`;
}
