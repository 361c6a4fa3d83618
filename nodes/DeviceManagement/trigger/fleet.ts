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
import { checkMissing, type Missing } from './removal';
import type { State } from './state';
import { isDate, step, type StepOptions } from './step';

/** A day in seconds. */
const DAY = 86_400;

export type FleetOptions = TriggerParameters &
	Pick<StepOptions, 'now' | 'isFirstOfProcess'> &
	Pick<NodeMemory, 'lastList' | 'remarks'>;

/** What a poll saw: the devices to remember, the events, what the log says, and what makes the next poll cheaper. */
export interface Observation extends Pick<NodeMemory, 'lastList' | 'remarks'> {
	readonly devices: State['devices'];
	readonly events: readonly DeviceEvent[];
	/** The newest date of a device so far; empty if none had one. */
	readonly newest: string;
}

/** @returns in the `devices` the same map if nothing changed */
export async function observe(platform: Platform, before: State, options: FleetOptions): Promise<Observation> {
	const { number, since, devices: known } = before;
	const { criteria, settings, remarks, now } = options;
	const stepOptions = { ...options, number, since, isFirstList: known.size === 0 };
	const { fits, missingGroup } = checkerOf(options.own);
	// A date in the future says nothing. Time zones differ by less than two days.
	const latest = new Date(1000 * (now + 2 * DAY)).toISOString();
	let { newest } = before;
	const compare = (device: Device): Compared => {
		const { createTime } = device;
		if (isDate(createTime) && createTime > newest && createTime < latest) newest = createTime;
		const sn = serialNumberOf(device);
		return { sn, ...step(known.get(sn), device, fits(device), stepOptions) };
	};
	const few = since === undefined ? undefined : await readNewest(platform, options, known, compare);
	if (few !== undefined) return { ...merge(known, few.items), newest, remarks, lastList: few.lastList };
	// To save memory, only events keep the record of a device.
	const source = pageSource(platform, { ...DEVICE_LIST, ...criteria }, settings);
	const keep = (device: Device) => ({ ...compare(device), id: device.id });
	const listing = await readList(source, { ...settings, keep, byId: 'always' });
	const { items, settled, reportedTotal = items.length } = listing;
	const listed = onePerSerialNumber(items);
	// An empty list is more likely to be wrong than all devices are to be removed.
	const isComplete = settled && reportedTotal === items.length && items.length > 0;
	const missing = isComplete ? [...known].filter(([sn]) => !listed.has(sn)) : [];
	const { removed, away, failure } = await checkMissing(platform, missing, { ...options, newest });
	const { devices, events } = merge(known, [...listed.values()], away);
	for (const [sn, { values }] of removed) events.push(removedEvent(sn, values, options.fields, number));
	const isExact = isComplete && listed.size === items.length;
	return {
		devices,
		events,
		newest,
		remarks: remarksOn(listing, { ...stepOptions, missingGroup: missingGroup(), failure }),
		lastList: isExact ? { at: currentClock().now(), total: items.length } : undefined,
	};
}

/** Returns the remembered devices after a list, and its events. `away`: what to remember of missing ones; undefined to forget one. */
function merge(known: State['devices'], items: readonly Compared[], away: Missing['away'] = []) {
	const changed = items.filter(({ sn, entry }) => known.get(sn) !== entry);
	if (changed.length + away.length === 0) return { devices: known, events: new Array<DeviceEvent>() };
	const devices = new Map(known);
	for (const { sn, entry } of changed) devices.set(sn, entry);
	for (const [sn, entry] of away) {
		if (entry === undefined) devices.delete(sn);
		else devices.set(sn, entry);
	}
	return { devices, events: changed.flatMap(({ events }) => events) };
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
