import type { Listing } from './paging/passes';

/**
 * Returns a hint if the list changed while it was read, or if the platform's total differs from its list; else undefined.
 * @param part the items skipped at the beginning, and the limit; undefined for all
 */
export function remarkOn(
	{ items, settled, reportedTotal, passes }: Listing<unknown>,
	{ skip = 0, limit = Infinity }: { skip?: number; limit?: number | undefined },
): string | undefined {
	const listed = items.length;
	const after = skip === 0 ? '' : ` after the first ${skip}`;
	if (!settled) {
		return `The list changed during each of ${passes} readings. The output has ${listed} items${after}, from all readings. Some items may be missing, and some may no longer exist. Run the node again for an exact list.`;
	}
	const reported = Math.max(0, (reportedTotal ?? 0) - skip);
	if (reportedTotal === undefined || listed >= limit || reported === listed) return undefined;
	return `The platform reports a total of ${reported} items${after} but lists ${listed} in each of ${passes} readings. The output has the items it lists.`;
}
