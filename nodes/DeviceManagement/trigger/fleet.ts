import { type Device, identifyDevice, serialNumberOf } from '../core/device';
import { type Listing, readList } from '../core/paging/list';
import type { PageSource } from '../core/paging/page';
import type { ListCriteria } from '../core/query';
import { deviceSource, listOptions, type ListSettings } from '../transport/devices';
import type { Platform } from '../transport/platform';
import type { DeviceRow, RowCollector, TimeField } from './newest';
import type { ListedDevice } from './snapshot';
import { type Code, encodeFields, type WatchedField } from './values';

/** What is kept of a device while a whole fleet is read: not its record, unless something about it changed. */
export interface FleetEntry extends ListedDevice {
	/** What tells the device from others. */
	readonly id: string;
	/** The record, where a watched value differs from the one that is remembered. */
	readonly device?: Device;
	/** What the device is among the newest, by each time that is looked at. */
	readonly rows?: Partial<Record<TimeField, DeviceRow>>;
}

/** What to look at in each device. */
export interface FleetInterest {
	readonly fields: readonly WatchedField[];
	/** The values that are remembered. */
	readonly devices: ReadonlyMap<string, Code>;
	readonly collectors: Partial<Record<TimeField, RowCollector>>;
}

/** How far a reading has come, for whoever has to say that it takes too long. */
export interface Progress {
	read: number;
	total: number | undefined;
}

/**
 * Reads all devices that meet the criteria (section 4.1), and keeps of each only what is compared.
 * @throws Failure
 */
export async function readFleet(
	platform: Platform,
	criteria: ListCriteria,
	settings: ListSettings,
	interest: FleetInterest,
	progress: Progress,
): Promise<Listing<FleetEntry>> {
	const devices = deviceSource(platform, { ...criteria, sort: [] }, settings, 'watch');
	Object.assign(progress, { read: 0, total: undefined });
	const entries: PageSource<FleetEntry> = {
		async fetchPage(page, size) {
			const { content, ...rest } = await devices.fetchPage(page, size);
			progress.read += content.length;
			progress.total = rest.totalElements ?? progress.total;
			return { ...rest, content: content.map((device) => entryOf(device, interest)) };
		},
		identify: ({ id }) => id,
	};
	return await readList(entries, listOptions(settings));
}

function entryOf(device: Device, { fields, devices, collectors }: FleetInterest): FleetEntry {
	const sn = serialNumberOf(device);
	const code = encodeFields(device, fields);
	const last = devices.get(sn);
	const created = collectors.createTime?.rowOf(device);
	const updated = collectors.updateTime?.rowOf(device);
	const entry = { id: identifyDevice(device), sn, code };
	if (created === undefined && updated === undefined) {
		return last === undefined || last === code ? entry : { ...entry, device };
	}
	const rows = {
		...(created === undefined ? {} : { createTime: created }),
		...(updated === undefined ? {} : { updateTime: updated }),
	};
	return { ...entry, rows, ...(last === undefined || last === code ? {} : { device }) };
}
