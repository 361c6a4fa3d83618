import { asGiven } from '../../fields/formFields';
import { filtersField, readFilters } from '../../fields/filters';
import { optionsField } from '../../fields/options';
import { countDevices } from '../../transport/devices';
import type { Operation } from '../operation';

/** Device: Count (sections 1.2 and 4.1 of the API document). */
export const count: Operation = {
	name: 'Count',
	action: 'Count devices',
	description: 'Count the devices that match the filters',
	fields: [...asGiven(filtersField), ...optionsField()],

	async run({ platform, byAgent, read, settings }) {
		const filters = readFilters(read, { byAgent, instead: "Use Get Many with 'Return All', and count its items." });
		return [{ count: await countDevices(platform, filters, settings) }];
	},
};
