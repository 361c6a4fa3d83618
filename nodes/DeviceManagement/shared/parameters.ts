import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';

/** A number field as the form has it: what it is called, its default and its limits. */
export interface NumberField {
	readonly displayName: string;
	readonly default: number;
	readonly typeOptions: { readonly minValue: number; readonly maxValue: number };
}

/** Expressions may give a number or a truth value where the form has text. */
export const textSchema = z
	.union([z.string(), z.number(), z.boolean()])
	.nullish()
	.transform((value) => String(value ?? ''));

const queryParametersSchema = z
	.object({
		parameter: z.array(z.object({ name: textSchema, value: z.unknown() })).default([]),
	})
	.default({ parameter: [] });

const collectionSchema = z.record(z.string(), z.unknown()).catch({});

/** A collection parameter as n8n holds it; fields that were not added are missing. */
export function readCollection(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
): Record<string, unknown> {
	return collectionSchema.parse(context.getNodeParameter(name, itemIndex, {}));
}

/**
 * Checks a number field. A field that is not there has its default; an expression may give the number as text.
 * @throws Failure `input` naming the field and its limits
 */
export function checkNumber(value: unknown, field: NumberField): number {
	if (value === undefined) return field.default;
	const { minValue, maxValue } = field.typeOptions;
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	if (
		typeof number === 'number' &&
		Number.isSafeInteger(number) &&
		number >= minValue &&
		number <= maxValue
	) {
		return number;
	}
	const limits = maxValue === Number.MAX_SAFE_INTEGER ? ` of ${minValue} or more` : ` from ${minValue} to ${maxValue}`;
	throw inputFailure(
		`'${field.displayName}' is not a whole number${limits}`,
		'Enter a number within these limits, or check the expression in this field.',
	);
}

/**
 * Reads 'Query Parameters'.
 * @throws Failure `input` where an expression gives nothing: a parameter without its value may mean everything
 */
export function readQueryParameters(value: unknown): Array<{ name: string; value: string }> {
	const { parameter } = check(queryParametersSchema, value, 'Query Parameters');
	return parameter.map(({ name, value: given }) => {
		if (given !== undefined && given !== null) {
			return { name, value: check(textSchema, given, 'Query Parameters') };
		}
		throw inputFailure(
			`The parameter "${name}" under 'Query Parameters' has no value`,
			'Check the expression in this field and what it gives for this item, or remove the parameter.',
		);
	});
}

/** Reads a JSON field of any kind; undefined where it is empty. */
export function readJson(value: unknown, label: string): unknown {
	if (value === undefined || value === null) return undefined;
	if (typeof value !== 'string') return value;
	if (value.trim() === '') return undefined;
	const parsed = parseJson(value);
	if (parsed !== undefined) return parsed.value;
	throw inputFailure(
		`'${label}' is not valid JSON`,
		'Check quotes, commas and brackets. Names and texts need double quotes.',
	);
}

/** Checks a parameter that the form guarantees but an expression may break. */
export function check<T>(schema: z.ZodType<T>, value: unknown, label: string): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	throw inputFailure(
		`'${label}' holds a value of the wrong kind`,
		'Check the expression in this field and what it gives for this item.',
	);
}

function parseJson(text: string): { value: unknown } | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return { value };
	} catch {
		return undefined;
	}
}
