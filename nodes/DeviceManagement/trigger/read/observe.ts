import type { Listing } from '../../core/paging/passes';
import type { ListCriteria } from '../../core/query';
import { DEVICE_LIST } from '../../transport/devices';
import type { Platform } from '../../transport/platform';
import type { Observation } from '../compare/compare';
import { type FleetEntry, fetchFleet } from './fleet';
import { fetchNewest, type KnownOrder } from './newest';
import type { TriggerParameters } from '../form';
import { type FetchedRows, type Row, unknownFormat } from '../compare/recent';
import { checkMissing } from './removal';
import type { State } from '../state';
import type { TimeField } from '../compare/watched';

const EVERYTHING: ListCriteria = { body: DEVICE_LIST.body, query: {} };

/**
 * Reads what a poll compares. For changes and removals, it reads all devices that match the filters. For new and edited devices,
 * small requests are enough if the platform sorts reliably. It requests each device that is no longer listed.
 * @param orders what is known of the platform's sort orders; is updated
 */
export async function observe(
	platform: Platform,
	parameters: TriggerParameters,
	before: State,
	orders: Record<TimeField, KnownOrder>,
): Promise<Observation> {
	const { events, fields, times, criteria, settings } = parameters;
	const watches = fields.length > 0 || events.has('deviceRemoved');
	const isFiltered = criteria.body !== EVERYTHING.body || Object.keys(criteria.query).length > 0;
	const fetchAll = async (which: ListCriteria) => await fetchFleet(platform, which, parameters, before);

	const recent = new Map<TimeField, FetchedRows>();
	const unordered: TimeField[] = [];
	for (const { field } of isFiltered || !watches ? times : []) {
		const options = { criteria, isFiltered, onlyTop: watches, settings, order: orders[field] };
		const fetched = await fetchNewest(platform, { field, before: before.recent.get(field), ...options });
		if (fetched === undefined) unordered.push(field);
		else recent.set(field, fetched);
	}
	// Before the watched devices: a device that appears between the two walks is not older than the newest one here.
	const fleet = isFiltered && unordered.length > 0 ? await fetchAll(EVERYTHING) : undefined;
	const listing = watches || unordered.length > 0 ? await fetchAll(criteria) : undefined;
	if (listing === undefined) return { recent, list: undefined, remarks: [] };
	const remarks = listing.settled && listing.repeated > 0 ? ['takes devices with the same id for one device'] : [];
	for (const { field } of times) {
		const { odd, ...all } = rowsOf(fleet ?? listing, field);
		const ofFleet = recent.get(field) ?? all;
		const { rows } = fleet === undefined ? all : rowsOf(listing, field);
		recent.set(field, { ...ofFleet, rows, complete: ofFleet.complete && listing.settled });
		if (odd !== undefined) {
			if (ofFleet.top === undefined) throw unknownFormat(field);
			// The order may be reliable without it: the next poll asks for it again.
			delete orders[field].avoidedAt;
			remarks.push(`can't read ${field} of ${odd} (not YYYY-MM-DD HH:MM:SS), and may read the whole fleet`);
		} else if (unordered.includes(field) && orders[field].avoidedAt !== undefined) {
			remarks.push(`reads the whole fleet at each poll, because the platform does not reliably sort by ${field}`);
		}
	}
	if (!watches) return { recent, list: undefined, remarks };
	const { items: devices, settled, reportedTotal = devices.length } = listing;
	const complete = settled && reportedTotal === devices.length ? devices : undefined;
	if (settled && complete === undefined) {
		remarks.push("can't detect removed devices, because the platform reports another number of devices than it lists");
	}
	const { failure, ...found } = await checkMissing(platform, complete, before.snapshot, parameters);
	if (failure !== undefined) {
		remarks.push(`could not check devices that may be removed, and tries again at each poll: ${failure.message}`);
	}
	return { recent, list: { devices, ...found }, remarks };
}

/** Returns the rows, and the serial number of a device whose time has another format; always the same one of several. */
function rowsOf({ items, settled }: Listing<FleetEntry>, field: TimeField): FetchedRows & { odd: string | undefined } {
	const all = items.flatMap(({ rows: ofDevice }) => ofDevice[field] ?? []);
	const rows = all.filter(({ time }) => !Number.isNaN(time));
	const [odd] = all.flatMap(({ sn, time }) => (Number.isNaN(time) ? sn : [])).sort();
	const top = rows.reduce<Row | undefined>((most, row) => (most && most.time >= row.time ? most : row), undefined);
	return { rows, top, complete: settled, odd };
}
