/**
 * Reads the devices that match the filters, and compares each with what is remembered of it (step.ts). A device that a complete list
 * lacks is requested by its serial number (removal.ts). New and edited devices alone need no whole list (newest.ts).
 */
import { type Device, serialNumberOf } from '../../core/device';
import { checkerOf } from '../../core/ownFilters';
import { readList } from '../../core/paging/list';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import { currentClock } from '../../transport/waiting/clock';
import type { DeviceEvent } from '../changes/events';
import type { TriggerParameters } from '../form/form';
import { type Compared, type LastList, readNewest } from './newest';
import { remarksOn } from './remarks';
import { checkMissing, type Fate } from './removal';
import type { State } from '../changes/state';
import { step, type StepOptions } from '../changes/step';
import { isDate } from '../changes/values';

/** A day in milliseconds: time zones differ by less. */
const DAY_MS = 86_400_000;

/** What a poll saw: its events, what the state then holds, what the log says, and what makes the next poll cheaper. */
interface Observation extends Pick<State, 'devices' | 'newest' | 'since'> {
	readonly events: readonly DeviceEvent[];
	/** Without remarks, those of the last poll hold. */
	readonly found: { readonly lastList: LastList | undefined; readonly remarks?: readonly string[] };
}

/** @returns in the `devices` the same map if nothing changed */
export async function observe(
	platform: Platform,
	state: State,
	parameters: TriggerParameters & Pick<StepOptions, 'now' | 'isFirstOfProcess'> & { lastList?: LastList | undefined },
): Promise<Observation> {
	const { number, since, devices: known } = state;
	const options = { ...parameters, number, since, isFirstList: known.size === 0 };
	const comparison = comparisonWith(state, options);
	const few = since === undefined ? undefined : await readNewest(platform, options, comparison);
	const { outcomes, found } = few ?? (await readAll(platform, options, comparison));
	const { newest } = comparison;
	return { ...merge(known, outcomes), since: since ?? sinceOf(newest, options.now), newest, found };
}

/** Compares listed devices with the known ones. Each may move on `newest`, the newest date so far. */
function comparisonWith({ devices: known, newest }: State, options: StepOptions) {
	const { fits, missingGroup } = checkerOf(options.own);
	// A date in the future says nothing.
	const latest = new Date(1000 * options.now + 2 * DAY_MS).toISOString();
	// To save memory, only events keep the record of a device.
	const compare = (device: Device): Compared => {
		const { createTime, id } = device;
		if (isDate(createTime) && createTime > comparison.newest && createTime < latest) comparison.newest = createTime;
		const sn = serialNumberOf(device);
		return { sn, id, ...step(known.get(sn), device, fits(device), options) };
	};
	const comparison = { known, newest, compare, missingGroup };
	return comparison;
}

type Comparison = ReturnType<typeof comparisonWith>;

/** Reads the whole list, and requests the devices that it lacks. */
async function readAll(platform: Platform, options: TriggerParameters & StepOptions, comparison: Comparison) {
	const { known, compare, missingGroup } = comparison;
	const source = pageSource(platform, { ...DEVICE_LIST, ...options.criteria }, options.settings);
	const listing = await readList(source, { ...options.settings, keep: compare, byId: 'always' });
	const { items, settled, reportedTotal = items.length } = listing;
	const listed = onePerSerialNumber(items);
	// An empty list is more likely to be wrong than all devices are to be removed.
	const isComplete = settled && reportedTotal === items.length && items.length > 0;
	const missing = isComplete ? [...known].filter(([sn]) => !listed.has(sn)) : [];
	const { outcomes, failure } = await checkMissing(platform, missing, { ...options, newest: comparison.newest });
	const isExact = isComplete && listed.size === items.length;
	const lastList = isExact ? { at: currentClock().now(), total: items.length } : undefined;
	const remarks = remarksOn(listing, options, { missingGroup: missingGroup(), failure });
	return { outcomes: [...listed.values(), ...outcomes], found: { remarks, lastList } };
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
