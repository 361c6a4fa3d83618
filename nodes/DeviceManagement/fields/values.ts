import type { IGetNodeParameterOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { type Failure, inputFailure } from '../core/failure';
import { describeValue, isRecord } from '../core/json';

/**
 * Reads a parameter of the node. The router makes one reader for each input item, the trigger one for each poll.
 * @param fallback the value of a parameter that is missing
 * @param options of n8n, like `extractValue` for a resource locator
 */
export type ReadParameter = (name: string, fallback?: unknown, options?: IGetNodeParameterOptions) => unknown;

/** A number field of the form: its label, default and limits. */
export interface NumberField {
	readonly displayName: string;
	readonly default: number;
	readonly typeOptions: { readonly minValue: number; readonly maxValue: number };
}

/** Marks the issue of a number that has lost digits, see {@link lostDigits}. */
const LOST_DIGITS = { params: { lostDigits: true } };

/** Text. Expressions may return a number or a boolean instead. */
export const textSchema = z
	.union([z.string(), z.number(), z.boolean()])
	.nullish()
	.refine((value) => typeof value !== 'number' || keepsDigits(value), LOST_DIGITS)
	.transform((value) => String(value ?? ''));

/**
 * Reads a collection parameter. Fields that were not added are missing; a field whose expression returns nothing is null.
 * @returns an empty object if the workflow was saved before the parameter existed
 * @throws Failure `input` naming the label
 */
export function readCollection(read: ReadParameter, name: string, label: string): Record<string, unknown> {
	return checkCollection(read(name, {}), label);
}

/**
 * Checks the value of a collection: an object, or its JSON text from an expression.
 * @throws Failure `input` naming the label, also if an expression returns nothing
 */
export function checkCollection(value: unknown, label: string): Record<string, unknown> {
	const collection = typeof value === 'string' ? parseJson(value)?.value : value;
	if (isPlainObject(collection)) {
		return Object.fromEntries(Object.entries(collection).map(([name, field]) => [name, field ?? null]));
	}
	throw inputFailure(
		`'${label}' is ${describeValue(value)} instead of an object`,
		'Check the expression in this field and its result, or remove it and fill in the form.',
	);
}

/**
 * Checks the entries of a collection that may hold several, `{ <name>: [ … ] }`.
 * @param schema of the list. Its defaults are those of the form, because n8n doesn't save default values.
 * @throws Failure `input` naming the label for anything but a list, and for a field that the schema does not have
 */
export function checkEntries<T>(value: unknown, name: string, schema: z.ZodType<T[]>, label: string): T[] {
	const { [name]: list = [], ...others } = checkCollection(value, label);
	const given = Object.keys(others).length > 0 ? others : list;
	return check(schema, check(entriesSchema, given, label), label);
}

/** A value that an expression does not return is null, so that it has no default. */
const entriesSchema = z.array(
	z.record(
		z.string(),
		z.unknown().transform((value) => value ?? null),
	),
);

/**
 * Checks a number field. A missing field has its default. An expression may return the number as text.
 * @throws Failure `input` naming the field and its limits
 */
export function checkNumber(value: unknown, field: NumberField): number {
	if (value === undefined) return field.default;
	const { minValue, maxValue } = field.typeOptions;
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	if (typeof number === 'number' && Number.isSafeInteger(number) && number >= minValue && number <= maxValue) {
		return number;
	}
	const limits = maxValue === Number.MAX_SAFE_INTEGER ? ` of ${minValue} or more` : ` from ${minValue} to ${maxValue}`;
	throw inputFailure(
		`'${field.displayName}' is not a whole number${limits}`,
		'Enter a number within these limits, or check the expression in this field.',
	);
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

/**
 * Writes a value as JSON text.
 * @param remedy what to do about a number that lost digits
 * @throws Failure `input` naming the label for a value that JSON can't hold, and for a number that lost digits
 */
export function writeJson(value: unknown, label: string, remedy = GIVE_AS_TEXT): string {
	let keepsAll = true;
	const text = textOf(value, (number) => (keepsAll &&= keepsDigits(number)));
	if (!keepsAll) throw lostDigits(label, remedy);
	if (text !== undefined) return text;
	throw inputFailure(`'${label}' holds something that is not JSON`, 'Check the expression in this field.');
}

function textOf(value: unknown, onNumber: (number: number) => void): string | undefined {
	try {
		return JSON.stringify(value, (_key, field: unknown) => {
			if (typeof field === 'number') onNumber(field);
			return field;
		});
	} catch {
		return undefined;
	}
}

/**
 * Checks a parameter that the form guarantees but an expression may break.
 * @throws Failure `input` naming the label
 */
export function check<T>(schema: z.ZodType<T>, value: unknown, label: string): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	if (parsed.error.issues.some((issue) => issue.code === 'custom' && issue.params === LOST_DIGITS.params))
		throw lostDigits(label, GIVE_AS_TEXT);
	throw inputFailure(
		`'${label}' holds a value of the wrong kind`,
		'Check the expression in this field and its result.',
	);
}

/** Whether a value is an object of fields, and not a date or a map. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
	// Not by its prototype: n8n's expressions may run in another realm.
	return isRecord(value) && Object.prototype.toString.call(value) === '[object Object]';
}

/** Whether a number is exact. A whole number beyond 2^53 changes, and would name another device. */
function keepsDigits(number: number): boolean {
	return !Number.isInteger(number) || Number.isSafeInteger(number);
}

const GIVE_AS_TEXT = 'Enter it as text.';

function lostDigits(label: string, remedy: string): Failure {
	return inputFailure(`The number in '${label}' has more digits than n8n can keep`, remedy);
}

function parseJson(text: string): { value: unknown } | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return { value };
	} catch {
		return undefined;
	}
}
