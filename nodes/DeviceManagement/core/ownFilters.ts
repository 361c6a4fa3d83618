import type { Device } from './device';
import { isRecord, type JsonValue } from './json';
import { cleanText, comparable } from './text';

/** Filters that the node checks itself, because a platform may ignore a filter, or compare it as something else. */
export interface OwnFilters {
	readonly onlineStatus?: number;
	readonly group?: string;
}

/** Returns what checks each device of a list, and says afterwards if none has the group. Case and outer spaces don't matter. */
export function checkerOf(own: OwnFilters | undefined) {
	const groups = new Set<string>();
	let isFound = own?.group === undefined;
	const fits = (device: Device) => {
		if (own === undefined) return true;
		const names = groupNamesOf(device);
		const isInGroup = own.group === undefined || names.some((name) => comparable(name) === comparable(own.group));
		isFound ||= isInGroup;
		if (!isFound && names.length > 0) groups.add(String(names[0]));
		return (
			isInGroup && (own.onlineStatus === undefined || statusText(device['onlineStatus']) === String(own.onlineStatus))
		);
	};
	const missingGroup = () => (isFound ? undefined : `no device in the group "${own?.group}"`);
	const missingGroupAndNames = () => {
		if (isFound) return undefined;
		const named = [...groups].sort().slice(0, 10).map(cleanText).join(', ');
		const names = `${named ? `the groups ${named}` : 'no groups'}${groups.size > 10 ? ` and ${groups.size - 10} others` : ''}`;
		return `The platform listed ${missingGroup()}. The list has ${names}.`;
	};
	return { fits, missingGroup, missingGroupAndNames };
}

/** Returns the name and the ID of a device's group, or what there is of both. */
export function groupNamesOf({ group }: Device): JsonValue[] {
	return (isRecord(group) ? [group['name'], group['id']] : [group]).filter((name) => comparable(name));
}

/** Returns an online status as the text that is compared: true is 1, and false is 0. */
export function statusText(value: unknown): string | undefined {
	const text = comparable(value);
	return text && booleanAsNumber(text);
}

/** Returns the text of a status: some platforms send a boolean. */
export function booleanAsNumber(text: string): string {
	return text === 'true' ? '1' : text === 'false' ? '0' : text;
}
