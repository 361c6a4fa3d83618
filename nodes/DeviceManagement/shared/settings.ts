import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';
import { optionFields } from './descriptions';
import type { RequestSettings } from './transport';

/** Everything under 'Options' that governs requests. */
export interface NodeSettings extends RequestSettings {
	pageSize: number;
	parallelRequests: number;
}

/** A number field as the form has it: what it is called, its default and its limits. */
export interface NumberField {
	readonly displayName: string;
	readonly default: number;
	readonly typeOptions: { readonly minValue: number; readonly maxValue: number };
}

/**
 * Reads 'Options' of one item.
 * @throws Failure `input` naming the field and its limits
 */
export function readSettings(context: IExecuteFunctions, itemIndex: number): NodeSettings {
	const options = readCollection(context, 'options', itemIndex);
	return {
		pageSize: checkNumber(options['pageSize'], optionFields.pageSize),
		parallelRequests: checkNumber(options['parallelRequests'], optionFields.parallelRequests),
		timeoutMs: checkNumber(options['timeout'], optionFields.timeout),
		maxRetries: checkNumber(options['maxRetries'], optionFields.maxRetries),
	};
}

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
