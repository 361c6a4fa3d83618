import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';
import { check, checkEntries, textSchema } from './values';

/** Query parameters by name. */
export const queryParametersField: INodeProperties = {
	displayName: 'Query Parameters',
	name: 'query',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Parameter',
	default: {},
	options: [
		{
			displayName: 'Parameter',
			name: 'parameter',
			values: [
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. description',
					description: 'Name of the query parameter',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					placeholder: 'e.g. Pier 4 & mast',
					description: 'Value of the query parameter; it is encoded for you',
				},
			],
		},
	],
};

/**
 * Checks the value of 'Query Parameters'.
 * @throws Failure `input` where an expression gives nothing: a parameter without its value may mean everything
 */
export function checkQueryParameters(value: unknown): Array<{ name: string; value: string }> {
	const parameters = checkEntries(value, 'parameter', PARAMETER, 'Query Parameters');
	return parameters.map(({ name, value: text }) => {
		if (text !== undefined && text !== null) {
			return { name, value: check(textSchema, text, 'Query Parameters') };
		}
		throw inputFailure(
			`The parameter "${name}" under 'Query Parameters' has no value`,
			'Check the expression in this field and what it gives, or remove the parameter.',
		);
	});
}

const PARAMETER = {
	entry: z.strictObject({ name: textSchema, value: z.unknown() }),
	defaults: { value: '' },
};
