import { z } from 'zod/v4';

import { type Failure, inputFailure } from '../core/failure';
import type { Query } from '../core/address';
import { checkText, trimmed } from '../core/text';
import { check, checkEntries, textSchema } from './check';
import { entriesField, textField } from './formFields';

export const queryParametersField = entriesField(
	{ displayName: 'Query Parameters', name: 'query' },
	{ displayName: 'Parameter', name: 'parameter' },
	[
		textField('Name', 'name', 'model.name', 'Name of the query parameter'),
		textField('Value', 'value', 'Spare unit & antenna', 'Parameter value. n8n URL-encodes it.'),
	],
);

/**
 * Checks and returns the value of 'Query Parameters'.
 * @throws Failure `input` if an expression returns no value: without it, the platform may return everything
 */
export function checkQueryParameters(value: unknown) {
	return checkEntries(value, 'parameter', parameterSchema, 'Query Parameters').map(({ name, value: text }) => {
		if (text !== null) return { name: trimmed(name), value: trimmed(check(textSchema, text, 'Query Parameters')) };
		throw parameterWithoutValue(name);
	});
}

export function parameterWithoutValue(name: string): Failure {
	const remedy = 'Check the expression in this field, or remove the parameter.';
	return inputFailure(`The parameter "${name}" under 'Query Parameters' has no value`, remedy);
}

const parameterSchema = z.strictObject({ name: textSchema, value: z.unknown().default('') });

/** Names that n8n's request functions drop. */
const DROPPED_NAMES = ['__proto__', 'constructor', 'prototype'];

/** Adds a parameter, also to others of its name. Throws a Failure `input` for a name or text that can't be sent. */
export function addParameter(query: Query, { name, value }: { name: string; value: string }): void {
	if (name === '') {
		throw inputFailure("A parameter under 'Query Parameters' has no name", "Fill in its 'Name', or remove it.");
	}
	if (DROPPED_NAMES.includes(name)) {
		const message = `A parameter under 'Query Parameters' can't have the name "${name}"`;
		throw inputFailure(message, "Remove it: n8n doesn't send parameters of that name.");
	}
	const text = checkText(value, `the parameter "${checkText(name, "'Query Parameters'")}"`);
	const present = Object.hasOwn(query, name) ? query[name] : undefined;
	query[name] = present === undefined ? text : [...[present].flat(), text];
}
