import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure, inputFailure } from '../core/failure';
import { isRecord } from '../core/json';
import type { OutputMode } from '../core/output';
import { buildFilterQuery, buildSort, type Query } from '../core/query';
import { filtersField } from './descriptions';
import { checkNumber, type NumberField, readCollection } from './settings';

/** What a list asks for: search criteria for the body, and query parameters (sections 1.4 and 4.1). */
export interface ListCriteria {
	body: string;
	query: Query;
}

/** A 32-bit integer (section 4.1). */
const COMPOSITE_STATUS: NumberField = {
	displayName: 'Composite Status',
	default: 0,
	typeOptions: { minValue: -(2 ** 31), maxValue: 2 ** 31 - 1 },
};

const FILTER_LABELS: ReadonlyMap<string, string> = new Map(
	filtersField.options?.map((filter) => [
		filter.name,
		'displayName' in filter ? filter.displayName : filter.name,
	]),
);

/** Expressions may give a number or a truth value where the form has text. */
export const textSchema = z
	.union([z.string(), z.number(), z.boolean()])
	.nullish()
	.transform((value) => String(value ?? ''));

const attributesSchema = z
	.object({ pair: z.array(z.object({ key: textSchema, value: textSchema })).default([]) })
	.default({ pair: [] });
const parametersSchema = z
	.object({ parameter: z.array(z.object({ name: textSchema, value: textSchema })).default([]) })
	.default({ parameter: [] });
const sortSchema = z
	.object({
		rule: z
			.array(
				z.object({
					field: z.string(),
					attribute: textSchema,
					direction: z.enum(['asc', 'desc']).default('desc'),
				}),
			)
			.default([]),
	})
	.default({ rule: [] });

/**
 * Reads 'Filters' of one item.
 * @throws Failure `input` naming the filter
 */
export function readFilters(context: IExecuteFunctions, itemIndex: number): ListCriteria {
	const filters = readCollection(context, 'filters', itemIndex);
	for (const [name, value] of Object.entries(filters)) checkGiven(name, value);
	const criteria = readJsonObject(filters['body'], 'Search Criteria (JSON)');
	if (filters['compositeStatus'] !== undefined) {
		criteria['compositeStatus'] = checkNumber(filters['compositeStatus'], COMPOSITE_STATUS);
	}
	return {
		body: JSON.stringify(criteria),
		query: buildFilterQuery({
			name: check(textSchema, filters['name'], 'Name'),
			tags: readTags(filters['tags']),
			attributes: check(attributesSchema, filters['attributes'], 'Attributes').pair,
			parameters: check(parametersSchema, filters['query'], 'Query Parameters').parameter,
		}),
	};
}

/**
 * Reads 'Sort' of one item.
 * @returns values of the `sort` parameter; an empty list leaves the order to the platform
 */
export function readSort(context: IExecuteFunctions, itemIndex: number): string[] {
	const { rule } = check(sortSchema, context.getNodeParameter('sort', itemIndex, {}), 'Sort');
	return buildSort(
		rule.map(({ field, attribute, direction }) => ({ field: sortName(field, attribute), direction })),
	);
}

/** Reads 'Output' and 'Fields' of one item. */
export function readOutputMode(context: IExecuteFunctions, itemIndex: number): OutputMode {
	const output = check(
		z.enum(['simplified', 'raw', 'selected']),
		context.getNodeParameter('output', itemIndex),
		'Output',
	);
	if (output !== 'selected') return { output };
	const fields = check(z.array(z.string()), context.getNodeParameter('fields', itemIndex), 'Fields');
	return { output, fields };
}

/**
 * Reads a JSON field: text from the form, or a value from an expression.
 * @returns a new object; empty where the field is empty
 * @throws Failure `input` naming the field
 */
export function readJsonObject(value: unknown, label: string): Record<string, unknown> {
	const parsed = readJson(value, label);
	if (parsed === undefined) return {};
	if (isRecord(parsed)) return { ...parsed };
	throw inputFailure(`'${label}' is not a JSON object`, 'Enter something like {"status": 1}.');
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
	throw new Failure({
		kind: 'input',
		cause: 'input',
		message: `'${label}' holds a value of the wrong kind`,
		remedy: 'Check the expression in this field and what it gives for this item.',
	});
}

function parseJson(text: string): { value: unknown } | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return { value };
	} catch {
		return undefined;
	}
}

/** A filter that was added but has no value would be no filter at all, and the whole fleet would come. */
function checkGiven(name: string, value: unknown): void {
	if (value !== undefined && value !== null) return;
	throw inputFailure(
		`'${FILTER_LABELS.get(name) ?? name}' under 'Filters' has no value`,
		'Check the expression in this field and what it gives for this item, or remove the filter.',
	);
}

/** Text with commas, or a list from an expression. */
function readTags(tags: unknown): string {
	if (!Array.isArray(tags)) return check(textSchema, tags, 'Tags');
	const texts = check(z.array(textSchema), tags, 'Tags');
	const broken = texts.find((tag) => tag.includes(','));
	if (broken === undefined) return texts.join(',');
	throw inputFailure(
		`The tag "${broken}" under 'Tags' contains a comma`,
		'The platform separates tags by commas and has no way to escape one. Filter by another tag, or filter the devices in a later step of the workflow.',
	);
}

function sortName(field: string, attribute: string): string {
	if (field === 'custom') return attribute;
	if (field !== 'attributes') return field;
	return attribute.trim() === '' ? '' : `attributes.${attribute.trim()}`;
}
