import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';
import { check, checkEntries, textSchema } from './check';
import { entriesField, textField } from './formFields';

/** 'Query Parameters': names and values. */
export const queryParametersField = entriesField(
	{ displayName: 'Query Parameters', name: 'query' },
	{ displayName: 'Parameter', name: 'parameter' },
	[
		textField('Name', 'name', 'description', 'Name of the query parameter'),
		textField('Value', 'value', 'Spare unit & antenna', 'Value, which n8n encodes'),
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
