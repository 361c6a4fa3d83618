import { type Device, identifyDevice } from '../core/device';
import { Failure } from '../core/failure';
import { expectsMore } from '../core/paging/end';
import type { Page } from '../core/paging/page';
import { mayRefuseOrder } from '../core/paging/refusal';
import { fetchFirstPage, walkPages, type WalkOptions } from '../core/paging/walk';
import type { ListCriteria } from '../core/query';
import { type DeviceSelection, deviceSource, fetchPage, listOptions, type ListSettings } from '../transport/devices';
import type { Platform } from '../transport/platform';
import { digest, DIGEST_LENGTH } from './digest';
import { contentOf } from './events';
import { oldestNew, type Recent, secondsOf, type TimedRow, WINDOW } from './recent';

/** The times by which devices come to the top of a list. */
export type TimeField = 'createTime' | 'updateTime';

/** A device as one of its times shows it. */
export interface DeviceRow extends TimedRow {
	/** What tells the device from others. */
	readonly id: string;
	/** The record, where the row was not known. */
	readonly device?: Device;
}

/** How many characters of a row's digest tell the device; the rest of an update's tells its content. */
export const IDENTITY_LENGTH: Readonly<Record<TimeField, number>> = { createTime: DIGEST_LENGTH, updateTime: 5 };

/** Rows of a first request: enough for a quiet fleet, and next to nothing. */
const FEW = 20;
const PASSES = 3;

/** The whole fleet. */
export const EVERYTHING: ListCriteria = { body: '{}', query: {} };

/** Takes the rows that can be new out of a list, page by page, and notices what the order of the list is worth. */
export class RowCollector {
	readonly rows: DeviceRow[] = [];
	/** Whether the list begins with a device that has no time. */
	beginsWithout = false;
	/** Whether the list is not in the order that was asked for. */
	unordered = false;
	/** Whether a device came that can't be new: in an ordered list, nor can any that follows. */
	reachedEnd = false;
	/** The newest time that came; -Infinity where none did. */
	newest = -Infinity;
	private met = false;
	private last = Infinity;
	private readonly oldest: number;

	constructor(
		private readonly field: TimeField,
		private readonly before: Recent | undefined,
		{ now, mostRows }: { now: number; mostRows: number },
	) {
		this.oldest = before === undefined ? -Infinity : oldestNew(before, now, mostRows);
	}

	/** @throws Failure `answer` for a time of another form than the API document's */
	add(device: Device): void {
		const row = this.rowOf(device);
		if (row !== undefined) this.rows.push(row);
	}

	/** What a device is among the newest; undefined where it can't be new. */
	rowOf(device: Device): DeviceRow | undefined {
		const time = readTime(device, this.field);
		if (time === undefined) {
			// Only at the end of the list do devices without a time say something of those that follow: there are no others.
			this.beginsWithout ||= !this.met;
			this.reachedEnd ||= this.met;
			this.last = -Infinity;
			return undefined;
		}
		this.met = true;
		if (time > this.last) this.unordered = true;
		this.last = time;
		this.newest = Math.max(this.newest, time);
		if (time < this.oldest || (this.before === undefined && time < this.newest - WINDOW)) {
			this.reachedEnd = true;
			return undefined;
		}
		const id = identifyDevice(device);
		const row = { id, time, digest: rowDigest(id, device, this.field) };
		return this.before === undefined || this.before.rows.has(row.digest) ? row : { ...row, device };
	}
}

/** Devices that meet the filters, by what tells them from others, and whether none can have been missed. */
export interface Members {
	readonly ids: ReadonlySet<string>;
	readonly steady: boolean;
}

/** The newest devices, and whether none can have been missed. */
export interface NewestRows {
	readonly rows: readonly DeviceRow[];
	/** The newest time met, where it may be that of a device that was gone when the reading ended; -Infinity where none was. */
	readonly newestMet?: number;
	readonly steady: boolean;
}

/**
 * What the platform makes of an order: it keeps to it, and the list began with the time `top` when that was last proven; it
 * refuses it, or lists otherwise; or nothing shows which, as long as no device has another time than the rest.
 */
export type KnownOrder = { readonly order: 'kept'; readonly top: number } | { readonly order: 'broken' | 'unknown' };

/**
 * Reads the devices that can be new by one of their times, newest first (section 1.3): one small request where the
 * fleet is quiet and the order is known to be kept.
 * @param known what is known of the order
 * @returns the rows only where no device with a later time can stand behind those that were read: where the list was read
 * whole, or its order is kept
 * @throws Failure
 */
export async function readNewest(
	platform: Platform,
	field: TimeField,
	before: Recent | undefined,
	settings: ListSettings,
	{ now, known }: { now: number; known: KnownOrder },
): Promise<{ seen: KnownOrder; found?: NewestRows }> {
	const limits = { now, mostRows: settings.pageSize };
	const top = new RowCollector(field, before, limits);
	const wanted = Math.min(settings.pageSize, FEW + rowsToExpect(before, limits));
	const { sizes } = listOptions({ ...settings, pageSize: wanted });
	const first = await fetchTop(platform, field, sizes, settings);
	if (first === undefined) return { seen: { order: 'broken' } };
	const { page, size } = first;
	for (const device of page.content) top.add(device);
	if (isWhole(page, size)) return { seen: known, found: { rows: top.rows, steady: true } };
	if (top.unordered) return { seen: { order: 'broken' } };
	// Devices with a time may stand behind these, or there may be none: their place shows as soon as one is known.
	const watermark = before?.watermark ?? undefined;
	if (top.newest === -Infinity) return { seen: { order: 'unknown' } };
	// What was the newest one may be removed; but a platform that looks at the order no more would begin like this, too.
	const isProven = known.order === 'kept' && top.newest >= Math.min(known.top, watermark ?? -Infinity);
	if (!isProven && !(await turnsRound(platform, field, page, settings))) return { seen: { order: 'unknown' } };
	const seen: KnownOrder = isProven ? known : { order: 'kept', top: top.newest };
	if (top.reachedEnd) return { seen, found: { rows: top.rows, steady: true } };

	const rows = new Map<string, DeviceRow>();
	const pageSize = size < wanted ? size : settings.pageSize;
	for (let pass = 1; pass <= PASSES; pass++) {
		const collector = new RowCollector(field, before, limits);
		let moved = false;
		const options = listOptions({ ...settings, pageSize, parallelRequests: 1 });
		for await (const walked of walkPages(deviceSource(platform, inOrder(field, 'desc'), settings, 'watch'), options)) {
			if (walked.pastEnd) continue;
			// An update during the walk lifts a device to the top, and those that it passes come again.
			for (const device of walked.fresh) collector.add(device);
			moved = walked.totalMoved;
			if (collector.unordered) return { seen: { order: 'broken' } };
			if (collector.beginsWithout) return { seen: { order: 'unknown' } };
			if (collector.reachedEnd) break;
		}
		for (const row of collector.rows) rows.set(row.digest, row);
		if (!moved) return { seen, found: { rows: [...rows.values()], steady: true } };
	}
	return { seen, found: { rows: [...rows.values()], steady: false } };
}

/**
 * Which of these devices meet the filters.
 * @param rows devices that all have a time
 * @returns undefined where the platform refuses this order, or does not keep to it
 */
export async function readMembers(
	platform: Platform,
	field: TimeField,
	rows: readonly DeviceRow[],
	criteria: ListCriteria,
	settings: ListSettings,
): Promise<Members | undefined> {
	const wanted = new Set(rows.map(({ id }) => id));
	const oldest = Math.min(...rows.map(({ time }) => time));
	const source = deviceSource(platform, { ...criteria, sort: [`${field} desc`] }, settings, 'watch');
	const ids = new Set<string>();
	const walk = async (): Promise<'steady' | 'moved' | 'unordered'> => {
		let last = Infinity;
		for await (const walked of walkPages(source, listOptions({ ...settings, parallelRequests: 1 }))) {
			for (const device of walked.fresh) {
				const time = readTime(device, field) ?? -Infinity;
				if (time > last) return 'unordered';
				last = time;
				const id = identifyDevice(device);
				if (wanted.has(id)) ids.add(id);
			}
			if (ids.size === wanted.size) return 'steady';
			if (last < oldest || walked.pastEnd) return walked.totalMoved ? 'moved' : 'steady';
			if (walked.totalMoved) return 'moved';
		}
		return 'steady';
	};
	for (let pass = 1; pass <= PASSES; pass++) {
		const outcome = await walk().catch(orUndefined);
		if (outcome === undefined || outcome === 'unordered') return undefined;
		if (outcome === 'steady') return { ids, steady: true };
	}
	return { ids, steady: false };
}

function inOrder(field: TimeField, direction: 'asc' | 'desc'): DeviceSelection {
	return { ...EVERYTHING, sort: [`${field} ${direction}`] };
}

/**
 * The first page, newest first, in the largest size that the platform accepts.
 * @returns undefined where the platform refuses the order: it does so twice, and accepts the request without it in between
 */
async function fetchTop(platform: Platform, field: TimeField, sizes: WalkOptions['sizes'], settings: ListSettings) {
	const source = deviceSource(platform, inOrder(field, 'desc'), settings, 'watch');
	const ask = async () => await fetchFirstPage(source, sizes).catch(orUndefined);
	const first = await ask();
	if (first !== undefined) return first;
	await fetchPage(platform, EVERYTHING, settings, { page: undefined, size: Math.min(...sizes) }, 'watch');
	return await ask();
}

/** Whether a first page is the whole list: the total says so, and nothing else speaks for more. */
function isWhole(page: Page<Device>, size: number): boolean {
	const { length } = page.content;
	if (page.totalElements === undefined || page.totalElements > length) return false;
	return !expectsMore(page, { index: 0, read: length, full: length >= size });
}

/**
 * Whether a list that begins with this page begins otherwise when it is asked for the other way round: with a device without
 * a time, or an older one. A platform that does not look at the order begins with the same device both times;
 * so does one where all devices have the same time, and then nothing shows. That the list did not merely change in between
 * shows when it begins like this page once more.
 * @param page newest first, beginning with a device that has a time, and not the whole list
 */
async function turnsRound(platform: Platform, field: TimeField, page: Page<Device>, settings: ListSettings): Promise<boolean> {
	const fetchTopmost = async (direction: 'asc' | 'desc') => {
		const place = { page: undefined, size: 1 };
		const ask = async () => await fetchPage(platform, inOrder(field, direction), settings, place, 'watch').catch(orUndefined);
		return ((await ask()) ?? (await ask()))?.content[0];
	};
	const oldest = await fetchTopmost('asc');
	const rank = (device: Device) => readTime(device, field) ?? -Infinity;
	const newestTime = Math.max(...page.content.map(rank));
	if (oldest === undefined || rank(oldest) >= newestTime) return false;
	const newest = await fetchTopmost('desc');
	if (newest === undefined) return false;
	const ids = page.content.map(identifyDevice);
	if (identifyDevice(newest) === ids[0]) return true;
	// In a busy fleet another one may be the newest by now.
	return rank(newest) >= newestTime && !ids.includes(identifyDevice(oldest));
}

function rowsToExpect(before: Recent | undefined, limits: { now: number; mostRows: number }): number {
	if (before === undefined) return 0;
	const oldest = oldestNew(before, limits.now, limits.mostRows);
	let expected = 0;
	for (const time of before.rows.values()) if (time >= oldest) expected++;
	return expected;
}

function rowDigest(id: string, device: Device, field: TimeField): string {
	if (field === 'createTime') return digest(id);
	const shared = IDENTITY_LENGTH[field];
	return digest(id, shared) + digest(contentOf(device), DIGEST_LENGTH - shared);
}

function readTime(device: Device, field: TimeField): number | undefined {
	const seconds = secondsOf(device[field]);
	if (!Number.isNaN(seconds)) return seconds;
	throw new Failure({
		kind: 'answer',
		cause: 'platform',
		message: `The platform gives the time '${field}' in a form that is not known`,
		remedy: `The API document has the form YYYY-MM-DD HH:MM:SS. Take the event that needs it out of 'Events', or ask who administers the platform.`,
	});
}

/** The order may be what is refused; whatever else it was shows when something is asked for again. */
function orUndefined(thrown: unknown): undefined {
	if (!mayRefuseOrder(thrown)) throw thrown;
}
