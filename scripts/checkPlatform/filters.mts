import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { areSame, FIRST_SIZE, idsOf } from './paging.mts';
import { inWords, isRefusal, type Probe, type Selection } from './probe.mts';
import { type CheckId, type Finding, no, unsure, yes } from './rows.mts';

/** A value that no device has. */
const NO_VALUE = 'no-device-has-this-7f3a9c';
const NO_STATUS = 987_654_321;

/** A filter to check. */
interface Filter {
	/** The row of the table: 'filter' and the filter's name in the form. */
	id: CheckId;
	/** Asks for devices that don't exist: an obeyed filter returns none. */
	forNone: Selection;
	/** Asks for some of the devices, in case the platform refuses or ignores the first value. */
	forSome?: Selection;
	ignored: string;
}

const FILTER_IN_N8N = "Don't use this filter. Add n8n's Filter node after Get Many.";

/** The filters of the API document (sections 1.4 and 4.1), with values that fit the devices. */
export function filtersFor(devices: readonly Device[], attribute: string | undefined): Filter[] {
	const statuses = devices.map(({ status }) => status).filter((status) => Number.isInteger(status));
	return [
		{
			id: 'filterCompositeStatus',
			forNone: { body: JSON.stringify({ compositeStatus: NO_STATUS }) },
			...(statuses.length === 0 ? {} : { forSome: { body: JSON.stringify({ compositeStatus: statuses[0] }) } }),
			ignored: FILTER_IN_N8N,
		},
		{
			id: 'filterName',
			forNone: { query: { name: NO_VALUE } },
			ignored: 'The search in the device list shows all devices. Enter the serial number instead.',
		},
		{ id: 'filterTags', forNone: { query: { tags: NO_VALUE } }, ignored: FILTER_IN_N8N },
		{
			id: 'filterAttributes',
			// A key and its value are separated by a space.
			forNone: { query: { attributes: `${attribute ?? 'site'} ${NO_VALUE}` } },
			ignored: FILTER_IN_N8N,
		},
	];
}

/** Whether the platform obeys a filter. */
export async function checkFilter(probe: Probe, filter: Filter, first: Page<Device>): Promise<Finding> {
	const { value, refusal } = await probe.page(FIRST_SIZE, undefined, filter.forNone);
	if (value !== undefined && value.content.length === 0) return yes('obeyed', WORKS);
	if (refusal !== undefined && !isRefusal(refusal)) return unsure(inWords(refusal), 'Run the check again.');
	const other = filter.forSome === undefined ? undefined : await probe.page(FIRST_SIZE, undefined, filter.forSome);
	if (other?.value !== undefined && !isUnfiltered(other.value, first)) return yes('obeyed', WORKS);
	if (refusal !== undefined) {
		return unsure(`refused (${inWords(refusal)})`, 'Try the filter in Get Many with a value of your platform.');
	}
	if (isUnfiltered(value, first)) return no('ignored', filter.ignored);
	return unsure('other devices', 'Compare the result with your platform before you use it.');
}

const WORKS = 'You can use it in Get Many.';

function isUnfiltered(page: Page<Device>, first: Page<Device>): boolean {
	const { totalElements: total } = page;
	return (total !== undefined && total === first.totalElements) || areSame(idsOf(page.content), idsOf(first.content));
}
