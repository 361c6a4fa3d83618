/** The form of operations that read a list: 'Return All', 'Limit' and the options, and how they fetch the items. */
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure } from '../core/failure';
import type { JsonObject } from '../core/json';
import { checkerOf, type OwnFilters } from '../core/ownFilters';
import { LIST_CAP, type Listing } from '../core/paging/list';
import { readPart } from '../core/paging/part';
import { choiceField, numberField } from '../fields/formFields';
import { FAIL_THE_ITEM, optionFields, type Settings } from '../fields/options';
import { check, checkChoice, checkNumber } from '../fields/check';
import { type PagedEndpoint, pageSource } from '../transport/pagedList';
import type { Item } from './operation';

interface ListWords {
	/** The fields to sort by so that new items come last; undefined for a list without 'Sort'. */
	readonly order?: string;
	readonly items?: string;
	/** Whether items may be equal or share an `id`, so that they are counted and not compared. Such a list has no 'Limit' and 'Skip'. */
	readonly isOfRows?: boolean;
}

/** The part of a list to return: all without a limit. Without `ifChanges`, the form has no such option, and a list that changes fails. */
type Range = Partial<ReturnType<typeof readRange>> & { skip: number };

const LIMIT = numberField('Limit', 'limit', [1, Number.MAX_SAFE_INTEGER], 50, {
	displayOptions: { show: { returnAll: [false] } },
	description: 'Max number of results to return',
});

export const returnAllField: INodeProperties = {
	displayName: 'Return All',
	name: 'returnAll',
	type: 'boolean',
	default: false,
	description: 'Whether to return all results or only up to a given limit',
};

export const limitFields = [returnAllField, LIMIT];

const SKIP = numberField('Skip', 'skip', [0, Number.MAX_SAFE_INTEGER], 0, {
	description: 'How many items to skip, to read a long list in parts',
});

const WHAT_IF_CHANGES = 'What to do if the list still changes after three attempts';
/** Saved workflows have this name, for every list. */
const IF_CHANGES = choiceField('If the List Keeps Changing', 'ifFleetChanges', 'fail', WHAT_IF_CHANGES, [
	{ name: 'Fail the Item', value: 'fail', description: FAIL_THE_ITEM },
	{
		name: 'Return a Partial List',
		value: 'return',
		description: 'Items may be missing. The output panel shows a warning.',
	},
]);

/** Returns the options of a list, for {@link optionsField}. */
export function listOptionFields(words: ListWords): INodeProperties[] {
	const order = words.order && `. Sort by ${words.order}, both ascending, so that new items come last.`;
	const displayOptions = { show: { '/returnAll': [true] } };
	return [
		{ ...IF_CHANGES, displayOptions },
		...(words.isOfRows === true
			? [{ ...optionFields.pageSize, displayOptions }]
			: [optionFields.pageSize, { ...SKIP, description: `${SKIP.description}${order ?? ''}` }]),
	];
}

export function readIfChanges({ options }: Settings) {
	return checkChoice(options[IF_CHANGES.name], IF_CHANGES);
}

/** Returns 'Return All', 'Limit', and the options of a list. Throws a Failure `input` for an invalid one. */
export function readRange({ read, settings }: Item) {
	const returnAll = check(z.boolean(), read('returnAll'), 'Return All');
	const remedy = "Enter 1 or more, or turn on 'Return All'.";
	const limit = returnAll ? undefined : checkNumber(read('limit') ?? '', LIMIT, remedy);
	return { limit, skip: checkNumber(settings.options['skip'], SKIP), ifChanges: readIfChanges(settings) };
}

/**
 * Fetches the items of a list. Adds a hint if the list may be incomplete.
 * @param own filters that come before 'Skip' and 'Limit'
 * @throws Failure `paging` if all are asked for and the list kept changing, and what a request throws
 */
export async function fetchItems<T extends object>(
	{ platform, byAgent, isOnly, hint, settings }: Item,
	endpoint: PagedEndpoint,
	{ skip, limit, ifChanges }: Range,
	{ order, items: noun = 'items', isOfRows = false }: ListWords,
	shape: (record: JsonObject) => T,
	own?: OwnFilters,
): Promise<T[]> {
	const { fits, missingGroupAndNames } = checkerOf(own);
	const keep = (record: JsonObject) => (fits(record) ? shape(record) : undefined);
	const source = pageSource(platform, { ...endpoint, areRows: isOfRows }, settings);
	const part = own ? { skip: 0, limit: undefined } : { skip, limit };
	// Parts, and the first items without 'Sort', stay in the platform's own order.
	const mayAddId = endpoint.sort?.length ? 'if unsteady' : 'if unsteady and uncut';
	const byId = isOfRows || part.skip > 0 ? undefined : mayAddId;
	const listing = await readPart(source, { ...settings, ...part, keep, byId });
	if (limit === undefined && !listing.settled && ifChanges !== 'return') throw unsettled(order, ifChanges);
	for (const text of [remarkOn(listing, part.skip, part.limit), missingGroupAndNames()]) {
		if (text !== undefined) hint(text);
	}
	if (skip > 0 && !endpoint.sort?.some((rule) => /(^|,)(id|sn)[, ]/.test(rule))) hint(PARTS_NEED_ID);
	const fitting = listing.items.filter((item) => item !== undefined);
	const items = own ? fitting.slice(skip, skip + (limit ?? Infinity)) : fitting;
	const { reportedTotal: total = 0 } = listing;
	// n8n doesn't save a default, so users may not know that there is a limit.
	const isCut = items.length < (own ? fitting.length : total);
	if (limit === LIMIT.default && !byAgent && !isOnly && skip === 0 && isCut) {
		const share = own ? `The first ${items.length}` : `${items.length} of ${total.toLocaleString('en-US')}`;
		hint(`${share} ${noun}. Turn on 'Return All' for all.`, 'info');
	}
	return items;
}

function unsettled(order: string | undefined, ifChanges: Range['ifChanges']): Failure {
	const remedies = [
		order ? "Run the workflow again, or sort by 'Serial Number'." : 'Run the workflow again.',
		ifChanges && `To accept a partial list, change '${IF_CHANGES.displayName}'.`,
	].filter(Boolean);
	return new Failure({ kind: 'paging', cause: 'platform', message: UNSETTLED, remedy: remedies.join(' ') });
}

const PARTS_NEED_ID = "Parts may overlap or have gaps. Sort every part by 'ID' last.";
const UNSETTLED = 'The list kept changing, so some items may be missing';
export const CAPPED =
	'The list ends at exactly 10,000 items. If the platform has more, list fewer at a time with filters.';

/** Returns a hint if the list isn't settled, may be capped, or has another number of items than the platform's total; else undefined. */
export function remarkOn(listing: Listing<unknown>, skip: number, limit = Infinity) {
	const { settled, reportedTotal } = listing;
	const listed = listing.items.length;
	const after = skip === 0 ? '' : ` after the first ${skip}`;
	if (!settled) return `${UNSETTLED}. Run the node again for an exact list.`;
	if (reportedTotal === LIST_CAP && skip + listed >= LIST_CAP) return CAPPED;
	const reported = Math.max(0, (reportedTotal ?? 0) - skip);
	if (reportedTotal === undefined || listed >= limit || reported === listed) return undefined;
	return `The platform reports ${reported} items${after} but lists ${listed}. The output has the items it lists.`;
}
