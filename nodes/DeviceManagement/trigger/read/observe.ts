import type { Listing } from '../../core/paging/passes';
import type { ListCriteria } from '../../core/query';
import { DEVICE_LIST } from '../../transport/devices';
import type { Platform } from '../../transport/platform';
import { type FleetEntry, fetchFleet } from './fleet';
import { fetchNewest, type KnownOrders } from './newest';
import type { TriggerParameters } from '../form';
import { type FetchedRows, onePerId, type Row, unknownFormat } from '../compare/recent';
import { checkMissing, type FoundAt } from './removal';
import { recall, splitKept } from '../compare/kept';
import type { State } from '../compare/compare';
import type { TimeField } from '../compare/watched';

const REPEATS = 'may miss events, because pages of the list repeat devices, and others may be missing';
const CHANGES = 'reports no removed devices now, because the list changed during each of three readings';
const EVERYTHING: ListCriteria = { body: DEVICE_LIST.body, query: {} };

/**
 * Reads what a poll compares. For changes and removals, it reads all devices that match the filters. For new and edited devices,
 * small requests are enough if the platform sorts reliably. It requests each device that is no longer listed.
 * @returns it, what is known of the sort orders now, and remarks in words for the log, which has each once: limits of the platform
 * that make polls slower or hide events
 */
export async function observe(
	platform: Platform,
	options: TriggerParameters & { now: number; orders: KnownOrders; found: FoundAt },
	before: State,
) {
	const { events, fields, times, criteria } = options;
	const watches = fields.length > 0 || events.has('deviceRemoved');
	const isFiltered = criteria.body !== EVERYTHING.body || Object.keys(criteria.query).length > 0;

	const orders = new Map(options.orders);
	const recent = new Map<TimeField, FetchedRows>();
	const unordered: TimeField[] = [];
	for (const { field } of isFiltered || !watches ? times : []) {
		const known = { field, before: before.recent.get(field), order: orders.get(field) ?? {} };
		const { fetched, order } = await fetchNewest(platform, { ...options, ...known, isFiltered, onlyTop: watches });
		orders.set(field, order);
		if (fetched === undefined) unordered.push(field);
		else recent.set(field, fetched);
	}
	// Before the watched devices: a device that appears between the two walks is not older than the newest one here.
	// Its values are not compared, so their records are not kept.
	const isNeeded = isFiltered && unordered.length > 0;
	const fleet = isNeeded
		? await fetchFleet(platform, EVERYTHING, { ...options, fields: [] }, { ...before, snapshot: undefined })
		: undefined;
	const listing = watches || unordered.length > 0 ? await fetchFleet(platform, criteria, options, before) : undefined;
	if (listing === undefined) return { recent, list: undefined, remarks: [], orders, found: options.found };
	const remarks = listing.settled ? [] : [listing.tied ? REPEATS : CHANGES];
	for (const { field } of times) {
		const { odd, shareIds, ...all } = rowsOf(fleet ?? listing, field);
		if (shareIds) remarks.push('takes devices with the same id for one device');
		const ofFleet = recent.get(field) ?? all;
		const { rows } = fleet === undefined ? all : rowsOf(listing, field);
		recent.set(field, { ...ofFleet, rows, complete: ofFleet.complete && listing.settled });
		if (odd !== undefined) {
			if (ofFleet.top === undefined) throw unknownFormat(field);
			// The order may be reliable without it: the next poll asks for it again.
			orders.set(field, { ...orders.get(field), avoidedAt: undefined });
			remarks.push(`can't read ${field} of ${odd} (not YYYY-MM-DD HH:MM:SS), and may read the whole fleet`);
		} else if (unordered.includes(field) && orders.get(field)?.avoidedAt !== undefined) {
			remarks.push(`reads the whole fleet at each poll, because the platform does not reliably sort by ${field}`);
		}
	}
	if (!watches) return { recent, list: undefined, remarks, orders, found: options.found };
	const { items: devices, settled, reportedTotal = devices.length } = listing;
	// Without a word, users would wait for events of a key that has a typing error.
	for (const [position, { key, label }] of devices.length > 0 && !before.snapshot?.devices.size ? fields.entries() : [])
		if (devices.every(({ values }) => recall(splitKept(values)[position] ?? 'null') === null))
			remarks.push(`finds no device with ${key === '' ? `'${label}'` : `the attribute "${key}"`}`);
	const complete = settled && reportedTotal === devices.length ? devices : undefined;
	if (settled && complete === undefined) {
		remarks.push("can't detect removed devices, because the platform reports another number of devices than it lists");
	}
	const { failure, found, ...missing } = await checkMissing(platform, complete, before.snapshot, options);
	if (failure !== undefined) {
		remarks.push(`could not check devices that may be removed, and tries again at each poll: ${failure.message}`);
	}
	return { recent, list: { devices, ...missing }, remarks, orders, found };
}

/** Returns the rows, and the serial number of a device whose time has another format; always the same one of several. */
function rowsOf({ items, settled }: Listing<FleetEntry>, field: TimeField) {
	const all = items.flatMap(({ rows: ofDevice }) => ofDevice[field] ?? []);
	const readable = all.filter(({ time }) => !Number.isNaN(time));
	const rows = onePerId(readable);
	const [odd] = all.flatMap(({ sn, time }) => (Number.isNaN(time) ? sn : [])).sort();
	const top = rows.reduce<Row | undefined>((most, row) => (most && most.time >= row.time ? most : row), undefined);
	return { rows, top, complete: settled, odd, shareIds: rows.length < readable.length };
}
