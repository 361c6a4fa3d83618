/**
 * 'Filters' of a list: the form, and how the node reads it. A filter is used or fails the item; it is never ignored. It doesn't
 * know which filters a platform supports.
 */
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { type Failure, inputFailure } from '../core/failure';
import { DEEPEST_NESTING, isPlainObject, nestsDeeperThan, parseJson } from '../core/json';
import { type OwnFilters, statusText } from '../core/ownFilters';
import type { ListCriteria, Query } from '../core/address';
import { checkText, textsIn, trimmed } from '../core/text';
import { entriesField, EXISTS, numberField, pickedFields, textField } from './formFields';
import { addParameter, checkQueryParameters, parameterWithoutValue, queryParametersField } from './queryParameters';
import {
	check,
	checkCollection,
	checkEntries,
	checkJson,
	checkName,
	checkNumber,
	chosenValue,
	type ReadParameter,
	textSchema,
	writeJson,
} from './check';

/** 32-bit integers (section 4.1). */
const COMPOSITE_STATUS = numberField('Composite Status', 'compositeStatus', [-(2 ** 31), 2 ** 31 - 1], 0, {
	description: "Number for the overall state of a device. See your platform's documentation.",
});

const SEARCH_CRITERIA = 'Search Criteria (JSON)';
const RESERVED: ReadonlySet<string> = new Set(['page', 'size', 'sort']);
const NO_COMMA = "The platform can't filter by it. Filter the devices in a later step.";
const WHOLE_LIST = 'n8n reads all devices and filters them itself.';

const ONLINE_STATUS = {
	...COMPOSITE_STATUS,
	...{ displayName: 'Online Status', name: 'onlineStatus' },
	...{ placeholder: 'e.g. 0', hint: 'Usually 0 = offline, 1 = online' },
	description: `Number of the status. ${WHOLE_LIST}`,
} satisfies INodeProperties;

const GROUP = textField('Group', 'group', 'Warehouse Hamburg', `Name or ID of the group. ${WHOLE_LIST}`);

function pickedFilter(plain: INodeProperties, searchListMethod: string): INodeProperties[] {
	const at = `/filters.${plain.name}`;
	return pickedFields(plain, searchListMethod, [{ show: { [at]: [EXISTS] }, hide: { [`${at}.mode`]: [EXISTS] } }, {}]);
}

/** 'Filters' of a list of devices (section 1.4 of the API document). */
export const filtersField = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description: 'Only include devices that match all filters. Your platform may not support every filter.',
	options: [
		entriesField(
			{ displayName: 'Attributes', name: 'attributes', description: 'Only devices with these attribute values' },
			{ displayName: 'Attribute', name: 'pair' },
			[
				{
					...textField('Name', 'key', 'site', 'Name of the attribute, without spaces or commas'),
					hint: "To see all names, run Get Many with 'Output' set to 'Raw'",
				},
				textField('Value', 'value', 'Hamburg', 'Value of the attribute, without commas'),
			],
		),
		COMPOSITE_STATUS,
		...pickedFilter(GROUP, 'searchGroups'),
		textField('Name', 'name', 'R310', 'Text to search for. Your platform decides which fields it searches.'),
		...pickedFilter(ONLINE_STATUS, 'searchOnlineStatus'),
		{ ...queryParametersField, description: 'Other filters, sent as query parameters' },
		{
			displayName: SEARCH_CRITERIA,
			name: 'body',
			type: 'json',
			default: '{}',
			description: 'Fields to add to the JSON body of the list request, like {"status": 1}',
		},
		textField('Tags', 'tags', 'indoor, pilot', 'One or more tags, separated by commas'),
	],
} satisfies INodeProperties;

/**
 * Returns the filters as the API takes them. An invalid filter fails the item: without it, the node would list the whole fleet.
 * @param byAgent whether a model fills in the filters. It has to fill in all of them, so an empty text means no filter.
 * @throws Failure `input` that names the filter
 */
export function readFilters(read: ReadParameter, byAgent = false): ListCriteria & { own?: OwnFilters } {
	const given = checkCollection(read('filters', {}), 'Filters');
	// 'Search Criteria' may have a mode and a value of their own.
	for (const name of [GROUP.name, ONLINE_STATUS.name]) if (name in given) given[name] = chosenValue(given[name]);
	const filled = Object.entries(given).filter(([, value]) => !byAgent || !isBlank(value));
	const filters = Object.fromEntries(filled);
	for (const [name, value] of Object.entries(filters)) checkFilter(name, value, byAgent);
	const body = writeJson(readCriteria(filters, byAgent), SEARCH_CRITERIA);
	const query = readQuery(filters, byAgent);
	const { onlineStatus, group } = filters;
	if (onlineStatus === undefined && group === undefined) return { body, query };
	const own = {
		...(onlineStatus !== undefined && { onlineStatus: checkNumber(statusText(onlineStatus) ?? '', ONLINE_STATUS) }),
		...(group !== undefined && { group: trimmed(checkText(check(textSchema, group, 'Group'), "'Group'")) }),
	};
	return { body, query, own };
}

function readQuery(filters: Record<string, unknown>, byAgent: boolean): Query {
	const name = trimmed(check(textSchema, filters['name'], 'Name'));
	const tags = readTags(filters['tags']);
	const entriesOf = <T extends { value: string }>(value: unknown, label: string, checkAll: (value: unknown) => T[]) => {
		if (value === undefined) return [];
		const entries = checkAll(value);
		if (entries.length === 0) throw withoutValue(label, byAgent);
		return byAgent ? entries.filter((entry) => !isBlank(entry.value)) : entries;
	};
	const attributes = entriesOf(filters['attributes'], 'Attributes', checkAttributes);
	const parameters = entriesOf(filters['query'], 'Query Parameters', checkQueryParameters);
	const query: Query = {};
	if (/[\n\r\t]/.test(name))
		throw inputFailure("'Name' under 'Filters' contains a line break or a tab", 'Enter one text.');
	if (name !== '') query['name'] = checkText(name, "'Name'");
	if (tags !== '') query['tags'] = checkText(tags, "'Tags'");
	if (attributes.length > 0) query['attributes'] = attributes.map(attributePair).join(',');
	for (const parameter of parameters) {
		if (RESERVED.has(parameter.name)) {
			const remedy = 'Remove it. The node requests the pages itself.';
			throw inputFailure(`'Query Parameters' can't contain "${parameter.name}"`, remedy);
		}
		addParameter(query, parameter);
		if (parameter.value === '') throw parameterWithoutValue(parameter.name);
	}
	return query;
}

function isBlank(value: unknown): boolean {
	return typeof value === 'string' && trimmed(value) === '';
}

const attributeSchema = z.strictObject({ key: textSchema, value: textSchema });
const checkAttributes = (value: unknown) => checkEntries(value, 'pair', attributeSchema, 'Attributes');

/** Refuses an unknown filter, and a filter without a value: the node would list all devices. */
function checkFilter(name: string, value: unknown, byAgent: boolean): void {
	const filter = filtersField.options.find((each) => each.name === name);
	if (filter === undefined) {
		const names = [...new Set(filtersField.options.map((each) => each.name))].join(', ');
		const remedy = `Use one of ${names}. For other filters, use 'Query Parameters' or '${SEARCH_CRITERIA}'.`;
		throw inputFailure(`There is no filter "${name}" under 'Filters'`, remedy);
	}
	if (hasNoValue(value)) throw withoutValue(filter.displayName, byAgent);
}

function withoutValue(label: string, byAgent: boolean): Failure {
	const instead = byAgent
		? 'use an empty text for no filter.'
		: 'remove the filter. If it has an expression, check its result.';
	return inputFailure(`'${label}' under 'Filters' has no value`, `Fill it in, or ${instead}`);
}

function hasNoValue(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	if (typeof value === 'string') return textsIn(value).length === 0;
	return Array.isArray(value) && (value.length === 0 || [...value].some(hasNoValue));
}

/** Returns the search criteria for the request body. 'Composite Status' overrides a field of that name. */
function readCriteria({ body, compositeStatus }: Record<string, unknown>, byAgent: boolean): Record<string, unknown> {
	const criteria = body === undefined ? {} : checkJson(body, SEARCH_CRITERIA);
	if (!isPlainObject(criteria) || nestsDeeperThan(criteria, DEEPEST_NESTING)) {
		throw inputFailure(`'${SEARCH_CRITERIA}' isn't a JSON object`, 'Enter an object like {"status": 1}.');
	}
	if (body !== undefined && Object.keys(criteria).length === 0) throw withoutValue(SEARCH_CRITERIA, byAgent);
	if (compositeStatus === undefined) return criteria;
	return { ...criteria, compositeStatus: checkNumber(compositeStatus, COMPOSITE_STATUS) };
}

/** Returns the tags as text with commas. An expression may return a list. */
function readTags(given: unknown): string {
	const tags = Array.isArray(given)
		? check(z.array(textSchema), given, 'Tags').map(trimmed)
		: textsIn(check(textSchema, given, 'Tags'));
	const broken = tags.find((tag) => tag.includes(','));
	const text = tags.filter((tag) => tag !== '').join(',');
	if (/["[{]/.test(text) && parseJson(`[${Array.isArray(given) ? text : given}]`) !== undefined) {
		throw inputFailure("'Tags' under 'Filters' is JSON text", 'Enter the tags without quotes or brackets.');
	}
	if (broken === undefined) return text;
	throw inputFailure(`The tag "${broken}" under 'Tags' contains a comma`, NO_COMMA);
}

function attributePair({ key, value }: { key: string; value: string }): string {
	const name = checkName(key, "a name under 'Attributes'");
	if (isBlank(value)) {
		const remedy = 'Enter a value, or remove the attribute. If it has an expression, check its result.';
		throw inputFailure(`The attribute "${name}" under 'Attributes' has no value`, remedy);
	}
	if (value.includes(',')) {
		throw inputFailure(`The value of the attribute "${name}" under 'Attributes' contains a comma`, NO_COMMA);
	}
	return `${name} ${checkText(trimmed(value), `the attribute "${name}"`)}`;
}
