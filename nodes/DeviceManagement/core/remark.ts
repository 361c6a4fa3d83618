import type { Listing } from './paging/list';

/**
 * Says in plain words what the devices of a listing alone can't show: that the fleet moved, or that the platform
 * miscounts.
 * @param part how many devices were to be left out at the beginning, and how many were asked for; undefined for all
 * @returns undefined where there is nothing to say
 */
export function remarkOn(
	{ items, metOtherwise, settled, reportedTotal, passes }: Listing<unknown>,
	{ skip = 0, limit }: { skip?: number; limit?: number | undefined },
): string | undefined {
	const met = items.length + metOtherwise.length;
	const after = skip === 0 ? '' : ` after the first ${skip}`;
	if (!settled) {
		const some = skip === 0 ? `the first ${met} devices of that reading` : `${met} devices of that reading${after}`;
		const held = limit === undefined ? `every device that any reading met${after}, ${met} in all` : some;
		return `The fleet changed while it was read, also on the last of ${passes} readings. The output holds ${held}; devices that came or went meanwhile may be among them or missing.`;
	}
	const counted = Math.max(0, (reportedTotal ?? 0) - skip);
	const reachedEnd = limit === undefined || met < limit;
	if (reachedEnd && reportedTotal !== undefined && counted !== met) {
		return `The platform reports ${counted} devices${after} but lists ${met} in each of ${passes} readings. The output holds the ones it lists.`;
	}
	return undefined;
}
