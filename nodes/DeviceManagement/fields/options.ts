import type { INodeProperties } from 'n8n-workflow';

import { inputFailure } from '../core/failure';
import { asGiven } from './asGiven';
import { checkNumber, readCollection, type ReadParameter } from './check';

/** The number fields under 'Options'. Values are checked against these defaults and limits. */
export const optionFields = {
	maxRetries: {
		displayName: 'Max Retries',
		name: 'maxRetries',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 10 },
		default: 3,
		description: 'How often to retry a read request after a timeout, a lost connection or HTTP 429, 502, 503 or 504',
	},
	pageSize: {
		displayName: 'Page Size',
		name: 'pageSize',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 10_000 },
		default: 1000,
		description: 'How many items to request per page. If your platform allows fewer, n8n still reads all items.',
	},
	parallelRequests: {
		displayName: 'Parallel Requests',
		name: 'parallelRequests',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 16 },
		default: 8,
		description: 'How many requests to send at the same time. The value of the first item applies to the whole run.',
	},
	skip: {
		displayName: 'Skip',
		name: 'skip',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: Number.MAX_SAFE_INTEGER },
		default: 0,
		description:
			'How many items to skip at the start, to read a long list in parts. Sort by creation time and ID, both ascending, so that new items come last.',
	},
	timeout: {
		displayName: 'Timeout (Milliseconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 3_600_000 },
		default: 60_000,
		description: 'How many milliseconds to wait for the response to a request',
	},
} as const satisfies Record<string, INodeProperties>;

/**
 * Returns the collection 'Options'.
 * @param fields its fields, in alphabetical order of their labels
 */
export function optionsField(fields: INodeProperties[]): INodeProperties[] {
	return asGiven({
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: fields,
	});
}

/** Names of the action node's options, those of single operations included. */
const OF_OPERATIONS: ReadonlySet<string> = new Set([...Object.keys(optionFields), 'ifFleetChanges', 'ifNotFound']);

/**
 * Returns the values of 'Options'. Options of another operation are accepted: n8n keeps them when the operation changes.
 * @param names all options of the node; default: those of the action node
 * @throws Failure `input` for anything but an object, and for an unknown option
 */
export function readOptions(read: ReadParameter, names = OF_OPERATIONS): Record<string, unknown> {
	const options = readCollection(read, 'options', 'Options');
	const unknown = Object.keys(options).find((name) => !names.has(name));
	if (unknown === undefined) return options;
	throw inputFailure(
		`There is no option "${unknown}" under 'Options'`,
		'Check the names in the expression of this field, or fill in the form instead.',
	);
}

/**
 * Returns the settings for requests from 'Options', and all options for those of single operations.
 * @param names all options of the node; default: those of the action node
 * @throws Failure `input` that names the field and its limits
 */
export function readSettings(read: ReadParameter, names = OF_OPERATIONS) {
	const options = readOptions(read, names);
	return {
		options,
		pageSize: checkNumber(options['pageSize'], optionFields.pageSize),
		parallelRequests: checkNumber(options['parallelRequests'], optionFields.parallelRequests),
		timeoutMs: checkNumber(options['timeout'], optionFields.timeout),
		maxRetries: checkNumber(options['maxRetries'], optionFields.maxRetries),
	};
}
