import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';
import { check, checkEntries, textSchema } from './check';

/** Returns a field with several entries, each with the same text fields. */
export function entriesField(
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	entry: { displayName: string; name: string },
	texts: ReadonlyArray<Pick<INodeProperties, 'displayName' | 'name' | 'placeholder' | 'description'>>,
): INodeProperties {
	return {
		...field,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: `Add ${entry.displayName}`,
		default: {},
		options: [{ ...entry, values: texts.map((text) => ({ ...text, type: 'string', default: '' })) }],
	};
}

/** 'Query Parameters': names and values. */
export const queryParametersField = entriesField(
	{ displayName: 'Query Parameters', name: 'query' },
	{ displayName: 'Parameter', name: 'parameter' },
	[
		{ displayName: 'Name', name: 'name', placeholder: 'e.g. description', description: 'Name of the query parameter' },
		{
			displayName: 'Value',
			name: 'value',
			placeholder: 'e.g. Spare unit & antenna',
			description: 'Value, which n8n encodes',
		},
	],
);

/**
 * Checks and returns the value of 'Query Parameters'.
 * @throws Failure `input` if an expression returns no value: without it, the platform may return everything
 */
export function checkQueryParameters(value: unknown): Array<{ name: string; value: string }> {
	return checkEntries(value, 'parameter', PARAMETERS, 'Query Parameters').map(({ name, value: text }) => {
		if (text !== null) return { name, value: check(textSchema, text, 'Query Parameters') };
		throw inputFailure(
			`The parameter "${name}" under 'Query Parameters' has no value`,
			'Check the result of the expression in this field, or remove the parameter.',
		);
	});
}

const PARAMETERS = z.array(z.strictObject({ name: textSchema, value: z.unknown().default('') }));
