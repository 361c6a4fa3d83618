import type { Device } from '../core/device';

/** How far below the newest time rows are remembered, in seconds: a repeated hour of clock change, twice. */
export const WINDOW = 7200;

/**
 * What is remembered of the newest rows by one of their times. The platform's times are compared with one another alone:
 * neither its clock nor its time zone has to be known.
 */
export interface Recent {
	/** The newest time of the fleet so far; null while no device had one. */
	readonly newest: number | null;
	/** The time of each device that was met within two hours of it. */
	readonly rows: ReadonlyMap<string, number>;
}

/** A device as one of its times shows it. */
export interface Row {
	/** What tells the device from others. */
	readonly id: string;
	/** In seconds, see {@link secondsOf}. */
	readonly time: number;
	/** The record, where the row is new. */
	readonly device?: Device;
}

/** What a poll read of the newest rows. */
export interface Reading {
	/** In any order; older ones may be among them. */
	readonly rows: readonly Row[];
	/** The newest time of the whole fleet, whatever the filters; null where no device has one. */
	readonly newest: number | null;
	/** Whether every row from {@link floorOf} on was read. */
	readonly complete: boolean;
}

/**
 * A time of the platform as a number that can be compared with others of the same platform (section 2.1). It is no moment:
 * no time zone is assumed.
 * @returns undefined for a missing time, NaN for one of another form
 */
export function secondsOf(time: unknown): number | undefined {
	if (time === undefined || time === null || time === '') return undefined;
	const form = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)/;
	const [, year, month, day, hour, minute, second] = (typeof time === 'string' ? form.exec(time) : null) ?? [];
	return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) / 1000;
}

/** The time from which on rows are compared. A baseline begins two hours below the newest time that it reads. */
export function floorOf({ newest }: Pick<Recent, 'newest'>): number {
	return (newest ?? -Infinity) - WINDOW;
}

/** Whether a row's pair of device and time is unknown. At a baseline no row is new. */
export function isNew(before: Recent | undefined, { id, time }: Row): boolean {
	return before !== undefined && time >= floorOf(before) && before.rows.get(id) !== time;
}

/**
 * Compares the newest rows with those that were met before.
 * @returns the rows to remember, and the new ones. After an incomplete reading the newest time stays as it was, so that
 * the next poll reads as far down as this one had to.
 */
export function compareRecent(
	before: Recent | undefined,
	{ rows, newest: read, complete }: Reading,
): { after: Recent; fresh: Row[] } {
	const known = before?.newest ?? null;
	const mayRise = complete || before === undefined;
	const newest = mayRise && read !== null && read > (known ?? -Infinity) ? read : known;
	const fresh = rows.filter((row) => isNew(before, row));
	const floor = floorOf({ newest });
	const all = [...(before?.rows ?? []), ...rows.map(({ id, time }): [string, number] => [id, time])];
	return { after: { newest, rows: new Map(all.filter(([, time]) => time >= floor)) }, fresh };
}
