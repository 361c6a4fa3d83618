import type { Device } from './device';
import { isRecord } from './json';

/** Filters that the node checks itself, because a platform may ignore a filter, or compare it as something else. */
export interface OwnFilters {
	readonly onlineStatus?: number;
	/** Name or ID. */
	readonly group?: string;
}

/** Most groups that a text names. */
const MOST_NAMED = 10;

/** Checks the devices of a list, and remembers their groups. */
export class DeviceCheck {
	private readonly groups = new Set<string>();
	private hasChecked = false;
	private isFound = false;

	constructor(private readonly wanted: OwnFilters) {}

	/** Whether a device matches the filters. Upper case and outer spaces don't matter. */
	fits({ onlineStatus, group }: Device): boolean {
		const { wanted } = this;
		const names = isRecord(group) ? [group['name'], group['id']] : [group];
		const isInGroup = wanted.group === undefined || names.some((name) => plainText(name) === plainText(wanted.group));
		this.hasChecked = true;
		this.isFound ||= isInGroup;
		const shown = names.find((name) => plainText(name));
		if (!this.isFound && shown !== undefined) this.groups.add(String(shown));
		return isInGroup && (wanted.onlineStatus === undefined || statusText(onlineStatus) === String(wanted.onlineStatus));
	}

	/** Returns words, if none of the checked devices has the group. */
	aboutGroup(): string | undefined {
		if (this.isFound || !this.hasChecked) return undefined;
		const named = [...this.groups]
			.sort()
			.slice(0, MOST_NAMED)
			.map((name) => `"${name}"`);
		const others = this.groups.size - named.length;
		const groups = `The groups are ${named.join(', ')}${others > 0 ? ` and ${others} others` : ''}.`;
		return `no device in the group "${this.wanted.group}". ${named.length > 0 ? groups : 'The devices have no groups.'}`;
	}
}

/** Returns an online status as the text that is compared: true is 1, and false is 0. */
export function statusText(value: unknown): string | undefined {
	const text = plainText(value);
	return text === 'true' ? '1' : text === 'false' ? '0' : text;
}

function plainText(value: unknown): string | undefined {
	return ['string', 'number', 'boolean'].includes(typeof value)
		? String(value).normalize().trim().toLowerCase()
		: undefined;
}
