import { type Device, identifyDevice } from '../core/device';
import { Failure } from '../core/failure';
import { mayRefuseSize } from '../core/paging/refusal';
import { walkPages } from '../core/paging/walk';
import type { ListCriteria } from '../core/query';
import { deviceSource, fetchPage, listOptions, type ListSettings } from '../transport/devices';
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

/** Takes the rows that can be new out of a list, page by page, and notices what the order of the list is worth. */
export class RowCollector {
	readonly rows: DeviceRow[] = [];
	/** Whether the list begins with a device that has no time. */
	beginsWithout = false;
	/** Whether the list is not in the order that was asked for. */
	unordered = false;
	/** Whether a device came that can't be new: in an ordered list, nor can any that follows. */
	reachedEnd = false;
	private met = false;
	private newest = -Infinity;
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
		const time = timeOf(device, this.field);
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
		const row = { id, time, digest: digestOf(id, device, this.field) };
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
	readonly steady: boolean;
}

/**
 * Reads the devices that can be new by one of their times, newest first (section 1.3): one small request where the
 * fleet is quiet.
 * @returns undefined where the platform refuses this order, or does not keep to it
 * @throws Failure
 */
export async function readNewest(
	platform: Platform,
	field: TimeField,
	before: Recent | undefined,
	settings: ListSettings,
	now: number,
): Promise<NewestRows | undefined> {
	const selection = { body: '{}', query: {}, sort: [`${field} desc`] };
	const limits = { now, mostRows: settings.pageSize };
	const top = new RowCollector(field, before, limits);
	const size = Math.min(settings.pageSize, FEW + rowsToExpect(before, limits));
	const page = await fetchPage(platform, selection, settings, { page: undefined, size }).catch(orUndefined);
	if (page === undefined) return undefined;
	for (const device of page.content) top.add(device);
	const isAll = page.totalElements !== undefined && page.content.length >= page.totalElements;
	if (isAll) return { rows: top.rows, steady: true };
	if (top.beginsWithout) return (await isWithoutTimes(platform, field, settings)) ? { rows: [], steady: true } : undefined;
	if (top.unordered) return undefined;
	if (top.reachedEnd) return { rows: top.rows, steady: true };

	const rows = new Map<string, DeviceRow>();
	for (let pass = 1; pass <= PASSES; pass++) {
		const collector = new RowCollector(field, before, limits);
		let moved = false;
		const options = listOptions({ ...settings, parallelRequests: 1 });
		for await (const walked of walkPages(deviceSource(platform, selection, settings), options)) {
			if (walked.pastEnd) continue;
			// An update during the walk lifts a device to the top, and those that it passes come again.
			for (const device of walked.fresh) collector.add(device);
			moved = walked.totalMoved;
			if (collector.beginsWithout || collector.unordered) return undefined;
			if (collector.reachedEnd) break;
		}
		for (const row of collector.rows) rows.set(row.digest, row);
		if (!moved) return { rows: [...rows.values()], steady: true };
	}
	return { rows: [...rows.values()], steady: false };
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
	const source = deviceSource(platform, { ...criteria, sort: [`${field} desc`] }, settings);
	const ids = new Set<string>();
	const walk = async (): Promise<'steady' | 'moved' | 'unordered'> => {
		let last = Infinity;
		for await (const walked of walkPages(source, listOptions({ ...settings, parallelRequests: 1 }))) {
			for (const device of walked.fresh) {
				const time = timeOf(device, field) ?? -Infinity;
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

/**
 * Whether no device has this time at all, when those without it come first: in the other order, one that has it would come
 * first then.
 */
async function isWithoutTimes(platform: Platform, field: TimeField, settings: ListSettings): Promise<boolean> {
	const selection = { body: '{}', query: {}, sort: [`${field} asc`] };
	const page = await fetchPage(platform, selection, settings, { page: undefined, size: 1 }).catch(orUndefined);
	const [first] = page?.content ?? [];
	return first !== undefined && timeOf(first, field) === undefined;
}

function rowsToExpect(before: Recent | undefined, limits: { now: number; mostRows: number }): number {
	if (before === undefined) return 0;
	const oldest = oldestNew(before, limits.now, limits.mostRows);
	let expected = 0;
	for (const time of before.rows.values()) if (time >= oldest) expected++;
	return expected;
}

function digestOf(id: string, device: Device, field: TimeField): string {
	if (field === 'createTime') return digest(id);
	const shared = IDENTITY_LENGTH[field];
	return digest(id, shared) + digest(contentOf(device), DIGEST_LENGTH - shared);
}

function timeOf(device: Device, field: TimeField): number | undefined {
	const seconds = secondsOf(device[field]);
	if (!Number.isNaN(seconds)) return seconds;
	throw new Failure({
		kind: 'answer',
		cause: 'platform',
		message: `The platform gives the time '${field}' in a form that is not known`,
		remedy: `The API document has the form YYYY-MM-DD HH:MM:SS. Take the event that needs it out of 'Events', or ask who administers the platform.`,
	});
}

/** The order may be what is refused; whatever else it was shows again without it. */
function orUndefined(thrown: unknown): undefined {
	if (!mayRefuseSize(thrown)) throw thrown;
}
