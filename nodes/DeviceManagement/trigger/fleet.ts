import { type Device, identifyDevice, serialNumberOf } from '../core/device';
import { Failure } from '../core/failure';
import { type Listing, readList } from '../core/paging/list';
import type { PageSource } from '../core/paging/page';
import type { ListCriteria } from '../core/query';
import { deviceSource, listOptions } from '../transport/devices';
import type { Platform } from '../transport/platform';
import type { TriggerParameters } from './parameters';
import { isNew, type Recent, type Row, secondsOf } from './recent';
import type { ListedDevice } from './snapshot';
import type { State } from './state';
import { codeOf, shortIdentity } from './values';
import type { TimeField } from './watched';

/** The parts of a device that are kept while the whole fleet is read. */
export interface FleetEntry extends ListedDevice {
	readonly id: string;
	/** The device's row for each watched time. */
	readonly rows: Partial<Record<TimeField, Row>>;
}

/**
 * Reads all devices that match the criteria (section 4.1). To save memory, it keeps the record of a changed device only.
 * @throws Failure
 */
export async function readFleet(
	platform: Platform,
	criteria: ListCriteria,
	parameters: TriggerParameters,
	before: State | undefined,
): Promise<Listing<FleetEntry>> {
	const { settings } = parameters;
	const devices = deviceSource(platform, { ...criteria, sort: [] }, settings);
	const entries: PageSource<FleetEntry> = {
		async fetchPage(page, size) {
			const { content, ...rest } = await devices.fetchPage(page, size);
			return { ...rest, content: content.map((device) => entryOf(device, parameters, before)) };
		},
		identify: ({ id }) => id,
	};
	return await readList(entries, listOptions(settings));
}

/**
 * Returns a device's row for one of its times; undefined if the device does not have that time.
 * @throws Failure `response` for a time in another format than the API document's
 */
export function rowOf(device: Device, field: TimeField, before: Recent | undefined): Row | undefined {
	const time = secondsOf(device[field]);
	if (time === undefined) return undefined;
	if (!Number.isNaN(time)) {
		const row = { id: shortIdentity(identifyDevice(device)), time };
		return isNew(before, row) ? { ...row, device } : row;
	}
	throw new Failure({
		kind: 'response',
		cause: 'platform',
		message: `The platform sends an unknown date format in '${field}'`,
		remedy: `The API document has the format YYYY-MM-DD HH:MM:SS. Remove the event that needs it from 'Events', or ask your platform administrator.`,
	});
}

function entryOf(device: Device, { fields, times }: TriggerParameters, before: State | undefined): FleetEntry {
	const sn = serialNumberOf(device);
	const code = codeOf(device, fields);
	const last = before?.snapshot?.devices.get(sn);
	const rows: FleetEntry['rows'] = {};
	for (const { field } of times) {
		const row = rowOf(device, field, before?.recent.get(field));
		if (row !== undefined) rows[field] = row;
	}
	const entry = { id: identifyDevice(device), sn, code, rows };
	return last === undefined || last === code ? entry : { ...entry, device };
}
