import type { ILoadOptionsFunctions, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import type { Device } from '../core/device';
import { inputFailure } from '../core/failure';
import { comparable, countTexts, trimmed } from '../core/text';
import { groupNamesOf, statusText } from '../core/ownFilters';
import type { Page } from '../core/paging/page';
import { chosenValue } from '../fields/check';
import { fetchFirstDevices, openDropdown } from './dropdown';

/** A value of a device, and its label if the value says too little. */
export type Choice = Readonly<{ value: string; label?: string }>;

/**
 * Returns the method of a dropdown that lists what the account's first devices have.
 * @param read returns the choices of all devices; `form` returns the text of a field beside the one that opens the dropdown
 */
export function listOf(read: (devices: readonly Device[], form: (name: string) => string) => readonly Choice[]) {
	return async function (this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
		const form = (name: string) => trimmed(String(chosenValue(this.getCurrentNodeParameter(`&${name}`)) ?? ''));
		return await openDropdown(this, async (platform) => {
			const page = await fetchFirstDevices(platform);
			return { results: valueLines(read(page.content, form), page, trimmed(filter)) };
		});
	};
}

/** Returns the lines of a dropdown, the most frequent value first, or the searched text if no device has it. */
function valueLines(
	choices: readonly Choice[],
	{ content, totalElements = Infinity }: Page<Device>,
	searched: string,
): INodeListSearchItems[] {
	const isPart = content.length < totalElements;
	const noun = content.length === 1 ? 'device' : 'devices';
	const devices = `${isPart ? 'the first ' : ''}${content.length.toLocaleString('en-US')} ${noun}`;
	// n8n's dropdown shows one line.
	const labels = new Map(choices.map(({ value, label = value }) => [value, label.slice(0, 60)]));
	const lines = countTexts(choices.map(({ value }) => value))
		.map(([value, count]) => ({ value, name: `${labels.get(value)} (${count} of ${devices})` }))
		.filter(({ name }) => name.toLowerCase().includes(searched.toLowerCase()));
	if (lines.length > 0) return lines;
	if (searched !== '') return [{ value: searched, name: `${searched} (none of ${devices})` }];
	const why = content.length === 0 ? 'The platform lists no devices' : `None of ${devices} has a value here`;
	throw inputFailure(why, "To enter a value, choose 'By Value' instead of 'From List'.");
}

/** Returns an online status with what it usually means: the API document doesn't say it. */
export function statusChoice(value: string): Choice {
	const meaning = value === '0' ? ' · usually offline' : value === '1' ? ' · usually online' : '';
	return { value, label: `${value}${meaning}` };
}

export const filterChoices = {
	searchGroups: listOf(groupChoices),
	searchOnlineStatus: listOf((devices) =>
		devices.flatMap(({ onlineStatus }) => statusText(onlineStatus) ?? []).map(statusChoice),
	),
};

/** Returns the name of each device's group. If the filter would also find another group by this name, returns the ID. */
function groupChoices(devices: readonly Device[]): Choice[] {
	const groups = devices.map(groupNamesOf).filter((names) => names.length > 0);
	const found = new Map<string | undefined, Set<string>>();
	for (const names of groups)
		for (const name of names.map(comparable)) found.set(name, (found.get(name) ?? new Set()).add(`${names}`));
	return groups.map(([name, id = name]) =>
		found.get(comparable(name))?.size === 1 ? { value: String(name) } : { value: String(id), label: `${name} · ${id}` },
	);
}
