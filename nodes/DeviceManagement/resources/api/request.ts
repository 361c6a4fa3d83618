import type { IDataObject, IHttpRequestMethods } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../../core/failure';
import { describeValue, isRecord } from '../../core/json';
import { addParameter, apiPath, type Query } from '../../core/query';
import { asGiven } from '../../fields/asGiven';
import { optionFields, optionsField, readSettings } from '../../fields/options';
import { checkQueryParameters, queryParametersField } from '../../fields/queryParameters';
import { check, readJson, textSchema, writeJson } from '../../fields/values';
import { forOperation, type Operation } from '../operation';

const methodSchema = z.enum(['DELETE', 'GET', 'PATCH', 'POST', 'PUT']);
/** API Request: Request — any other endpoint of the platform (section 4.3 of the API document), signed in the same way. */
export const request: Operation = {
	fields: forOperation('api', 'request', [
		{
			displayName: 'Method',
			name: 'method',
			type: 'options',
			options: methodSchema.options.map((method) => ({ name: method, value: method })),
			default: 'GET',
			description:
				'The HTTP method. Only a GET is sent again after a time-out, and only GETs run several items at once.',
		},
		{
			displayName: 'Path',
			name: 'path',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. /api/group/list',
			description: "Path on the platform, below the credential's base URL. It begins with /api.",
		},
		...asGiven(queryParametersField),
		{
			displayName: 'Body',
			name: 'body',
			type: 'json',
			default: '',
			displayOptions: { show: { method: ['DELETE', 'PATCH', 'POST', 'PUT'] } },
			description: 'The request body as JSON, like {"description": "Pier 4"}. Empty sends none.',
		},
		...asGiven(optionsField([optionFields.maxRetries, optionFields.parallelRequests, optionFields.timeout])),
	]),

	/** What writes keeps the order of the items. An expression may give any method. */
	inSequence({ method }) {
		return method !== undefined && method !== 'GET';
	},

	async run({ platform }, read) {
		const method: IHttpRequestMethods = check(methodSchema, read('method'), 'Method');
		const path = apiPath(check(textSchema, read('path'), 'Path'));
		const query: Query = {};
		for (const { name, value } of checkQueryParameters(read('query', {}))) {
			addParameter(query, name.trim(), value);
		}
		const body = method === 'GET' ? undefined : readBody(read('body', ''));
		const { timeoutMs, maxRetries } = readSettings(read);
		const data = await platform.request({
			method,
			path,
			query,
			body,
			purpose: method === 'GET' ? 'read' : 'write',
			schema: z.unknown(),
			expected: 'anything',
			settings: { timeoutMs, maxRetries },
		});
		return asItems(data);
	},
};

/** An object is one item, a list one item per element, anything else stands under `data`. */
function asItems(data: unknown): IDataObject[] {
	const elements: unknown[] = Array.isArray(data) ? data : [data];
	return elements.map((element) => (isRecord(element) ? element : { data: element ?? null }));
}

/**
 * JSON text; undefined for an empty field. What is text stays as it stands, so that numbers arrive which JavaScript can't hold.
 * An expression that gives nothing was meant to give a body.
 */
function readBody(value: unknown): string | undefined {
	if (value === undefined || value === null) {
		throw inputFailure(
			`'Body' is ${describeValue(value)} instead of JSON`,
			'Check the expression in this field and what it gives, or leave the field empty to send no body.',
		);
	}
	const body = readJson(value, 'Body');
	if (body === undefined) return undefined;
	return typeof value === 'string' ? value : writeJson(body, 'Body', "Give it as text, or all of 'Body' as JSON text.");
}

