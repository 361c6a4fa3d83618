import { type Device, identifyDevice, serialNumberOf } from '../../core/device';
import { type Listing, fetchList } from '../../core/paging/passes';
import type { PageSource } from '../../core/paging/page';
import type { ListCriteria } from '../../core/query';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import type { TriggerParameters } from '../form';
import { type Row, rowOf } from '../compare/recent';
import { firstValues, type ListedDevice } from '../compare/snapshot';
import type { State } from '../state';
import { keepValues } from '../compare/kept';
import type { TimeField } from '../compare/watched';

/** The parts of a device that are kept while the whole fleet is read. */
export interface FleetEntry extends ListedDevice {
	readonly id: string;
	/** The device's row for each watched time that it has. */
	readonly rows: Partial<Record<TimeField, Row | undefined>>;
}

/** Reads all devices that match the criteria (section 4.1). To save memory, it keeps only the records of new rows and of compared devices. */
export async function fetchFleet(
	platform: Platform,
	criteria: ListCriteria,
	parameters: TriggerParameters,
	before: State,
): Promise<Listing<FleetEntry>> {
	const devices = pageSource(platform, { ...DEVICE_LIST, ...criteria }, parameters.settings);
	const entries: PageSource<FleetEntry> = {
		largestPage: devices.largestPage,
		async fetchPage(page, size) {
			const { content, ...rest } = await devices.fetchPage(page, size);
			return { ...rest, content: content.map((device) => entryOf(device, parameters, before)) };
		},
		identify: ({ id }) => id,
	};
	return await fetchList(entries, parameters.settings);
}

function entryOf(device: Device, parameters: TriggerParameters, before: State): FleetEntry {
	const { fields, times } = parameters;
	const sn = serialNumberOf(device);
	const values = keepValues(device, fields);
	const known = before.snapshot?.devices;
	// The first list with devices is only recorded.
	const last = known?.get(sn) ?? (known === undefined || known.size === 0 ? values : firstValues(values, parameters));
	const rows: FleetEntry['rows'] = {};
	for (const { field } of times) rows[field] = rowOf(device, field, before.recent.get(field));
	const entry = { id: identifyDevice(device), sn, values, rows };
	return last === values ? entry : { ...entry, device };
}
