import type { INodeProperties } from 'n8n-workflow';

import { inputFailure } from '../core/failure';
import type { ListSettings } from '../transport/devices';
import { checkNumber, readCollection, type ReadParameter } from './values';

/** The number fields under 'Options'. Their defaults and limits are those that the values are checked against. */
export const optionFields = {
	maxRetries: {
		displayName: 'Max Retries',
		name: 'maxRetries',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 10 },
		default: 3,
		description:
			'How often a request that only reads is sent again after a time-out, a dropped connection or HTTP 429, 502, 503 or 504',
	},
	pageSize: {
		displayName: 'Page Size',
		name: 'pageSize',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 10_000 },
		default: 1000,
		description:
			'How many devices to ask for in one request. A platform that allows fewer sends fewer; none is lost.',
	},
	parallelRequests: {
		displayName: 'Parallel Requests',
		name: 'parallelRequests',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 16 },
		default: 8,
		description:
			'How many requests may be under way at once. The value of the first item holds for the whole run.',
	},
	skip: {
		displayName: 'Skip',
		name: 'skip',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: Number.MAX_SAFE_INTEGER },
		default: 0,
		description:
			'How many devices to leave out at the beginning, to read a large fleet in parts. Sort by Create Time and ID, both ascending, so that new devices come last.',
	},
	timeout: {
		displayName: 'Timeout',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 3_600_000 },
		default: 60_000,
		description: 'How long one request may take, in milliseconds',
	},
} as const satisfies Record<string, INodeProperties>;

/**
 * 'Options' with the given fields.
 * @param fields in alphabetical order of their labels
 */
export function optionsField(fields: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: fields,
	};
}

/** Names of all options that the operations of the action node have; the one that is no shared field stands with Get. */
const OF_OPERATIONS: ReadonlySet<string> = new Set([...Object.keys(optionFields), 'ifNotFound']);

/**
 * Reads 'Options'. One that another operation has is no mistake: n8n keeps it when the operation changes.
 * @param names of all options that the node has; default: those of the action node
 * @throws Failure `input` for what is no object, or a name that no field has
 */
export function readOptions(read: ReadParameter, names = OF_OPERATIONS): Record<string, unknown> {
	const options = readCollection(read, 'options', 'Options');
	const unknown = Object.keys(options).find((name) => !names.has(name));
	if (unknown === undefined) return options;
	throw inputFailure(
		`There is no option "${unknown}" under 'Options'`,
		'Check the names in the expression of this field, or remove it and fill in the form.',
	);
}

/**
 * Reads what 'Options' says of requests.
 * @param names of all options that the node has; default: those of the action node
 * @throws Failure `input` naming the field and its limits
 */
export function readSettings(read: ReadParameter, names = OF_OPERATIONS): ListSettings {
	const options = readOptions(read, names);
	return {
		pageSize: checkNumber(options['pageSize'], optionFields.pageSize),
		parallelRequests: checkNumber(options['parallelRequests'], optionFields.parallelRequests),
		timeoutMs: checkNumber(options['timeout'], optionFields.timeout),
		maxRetries: checkNumber(options['maxRetries'], optionFields.maxRetries),
	};
}

/**
 * Reads how many devices of a list are left out at its beginning.
 * @throws Failure `input` naming the field and its limits
 */
export function readSkip(read: ReadParameter): number {
	return checkNumber(readOptions(read)['skip'], optionFields.skip);
}
