import type { INodeProperties } from 'n8n-workflow';

import { inputFailure } from '../core/failure';
import { asGiven, numberField } from './formFields';
import { checkCollection, checkNumber, type ReadParameter } from './check';

/** The number fields under 'Options' that govern requests. Values are checked against these defaults and limits. */
export const optionFields = {
	maxRetries: numberField('Max Retries', 'maxRetries', [0, 10], 3, {
		description: "How many times to retry a failed read. 0 turns retries off. Retries after HTTP 429 don't count.",
	}),
	pageSize: numberField('Page Size', 'pageSize', [1, 10_000], 1000, {
		description: 'How many items to request per page, up to 10,000. n8n adapts if your platform allows fewer.',
	}),
	parallelRequests: numberField('Parallel Requests', 'parallelRequests', [1, 16], 8, {
		description: 'How many requests to send at the same time',
	}),
	timeout: numberField('Timeout (Milliseconds)', 'timeout', [1, 3_600_000], 60_000, {
		description: 'How long to wait for each response',
	}),
};

export const FAIL_THE_ITEM = 'The On Error setting of the node applies';

/** Returns the collection 'Options' with these fields and those of every request, in alphabetical order of their labels. */
export function optionsField(own: INodeProperties[] = []): INodeProperties[] {
	const { maxRetries, parallelRequests, timeout } = optionFields;
	const options = [...own, maxRetries, parallelRequests, timeout];
	return asGiven({
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: options.sort((one, other) => (one.displayName < other.displayName ? -1 : 1)),
	});
}

export function optionNames(form: readonly INodeProperties[]): ReadonlySet<string> {
	const collections = form.filter(({ name }) => name === 'options');
	return new Set(collections.flatMap(({ options = [] }) => options.map(({ name }) => name)));
}

export type Settings = ReturnType<typeof readSettings>;

/**
 * Returns the settings for requests from 'Options', and all options for those of single operations. Options of another operation
 * are accepted: n8n keeps them when the operation changes.
 * @throws Failure `input` for anything but an object, for an unknown option, and for a value beyond the field's limits
 */
export function readSettings(read: ReadParameter, names: ReadonlySet<string>) {
	const options = checkCollection(read('options', {}), 'Options');
	const unknown = Object.keys(options).find((name) => !names.has(name));
	if (unknown !== undefined) {
		const remedy = 'Check the expression in this field, or fill in the form.';
		throw inputFailure(`There is no option "${unknown}" under 'Options'`, remedy);
	}
	return {
		options,
		pageSize: checkNumber(options['pageSize'], optionFields.pageSize),
		parallelRequests: checkNumber(options['parallelRequests'], optionFields.parallelRequests),
		timeoutMs: checkNumber(options['timeout'], optionFields.timeout),
		maxRetries: checkNumber(options['maxRetries'], optionFields.maxRetries),
	};
}
