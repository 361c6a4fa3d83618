import type { IExecuteFunctions } from 'n8n-workflow';

import { optionFields } from './descriptions';
import { checkNumber, readCollection } from './parameters';
import type { RequestSettings } from './transport';

/** Everything under 'Options' that governs requests. */
export interface NodeSettings extends RequestSettings {
	pageSize: number;
	parallelRequests: number;
}

/**
 * Reads 'Options' of one item.
 * @throws Failure `input` naming the field and its limits
 */
export function readSettings(context: IExecuteFunctions, itemIndex: number): NodeSettings {
	const options = readCollection(context, 'options', itemIndex);
	return {
		pageSize: checkNumber(options['pageSize'], optionFields.pageSize),
		parallelRequests: checkNumber(options['parallelRequests'], optionFields.parallelRequests),
		timeoutMs: checkNumber(options['timeout'], optionFields.timeout),
		maxRetries: checkNumber(options['maxRetries'], optionFields.maxRetries),
	};
}
