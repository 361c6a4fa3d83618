import { changedEvent, type DeviceEvent, removedEvent, timeEvent } from './events';
import { isAskedFor } from './rules';
import { type FetchedRows, type Recent, recentAfter } from './recent';
import { compareSnapshot, type DeviceList, type Snapshot, type SnapshotOptions } from './snapshot';
import { type TimeField, TIMES } from './watched';

/** What a poll stores for the next one. */
export interface State {
	/** A digest of the form, the platform and the user. A poll ignores a state with another one. */
	readonly fingerprint: string;
	/** Rises with every poll that reports something, and with every baseline. */
	readonly number: number;
	/** Rises with every written change, so that no two states of several processes have the same text. */
	readonly writes: number | undefined;
	/** By watched time. */
	readonly recent: ReadonlyMap<TimeField, Recent>;
	readonly snapshot: Snapshot | undefined;
}

/**
 * Compares the old state with what a poll read, and returns the new state, the events, and as `untaken` the state without
 * the events, which the next poll compares with if n8n doesn't take them: it has everything else that this poll saw.
 * @param before a state with the same fingerprint; for a baseline an empty one, which leads to no events
 * @param list undefined if neither changes nor removals are watched
 */
export function compare(
	before: State,
	{ recent: fetched, list }: { recent: ReadonlyMap<TimeField, FetchedRows>; list: DeviceList | undefined },
	options: SnapshotOptions,
): { state: State; untaken: State; events: DeviceEvent[] } {
	const { number } = before;
	const recent = new Map<TimeField, Recent>();
	const events: DeviceEvent[] = [];
	const reported = new Set<string>();
	// Of a new device, only states are reported.
	const created = new Set<string>();
	for (const time of TIMES) {
		const newest = fetched.get(time.field);
		if (newest === undefined) continue;
		recent.set(time.field, recentAfter(before.recent.get(time.field), newest));
		for (const row of newest.rows) {
			if (!row.isNew) continue;
			if (!reported.has(row.id)) events.push(timeEvent(time, row.device));
			reported.add(row.id);
			if (time.event === 'deviceCreated') created.add(row.sn);
		}
	}
	const compared = list && compareSnapshot(before.snapshot, list, options, created);
	const changes = compared?.changes.filter((change) => isAskedFor(options.rules, change)) ?? [];
	for (const change of changes) events.push(changedEvent(change, number));
	for (const sn of list?.removed ?? []) {
		events.push(removedEvent(sn, before.snapshot?.devices.get(sn) ?? '[]', options.fields, number));
	}
	const state = { ...before, number: number + Math.min(events.length, 1), recent, snapshot: compared?.after };
	if (list === undefined || events.length === 0) return { state, untaken: before, events };
	const rest = { ...list, devices: list.devices.filter(({ sn }) => !created.has(sn)), removed: [] };
	const { after } = compareSnapshot(before.snapshot, rest, { ...options, holdsAsked: true });
	// After a baseline, nothing was known of the times, and no row of them was reported.
	return { state, untaken: { ...before, recent: new Map([...recent, ...before.recent]), snapshot: after }, events };
}
