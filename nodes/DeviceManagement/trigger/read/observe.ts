/**
 * Reads what a poll compares. For changes and removals, it reads all devices that match the filters, and requests each that is no longer
 * listed; for new and edited devices, small requests are enough if the platform sorts reliably. It doesn't compare: see compare/.
 */
import { type Device, serialNumberOf } from '../../core/device';
import { keepOnly } from '../../core/paging/page';
import { fetchList, type Listing } from '../../core/paging/passes';
import type { ListCriteria } from '../../core/address';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import type { TriggerParameters } from '../form';
import type { NodeMemory } from '../memory';
import type { State } from '../compare/compare';
import { keepValues, recall, splitKept } from '../compare/kept';
import { type FetchedRows, onePerId, type Row, rowOf, unknownFormat } from '../compare/recent';
import { firstValues, type ListedDevice } from '../compare/snapshot';
import type { TimeField } from '../compare/watched';
import { fetchNewest } from './newest';
import { checkMissing } from './removal';

const REPEATS = 'may miss events, because pages of the list repeat devices, and others may be missing';
const CHANGES = 'may report events later, because the list changed during each of three readings';
const EVERYTHING: ListCriteria = { body: DEVICE_LIST.body, query: {} };

/** The form, and this machine's clock in seconds. */
type FleetOptions = TriggerParameters & { readonly now: number };

/**
 * Returns what it read, what is known of the sort orders now, and remarks for the log: limits of the platform that make polls slower or
 * hide events.
 */
export async function observe(
	platform: Platform,
	options: FleetOptions & Pick<NodeMemory, 'orders' | 'found'>,
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
			remarks.push(
				`can't read ${field} of ${odd} (not YYYY-MM-DD HH:MM:SS, or over two days ahead), and may read the whole fleet`,
			);
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
	const seen = new Set<string>();
	// Only the first record of a serial number makes the set larger.
	const again = devices.flatMap(({ sn }) => (seen.size === seen.add(sn).size ? sn : []));
	const [first, ...others] = new Set(again.sort());
	const more = others.length > 0 ? ` (and of ${others.length} more)` : '';
	if (settled && first !== undefined)
		remarks.push(`watches only one record of the serial number ${first}${more}, because several devices have it`);
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

/** The parts of a device that are kept while the whole fleet is read, with its row for each watched time that it has. */
type FleetEntry = ListedDevice & { readonly rows: Partial<Record<TimeField, Row | undefined>> };

const NO_ROWS: FleetEntry['rows'] = {};

/** Reads all devices that match the criteria (section 4.1), in the order of their IDs. To save memory, it keeps only the records of new rows and of compared devices. */
export async function fetchFleet(platform: Platform, which: ListCriteria, options: FleetOptions, before: State) {
	const devices = pageSource(platform, { ...DEVICE_LIST, ...which }, options.settings);
	const entries = keepOnly(devices, (device) => entryOf(device, options, before));
	const { items, ...listing } = await fetchList(entries, { ...options.settings, byId: true });
	return { ...listing, items: items.map(({ kept }) => kept) };
}

function entryOf(device: Device, options: FleetOptions, before: State): FleetEntry {
	const { fields, times, now } = options;
	const sn = serialNumberOf(device);
	const values = keepValues(device, fields);
	const known = before.snapshot?.devices;
	// The first list with devices is only recorded, unless its states are reported.
	const isRecorded = !options.reportsFirst && (known === undefined || known.size === 0);
	const last = known?.get(sn) ?? (isRecorded ? values : firstValues(values, options));
	const rows: FleetEntry['rows'] = times.length === 0 ? NO_ROWS : {};
	for (const { field } of times) rows[field] = rowOf(device, field, now, before.recent.get(field));
	return last === values ? { sn, values: last, rows } : { sn, values, rows, device };
}
