import type { Failure } from '../../core/failure';
import type { Listing } from '../../core/paging/passes';
import { recall, splitKept } from '../compare/kept';
import type { ListedDevice } from '../compare/snapshot';
import type { TimeField, WatchedField } from '../compare/watched';

/**
 * Returns what the log says of a list: limits of the platform that make polls slower or hide events.
 * @param times the watched times: a device with an unreadable one, whether devices share an ID, and whether the order is not reliable
 * @param watched undefined if neither changes nor removals are watched; else the fields that no earlier list was compared by, and why a
 * removal could not be checked
 */
export function remarksOn(
	{ items, settled, tied, reportedTotal = items.length }: Listing<ListedDevice>,
	times: ReadonlyArray<{ field: TimeField; odd: string | undefined; sharesIds: boolean; isSlow: boolean }>,
	watched: { newFields: readonly WatchedField[]; failure: Failure | undefined } | undefined,
): string[] {
	const unsettled = tied
		? 'may miss events, because pages of the list repeat devices, and others may be missing'
		: 'may report events later, because the list changed during each of three readings';
	const remarks = settled ? [] : [unsettled];
	for (const { field, odd, sharesIds, isSlow } of times) {
		if (sharesIds) remarks.push('takes devices with the same id for one device');
		const form = 'not YYYY-MM-DD HH:MM:SS, or over two days ahead';
		if (odd !== undefined) remarks.push(`can't read ${field} of ${odd} (${form}), and may read the whole fleet`);
		else if (isSlow)
			remarks.push(`reads the whole fleet at each poll, because the platform does not reliably sort by ${field}`);
	}
	if (watched === undefined) return remarks;
	const { newFields, failure } = watched;
	// Without a word, users would wait for events of a key that has a typing error.
	for (const [position, { key, label }] of items.length > 0 ? newFields.entries() : [])
		if (items.every(({ values }) => recall(splitKept(values)[position] ?? 'null') === null))
			remarks.push(`finds no device with ${key === '' ? `'${label}'` : `the attribute "${key}"`}`);
	const seen = new Set<string>();
	// Only the first record of a serial number makes the set larger.
	const [again] = items.flatMap(({ sn }) => (seen.size === seen.add(sn).size ? sn : [])).sort();
	if (settled && again !== undefined)
		remarks.push(`watches only one record of the serial number ${again}, because several devices have it`);
	if (settled && reportedTotal !== items.length)
		remarks.push("can't detect removed devices, because the platform reports another number of devices than it lists");
	if (failure !== undefined)
		remarks.push(`could not check devices that may be removed, and tries again at each poll: ${failure.message}`);
	return remarks;
}
