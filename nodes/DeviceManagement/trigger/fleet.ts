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
import type { DeviceEvent } from './events';
import type { TriggerParameters } from './form';
import type { NodeMemory } from './memory';
import { type Compared, readNewest } from './newest';
import { remarksOn } from './remarks';
import { checkMissing, type Fate } from './removal';
import type { State } from './state';
import { step, type StepOptions } from './step';
import { isDate } from './values';

/** A day in milliseconds: time zones differ by less. */
const DAY_MS = 86_400_000;

/** What a poll saw: its events, what the state then holds, what the log says, and what makes the next poll cheaper. */
interface Observation extends Pick<State, 'devices' | 'newest' | 'since'> {
	readonly events: readonly DeviceEvent[];
	/** Without remarks, those of the last poll hold. */
	readonly found: Pick<NodeMemory, 'lastList'> & Partial<Pick<NodeMemory, 'remarks'>>;
}

/** @returns in the `devices` the same map if nothing changed */
export async function observe(
	platform: Platform,
	state: State,
	options: TriggerParameters & Pick<StepOptions, 'now' | 'isFirstOfProcess'> & Pick<NodeMemory, 'lastList'>,
): Promise<Observation> {
	const { number, since, devices: known } = state;
	// Each listed device may move it on.
	let { newest } = state;
	const { criteria, settings, now } = options;
	const stepOptions = { ...options, number, since, isFirstList: known.size === 0 };
	const { fits, missingGroup } = checkerOf(options.own);
	// A date in the future says nothing.
	const latest = new Date(1000 * now + 2 * DAY_MS).toISOString();
	// To save memory, only events keep the record of a device.
	const compare = (device: Device): Compared => {
		const { createTime, id } = device;
		if (isDate(createTime) && createTime > newest && createTime < latest) newest = createTime;
		const sn = serialNumberOf(device);
		return { sn, id, ...step(known.get(sn), device, fits(device), stepOptions) };
	};
	const few = since === undefined ? undefined : await readNewest(platform, options, known, compare);
	if (few !== undefined) return { ...merge(known, few.items), since, newest, found: { lastList: few.lastList } };
	const source = pageSource(platform, { ...DEVICE_LIST, ...criteria }, settings);
	const listing = await readList(source, { ...settings, keep: compare, byId: 'always' });
	const { items, settled, reportedTotal = items.length } = listing;
	const listed = onePerSerialNumber(items);
	// An empty list is more likely to be wrong than all devices are to be removed.
	const isComplete = settled && reportedTotal === items.length && items.length > 0;
	const missing = isComplete ? [...known].filter(([sn]) => !listed.has(sn)) : [];
	const { outcomes, failure } = await checkMissing(platform, missing, { ...stepOptions, newest });
	const isExact = isComplete && listed.size === items.length;
	const lastList = isExact ? { at: currentClock().now(), total: items.length } : undefined;
	const found = { remarks: remarksOn(listing, { ...stepOptions, missingGroup: missingGroup(), failure }), lastList };
	return { ...merge(known, [...listed.values(), ...outcomes]), since: since ?? sinceOf(newest, now), newest, found };
}

/** Returns the oldest date of devices that are new after a baseline: that of its newest device, but not later than yesterday. */
function sinceOf(newest: string, now: number): string {
	const yesterday = new Date(1000 * now - DAY_MS).toISOString().slice(0, 10);
	return newest !== '' && newest < yesterday ? newest : yesterday;
}

function merge(known: State['devices'], outcomes: readonly Fate[]) {
	const changed = outcomes.filter(({ sn, entry }) => known.get(sn) !== entry);
	if (changed.length === 0) return { devices: known, events: [] };
	const devices = new Map(known);
	for (const { sn, entry } of changed) void (entry === undefined ? devices.delete(sn) : devices.set(sn, entry));
	return { devices, events: changed.flatMap(({ events }) => events) };
}

/**
 * Returns the items by serial number. Of several devices with one, always the same one counts, otherwise each poll would report a change:
 * one that matches the node's own filters.
 */
function onePerSerialNumber(items: readonly Compared[]): Map<string, Compared> {
	const rankOf = ({ entry, id }: Compared) => `${entry.outside ?? ''} ${String(id)}`;
	const listed = new Map<string, Compared>();
	for (const item of items) {
		const other = listed.get(item.sn);
		if (other === undefined || rankOf(item) < rankOf(other)) listed.set(item.sn, item);
	}
	return listed;
}
