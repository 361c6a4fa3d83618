/**
 * Checks the values of form fields, which expressions may replace by anything. An invalid value is a Failure
 * `input` that names the label of the field. The checks don't know single fields: each field's file has its own schema.
 */
import type { IGetNodeParameterOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { type Failure, inputFailure } from '../core/failure';
import { attempt, describeValue, isPlainObject, isRecord, keepsDigits, parseJson } from '../core/json';
import { checkText, trimmed } from '../core/text';

/** Returns a parameter of the node for one input item or one poll; `fallback` if it is missing. The options are n8n's. */
export type ReadParameter = (name: string, fallback?: unknown, options?: IGetNodeParameterOptions) => unknown;

type NumberField = { displayName: string; default: number; typeOptions: { minValue: number; maxValue: number } };

type ChoiceField<T> = { displayName: string; default: T; options: ReadonlyArray<{ value: T }> };

const LOST_DIGITS = 'is too long for n8n';
const ENTER_WITHIN_LIMITS = 'Check the number, or the expression in this field.';
const ENTER_AS_TEXT = 'Enter it as text.';

/** Text. An expression may return a number or a boolean instead, but not nothing. */
export const givenTextSchema = z
	.union([z.string(), z.number(), z.boolean()])
	.refine((value) => typeof value !== 'number' || keepsDigits(value), LOST_DIGITS)
	.transform(String);

export const oneOf = <T extends string>(choices: ReadonlyArray<{ value: T }>) =>
	z.enum(choices.map(({ value }) => value));

export const textSchema = givenTextSchema.nullish().transform((value) => value ?? '');

/**
 * Checks and returns the value of a collection: an object, or its JSON text from an expression. A field that wasn't added is
 * missing. A field whose expression returns nothing is null.
 */
export function checkCollection(value: unknown, label: string): Record<string, unknown> {
	const collection = parseJson(value)?.value;
	if (isPlainObject(collection)) {
		return Object.fromEntries(Object.entries(collection).map(([name, field]) => [name, orNull(field)]));
	}
	const remedy = 'Check the expression in this field, or fill in the form.';
	throw inputFailure(`'${label}' is ${describeValue(value)} instead of an object`, remedy);
}

/**
 * Checks and returns the entries of a collection `{ <name>: [ … ] }`. n8n doesn't save the form's defaults: the schema of an entry has
 * them. If an expression returns nothing, the value becomes null, so that its default doesn't apply.
 */
export function checkEntries<T>(value: unknown, name: string, schema: z.ZodType<T>, label: string): T[] {
	const { [name]: list = [], ...others } = checkCollection(value, label);
	const given = Object.keys(others).length > 0 ? others : list;
	const entries = check(z.array(z.record(z.string(), z.unknown().transform(orNull))), given, label);
	return check(z.array(schema), entries, label);
}

/** Returns the value of a field that people choose from a list or enter. Workflows from before it had a list contain the value alone. */
export function chosenValue(value: unknown): unknown {
	const isChosen = isRecord(value) && (value['mode'] === 'list' || value['mode'] === 'text');
	return isChosen ? orNull(value['value']) : value;
}

const orNull = (value: unknown) => value ?? null;

/** Checks and returns the value of a number field; its default if the field is missing. An expression may return text. */
export function checkNumber(value: unknown, field: NumberField, remedy = ENTER_WITHIN_LIMITS): number {
	if (value === undefined) return field.default;
	const { minValue, maxValue } = field.typeOptions;
	const given = typeof value === 'string' ? trimmed(value) : value;
	const number = typeof given === 'string' && given !== '' ? Number(given) : given;
	if (typeof number === 'number' && Number.isSafeInteger(number) && number >= minValue && number <= maxValue) {
		return number;
	}
	const [least, most] = [minValue, maxValue].map((limit) => limit.toLocaleString('en-US'));
	const limits = maxValue === Number.MAX_SAFE_INTEGER ? ` of ${least} or more` : ` from ${least} to ${most}`;
	throw inputFailure(`'${field.displayName}' must be a whole number${limits}`, remedy);
}

/** Checks and returns the value of a choice; its default if the field is missing. */
export function checkChoice<T extends string>(value: unknown, field: ChoiceField<T>): T {
	return value === undefined ? field.default : check(oneOf(field.options), value, field.displayName);
}

export function checkJson(value: unknown, label: string): unknown {
	const parsed = parseJson(value);
	if (parsed !== undefined) return parsed.value;
	const remedy = 'Check quotes, commas, and brackets. Write an expression as {{ JSON.stringify($json.name) }}.';
	throw inputFailure(`'${label}' isn't valid JSON`, remedy);
}

/** Returns a value as JSON text, if JSON can contain it. The remedy is for a number that lost digits. */
export function writeJson(value: unknown, label: string, remedy = ENTER_AS_TEXT): string {
	let keepsAll = true;
	const noteNumber = (_key: string, field: unknown) => {
		keepsAll &&= typeof field !== 'number' || keepsDigits(field);
		return field;
	};
	const text = attempt(() => JSON.stringify(value, noteNumber))?.value;
	if (!keepsAll) throw lostDigits(label, remedy);
	const path = text === undefined ? [] : pathWithoutValue(value);
	if (text !== undefined && path === undefined) return text;
	const what = path?.length === 0 ? "contains something that isn't JSON" : `has no value in "${path?.join('.')}"`;
	throw inputFailure(`'${label}' ${what}`, 'Check the expression in this field, or remove the empty part.');
}

/** Returns the path to a value that JSON drops or turns into null; undefined if there is none. */
function pathWithoutValue(value: unknown): string[] | undefined {
	if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
	if (typeof value === 'number') return Number.isFinite(value) ? undefined : [];
	// A date, which is null in JSON if it is invalid.
	if (isRecord(value) && typeof value['toJSON'] === 'function') return value['toJSON']() === null ? [] : undefined;
	if (!Array.isArray(value) && !isPlainObject(value)) return [];
	// A copy has undefined for each hole of a list.
	for (const [key, field] of Object.entries(Array.isArray(value) ? [...value] : value)) {
		const path = pathWithoutValue(field);
		if (path !== undefined) return [key, ...path];
	}
	return undefined;
}

/** Checks and returns a value that the form guarantees, but an expression may not. */
export function check<T>(schema: z.ZodType<T>, value: unknown, label: string): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	if (parsed.error.issues.some(({ message }) => message === LOST_DIGITS)) throw lostDigits(label, ENTER_AS_TEXT);
	// An agent sees the message only.
	const choices = parsed.error.issues.find((issue) => issue.code === 'invalid_value')?.values.join(', ');
	const what = choices === undefined ? 'a value of the wrong type' : `an unknown value. Use one of: ${choices}`;
	throw inputFailure(`'${label}' has ${what}`, 'Check the expression in this field.');
}

/** Checks and returns a field name or an attribute's key. The API splits them at commas, and filters also at spaces. */
export function checkName(entered: string, what: string, mayHaveSpaces = false): string {
	const name = trimmed(entered);
	if (name === '') throw inputFailure(`${what.replace('a', 'A')} is empty`, 'Fill it in, or remove the entry.');
	if ((mayHaveSpaces ? /,/ : /[\s,]/).test(name)) {
		throw inputFailure(`"${name}", ${what}, contains a space or a comma`, 'Enter one name per entry.');
	}
	return checkText(name, what);
}

function lostDigits(label: string, remedy: string): Failure {
	return inputFailure(`The number in '${label}' ${LOST_DIGITS}`, remedy);
}
