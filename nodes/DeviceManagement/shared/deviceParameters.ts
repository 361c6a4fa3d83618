import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';
import { isRecord } from '../core/json';
import type { OutputMode } from '../core/output';
import { buildFilterQuery, buildSort, type Query } from '../core/query';
import { filtersField } from './descriptions';
import {
	check,
	checkNumber,
	type NumberField,
	readCollection,
	readJson,
	readQueryParameters,
	textSchema,
} from './parameters';

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

const attributesSchema = z
	.object({ pair: z.array(z.object({ key: textSchema, value: textSchema })).default([]) })
	.default({ pair: [] });
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
			parameters: readQueryParameters(filters['query']),
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
function readJsonObject(value: unknown, label: string): Record<string, unknown> {
	const parsed = readJson(value, label);
	if (parsed === undefined) return {};
	if (isRecord(parsed)) return { ...parsed };
	throw inputFailure(`'${label}' is not a JSON object`, 'Enter something like {"status": 1}.');
}

/** A filter that was added but has no value would be no filter at all, and the whole fleet would come. */
function checkGiven(name: string, value: unknown): void {
	const isCollection = name === 'attributes' || name === 'query';
	if (!isNothing(value) && !(isCollection && isEmptyCollection(value))) return;
	throw inputFailure(
		`'${FILTER_LABELS.get(name) ?? name}' under 'Filters' has no value`,
		'Fill it in, or remove the filter. If it is an expression, check what it gives for this item.',
	);
}

/** Nothing, blank, only commas, or a list that holds such. */
function isNothing(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	if (typeof value === 'string') return /^[\s,]*$/.test(value);
	return Array.isArray(value) && (value.length === 0 || value.some(isNothing));
}

/** A collection without entries, or with an empty list of them. */
function isEmptyCollection(value: unknown): boolean {
	return (
		isRecord(value) &&
		Object.values(value).every((entries) => Array.isArray(entries) && entries.length === 0)
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
