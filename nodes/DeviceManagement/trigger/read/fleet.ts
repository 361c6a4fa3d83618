import { type Device, serialNumberOf } from '../../core/device';
import { keepOnly } from '../../core/paging/page';
import { fetchList } from '../../core/paging/passes';
import type { ListCriteria } from '../../core/query';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import type { TriggerParameters } from '../form';
import { type Row, rowOf } from '../compare/recent';
import { firstValues, type ListedDevice } from '../compare/snapshot';
import type { State } from '../compare/compare';
import { keepValues } from '../compare/kept';
import type { TimeField } from '../compare/watched';

/** The parts of a device that are kept while the whole fleet is read. */
export interface FleetEntry extends ListedDevice {
	/** The device's row for each watched time that it has. */
	readonly rows: Partial<Record<TimeField, Row | undefined>>;
}

const NO_ROWS: FleetEntry['rows'] = {};

/** Reads all devices that match the criteria (section 4.1), in the order of their IDs. To save memory, it keeps only the records of new rows and of compared devices. */
export async function fetchFleet(platform: Platform, which: ListCriteria, options: TriggerParameters, before: State) {
	const devices = pageSource(platform, { ...DEVICE_LIST, ...which }, options.settings);
	const entries = keepOnly(devices, (device) => entryOf(device, options, before));
	const { items, ...listing } = await fetchList(entries, { ...options.settings, byId: true });
	return { ...listing, items: items.map(({ kept }) => kept) };
}

function entryOf(device: Device, options: TriggerParameters, before: State): FleetEntry {
	const { fields, times } = options;
	const sn = serialNumberOf(device);
	const values = keepValues(device, fields);
	const known = before.snapshot?.devices;
	// The first list with devices is only recorded, unless its states are reported.
	const isRecorded = !options.reportsFirst && (known === undefined || known.size === 0);
	const last = known?.get(sn) ?? (isRecorded ? values : firstValues(values, options));
	const rows: FleetEntry['rows'] = times.length === 0 ? NO_ROWS : {};
	for (const { field } of times) rows[field] = rowOf(device, field, before.recent.get(field));
	return last === values ? { sn, values: last, rows } : { sn, values, rows, device };
}
