import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { shapeDevice } from '../../core/output';
import type { Device } from '../../core/page';
import type { Listing } from '../../core/paging';
import { readFilters, readOutputMode, readSort } from '../../shared/deviceParameters';
import {
	filtersField,
	forOperation,
	optionFields,
	optionsField,
	outputFields,
	sortField,
} from '../../shared/descriptions';
import { listDevices } from '../../shared/devices';
import { check, checkNumber, type NumberField } from '../../shared/parameters';
import { readSettings } from '../../shared/settings';
import type { Operation } from '../operation';

const LIMIT: NumberField = {
	displayName: 'Limit',
	default: 50,
	typeOptions: { minValue: 1, maxValue: Number.MAX_SAFE_INTEGER },
};

/** Device: Get Many — the devices that meet the filters, in the platform's order (section 4.1 of the API document). */
export const getAll: Operation = {
	fields: forOperation('device', 'getAll', [
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
		},
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 50,
			displayOptions: { show: { returnAll: [false] } },
			description: 'Max number of results to return',
		},
		...outputFields,
		filtersField,
		optionsField([
			optionFields.maxRetries,
			optionFields.pageSize,
			optionFields.parallelRequests,
			optionFields.timeout,
		]),
		sortField,
	]),

	async run({ context, platform }, itemIndex) {
		const returnAll = check(z.boolean(), context.getNodeParameter('returnAll', itemIndex), 'Return All');
		const limit = returnAll
			? undefined
			: checkNumber(context.getNodeParameter('limit', itemIndex) ?? '', LIMIT);
		const request = {
			...readFilters(context, itemIndex),
			sort: readSort(context, itemIndex),
			limit,
		};
		const mode = readOutputMode(context, itemIndex);
		const listing = await listDevices(platform, request, readSettings(context, itemIndex));
		hint(context, listing, limit);
		const pairedItem = { item: itemIndex };
		return listing.items.map((device) => ({ json: shapeDevice(device, mode), pairedItem }));
	},
};

/** Says in plain words what the output alone can't show: that the fleet moved, or that the platform miscounts. */
function hint(context: IExecuteFunctions, listing: Listing<Device>, limit: number | undefined): void {
	const { items, settled, reportedTotal, passes } = listing;
	let message: string | undefined;
	if (!settled && limit !== undefined) {
		message = `The fleet changed while it was read, also on the last of ${passes} readings. The output holds the first ${items.length} devices of that reading; devices that came or went meanwhile may be among them or missing.`;
	} else if (!settled) {
		message = `The fleet changed while it was read, also on the last of ${passes} readings. The output holds every device that any reading met, ${items.length} in all; devices that came or went meanwhile may be among them or missing.`;
	} else if (limit === undefined && reportedTotal !== undefined && reportedTotal !== items.length) {
		message = `The platform reports ${reportedTotal} devices but lists ${items.length} in each of ${passes} readings. The output holds the ones it lists.`;
	}
	if (message !== undefined) {
		context.addExecutionHints({ message, location: 'outputPane', type: 'warning' });
	}
}
