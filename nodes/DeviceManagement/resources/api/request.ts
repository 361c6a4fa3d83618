import type { IHttpRequestMethods, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../../core/failure';
import { isRecord } from '../../core/json';
import { addParameter, apiPath, type Query } from '../../core/query';
import {
	forOperation,
	optionFields,
	optionsField,
	queryParametersField,
} from '../../shared/descriptions';
import { check, readJson, readQueryParameters, textSchema } from '../../shared/parameters';
import { readSettings } from '../../shared/settings';
import type { Operation } from '../operation';

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
		queryParametersField,
		{
			displayName: 'Body',
			name: 'body',
			type: 'json',
			default: '',
			displayOptions: { show: { method: ['DELETE', 'PATCH', 'POST', 'PUT'] } },
			description: 'The request body as JSON. Empty sends none.',
		},
		optionsField([optionFields.maxRetries, optionFields.parallelRequests, optionFields.timeout]),
	]),

	/** What writes keeps the order of the items. An expression may give any method. */
	inSequence(context) {
		const method: unknown = context.getNode().parameters['method'];
		return method !== undefined && method !== 'GET';
	},

	async run({ context, platform }, itemIndex) {
		const method: IHttpRequestMethods = check(
			methodSchema,
			context.getNodeParameter('method', itemIndex),
			'Method',
		);
		const path = apiPath(check(textSchema, context.getNodeParameter('path', itemIndex), 'Path'));
		const parameters = readQueryParameters(context.getNodeParameter('query', itemIndex, {}));
		const query: Query = {};
		for (const { name, value } of parameters) addParameter(query, name.trim(), value);
		const body = method === 'GET' ? undefined : readJson(context.getNodeParameter('body', itemIndex, ''), 'Body');
		const { timeoutMs, maxRetries } = readSettings(context, itemIndex);
		const data = await platform.request({
			method,
			path,
			query,
			body: body === undefined ? undefined : toJson(body),
			onlyReads: method === 'GET',
			schema: z.unknown(),
			expected: 'anything',
			settings: { timeoutMs, maxRetries },
		});
		return asItems(data, itemIndex);
	},
};

/** An object is one item, a list one item per element, anything else stands under `data`. */
function asItems(data: unknown, itemIndex: number): INodeExecutionData[] {
	const pairedItem = { item: itemIndex };
	const elements: unknown[] = Array.isArray(data) ? data : [data];
	return elements.map((element) => ({
		json: isRecord(element) ? element : { data: element ?? null },
		pairedItem,
	}));
}

function toJson(body: unknown): string {
	const text: string | undefined = JSON.stringify(body);
	if (text !== undefined) return text;
	throw inputFailure("'Body' holds something that is not JSON", 'Check the expression in this field.');
}

