import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { type Failure, inputFailure } from '../core/failure';
import { DEEPEST_NESTING, nestsDeeperThan } from '../core/json';
import { buildFilterQuery, type ListCriteria } from '../core/query';
import { checkQueryParameters, queryParametersField } from './queryParameters';
import {
	check,
	checkEntries,
	checkNumber,
	isPlainObject,
	type NumberField,
	readCollection,
	readJson,
	type ReadParameter,
	textSchema,
	writeJson,
} from './values';

/** 'Filters' of a list (section 1.4 of the API document). */
export const filtersField: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description: 'Only devices that meet all filters. Which of them a platform supports is up to it.',
	options: [
		{
			displayName: 'Attributes',
			name: 'attributes',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true },
			placeholder: 'Add Attribute',
			default: {},
			description: 'Devices whose attributes have these values',
			options: [
				{
					displayName: 'Attribute',
					name: 'pair',
					values: [
						{
							displayName: 'Key',
							name: 'key',
							type: 'string',
							default: '',
							placeholder: 'e.g. site',
							description: "The attribute's name, without spaces or commas",
						},
						{
							displayName: 'Value',
							name: 'value',
							type: 'string',
							default: '',
							placeholder: 'e.g. North Harbour',
							description: 'The value to look for. It may hold spaces, but no comma.',
						},
					],
				},
			],
		},
		{
			displayName: 'Composite Status',
			name: 'compositeStatus',
			type: 'number',
			default: 0,
			description: "A whole number whose meaning is in your platform's own documentation",
		},
		{
			displayName: 'Name',
			name: 'name',
			type: 'string',
			default: '',
			placeholder: 'e.g. harbour',
			description: 'Text to look for in the name; where a platform looks for it is up to it',
		},
		{ ...queryParametersField, description: 'Further filters that your platform knows' },
		{
			displayName: 'Search Criteria (JSON)',
			name: 'body',
			type: 'json',
			default: '{}',
			description: 'A JSON object, like {"status": 1}, whose fields are added to the search criteria in the request body',
		},
		{
			displayName: 'Tags',
			name: 'tags',
			type: 'string',
			default: '',
			placeholder: 'e.g. harbour, spare',
			description: 'One tag, or several separated by commas',
		},
	],
};

/**
 * Reads 'Filters'. What was given is used or refused: a filter that got lost would list the whole fleet.
 * @param byModel whether a model fills the filters: it has to fill them all, so that an empty text is a filter that it did
 * not give; default: false
 * @throws Failure `input` naming the filter
 */
export function readFilters(read: ReadParameter, { byModel = false } = {}): ListCriteria {
	const filters = given(readCollection(read, 'filters', 'Filters'), byModel);
	for (const [name, value] of Object.entries(filters)) checkGiven(name, value);
	const attributes = readEntries(filters['attributes'], 'Attributes', checkAttributes);
	const parameters = readEntries(filters['query'], 'Query Parameters', checkQueryParameters);
	return {
		body: writeJson(readCriteria(filters), SEARCH_CRITERIA),
		query: buildFilterQuery({
			name: check(textSchema, filters['name'], 'Name'),
			tags: readTags(filters['tags']),
			attributes: byModel ? attributes.filter(hasValue) : attributes,
			parameters: byModel ? parameters.filter(hasValue) : parameters,
		}),
	};
}

/** A 32-bit integer (section 4.1). */
const COMPOSITE_STATUS: NumberField = {
	displayName: 'Composite Status',
	default: 0,
	typeOptions: { minValue: -(2 ** 31), maxValue: 2 ** 31 - 1 },
};

const SEARCH_CRITERIA = 'Search Criteria (JSON)';

const FILTER_LABELS: ReadonlyMap<string, string> = new Map(
	filtersField.options?.map((filter) => [
		filter.name,
		'displayName' in filter ? filter.displayName : filter.name,
	]),
);

function given(filters: Record<string, unknown>, byModel: boolean): Record<string, unknown> {
	if (!byModel) return filters;
	return Object.fromEntries(Object.entries(filters).filter(([, value]) => !isBlank(value)));
}

function hasValue({ value }: { value: string }): boolean {
	return !isBlank(value);
}

function isBlank(value: unknown): boolean {
	return typeof value === 'string' && value.trim() === '';
}

function checkAttributes(value: unknown): Array<{ key: string; value: string }> {
	return checkEntries(value, 'pair', ATTRIBUTE, 'Attributes');
}

const ATTRIBUTE = { entry: z.strictObject({ key: textSchema, value: textSchema }), defaults: {} };

/** A filter that was added but has no value would be no filter at all, nor would one that nobody reads. */
function checkGiven(name: string, value: unknown): void {
	const label = FILTER_LABELS.get(name);
	if (label === undefined) {
		throw inputFailure(
			`There is no filter "${name}" under 'Filters'`,
			`An expression can give ${[...FILTER_LABELS.keys()].join(', ')}. What else the platform knows goes into 'Query Parameters' or 'Search Criteria (JSON)'.`,
		);
	}
	if (isNothing(value)) throw withoutValue(label);
}

/** The entries of a filter that holds several; none where it was not added. */
function readEntries<T>(value: unknown, label: string, checkAll: (value: unknown) => T[]): T[] {
	if (value === undefined) return [];
	const entries = checkAll(value);
	if (entries.length === 0) throw withoutValue(label);
	return entries;
}

function withoutValue(label: string): Failure {
	return inputFailure(
		`'${label}' under 'Filters' has no value`,
		'Fill it in, or remove the filter; an agent gives an empty text for none. If it is an expression, check what it gives.',
	);
}

/** Nothing, blank, only commas, or a list that holds such. */
function isNothing(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	if (typeof value === 'string') return /^[\s,]*$/.test(value);
	return Array.isArray(value) && (value.length === 0 || value.some(isNothing));
}

/** The search criteria of the request body; 'Composite Status' counts where both give it. */
function readCriteria({ body, compositeStatus }: Record<string, unknown>): Record<string, unknown> {
	const criteria = body === undefined ? {} : checkCriteria(body);
	if (compositeStatus === undefined) return criteria;
	return { ...criteria, compositeStatus: checkNumber(compositeStatus, COMPOSITE_STATUS) };
}

/** Text from the form, or a value from an expression. */
function checkCriteria(body: unknown): Record<string, unknown> {
	const criteria = readJson(body, SEARCH_CRITERIA);
	if (!isPlainObject(criteria) || nestsDeeperThan(criteria, DEEPEST_NESTING)) {
		throw inputFailure(`'${SEARCH_CRITERIA}' is not a JSON object`, 'Enter something like {"status": 1}.');
	}
	if (Object.keys(criteria).length === 0) throw withoutValue(SEARCH_CRITERIA);
	const lost = placeOfNothing(criteria);
	if (lost === undefined) return criteria;
	throw inputFailure(
		`'${SEARCH_CRITERIA}' holds nothing in "${lost.join('.')}"`,
		'The platform would not get this criterion, and list more than was asked for. Check the expression, or leave the criterion out.',
	);
}

/** Where a value holds something that JSON leaves out, or turns into null; undefined where it holds no such thing. */
function placeOfNothing(value: unknown): string[] | undefined {
	if (typeof value === 'number' ? !Number.isFinite(value) : !JSON_TYPES.has(typeof value)) return [];
	if (typeof value !== 'object' || value === null || value instanceof Date) return undefined;
	if (!Array.isArray(value) && !isPlainObject(value)) return [];
	for (const [key, field] of Object.entries(value)) {
		const place = placeOfNothing(field);
		if (place !== undefined) return [key, ...place];
	}
	return undefined;
}

const JSON_TYPES: ReadonlySet<string> = new Set(['boolean', 'number', 'object', 'string']);

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
