import type { Listing } from './paging/list';

/**
 * Says in plain words what the items of a listing alone can't show: that the list changed while it was read, or that the
 * platform reports another total than it lists.
 * @param part how many items were left out at the beginning, and how many were asked for; undefined for all
 * @returns undefined where there is nothing to say
 */
export function remarkOn(
	{ items, settled, reportedTotal, passes }: Listing<unknown>,
	{ skip = 0, limit = Infinity }: { skip?: number; limit?: number | undefined },
): string | undefined {
	const listed = items.length;
	const after = skip === 0 ? '' : ` after the first ${skip}`;
	if (!settled) {
		return `The list changed during each of ${passes} readings. The output holds ${listed} items that a reading met${after}. Some items may be missing, and some may no longer exist. Run the node again for an exact list.`;
	}
	const reported = Math.max(0, (reportedTotal ?? 0) - skip);
	if (reportedTotal === undefined || listed >= limit || reported === listed) return undefined;
	return `The platform reports a total of ${reported} items${after} but lists ${listed} in each of ${passes} readings. The output holds the items it lists.`;
}
