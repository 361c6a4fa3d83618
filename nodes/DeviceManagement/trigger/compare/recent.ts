/**
 * What is remembered of the newest rows by one of their times, so that each pair of device and time is reported once. The platform's
 * times are compared only with one another, so its clock and time zone don't matter. It doesn't fetch the rows: see read/.
 */
import { type Device, identifyDevice, serialNumberOf } from '../../core/device';
import { Failure } from '../../core/failure';
import { shortIdentity } from './kept';
import type { TimeField } from './watched';

/** Rows are remembered up to this many seconds before the newest time: twice the repeated hour of a clock change. */
const WINDOW = 7200;

/** Dates further ahead of this machine's clock count as another format, in seconds: no time zone explains them. */
const FURTHEST_AHEAD = 2 * 86_400;

/** What is remembered by one of the times. */
export interface Recent {
	/** The newest time of the fleet so far; null if no device had one. */
	readonly newest: number | null;
	/** By the device's identity: each known time since two hours before it. */
	readonly rows: ReadonlyMap<string, number>;
}

/** A device with one of its times. To save memory, only a new row keeps the device's record. */
export type Row = {
	/** Identity of the device. */
	readonly id: string;
	readonly sn: string;
	/** In seconds, see {@link secondsOf}; NaN for another format. */
	readonly time: number;
} & ({ readonly isNew: false } | { readonly isNew: true; readonly device: Device });

/** The newest rows that a poll fetched. */
export interface FetchedRows {
	/** In any order, and may include older rows. */
	readonly rows: readonly Row[];
	/** The newest time of the whole fleet, whatever the filters; undefined if no device has one. */
	readonly top: number | undefined;
	/** Whether all rows since {@link floorOf} were read. */
	readonly complete: boolean;
}

/**
 * Returns a time of the platform in seconds, to compare with other times of the same platform (section 2.1). The time zone is
 * unknown. Returns undefined for a missing time, and NaN for another format or a time far ahead of `now`.
 */
export function secondsOf(time: unknown, now: number): number | undefined {
	if (time === undefined || time === null || time === '') return undefined;
	const form = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)/;
	const [, year, month, day, hour, minute, second] = (typeof time === 'string' ? form.exec(time) : null) ?? [];
	const at =
		Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) / 1000;
	return at <= now + FURTHEST_AHEAD ? at : NaN;
}

/** Returns the time since which rows are compared: two hours before the newest time. */
export function floorOf({ newest }: Pick<Recent, 'newest'>): number {
	return (newest ?? -Infinity) - WINDOW;
}

/**
 * Returns a device's row for one of its times; undefined if the device does not have that time. The row is new if its pair of device
 * and time is unknown and not older than {@link floorOf}. In a baseline, no row is new, and no row with a time in another format is.
 */
export function rowOf(device: Device, field: TimeField, now: number, before?: Recent): Row | undefined {
	const time = secondsOf(device[field], now);
	if (time === undefined) return undefined;
	const id = shortIdentity(identifyDevice(device));
	const isNew = before !== undefined && time >= floorOf(before) && before.rows.get(id) !== time;
	const row = { id, sn: serialNumberOf(device), time };
	return isNew ? { ...row, isNew, device } : { ...row, isNew };
}

/** Returns one row per ID, the newest: several devices may have one ID, and would be new in turn. */
export function onePerId(rows: readonly Row[]): Row[] {
	const newest = new Map<string, Row>();
	for (const row of rows) if (row.time > (newest.get(row.id)?.time ?? -Infinity)) newest.set(row.id, row);
	return [...newest.values()];
}

/** Returns the failure of a poll that finds times that it can't read, and no other ones. */
export function unknownFormat(field: TimeField): Failure {
	const message = `The poll can't read any date in '${field}'`;
	const remedy =
		"A date must have the format YYYY-MM-DD HH:MM:SS, and be at most two days ahead of the clock of n8n. Check that clock. Or remove the event that needs the date from 'Events', or ask your platform administrator.";
	return new Failure({ kind: 'response', cause: 'platform', message, remedy });
}

/** Throws if a newest time is far ahead of `now`: the clock of n8n is wrong, or it was. A poll would report old devices, or miss new ones. */
export function refuseFarAhead(recent: ReadonlyMap<TimeField, Recent>, now: number): void {
	for (const [field, { newest }] of recent) {
		if ((newest ?? 0) <= now + FURTHEST_AHEAD) continue;
		const message = `The trigger knows a date in '${field}' that is more than two days ahead of the clock of n8n`;
		const remedy =
			'Correct that clock: no event is lost. If it is right, rename the node. It then records the current state again.';
		throw new Failure({ kind: 'response', cause: 'platform', message, remedy });
	}
}

/** Returns what to remember. If not all rows were fetched, the newest time stays, so that the next poll fetches the same rows again. */
export function recentAfter(before: Recent | undefined, { rows, top, complete }: FetchedRows): Recent {
	const known = before?.newest ?? null;
	const mayRise = complete || before === undefined;
	const newest = mayRise && top !== undefined && top > (known ?? -Infinity) ? top : known;
	const floor = floorOf({ newest });
	const all = [...(before?.rows ?? []), ...rows.map(({ id, time }): [string, number] => [id, time])];
	return { newest, rows: new Map(all.filter(([, time]) => time >= floor)) };
}
