import type { Device } from '../../core/device';
import { Failure } from '../../core/failure';
import { mayRefuseSizeOrSort } from '../../core/paging/refusal';
import { shapeDevice, withHint } from '../../core/shape';
import { asGiven } from '../../fields/formFields';
import { filtersField, readFilters } from '../../fields/filters';
import { optionsField } from '../../fields/options';
import { outputFields, readOutputMode } from '../../fields/output';
import { readSort, sortField } from '../../fields/sort';
import { DEVICE_LIST } from '../../transport/devices';
import { fetchItems, limitFields, listOptionFields, readRange } from '../list';
import type { Operation } from '../operation';

const WORDS = { items: 'devices', order: 'creation time and ID' };

/** Device: Get Many (section 4.1 of the API document). */
export const getAll: Operation = {
	name: 'Get Many',
	action: 'Get many devices',
	description: 'Retrieve a list of devices',
	fields: [
		...limitFields,
		...asGiven(filtersField),
		...asGiven(sortField),
		...outputFields,
		...optionsField(listOptionFields(WORDS)),
	],

	async run(item) {
		const { byAgent, hint, read } = item;
		const { own, ...criteria } = readFilters(read, byAgent);
		const endpoint = { ...DEVICE_LIST, ...criteria, sort: readSort(read) };
		const mode = readOutputMode(read);
		const shape = (device: Device) => shapeDevice(device, mode);
		const devices = await fetchItems(item, endpoint, readRange(item), WORDS, shape, own).catch((thrown: unknown) => {
			throw withSortField(thrown, endpoint.sort);
		});
		return withHint(devices, mode, hint);
	},
};

/** Adds the sort field, if it is the only one and may be what the platform refused (section 1.3 doesn't name the allowed fields). */
function withSortField(thrown: unknown, [only = '', ...others]: readonly string[]): unknown {
	const field = only.replace(/ (asc|desc)$/, '');
	if (!mayRefuseSizeOrSort(thrown) || !/^[^,]+$/.test(field) || others.length > 0) return thrown;
	const remedy = `If the platform can't sort by '${field}', change 'Sort'. ${thrown.details.remedy}`;
	return new Failure({ ...thrown.details, remedy });
}
