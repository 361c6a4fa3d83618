/**
 * Looks for new and edited devices in one small request for each of their times. What it can't show is late by an hour at most, and not
 * lost: then the whole list is read, which is always right. It is also read whenever these pages leave a doubt.
 */
import type { Device } from '../../core/device';
import type { JsonValue } from '../../core/json';
import { mayRefuseSizeOrSort } from '../../core/paging/refusal';
import { fetchFirst } from '../../core/paging/firstPage';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import { currentClock } from '../../transport/waiting/clock';
import type { TriggerParameters } from '../form/form';
import type { Entry, Step } from '../changes/step';
import { isDate } from '../changes/values';
import type { EventName } from '../changes/watched';

export type Compared = Step & { readonly sn: string; readonly id: JsonValue };

/** The last complete list, in which no two devices had one serial number: when it was read (`Clock.now`), and the number of devices now. */
export interface LastList {
	readonly at: number;
	readonly total: number;
	/** Whether the platform was seen to sort by the times since. */
	readonly isSorted?: boolean;
}

const FEW = 100;
const LONGEST_MS = 3_600_000;

const TIMES: Partial<Record<EventName, string>> = { deviceCreated: 'createTime', deviceUpdated: 'updateTime' };

/**
 * Returns the newest devices; undefined if the whole list has to be read: another event is watched, there is more that is new, the
 * platform doesn't sort by a time, or its total doesn't agree.
 */
export async function readNewest(
	platform: Platform,
	options: TriggerParameters & { lastList?: LastList | undefined },
	{ known, compare }: { known: ReadonlyMap<string, Entry>; compare: (device: Device) => Compared },
): Promise<{ outcomes: Compared[]; found: { lastList: LastList } } | undefined> {
	const { events, own, lastList } = options;
	const isOld = lastList === undefined || currentClock().now() - lastList.at >= LONGEST_MS;
	// A device that enters the node's own filters may be anywhere in the list.
	const times = [...events].flatMap((event) => TIMES[event] ?? []);
	if (isOld || own !== undefined || times.length < events.size) return undefined;
	const found = new Map<string, Compared>();
	let total: number | undefined;
	for (const time of times) {
		const { content, totalElements } = await fetchSorted(platform, options, `${time} desc`, FEW);
		const items = content.map(compare);
		for (const item of items) found.set(item.sn, item);
		total = totalElements;
		const last = items.at(-1);
		// Behind a new device, there may be more of them.
		const endsUnchanged = last !== undefined && known.get(last.sn) === last.entry;
		if (!endsUnchanged || !isNewestFirst(content.map((device) => device[time]))) return undefined;
		// An order that the platform ignores may look like this one: devices that were never edited are listed by when they were created.
		if (lastList.isSorted === true || content.length === totalElements) continue;
		const ascending = await fetchSorted(platform, options, `${time} asc`, 1);
		if (!isOtherEnd(ascending.content[0], content, time)) return undefined;
	}
	const outcomes = [...found.values()];
	const added = outcomes.filter(({ sn }) => !known.has(sn)).length;
	if (total !== lastList.total + added) return undefined;
	return { outcomes, found: { lastList: { ...lastList, total, isSorted: true } } };
}

/** Returns the first devices in this order; none if the platform refuses it. */
async function fetchSorted(platform: Platform, { criteria, settings }: TriggerParameters, order: string, size: number) {
	const source = pageSource(platform, { ...DEVICE_LIST, ...criteria, sort: [order] }, settings);
	const first = await fetchFirst(source, Math.min(size, settings.pageSize)).catch((thrown: unknown) => {
		if (!mayRefuseSizeOrSort(thrown)) throw thrown;
	});
	return first?.page ?? { content: [], totalElements: undefined };
}

/** Whether the first device in the other direction isn't as new as those `content` begins with. Devices without the time may come first. */
function isOtherEnd(oldest: Device | undefined, content: readonly Device[], time: string): boolean {
	const [newest, latest, first] = [content[0], content.at(-1), oldest].map((device) => device?.[time]);
	return oldest !== undefined && first !== newest && (!isDate(first) || isNewestFirst([latest, first]));
}

function isNewestFirst(times: readonly unknown[]): boolean {
	return times.every((time, index) => isDate(time) && time <= String(times[index - 1] ?? time));
}
