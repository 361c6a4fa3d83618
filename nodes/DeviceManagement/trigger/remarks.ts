import type { Failure } from '../core/failure';
import type { Listing } from '../core/paging/list';
import type { TriggerParameters } from './form';
import type { Entry, StepOptions } from './step';
import { recall } from './values';

interface Circumstances
	extends Pick<StepOptions, 'events' | 'fields' | 'isFirstList'>,
		Pick<TriggerParameters, 'criteria' | 'own'> {
	readonly missingGroup: string | undefined;
	/** Why a device that may be removed could not be checked. */
	readonly failure: Failure | undefined;
}

/** Returns what the log says of a list: what hides events or makes them late, and words in the form that no device has. */
export function remarksOn(
	{ items, settled, reportedTotal = items.length }: Listing<{ sn: string; entry: Entry }>,
	{ events, fields, isFirstList, criteria, own, missingGroup, failure }: Circumstances,
): string[] {
	const remarks: string[] = [];
	if (!settled)
		remarks.push('may report events later, because the list changed or repeated devices during each of three readings');
	else if (reportedTotal !== items.length && events.has('deviceRemoved'))
		remarks.push("can't detect removed devices, because the platform reports another number of devices than it lists");
	// Without a word, users would wait for events of a key that has a typing error.
	for (const { name, key, label } of isFirstList && items.length > 0 ? fields : []) {
		const hasNone = items.every(({ entry }) => name in entry.values && recall(entry.values[name] ?? null) === null);
		if (hasNone && label !== '')
			remarks.push(`finds no device with ${key === '' ? `'${label}'` : `the attribute "${key}"`}`);
	}
	const seen = new Set<string>();
	// Only the first record of a serial number makes the set larger.
	const [again] = items.flatMap(({ sn }) => (seen.size === seen.add(sn).size ? sn : [])).sort();
	if (again !== undefined)
		remarks.push(`watches only one record of the serial number ${again}, because several devices have it`);
	const isFiltered = own !== undefined || criteria.body !== '{}' || Object.keys(criteria.query).length > 0;
	const fitsNone = isFirstList && isFiltered && items.every(({ entry }) => entry.outside !== undefined);
	if (missingGroup !== undefined) remarks.push(`finds ${missingGroup}`);
	else if (fitsNone) remarks.push("finds no device that matches the 'Filters'");
	if (failure !== undefined)
		remarks.push(`could not check devices that may be removed, and tries again at each poll: ${failure.message}`);
	return remarks;
}
