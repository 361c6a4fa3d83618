import type { Listing } from '../core/paging/list';
import type { ListCriteria } from '../core/query';
import type { Platform } from '../transport/platform';
import { type FleetEntry, type Progress, readFleet } from './fleet';
import {
	type DeviceRow,
	EVERYTHING,
	type KnownOrder,
	type NewestRows,
	readMembers,
	readNewest,
	RowCollector,
	type TimeField,
} from './newest';
import type { TriggerParameters } from './parameters';
import type { DeviceList } from './snapshot';
import type { State } from './state';

/** What one poll saw of the platform. */
export interface Observation {
	/** By each time that is looked at: the newest devices of the whole fleet. */
	readonly newest: Partial<Record<TimeField, NewestRows & { readonly outside: ReadonlySet<string> }>>;
	/** The times for which the whole fleet was read because the platform's order by them can't be relied on. */
	readonly unordered: readonly TimeField[];
	/** All devices that meet the filters, where they are watched for changes or removal. */
	readonly list?: DeviceList<FleetEntry>;
	/** What the platform said of the number of devices, where that is not what it lists. */
	readonly miscounted?: { readonly total: number; readonly listed: number };
}

/** What is known of the platform's orders. */
export interface KnownOrders {
	of(field: TimeField): KnownOrder;
	note(field: TimeField, seen: KnownOrder): void;
}

export interface ObserveOptions {
	/** This machine's clock in seconds. */
	readonly now: number;
	readonly orders: KnownOrders;
	readonly progress: Progress;
}

/**
 * Reads what has to be compared: everything that is asked for in one walk, and small requests for the newest devices
 * where no walk is needed.
 *
 * What is new is told from the whole fleet's times, whatever the filters: a device that comes into a filter is not new,
 * however old the newest one in it is.
 * @param before what to compare with; undefined for a baseline
 * @throws Failure
 */
export async function observe(
	platform: Platform,
	parameters: TriggerParameters,
	before: State | undefined,
	options: ObserveOptions,
): Promise<Observation> {
	const { events, fields, criteria, settings } = parameters;
	const times: TimeField[] = [];
	if (events.has('deviceCreated')) times.push('createTime');
	if (events.has('deviceUpdated')) times.push('updateTime');
	const watches = fields.length > 0 || events.has('deviceRemoved');
	const filtered = criteria.body !== EVERYTHING.body || Object.keys(criteria.query).length > 0;
	const newest = new Map<TimeField, NewestRows>();
	/** Reads these devices, and on the way the newest of them by these times. */
	const fleetOf = async (which: ListCriteria, whose: readonly TimeField[]) => {
		const limits = { now: options.now, mostRows: settings.pageSize };
		const collectors = new Map(whose.map((field) => [field, new RowCollector(field, recentOf(before, field), limits)]));
		const devices = before?.snapshot?.devices ?? new Map<string, string>();
		const interest = { fields, devices, collectors: Object.fromEntries(collectors) };
		const listing = await readFleet(platform, which, settings, interest, options.progress);
		for (const [field, collector] of collectors) {
			const rows = allOf(listing).flatMap((entry) => entry.rows?.[field] ?? []);
			newest.set(field, { rows, newestMet: collector.newest, steady: listing.settled });
		}
		return listing;
	};

	const unordered: TimeField[] = [];
	if (filtered || !watches) {
		for (const field of times) {
			const found = await inOrder(field);
			if (found === undefined) unordered.push(field);
			else newest.set(field, found);
		}
		if (unordered.length > 0) await fleetOf(EVERYTHING, unordered);
	}
	const listing = watches ? await fleetOf(criteria, filtered ? [] : times) : undefined;

	const result: Observation['newest'] = {};
	for (const [field, rows] of newest) {
		result[field] = filtered
			? await withoutOutsiders(field, rows, listing ?? (async () => await fleetOf(criteria, [])))
			: { ...rows, outside: new Set() };
	}
	return { newest: result, unordered, ...(listing === undefined ? {} : listIn(listing)) };

	async function inOrder(field: TimeField): Promise<NewestRows | undefined> {
		const known = options.orders.of(field);
		if (known.order === 'broken') return undefined;
		const { now } = options;
		const { seen, found } = await readNewest(platform, field, recentOf(before, field), settings, { now, known });
		options.orders.note(field, seen);
		return found;
	}

	/** Tells new devices that meet the filters from others; those of which it can't tell are left for the next poll. */
	async function withoutOutsiders(
		field: TimeField,
		found: NewestRows,
		inFilter: Listing<FleetEntry> | (() => Promise<Listing<FleetEntry>>),
	) {
		const { rows } = found;
		const fresh = rows.filter(({ device }) => device !== undefined);
		if (fresh.length === 0) return { ...found, outside: new Set<string>() };
		const members =
			(typeof inFilter === 'function' && !unordered.includes(field)
				? await readMembers(platform, field, fresh, criteria, settings)
				: undefined) ?? membersOf(typeof inFilter === 'function' ? await inFilter() : inFilter);
		const outsiders = fresh.filter(({ id }) => !members.ids.has(id));
		if (members.steady) return { ...found, outside: new Set(outsiders.map(({ id }) => id)) };
		const undecided = new Set<DeviceRow>(outsiders);
		return { ...found, rows: rows.filter((row) => !undecided.has(row)), steady: false, outside: new Set<string>() };
	}
}

function recentOf(state: State | undefined, field: TimeField) {
	return field === 'createTime' ? state?.created : state?.updated;
}

function membersOf(listing: Listing<FleetEntry>) {
	return { ids: new Set(allOf(listing).map(({ id }) => id)), steady: listing.settled };
}

function allOf({ items, metOtherwise }: Listing<FleetEntry>): FleetEntry[] {
	return metOtherwise.length === 0 ? items : [...items, ...metOtherwise];
}

function listIn(listing: Listing<FleetEntry>): Pick<Observation, 'list' | 'miscounted'> {
	const { items, settled, reportedTotal } = listing;
	const agrees = reportedTotal === undefined || reportedTotal === items.length;
	return {
		list: { devices: allOf(listing), complete: settled && agrees },
		...(settled && !agrees ? { miscounted: { total: reportedTotal, listed: items.length } } : {}),
	};
}
