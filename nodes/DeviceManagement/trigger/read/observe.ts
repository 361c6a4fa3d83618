/**
 * Reads what a poll compares. For changes and removals, it reads all devices that match the filters, and requests each that is no longer
 * listed; for new and edited devices, small requests are enough if the platform sorts reliably. It doesn't compare: see compare/.
 */
import { type Device, serialNumberOf } from '../../core/device';
import { checkerOf } from '../../core/ownFilters';
import { keepOnly } from '../../core/paging/page';
import { fetchList, type Listing } from '../../core/paging/passes';
import type { ListCriteria } from '../../core/address';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import type { TriggerParameters } from '../form';
import type { NodeMemory } from '../memory';
import type { State } from '../compare/compare';
import { keepValues } from '../compare/kept';
import { type FetchedRows, onePerId, type Row, rowOf, unknownFormat } from '../compare/recent';
import { firstValues, isOutside, type ListedDevice, markOutside } from '../compare/snapshot';
import type { TimeField } from '../compare/watched';
import { fetchNewest } from './newest';
import type { KnownOrder } from './order';
import { remarksOn } from './remarks';
import { checkMissing } from './removal';

const EVERYTHING: ListCriteria = { body: DEVICE_LIST.body, query: {} };

/** The form, and this machine's clock in seconds. */
type FleetOptions = TriggerParameters & { readonly now: number };
type ObserveOptions = FleetOptions & Pick<NodeMemory, 'orders' | 'found'>;

/** Returns what it read, what is known of the sort orders now, and what the log says of it. */
export async function observe(platform: Platform, options: ObserveOptions, before: State) {
	const { events, fields, times, criteria, own } = options;
	const watches = fields.length > 0 || events.has('deviceRemoved');
	const readsAll = watches || own !== undefined;
	const isFiltered = criteria.body !== EVERYTHING.body || Object.keys(criteria.query).length > 0;
	const orders = new Map(options.orders);
	const recent = new Map<TimeField, FetchedRows>();
	// Unless the whole fleet is the watched list anyway.
	const ordered = isFiltered || !readsAll ? times : [];
	for (const { field } of ordered) {
		const known = { field, before: before.recent.get(field), order: orders.get(field) ?? {} };
		const newest = await fetchNewest(platform, { ...options, ...known, isFiltered, onlyTop: readsAll });
		orders.set(field, newest.order);
		if (newest.fetched !== undefined) recent.set(field, newest.fetched);
	}
	const hasAll = recent.size === ordered.length;
	if (!readsAll && hasAll) return { recent, list: undefined, remarks: [], orders, found: options.found };
	// Before the watched devices: a device that appears between the two walks is not older than the newest one here.
	// Its values are not compared, so their records are not kept.
	const noValues = { ...options, fields: [], own: undefined };
	const fleet =
		hasAll || !isFiltered
			? undefined
			: await fetchFleet(platform, EVERYTHING, noValues, { ...before, snapshot: undefined });
	const listing = await fetchFleet(platform, criteria, options, before);
	const ofTimes = times.map(({ field }) => addRows(field, recent, orders, listing, fleet));
	const { items: devices, settled, reportedTotal = devices.length } = listing;
	const complete = settled && reportedTotal === devices.length ? devices : undefined;
	const { failure, found, ...missing } = await checkMissing(platform, complete, before.snapshot, options);
	const watched = watches ? { newFields: before.snapshot?.devices.size ? [] : fields, failure } : undefined;
	const remarks = remarksOn(listing, ofTimes, watched);
	if (listing.missingGroup !== undefined) remarks.push(`finds ${listing.missingGroup}`);
	return { recent, list: watched && { devices, ...missing }, remarks, orders, found };
}

/**
 * Adds what the lists say of a watched time, and returns what is odd about it.
 * @param fleet the whole fleet, if the listing may be less
 */
function addRows(
	field: TimeField,
	recent: Map<TimeField, FetchedRows>,
	orders: Map<TimeField, KnownOrder>,
	listing: Listing<FleetEntry>,
	fleet = listing,
) {
	const { odd, sharesIds, ...all } = rowsOf(fleet, field);
	const ofFleet = recent.get(field) ?? all;
	if (odd !== undefined && ofFleet.top === undefined) throw unknownFormat(field);
	const isSlow = !recent.has(field) && orders.get(field)?.avoidedAt !== undefined;
	const { rows } = fleet === listing ? all : rowsOf(listing, field);
	recent.set(field, { ...ofFleet, rows, complete: ofFleet.complete && listing.settled });
	// The order may be reliable without it: the next poll asks for it again.
	if (odd !== undefined) orders.set(field, { ...orders.get(field), avoidedAt: undefined });
	return { field, odd, sharesIds, isSlow };
}

/** Returns the rows, and the serial number of a device whose time has another format; always the same one of several. */
function rowsOf({ items, settled }: Listing<FleetEntry>, field: TimeField) {
	const all = items.flatMap(({ rows: ofDevice }) => ofDevice[field] ?? []);
	const readable = all.filter(({ time }) => !Number.isNaN(time));
	const rows = onePerId(readable);
	const [odd] = all.flatMap(({ sn, time }) => (Number.isNaN(time) ? sn : [])).sort();
	const top = rows.reduce<number | undefined>((most, { time }) => Math.max(most ?? time, time), undefined);
	const outside = new Set(items.map(({ values, rows: ofDevice }) => (isOutside(values) ? ofDevice[field] : undefined)));
	const inside = rows.filter((row) => !outside.has(row));
	return { rows: inside, top, complete: settled, odd, sharesIds: rows.length < readable.length };
}

/** The parts of a device that are kept while the whole fleet is read, with its row for each watched time that it has. */
type FleetEntry = ListedDevice & { readonly rows: Partial<Record<TimeField, Row | undefined>> };

/** Reads all devices that match the criteria (section 4.1), in the order of their IDs. To save memory, it keeps only the records of new rows and of compared devices. */
export async function fetchFleet(platform: Platform, which: ListCriteria, options: FleetOptions, before: State) {
	const devices = pageSource(platform, { ...DEVICE_LIST, ...which }, options.settings);
	const { fits, missingGroup } = checkerOf(options.own);
	const entries = keepOnly(devices, (device) => entryOf(device, fits(device), options, before));
	const { items, ...listing } = await fetchList(entries, { ...options.settings, byId: true });
	return { ...listing, missingGroup: missingGroup(), items: items.map(({ kept }) => kept) };
}

function entryOf(device: Device, fits: boolean, options: FleetOptions, before: State): FleetEntry {
	const { fields, times, now } = options;
	const sn = serialNumberOf(device);
	const values = fits ? keepValues(device, fields) : markOutside(keepValues(device, fields));
	const known = before.snapshot?.devices;
	// The first list with devices is only recorded, unless its states are reported.
	const isRecorded = !options.reportsFirst && (known === undefined || known.size === 0);
	const last = known?.get(sn) ?? (isRecorded ? values : firstValues(values, options));
	const rows: FleetEntry['rows'] = {};
	// The others only tell the newest time.
	const recentOf = (field: TimeField) => (fits ? before.recent.get(field) : undefined);
	for (const { field } of times) rows[field] = rowOf(device, field, now, recentOf(field));
	if (last === values) return { sn, values: last, rows };
	return !fits && isOutside(last) ? { sn, values, rows } : { sn, values, rows, device };
}
