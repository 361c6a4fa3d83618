import type { Failure } from '../../core/failure';
import { LIST_CAP, type Listing } from '../../core/paging/list';
import { cleanText } from '../../core/text';
import { isFiltered, type TriggerParameters } from '../form/form';
import { findMistake } from '../changes/mistakes';
import type { Entry, StepOptions } from '../changes/step';
import { recall } from '../changes/values';
import { wordsFor } from '../changes/watched';

/** Returns what the log says of a list: what hides events or makes them late, and words in the form that no device has. */
export function remarksOn(
	{ items, settled, reportedTotal = items.length }: Listing<{ sn: string; entry: Entry }>,
	{ events, fields, rules, isFirstList, criteria, own }: TriggerParameters & StepOptions,
	{ missingGroup, failure }: { missingGroup: string | undefined; failure: Failure | undefined },
): string[] {
	const remarks: string[] = [];
	if (!settled) remarks.push('may report events later, because the list kept changing');
	else if (reportedTotal !== items.length && events.has('deviceRemoved'))
		remarks.push("can't detect removed devices, because the platform's total doesn't match its list");
	if (reportedTotal === LIST_CAP)
		remarks.push("may miss devices, because the list ends at exactly 10,000. Use several triggers with 'Filters'");
	// Without a word, users would wait for events of a name or a value that has a typing error.
	for (const field of isFirstList && items.length > 0 ? fields : []) {
		const { name, label } = field;
		// A device outside the node's own filters has no value.
		const values = items.flatMap(({ entry: { waiting, values: recorded } }) =>
			name in recorded ? [recorded[name] ?? null] : (waiting?.[name]?.value ?? []),
		);
		const hasNone = values.length === items.length && values.every((value) => recall(value) === null);
		const mistake = findMistake(rules, field, values);
		if (hasNone && label !== '') remarks.push(`finds no device with ${wordsFor(field)}`);
		if (mistake) remarks.push(`may never meet a condition. ${mistake.message}: the devices have ${mistake.found}`);
	}
	const seen = new Set<string>();
	// Only the first record of a serial number makes the set larger.
	const [again] = items.flatMap(({ sn }) => (seen.size === seen.add(sn).size ? sn : [])).sort();
	if (again !== undefined) remarks.push(`watches only one of the devices with the serial number ${cleanText(again)}`);
	const fitsNone =
		isFirstList && isFiltered({ own, criteria }) && items.every(({ entry }) => entry.outside !== undefined);
	if (missingGroup !== undefined) remarks.push(`finds ${missingGroup}`);
	else if (fitsNone) remarks.push("finds no device that matches the 'Filters'");
	if (failure !== undefined)
		remarks.push(`couldn't check whether devices were removed, and tries again: ${failure.message}`);
	return remarks;
}
