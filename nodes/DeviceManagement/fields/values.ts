import type { IGetNodeParameterOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { type Failure, inputFailure } from '../core/failure';
import { describeValue, isRecord } from '../core/json';

/**
 * Reads a parameter of the node. The router makes one for each input item, a poll one for all it reads; whoever reads with
 * it knows neither items nor n8n's contexts.
 * @param fallback what comes for a parameter that is not there
 * @param options n8n's own, like `extractValue` for a resource locator
 */
export type ReadParameter = (name: string, fallback?: unknown, options?: IGetNodeParameterOptions) => unknown;

/** A number field as the form has it: what it is called, its default and its limits. */
export interface NumberField {
	readonly displayName: string;
	readonly default: number;
	readonly typeOptions: { readonly minValue: number; readonly maxValue: number };
}

/** Marks the issue of a number that is not the one which was meant, see {@link lostDigits}. */
const LOST_DIGITS = { params: { lostDigits: true } };

/** Expressions may give a number or a truth value where the form has text. */
export const textSchema = z
	.union([z.string(), z.number(), z.boolean()])
	.nullish()
	.refine((value) => typeof value !== 'number' || keepsDigits(value), LOST_DIGITS)
	.transform((value) => String(value ?? ''));

/**
 * Reads a collection parameter as n8n holds it; fields that were not added are missing, and those that are an expression which
 * gives nothing are null.
 * @param label the parameter's label
 * @returns an empty object where the workflow was saved before there was such a parameter
 * @throws Failure `input` naming the label when an expression gives anything else for the whole of it
 */
export function readCollection(read: ReadParameter, name: string, label: string): Record<string, unknown> {
	return checkCollection(read(name, {}), label);
}

/**
 * Checks the value of a collection. An expression may give it as an object or as the JSON text of one. What gives nothing is
 * refused: it was meant to say something.
 * @throws Failure `input` naming the label
 */
export function checkCollection(value: unknown, label: string): Record<string, unknown> {
	const collection = typeof value === 'string' ? parseJson(value)?.value : value;
	if (isPlainObject(collection)) {
		return Object.fromEntries(Object.entries(collection).map(([name, field]) => [name, field ?? null]));
	}
	throw inputFailure(
		`'${label}' is ${describeValue(value)} instead of an object`,
		'Check the expression in this field and what it gives, or remove it and fill in the form.',
	);
}

/**
 * Checks the entries of a collection that may hold several, `{ <name>: [ … ] }`.
 * @param schema of one entry; its default is that of the form, because n8n saves no value that is the default
 * @throws Failure `input` naming the label for what is no list, or a field that the schema does not have
 */
export function checkEntries<T>(
	value: unknown,
	name: string,
	schema: { entry: z.ZodType<T>; defaults: Record<string, unknown> },
	label: string,
): T[] {
	const collection = check(z.strictObject({ [name]: z.unknown().optional() }), checkCollection(value, label), label);
	// Entries that are there without being a list come from an expression that gives something else.
	const given: unknown = Object.hasOwn(collection, name) ? collection[name] : [];
	const entries = check(entriesSchema, given, label).map((entry) => ({ ...schema.defaults, ...entry }));
	return check(z.array(schema.entry), entries, label);
}

const entriesSchema = z.array(z.record(z.string(), z.unknown()));

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
 * @param remedy what to do about a number whose digits are lost
 * @throws Failure `input` naming the label for what JSON can't hold: a function, a value that holds itself; and for a number
 * whose digits are lost
 */
export function writeJson(value: unknown, label: string, remedy = GIVE_AS_TEXT): string {
	let text: string | undefined;
	let keepsAll = true;
	try {
		text = JSON.stringify(value, (_key, field: unknown) => {
			if (typeof field === 'number') keepsAll &&= keepsDigits(field);
			return field;
		});
	} catch {
		text = undefined;
	}
	if (!keepsAll) throw lostDigits(label, remedy);
	if (text !== undefined) return text;
	throw inputFailure(`'${label}' holds something that is not JSON`, 'Check the expression in this field.');
}

/**
 * Checks a parameter that the form guarantees but an expression may break.
 * @throws Failure `input` naming the label
 */
export function check<T>(schema: z.ZodType<T>, value: unknown, label: string): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	if (parsed.error.issues.some((issue) => issue.code === 'custom' && issue.params === LOST_DIGITS.params)) throw lostDigits(label, GIVE_AS_TEXT);
	throw inputFailure(
		`'${label}' holds a value of the wrong kind`,
		'Check the expression in this field and what it gives.',
	);
}

/** Whether a value is an object of fields and not, say, a date or a map, which seems to have none. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
	// By its kind, not by its prototype: n8n's expressions may run in a realm of their own.
	return isRecord(value) && Object.prototype.toString.call(value) === '[object Object]';
}

/** Beyond 2^53 whole numbers become others, and would name another device or find nothing. */
function keepsDigits(number: number): boolean {
	return !Number.isInteger(number) || Number.isSafeInteger(number);
}

const GIVE_AS_TEXT = 'Give it as text.';

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
