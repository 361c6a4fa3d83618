/**
 * Reads the newest devices by one of their times, on a quiet fleet with one small request, or two with a filter. It checks that the
 * platform sorts, which the API document leaves open. If not, or if pages repeat devices, because those with equal times have no order, it
 * returns no rows, and observe.ts reads the whole fleet.
 */
import type { Device } from '../../core/device';
import { mayRefuse, sizesAfter } from '../../core/paging/refusal';
import { fetchFirstPage, walkPages } from '../../core/paging/walk';
import { DEVICE_LIST } from '../../transport/devices';
import { type PagedEndpoint, pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import { currentClock } from '../../transport/waiting/clock';
import type { TriggerParameters } from '../form';
import { floorOf, type FetchedRows, onePerId, type Recent, type Row, rowOf } from '../compare/recent';
import type { TimeField } from '../compare/watched';

/** Rows of the first request in addition to the known ones: enough for a quiet fleet. */
const FEW = 20;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What the process knows about sorting by one of the times. Times are of `Clock.now`. */
export interface KnownOrder {
	/** When the order was last found reliable; it counts as reliable for a day. */
	readonly reliableAt?: number | undefined;
	/** When it was last found unreliable; for an hour, polls read the whole fleet instead. */
	readonly avoidedAt?: number | undefined;
	/** How often in a row the platform refused it. */
	readonly refusals?: number;
	/** When a poll last read all known rows again. */
	readonly readWholeAt?: number | undefined;
}

function isWithin(spanMs: number, at = -Infinity): boolean {
	return currentClock().now() - at < spanMs;
}

export interface NewestOptions extends Pick<TriggerParameters, 'criteria' | 'settings'> {
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

/**
 * Reads the newest devices by one of their times, in the platform's order (section 1.3). Returns them, or undefined if the order is
 * not reliable, and what is known about the order afterwards.
 */
export async function fetchNewest(platform: Platform, options: NewestOptions) {
	const { field, settings, isFiltered, onlyTop, order } = options;
	if (isWithin(HOUR_MS, order.avoidedAt)) return { fetched: undefined, order };
	let [reliableAt, refusals] = [order.reliableAt, 0];
	const isReliable = async (first: readonly Device[]) =>
		(reliableAt = await provenAt(platform, options, first)) !== undefined;
	const fetchInOrder = async (): Promise<FetchedRows | 'tied' | undefined> => {
		if (!isFiltered) {
			const walk = await fetchDownToKnown(platform, options, undefined);
			// A list that was read to its end needs no order.
			if (walk === undefined || walk === 'tied' || walk.isWholeList) return walk;
			return (await isReliable(walk.first)) ? walk : undefined;
		}
		// The newest time of the whole fleet comes first: a device that appears between the two requests is not older.
		const first = await fetchFirst(platform, { sort: [`${field} desc`] }, settings);
		if (first.length > 0 && !(await isReliable(first))) return undefined;
		const top = topOf(first, options);
		return onlyTop ? { rows: [], top, complete: true } : await fetchDownToKnown(platform, options, top);
	};
	const fetched = await fetchInOrder().catch((thrown: unknown) => {
		if (!mayRefuse('order', thrown)) throw thrown;
		refusals = (order.refusals ?? 0) + 1;
		return undefined;
	});
	const now = currentClock().now();
	// This poll reads the whole fleet. For an hour, the next ones need not.
	if (fetched === 'tied') return { fetched: undefined, order: { ...order, reliableAt, refusals, readWholeAt: now } };
	// One refusal may be temporary.
	const isAvoided = fetched === undefined && refusals !== 1;
	const found = isAvoided ? { avoidedAt: now } : { reliableAt };
	const readWholeAt = fetched?.complete === true ? now : order.readWholeAt;
	const rows = fetched && { ...fetched, rows: onePerId(fetched.rows) };
	return { fetched: rows, order: { ...found, refusals, readWholeAt } };
}

interface Walk extends FetchedRows {
	readonly first: readonly Device[];
	/** Whether the walk reached the end of the list. */
	readonly isWholeList: boolean;
}

/**
 * Reads devices down to two hours before the newest remembered time. If more rows are known than fit on a page, as after an
 * import, it does so once an hour; otherwise it ends at the first page with nothing new.
 * @param top the newest row of the fleet; undefined to take it from the first page
 * @returns undefined if the list is not sorted, newest first; 'tied' if pages repeat devices, so that others may be missing
 */
async function fetchDownToKnown(
	platform: Platform,
	options: NewestOptions,
	top: Row | undefined,
	pageSize = Math.min(options.settings.pageSize, FEW + (isWholeDue(options) ? (options.before?.rows.size ?? 0) : 0)),
): Promise<Walk | 'tied' | undefined> {
	const { field, now, before, criteria, settings } = options;
	const source = pageSource(platform, { ...DEVICE_LIST, ...criteria, sort: [`${field} desc`] }, settings);
	const [rows, first] = [new Array<Row>(), new Array<Device>()];
	const walk = { rows, top, complete: true, first, isWholeList: false };
	let [last, total] = [Infinity, 0];
	const pages = { pageSize, otherSizes: sizesAfter(pageSize, settings.pageSize), parallelRequests: 1 };
	for await (const page of walkPages(source, pages)) {
		const { newItems, read, distinct, reportedTotal = total } = page;
		if (read > distinct) return 'tied';
		if (walk.first.length === 0) walk.first = newItems;
		walk.top ??= topOf(newItems, options);
		const floor = floorOf(before ?? { newest: walk.top?.time ?? null });
		const found: Row[] = [];
		for (const device of newItems) {
			const row = rowOf(device, field, now, before);
			const time = row?.time ?? -Infinity;
			// A time in another format tells nothing about the order.
			if (Number.isNaN(time) || time > last) return undefined;
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
		if (!hasNew && !isEnd && !isWholeDue(options, walk.first.length)) return { ...walk, complete: false };
		// There is more than expected: start over with large pages, unless the platform's pages are small anyway.
		if (newItems.length >= pageSize && pageSize < settings.pageSize)
			return await fetchDownToKnown(platform, options, top, settings.pageSize);
	}
	return { ...walk, isWholeList: true };
}

/** Whether to read all known rows again. The platform's pages may be shorter than requested. */
function isWholeDue({ before, settings, order }: NewestOptions, pageLength = settings.pageSize): boolean {
	return (before?.rows.size ?? 0) <= pageLength || !isWithin(HOUR_MS, order.readWholeAt);
}

/**
 * Returns when an order was last found reliable; undefined if it is not: the list begins with a device that has the time, and, checked
 * once a day, the list in the other direction begins with an older device, or one without a readable time.
 * @param first the first page or device of the whole fleet, newest first
 */
async function provenAt(platform: Platform, options: NewestOptions, first: readonly Device[]) {
	const { field, settings, order } = options;
	const newest = topOf(first, options)?.time;
	// Devices without the time may come first, or with another format.
	if (newest === undefined || Number.isNaN(newest)) return undefined;
	if (isWithin(DAY_MS, order.reliableAt)) return order.reliableAt;
	const oldest = await fetchFirst(platform, { sort: [`${field} asc`] }, settings);
	const time = topOf(oldest, options)?.time ?? -Infinity;
	// Not newer than the rest of the page either: if the first device was just removed, an ignored order would look reliable.
	const smallest = Math.min(...first.map((device) => topOf([device], options)?.time ?? newest));
	return oldest.length === 0 || time >= newest || time > smallest ? undefined : currentClock().now();
}

/** Returns the first devices of a list. */
export async function fetchFirst(
	platform: Platform,
	list: Partial<PagedEndpoint>,
	settings: TriggerParameters['settings'],
	limit = 1,
) {
	const source = pageSource(platform, { ...DEVICE_LIST, ...list }, settings);
	return (await fetchFirstPage(source, { ...settings, limit })).page.content.slice(0, limit);
}

/** Returns the first device's row; undefined if there is none, or if it does not have the time. */
function topOf([device]: readonly Device[], { field, now }: NewestOptions): Row | undefined {
	return device && rowOf(device, field, now);
}
