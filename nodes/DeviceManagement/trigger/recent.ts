/** How far below the newest time rows are remembered, in seconds: a repeated hour of clock change, twice. */
export const WINDOW = 7200;

/**
 * After this long without a newer row, in seconds by this machine's clock, nothing can come below the newest time any
 * more: what is late by two hours, on a clock that was set back by two, would have shown up.
 */
const SETTLED_AFTER = 2 * WINDOW;

/**
 * The newest rows of a list by one of their times. Which rows are new is decided by the platform's times alone, compared
 * with one another; neither its clock nor its time zone has to be known.
 */
export interface Recent {
	/** The newest time met so far; null while no row had one. */
	readonly watermark: number | null;
	/** When the watermark last rose, by this machine's clock in seconds. */
	readonly risenAt: number;
	/** Every row met from the window's begin on: its digest, and its time. */
	readonly rows: ReadonlyMap<string, number>;
	/**
	 * Whether stock is still being taken: the list moved while the baseline was read, so that devices of before may be hidden.
	 * They can't be told from new ones that come late.
	 */
	readonly incomplete?: boolean;
}

/** A row of the list, with a time that can be compared. */
export interface TimedRow {
	/** In seconds, see {@link secondsOf}. */
	time: number;
	/** Tells the row, as it is, from all others. Rows of one device share the first characters. */
	digest: string;
}

/**
 * A time of the platform as a number that can be compared with others of the same platform (section 2.1); no zone is
 * assumed, so it is no moment.
 * @returns undefined for a missing time, NaN for one of another form
 */
export function secondsOf(time: unknown): number | undefined {
	if (time === undefined || time === null || time === '') return undefined;
	const form = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)/;
	const [, year, month, day, hour, minute, second] = (typeof time === 'string' ? form.exec(time) : null) ?? [];
	return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) / 1000;
}

/**
 * The time from which on rows can be new.
 * @param mostRows how many known rows may be read again at each poll; with more, the window is closed once it is settled
 */
export function oldestNew({ watermark, risenAt, rows }: Recent, now: number, mostRows: number): number {
	if (watermark === null) return -Infinity;
	return rows.size > mostRows && now - risenAt > SETTLED_AFTER ? watermark : watermark - WINDOW;
}

/**
 * Compares the newest rows with those met before.
 * @param before undefined for a baseline: then no row is new
 * @param rows every row from {@link oldestNew} on, in any order
 * @param steady whether no row can have been missed; otherwise the watermark stays, so that the next poll looks again, and a
 * baseline is incomplete
 * @param identityLength how many characters of a digest rows of one device share
 * @param newestMet the newest time met: that of a row, or of a device that was removed while the list was read
 * @returns the rows to remember (the same object where nothing changed), and the new rows
 */
export function compareRecent<Row extends TimedRow>(
	before: Recent | undefined,
	rows: readonly Row[],
	{ now, steady, identityLength, newestMet = -Infinity }: { now: number; steady: boolean; identityLength: number; newestMet?: number },
): { after: Recent; fresh: Row[] } {
	// A baseline that met no row before it was disturbed begins anew, once.
	const beginsAnew = before?.incomplete === true && before.watermark === null;
	const last = beginsAnew ? undefined : before;
	const known = last?.rows ?? new Map<string, number>();
	const unknown = rows.filter(({ digest }) => !known.has(digest));
	const old = last?.watermark ?? null;
	const newest = rows.reduce((most, { time }) => Math.max(most, time), Math.max(newestMet, old ?? -Infinity));
	const watermark = newest === -Infinity || (last !== undefined && !steady) ? old : newest;
	const incomplete = !steady && (last === undefined || last.incomplete === true) && !(beginsAnew && watermark === null);
	const isSame = watermark === old && incomplete === (last?.incomplete ?? false);
	if (last !== undefined && unknown.length === 0 && isSame) return { after: last, fresh: unknown };

	const begin = (watermark ?? -Infinity) - WINDOW;
	const after = new Map<string, number>();
	const keep = (digest: string, time: number) => {
		if (time >= begin) after.set(digest, time);
	};
	for (const { digest, time } of rows) keep(digest, known.get(digest) ?? time);
	const met = new Set(rows.map(({ digest }) => digest.slice(0, identityLength)));
	// A row that is missing from a list that moved may come back.
	for (const [digest, time] of known) {
		if (!met.has(digest.slice(0, identityLength))) keep(digest, time);
	}
	const risenAt = watermark === old && last !== undefined ? last.risenAt : now;
	const fresh = last === undefined ? [] : last.incomplete === true ? surelyNew(last, unknown, identityLength) : unknown;
	return { after: { watermark, risenAt, rows: after, ...(incomplete ? { incomplete } : {}) }, fresh };
}

/** Of rows that an incomplete baseline does not hold, those above all it holds, and other versions of devices that it holds. */
function surelyNew<Row extends TimedRow>({ watermark, rows }: Recent, unknown: readonly Row[], identityLength: number): Row[] {
	const held = new Set(Array.from(rows.keys(), (digest) => digest.slice(0, identityLength)));
	return unknown.filter(({ time, digest }) => time > (watermark ?? Infinity) || held.has(digest.slice(0, identityLength)));
}
