import { currentClock } from '../../transport/waiting/clock';

const HOUR_MS = 3_600_000;

/** What the process knows about sorting by one of the times. Times are of `Clock.now`. */
export interface KnownOrder {
	/** When the order was last found reliable: it counts as such for a day. */
	readonly reliableAt?: number | undefined;
	/** When it was last found unreliable: for an hour, polls read the whole fleet instead. */
	readonly avoidedAt?: number | undefined;
	/** How often in a row the platform refused it. */
	readonly refusals?: number;
	/** When a poll last read all known rows: it does so once an hour. */
	readonly readWholeAt?: number | undefined;
}

/** Returns what follows from the clocks now. */
export function statusOf({ reliableAt, avoidedAt, readWholeAt }: KnownOrder) {
	const isWithin = (hours: number, at = -Infinity) => currentClock().now() - at < hours * HOUR_MS;
	return {
		isReliable: isWithin(24, reliableAt),
		isAvoided: isWithin(1, avoidedAt),
		isWholeDue: !isWithin(1, readWholeAt),
	};
}

/**
 * Returns what is known after a reading in this order.
 * @param reading `whole`: all known rows, `part`: the newest; else why there are none. `tied`: pages repeated devices
 */
export function orderAfter(
	{ reliableAt, refusals: before = 0, readWholeAt }: KnownOrder,
	reading: 'whole' | 'part' | 'tied' | 'refused' | 'unreliable',
): KnownOrder {
	const now = currentClock().now();
	const refusals = reading === 'refused' ? before + 1 : 0;
	// One refusal may be temporary.
	const isAvoided = reading === 'unreliable' || refusals > 1;
	// After a tie, this poll reads the whole fleet. For an hour, the next ones need not.
	const isWhole = reading === 'whole' || reading === 'tied';
	return { ...(isAvoided ? { avoidedAt: now } : { reliableAt }), refusals, readWholeAt: isWhole ? now : readWholeAt };
}
