import { readFilters } from '../../shared/deviceParameters';
import { filtersField, forOperation, optionFields, optionsField } from '../../shared/descriptions';
import { countDevices } from '../../shared/devices';
import { readSettings } from '../../shared/settings';
import type { Operation } from '../operation';

/** Device: Count — how many devices meet the filters, without reading them (sections 1.2 and 4.1 of the API document). */
export const count: Operation = {
	fields: forOperation('device', 'count', [
		filtersField,
		optionsField([optionFields.maxRetries, optionFields.parallelRequests, optionFields.timeout]),
	]),

	async run({ context, platform }, itemIndex) {
		const criteria = readFilters(context, itemIndex);
		const total = await countDevices(platform, criteria, readSettings(context, itemIndex));
		return [{ json: { count: total }, pairedItem: { item: itemIndex } }];
	},
};
