import { z } from 'zod/v4';

import { shapeDevice } from '../../core/output';
import { remarkOn } from '../../core/remark';
import { asGiven } from '../../fields/asGiven';
import { filtersField, readFilters } from '../../fields/filters';
import { optionFields, optionsField, readSettings, readSkip } from '../../fields/options';
import { outputFields, readOutputMode } from '../../fields/output';
import { readSort, sortField } from '../../fields/sort';
import { check, checkNumber, type NumberField } from '../../fields/values';
import { listDevices } from '../../transport/devices';
import { forOperation, type Operation } from '../operation';

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
		...asGiven(filtersField),
		...asGiven(
			optionsField([
				optionFields.maxRetries,
				optionFields.pageSize,
				optionFields.parallelRequests,
				optionFields.skip,
				optionFields.timeout,
			]),
		),
		...asGiven(sortField),
	]),

	async run({ platform, hint, byModel }, read) {
		const returnAll = check(z.boolean(), read('returnAll'), 'Return All');
		const limit = returnAll ? undefined : checkNumber(read('limit') ?? '', LIMIT);
		const selection = { ...readFilters(read, { byModel }), sort: readSort(read) };
		const mode = readOutputMode(read);
		const part = { skip: readSkip(read), limit };
		const listing = await listDevices(platform, selection, readSettings(read), part);
		const remark = remarkOn(listing, part);
		if (remark !== undefined) hint(remark);
		return [...listing.items, ...listing.metOtherwise].map((device) => shapeDevice(device, mode));
	},
};
