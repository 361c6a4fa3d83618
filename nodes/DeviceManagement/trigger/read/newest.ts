/**
 * Reads the newest devices by one of their times, on a quiet fleet with one small request, or two with a filter. It checks that the
 * platform sorts, which the API document leaves open. If not, or if pages repeat devices, because those with equal times have no order, it
 * returns no rows, and observe.ts reads the whole fleet.
 */
import type { Device } from '../../core/device';
import { mayRefuse } from '../../core/paging/refusal';
import { PageSizes } from '../../core/paging/sizes';
import { walkPages } from '../../core/paging/walk';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import { currentClock } from '../../transport/waiting/clock';
import type { TriggerParameters } from '../form';
import { floorOf, type FetchedRows, onePerId, type Recent, type Row, rowOf, secondsOf } from '../compare/recent';
import type { TimeField } from '../compare/watched';
import { type KnownOrder, orderAfter, statusOf } from './order';

/** Rows of the first request in addition to the known ones: enough for a quiet fleet. */
const FEW = 20;

interface NewestOptions extends Pick<TriggerParameters, 'criteria' | 'settings'> {
	readonly field: TimeField;
	readonly before: Recent | undefined;
	/** This machine's clock in seconds. */
	readonly now: number;
	/** Whether the criteria may match less than the whole fleet. */
	readonly isFiltered: boolean;
	/** Whether only the newest time of the fleet is needed, because the poll reads all devices anyway. */
	readonly onlyTop: boolean;
	readonly order: KnownOrder;
}

/** Returns the newest devices in the platform's order (section 1.3), or undefined, and what is known about the order afterwards. */
export async function fetchNewest(platform: Platform, options: NewestOptions) {
	const { isFiltered, onlyTop, order } = options;
	if (statusOf(order).isAvoided) return { fetched: undefined, order };
	let { reliableAt } = order;
	const isReliable = async (first: readonly Device[]) =>
		(reliableAt = await provenAt(platform, options, first)) !== undefined;
	const fetchInOrder = async (): Promise<FetchedRows | 'tied' | 'unreliable'> => {
		if (!isFiltered) {
			const walk = await fetchDownToKnown(platform, options, undefined);
			// A list that was read to its end needs no order.
			if (typeof walk === 'string' || walk.isWholeList) return walk;
			return (await isReliable(walk.first)) ? walk : 'unreliable';
		}
		// The newest time of the whole fleet comes first: a device that appears between the two requests is not older.
		const first = await fetchFirst(platform, 'desc', options);
		if (first.length > 0 && !(await isReliable(first))) return 'unreliable';
		const top = topOf(first, options);
		return onlyTop ? { rows: [], top, complete: true } : await fetchDownToKnown(platform, options, top);
	};
	const fetched = await fetchInOrder().catch((thrown: unknown) => {
		if (!mayRefuse('order', thrown)) throw thrown;
		return 'refused' as const;
	});
	const isRead = typeof fetched !== 'string';
	const reading = isRead ? (fetched.complete ? 'whole' : 'part') : fetched;
	const rows = isRead ? { ...fetched, rows: onePerId(fetched.rows) } : undefined;
	return { fetched: rows, order: orderAfter({ ...order, reliableAt }, reading) };
}

interface Walk extends FetchedRows {
	readonly first: readonly Device[];
	/** Whether the walk reached the end of the list. */
	readonly isWholeList: boolean;
}

/**
 * Reads devices down to two hours before the newest remembered time. If more rows are known than fit on a page, as after an
 * import, it does so once an hour; otherwise it ends at the first page with nothing new.
 * @param top the newest time of the fleet; undefined to take it from the first page
 * @returns 'unreliable' if the list is not sorted, newest first; 'tied' if pages repeat devices, so that others may be missing
 */
async function fetchDownToKnown(
	platform: Platform,
	options: NewestOptions,
	top: number | undefined,
	pageSize = Math.min(options.settings.pageSize, FEW + (readsWhole(options) ? (options.before?.rows.size ?? 0) : 0)),
): Promise<Walk | 'tied' | 'unreliable'> {
	const { field, now, before, criteria, settings } = options;
	const source = pageSource(platform, { ...DEVICE_LIST, ...criteria, sort: [`${field} desc`] }, settings);
	const walk = { rows: new Array<Row>(), top, complete: true, first: new Array<Device>(), isWholeList: false };
	let [last, total] = [Infinity, 0];
	const pages = { sizes: new PageSizes(pageSize, settings.pageSize), parallelRequests: 1 };
	for await (const page of walkPages(source, pages)) {
		const { newItems, read, distinct, reportedTotal = total } = page;
		if (read > distinct) return 'tied';
		if (walk.first.length === 0) walk.first = newItems;
		walk.top ??= topOf(newItems, options);
		const floor = floorOf(before ?? { newest: walk.top ?? null });
		const found: Row[] = [];
		for (const device of newItems) {
			const row = rowOf(device, field, now, before);
			const time = row?.time ?? -Infinity;
			// A time in another format tells nothing about the order.
			if (Number.isNaN(time) || time > last) return 'unreliable';
			last = time;
			if (row !== undefined && time >= floor) found.push(row);
		}
		for (const row of found) walk.rows.push(row);
		// A device that was removed during the walk may have moved another one to a page that was read already.
		if (reportedTotal < total) walk.complete = false;
		total = reportedTotal;
		if (found.length < newItems.length) return walk;
		const hasNew = found.some(({ isNew }) => isNew);
		const isEnd = total > 0 && read >= total;
		if (!hasNew && !isEnd && !readsWhole(options, walk.first.length)) return { ...walk, complete: false };
		// There is more than expected: start over with large pages, unless the platform's pages are small anyway.
		if (newItems.length >= pageSize && pageSize < settings.pageSize)
			return await fetchDownToKnown(platform, options, top, settings.pageSize);
	}
	return { ...walk, isWholeList: true };
}

/** Whether to read all known rows. The platform's pages may be shorter than requested. */
function readsWhole({ before, settings, order }: NewestOptions, pageLength = settings.pageSize): boolean {
	return (before?.rows.size ?? 0) <= pageLength || statusOf(order).isWholeDue;
}

/**
 * Returns when an order was last found reliable; undefined if it is not: the list begins with a device that has the time, and, checked
 * once a day, the list in the other direction begins with an older device, or one without a readable time.
 * @param first the first page or device of the whole fleet, newest first
 */
async function provenAt(platform: Platform, options: NewestOptions, first: readonly Device[]) {
	const newest = topOf(first, options);
	// Devices without the time may come first, or with another format.
	if (newest === undefined || Number.isNaN(newest)) return undefined;
	if (statusOf(options.order).isReliable) return options.order.reliableAt;
	const oldest = await fetchFirst(platform, 'asc', options);
	const time = topOf(oldest, options) ?? -Infinity;
	// Not newer than the rest of the page either: if the first device was just removed, an ignored order would look reliable.
	const smallest = Math.min(...first.map((device) => topOf([device], options) ?? newest));
	return oldest.length === 0 || time >= newest || time > smallest ? undefined : currentClock().now();
}

/** Returns the first device of the whole fleet by the time, in a list; an empty one without devices. */
async function fetchFirst(platform: Platform, direction: 'asc' | 'desc', { field, settings }: NewestOptions) {
	const source = pageSource(platform, { ...DEVICE_LIST, sort: [`${field} ${direction}`] }, settings);
	return (await new PageSizes(1, settings.pageSize).firstPage(source)).page.content.slice(0, 1);
}

/** Returns the first device's time; undefined if there is none, or if it does not have the time. */
function topOf([device]: readonly Device[], { field, now }: NewestOptions): number | undefined {
	return device && secondsOf(device[field], now);
}
