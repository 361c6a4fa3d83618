/**
 * Reads the devices that match the filters, and compares each with what is remembered of it (step.ts). A device that a complete list
 * lacks is requested by its serial number (removal.ts). New and edited devices alone need no whole list (newest.ts).
 */
import { type Device, serialNumberOf } from '../core/device';
import { checkerOf } from '../core/ownFilters';
import { readList } from '../core/paging/list';
import { DEVICE_LIST } from '../transport/devices';
import { pageSource } from '../transport/pagedList';
import type { Platform } from '../transport/platform';
import { currentClock } from '../transport/waiting/clock';
import { type DeviceEvent, removedEvent } from './events';
import type { TriggerParameters } from './form';
import type { NodeMemory } from './memory';
import { type Compared, readNewest } from './newest';
import { remarksOn } from './remarks';
import { checkMissing } from './removal';
import type { State } from './state';
import { isDate, step, type StepOptions } from './step';

export type FleetOptions = TriggerParameters &
	Pick<StepOptions, 'now' | 'isFirstOfProcess'> &
	Pick<NodeMemory, 'lastList' | 'remarks'>;

/** What a poll saw: the devices to remember, the events, what the log says, and what makes the next poll cheaper. */
export interface Observation extends Pick<NodeMemory, 'lastList' | 'remarks'> {
	readonly devices: State['devices'];
	readonly events: readonly DeviceEvent[];
	/** The newest date of a listed device; empty if there is none. */
	readonly newest: string;
}

export async function observe(platform: Platform, before: State, options: FleetOptions): Promise<Observation> {
	const { number, since } = before;
	const stepOptions = { ...options, number, since, isFirstList: before.devices.size === 0 };
	const { fits, missingGroup } = checkerOf(options.own);
	let newest = '';
	const compare = (device: Device): Compared => {
		const { createTime } = device;
		if (isDate(createTime) && createTime > newest) newest = createTime;
		const sn = serialNumberOf(device);
		return { sn, ...step(before.devices.get(sn), device, fits(device), stepOptions) };
	};
	const few = since === undefined ? undefined : await readNewest(platform, options, before.devices, compare);
	if (few !== undefined) return { ...merge(before, few.items), ...few, newest, remarks: options.remarks };
	const { criteria, settings } = options;
	// To save memory, only events keep the record of a device.
	const source = pageSource(platform, { ...DEVICE_LIST, ...criteria }, settings);
	const keep = (device: Device) => ({ ...compare(device), id: device.id });
	const listing = await readList(source, { ...settings, keep, byId: 'always' });
	const { items, settled, reportedTotal = items.length } = listing;
	const listed = onePerSerialNumber(items);
	const { devices, events } = merge(before, [...listed.values()]);
	// An empty list is more likely to be wrong than all devices are to be removed.
	const isComplete = settled && reportedTotal === items.length && items.length > 0;
	const missing = isComplete ? [...before.devices].filter(([sn]) => !listed.has(sn)) : [];
	const { removed, away, failure } = await checkMissing(platform, missing, options);
	for (const [sn] of missing) devices.delete(sn);
	for (const [sn, entry] of away) devices.set(sn, entry);
	for (const [sn, { values }] of removed) events.push(removedEvent(sn, values, options.fields, number));
	const remarks = remarksOn(listing, { ...stepOptions, missingGroup: missingGroup(), failure });
	const isExact = isComplete && listed.size === items.length;
	const lastList = isExact ? { at: currentClock().now(), total: items.length } : undefined;
	return { devices, events, newest, remarks, lastList };
}

/** Returns the remembered devices after a list, and its events. */
function merge({ devices: known }: State, items: readonly Compared[]) {
	const devices = new Map(known);
	const all: DeviceEvent[] = [];
	for (const { sn, entry, events } of items) {
		devices.set(sn, entry);
		for (const event of events) all.push(event);
	}
	return { devices, events: all };
}

/**
 * Returns the items by serial number. Of several devices with one, always the same one counts, otherwise each poll would report a change:
 * one that matches the node's own filters.
 */
function onePerSerialNumber<Item extends Compared & { id?: unknown }>(items: readonly Item[]) {
	const rankOf = ({ entry, id }: Item) => `${entry.outside ?? ''} ${String(id)}`;
	const listed = new Map<string, Item>();
	for (const item of items) {
		const other = listed.get(item.sn);
		if (other === undefined || rankOf(item) < rankOf(other)) listed.set(item.sn, item);
	}
	return listed;
}
