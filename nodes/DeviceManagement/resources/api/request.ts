import type { IDataObject, IHttpRequestMethods } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../../core/failure';
import { describeValue, isRecord } from '../../core/json';
import { apiPath, type Query } from '../../core/address';
import { asGiven, choiceField, textField } from '../../fields/formFields';
import { optionsField } from '../../fields/options';
import { addParameter, checkQueryParameters, queryParametersField } from '../../fields/queryParameters';
import { check, checkJson, textSchema, writeJson } from '../../fields/check';
import { type PagedEndpoint, asPaged } from '../../transport/pagedList';
import { fetchItems, listOptionFields, readIfChanges, returnAllField } from '../list';
import type { Operation } from '../operation';

/** With a heap of 1 GB, n8n can save the items of so many values. */
const MOST_VALUES = 1_000_000;
const WORDS = { isOfRows: true };
const methodSchema = z.enum(['DELETE', 'GET', 'PATCH', 'POST', 'PUT']);
const METHODS = methodSchema.options.map((method) => ({ name: method, value: method }));
const METHOD_WORDS = 'HTTP method. Requests other than GET are sent only once, one item at a time.';
const BODY_WORDS = 'Request body as JSON. If empty, n8n sends {}, or nothing for DELETE.';

/** API Request: Request (section 4.3 of the API document): any endpoint below /api, or all pages of a list there (section 1.2). */
export const request: Operation = {
	name: 'Request',
	action: 'Make API request',
	description: 'Send a request to any endpoint of the platform',
	fields: [
		choiceField('Method', 'method', 'GET', METHOD_WORDS, METHODS),
		{ ...textField('Path', 'path', '/api/model/list', 'Path after the base URL, starting with /api'), required: true },
		{
			...returnAllField,
			displayOptions: { show: { method: ['GET', 'POST'] } },
			hint: 'Only for endpoints that return pages',
			description:
				"Whether to fetch all pages of a list. n8n sends the request several times, so don't use it for a POST that changes data.",
		},
		...asGiven(queryParametersField),
		{
			// Not n8n's editor for JSON, which marks an empty text as an error.
			...textField('Body', 'body', '{"description": "Pier 4"}', BODY_WORDS),
			typeOptions: { rows: 4 },
			displayOptions: { show: { method: ['DELETE', 'PATCH', 'POST', 'PUT'] } },
		},
		...optionsField(listOptionFields(WORDS)),
	],

	/** Writes keep the order of the items. An expression may return any method, so it counts as a write. */
	inSequence({ method }) {
		return method !== undefined && method !== 'GET';
	},

	async run(item) {
		const { platform, read, settings } = item;
		const method: IHttpRequestMethods = check(methodSchema, read('method'), 'Method');
		const path = apiPath(check(textSchema, read('path'), 'Path'));
		const query: Query = {};
		for (const parameter of checkQueryParameters(read('query', {}))) addParameter(query, parameter);
		const given = method === 'GET' ? undefined : readBody(read('body', ''));
		// Many platforms refuse a write without a body.
		const body = given ?? (method === 'GET' || method === 'DELETE' ? undefined : '{}');
		const words = method === 'GET' ? 'apiRequest' : 'apiRequestWithBody';
		const endpoint: PagedEndpoint = { method, path, query, body, words, mostValues: MOST_VALUES };
		if (!check(z.boolean(), read('returnAll', false), 'Return All')) {
			return asItems(await platform.request({ ...endpoint, schema: z.unknown(), settings }));
		}
		checkListRequest(method, query);
		const range = { skip: 0, ifChanges: readIfChanges(settings) };
		return await fetchItems({ ...item, platform: asPaged(platform, asItems) }, endpoint, range, WORDS, (row) => row);
	},
};

/** @throws Failure `input` for what doesn't go together with 'Return All' */
function checkListRequest(method: string, query: Query): void {
	if (method !== 'GET' && method !== 'POST') {
		throw inputFailure(`'Return All' can't be used with ${method}`, "Turn it off, or set 'Method' to GET or POST.");
	}
	const name = ['page', 'size'].find((one) => Object.hasOwn(query, one));
	if (name === undefined) return;
	const remedy = "Remove the parameter. n8n requests all pages, of the 'Page Size' under 'Options'.";
	throw inputFailure(`The query parameter "${name}" can't be used with 'Return All'`, remedy);
}

/** Returns one item for an object, one per element for a list, and anything else under `data`. */
function asItems(data: unknown): IDataObject[] {
	const elements: unknown[] = Array.isArray(data) ? data : [data];
	return elements.map((element) => (isRecord(element) ? element : { data: element ?? null }));
}

/**
 * Returns the body as JSON text; undefined for an empty field. Text is sent unchanged, so that long numbers keep their digits.
 * @throws Failure `input` for invalid JSON, and for an expression that returns nothing
 */
function readBody(value: unknown): string | undefined {
	if (value === undefined || value === null) {
		const remedy = 'Check the expression in this field, or leave the field empty.';
		throw inputFailure(`'Body' is ${describeValue(value)} instead of JSON`, remedy);
	}
	if (typeof value !== 'string') {
		return writeJson(value, 'Body', "Enter it as text, or enter all of 'Body' as JSON text.");
	}
	if (value.trim() === '') return undefined;
	checkJson(value, 'Body');
	return value;
}
