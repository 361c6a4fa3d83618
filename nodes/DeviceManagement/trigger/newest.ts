/**
 * Reads the newest devices by one of their times, newest first: one small request on a quiet fleet. The API document leaves
 * open whether a platform sorts, so the order is proven first. Where it can't be relied upon, observe.ts reads the whole fleet.
 */
import type { Device } from '../core/device';
import { mayRefuseOrder } from '../core/paging/refusal';
import { walkPages } from '../core/paging/walk';
import type { ListCriteria } from '../core/query';
import { deviceSource, fetchPage, listOptions, type ListSettings } from '../transport/devices';
import type { Platform } from '../transport/platform';
import { rowOf } from './fleet';
import { floorOf, type Reading, type Recent, type Row } from './recent';
import type { TimeField } from './watched';

export const EVERYTHING: ListCriteria = { body: '{}', query: {} };

/** Rows of a first request beside the known ones: enough for a quiet fleet. */
const FEW = 20;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What the process remembers of the platform's orders. Times are milliseconds since the epoch. */
export interface KnownOrders {
	/** Until when an order is relied upon. */
	readonly kept: Map<TimeField, number>;
	/** Until when the whole fleet is read instead. */
	readonly avoided: Map<TimeField, number>;
	/** When all known rows were last read again. */
	readonly readWholeAt: Map<TimeField, number>;
}

/** Reads the whole fleet for an hour before an order is asked for again. */
export function avoidOrder({ kept, avoided }: KnownOrders, field: TimeField, now: number): void {
	kept.delete(field);
	if (now >= (avoided.get(field) ?? 0)) avoided.set(field, now + HOUR_MS);
}

export interface NewestTask {
	readonly field: TimeField;
	readonly before: Recent | undefined;
	readonly criteria: ListCriteria;
	/** Whether that may be less than the whole fleet. */
	readonly isFiltered: boolean;
	/** Whether only the newest time of the fleet is wanted, because the devices are read anyway. */
	readonly onlyTop: boolean;
	readonly settings: ListSettings;
	readonly now: number;
	readonly orders: KnownOrders;
}

/**
 * Reads the newest devices by one of their times, in the platform's order (section 1.3).
 * @returns undefined where the order can't be relied upon
 * @throws Failure
 */
export async function readNewest(platform: Platform, task: NewestTask): Promise<Reading | undefined> {
	const { field, now, orders, isFiltered } = task;
	if (now < (orders.avoided.get(field) ?? 0)) return undefined;
	const read = isFiltered ? readFiltered : readAll;
	const reading = await read(platform, task).catch((thrown: unknown) => {
		// Most of these also mean a fault of the moment: reading the fleet fails then, too, and nothing is remembered.
		if (mayRefuseOrder(thrown)) return undefined;
		throw thrown;
	});
	if (reading?.complete === true) orders.readWholeAt.set(field, now);
	return reading;
}

async function readAll(platform: Platform, task: NewestTask): Promise<Reading | undefined> {
	const walk = await walkNewest(platform, task, null);
	// A whole list needs no order.
	if (walk === undefined || walk.isWholeList || (await isReliable(platform, task, walk.first))) return walk;
	return undefined;
}

/** The newest time of the whole fleet comes first: what appears between the two requests is not older. */
async function readFiltered(platform: Platform, task: NewestTask): Promise<Reading | undefined> {
	const first = await fetchFirst(platform, task, 'desc');
	if (first.length > 0 && !(await isReliable(platform, task, first))) return undefined;
	const newest = timeOfFirst(first, task.field);
	if (task.onlyTop) return { rows: [], newest, complete: true };
	const walk = await walkNewest(platform, task, newest);
	return walk && { ...walk, newest };
}

interface Walk extends Reading {
	readonly first: readonly Device[];
	/** Whether nothing but the end of the list ended the walk. */
	readonly isWholeList: boolean;
}

/**
 * Walks down to two hours below the newest time that is remembered. If more rows are known than fit on a page, as after an
 * import, the walk does so once an hour, and otherwise ends at the first page without anything new.
 * @param fleetNewest where the newest time of the fleet is known already
 * @returns undefined where the times rise
 */
async function walkNewest(
	platform: Platform,
	task: NewestTask,
	fleetNewest: number | null,
	pageSize = Math.min(task.settings.pageSize, FEW + (isWholeDue(task) ? (task.before?.rows.size ?? 0) : 0)),
): Promise<Walk | undefined> {
	const { field, before, criteria, settings } = task;
	const source = deviceSource(platform, { ...criteria, sort: [`${field} desc`] }, settings);
	const walk = { rows: new Array<Row>(), newest: fleetNewest, complete: true, first: new Array<Device>() };
	let [last, total] = [Infinity, 0];
	const options = listOptions({ ...settings, pageSize, parallelRequests: 1 });
	for await (const { fresh, reportedTotal = total } of walkPages(source, options)) {
		if (walk.first.length === 0) walk.first = fresh;
		walk.newest ??= timeOfFirst(fresh, field);
		const floor = floorOf(before ?? walk);
		const found: Row[] = [];
		for (const device of fresh) {
			const row = rowOf(device, field, before);
			const time = row?.time ?? -Infinity;
			if (time > last) return undefined;
			last = time;
			if (row !== undefined && time >= floor) found.push(row);
		}
		walk.rows.push(...found);
		// A device that was removed in between may have moved another one past the walk.
		if (reportedTotal < total) walk.complete = false;
		total = reportedTotal;
		if (found.length < fresh.length) return { ...walk, isWholeList: false };
		const hasNew = found.some(({ device }) => device !== undefined);
		if (!hasNew && !isWholeDue(task)) return { ...walk, complete: false, isWholeList: false };
		// More than expected: in large pages from the beginning, unless the platform's are small anyway.
		const isFull = fresh.length >= pageSize;
		if (isFull && pageSize < settings.pageSize) return await walkNewest(platform, task, fleetNewest, settings.pageSize);
	}
	return { ...walk, isWholeList: true };
}

/** Whether all known rows have to be read again. */
function isWholeDue({ field, before, settings, now, orders }: NewestTask): boolean {
	const last = orders.readWholeAt.get(field);
	// Also where the clock was set back.
	return (before?.rows.size ?? 0) <= settings.pageSize || last === undefined || Math.abs(now - last) >= HOUR_MS;
}

/**
 * Whether an order can be relied upon: the list begins with a device that has the time, and once a day it has to begin with
 * an older one, or one without the time, when it is asked for in the other direction.
 * @param first the first page or device of the whole fleet, newest first
 */
async function isReliable(platform: Platform, task: NewestTask, first: readonly Device[]): Promise<boolean> {
	const { field, now, orders } = task;
	const newest = timeOfFirst(first, field);
	// Devices with the time may be behind those without it.
	if (newest === null) return false;
	if (now < (orders.kept.get(field) ?? 0)) return true;
	const oldest = await fetchFirst(platform, task, 'asc');
	const time = timeOfFirst(oldest, field) ?? -Infinity;
	// Also older than the rest of the page: a platform that ignores the order may have lost its first device meanwhile.
	const last = timeOfFirst(first.slice(-1), field) ?? -Infinity;
	if (oldest.length === 0 || time >= newest || time > last) return false;
	orders.kept.set(field, now + DAY_MS);
	return true;
}

async function fetchFirst(
	platform: Platform,
	{ field, settings }: NewestTask,
	direction: 'asc' | 'desc',
): Promise<readonly Device[]> {
	const selection = { ...EVERYTHING, sort: [`${field} ${direction}`] };
	const { content } = await fetchPage(platform, selection, settings, { page: undefined, size: 1 });
	return content.slice(0, 1);
}

function timeOfFirst([device]: readonly Device[], field: TimeField): number | null {
	return device === undefined ? null : (rowOf(device, field, undefined)?.time ?? null);
}
