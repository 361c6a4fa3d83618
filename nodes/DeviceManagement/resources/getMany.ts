import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure } from '../core/failure';
import type { JsonObject } from '../core/json';
import { fetchPart } from '../core/paging/part';
import { fetchList } from '../core/paging/passes';
import { remarkOn } from '../core/remark';
import { optionFields, readSettings } from '../fields/options';
import { check, checkNumber, type ReadParameter } from '../fields/check';
import { type PagedEndpoint, pageSource } from '../transport/pagedList';
import type { Execution } from './operation';

const LIMIT = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: Number.MAX_SAFE_INTEGER },
	default: 50,
	displayOptions: { show: { returnAll: [false] } },
	description: 'Max number of results to return',
} satisfies INodeProperties;

/** 'Return All' and 'Limit', the first fields of every Get Many. */
export const limitFields: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	LIMIT,
];

/** The options of every Get Many, in alphabetical order of their labels. */
export const listOptionFields: INodeProperties[] = [
	{
		displayName: 'If the Fleet Keeps Changing',
		name: 'ifFleetChanges',
		type: 'options',
		options: [
			{
				name: 'Fail the Item',
				value: 'fail',
				description: 'The On Error setting of the node decides what happens next',
			},
			{
				name: 'Return What Was Read',
				value: 'return',
				description: 'The list may be incomplete. A hint at the output says so.',
			},
		],
		default: 'fail',
		displayOptions: { show: { '/returnAll': [true] } },
		description: 'What to do if the list changes each time n8n reads it',
	},
	optionFields.maxRetries,
	optionFields.pageSize,
	optionFields.parallelRequests,
	optionFields.skip,
	optionFields.timeout,
];

const fleetChangesSchema = z.enum(['fail', 'return']).default('fail');

/**
 * Fetches the items by 'Return All', 'Limit' and 'Options'. Adds a hint if the list may be incomplete.
 * @throws Failure `input` for an invalid field; `paging` if 'Return All' is on and the list kept changing; and what a request throws
 */
export async function fetchItems(
	{ platform, hint }: Execution,
	read: ReadParameter,
	endpoint: PagedEndpoint,
): Promise<JsonObject[]> {
	const returnAll = check(z.boolean(), read('returnAll'), 'Return All');
	const limit = returnAll ? undefined : checkNumber(read('limit') ?? '', LIMIT);
	const { options, ...settings } = readSettings(read);
	const part = { skip: checkNumber(options['skip'], optionFields.skip), limit };
	const ifFleetChanges = check(fleetChangesSchema, options['ifFleetChanges'], 'If the Fleet Keeps Changing');
	const fetch = part.skip > 0 ? fetchPart : fetchList;
	const listing = await fetch(pageSource(platform, endpoint, settings), { ...settings, ...part });
	if (returnAll && !listing.settled && ifFleetChanges === 'fail') throw keptChanging(listing.passes);
	const remark = remarkOn(listing, part);
	if (remark !== undefined) hint(remark);
	return listing.items;
}

function keptChanging(passes: number): Failure {
	return new Failure({
		kind: 'paging',
		cause: 'platform',
		message: `The list changed during each of ${passes} readings, so some items may be missing`,
		remedy:
			"Run the workflow again, if possible at a quieter time. To accept an incomplete list, set 'If the Fleet Keeps Changing' under 'Options' to 'Return What Was Read'.",
	});
}
