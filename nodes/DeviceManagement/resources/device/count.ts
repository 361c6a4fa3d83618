import { LIST_CAP } from '../../core/paging/list';
import { asGiven } from '../../fields/formFields';
import { filtersField, readFilters } from '../../fields/filters';
import { optionsField } from '../../fields/options';
import { countDevices, DEVICE_LIST } from '../../transport/devices';
import { CAPPED, fetchItems } from '../list';
import type { Operation } from '../operation';

/** Device: Count (sections 1.2 and 4.1 of the API document). */
export const count: Operation = {
	name: 'Count',
	action: 'Count devices',
	description: 'Count the devices that match the filters',
	fields: [...asGiven(filtersField), ...optionsField()],

	async run(item) {
		const { platform, byAgent, hint, read, settings } = item;
		const { own, ...criteria } = readFilters(read, byAgent);
		if (own === undefined) {
			const total = await countDevices(platform, criteria, settings);
			if (total === LIST_CAP) hint(CAPPED);
			return [{ count: total }];
		}
		const endpoint = { ...DEVICE_LIST, ...criteria, words: 'count' } as const;
		return [{ count: (await fetchItems(item, endpoint, { skip: 0 }, {}, () => ({}), own)).length }];
	},
};
