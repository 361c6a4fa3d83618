import pLimit from 'p-limit';

import { fitsInPath } from '../core/address';
import { isSerialNumber } from '../core/device';
import { meansNoDevice } from '../core/errors/codes';
import { Failure } from '../core/failure';
import { fetchDevice } from '../transport/devices';
import type { Platform } from '../transport/platform';
import type { TriggerParameters } from './form';
import type { Entry } from './step';

/** Most devices to request in one poll. The others wait for later polls. */
const MAX_PER_POLL = 100;
/** Longest wait for one of them, so that a poll ends in time. The next poll asks again. */
const LONGEST_CHECK_MS = 10_000;
/** How long a device that is no longer listed stays remembered, in seconds: 30 days. */
const REMEMBERED = 30 * 86_400;

/**
 * Requests devices that a complete list lacks, by their serial numbers (section 4.2). A device is removed only if the platform says so.
 * One that still exists has left the filters, or the response came from a cache: it is requested again after 1, 2, 4, 8 minutes, and so on.
 * @returns the removed devices, what to remember of the others, and why a check failed: the next poll checks that device again
 * @throws Failure if no other request can succeed either
 */
export async function checkMissing(
	platform: Platform,
	missing: ReadonlyArray<readonly [sn: string, entry: Entry]>,
	{ events, settings, now }: Pick<TriggerParameters, 'events' | 'settings'> & { now: number },
) {
	const due = missing.filter(
		([sn, { away, outside }]) => (away?.next ?? 0) <= now && outside === undefined && canBeRequested(sn),
	);
	// First those that were never requested, then those that have waited longest.
	const requested = events.has('deviceRemoved') ? due.toSorted(byNext).slice(0, MAX_PER_POLL) : [];
	const slots = pLimit(settings.parallelRequests);
	const timeoutMs = Math.min(settings.timeoutMs, LONGEST_CHECK_MS);
	const once = { ...settings, timeoutMs, maxRetries: 0, keepsToken: true };
	const check = async (sn: string) =>
		await fetchDevice(platform, sn, once).then(() => 'exists' as const, outcomeOfFailure);
	const outcomes = new Map(await Promise.all(requested.map(async ([sn]) => [sn, await slots(check, sn)] as const)));
	const removed = missing.filter(([sn]) => outcomes.get(sn) === 'removed');
	const away = missing.flatMap(([sn, entry]): Array<[string, Entry]> => {
		const { since, next } = entry.away ?? { since: now, next: 0 };
		const later = { since, next: outcomes.get(sn) === 'exists' ? now + Math.max(60, now - since) : next };
		const isForgotten = outcomes.get(sn) === 'removed' || now - since >= REMEMBERED;
		return isForgotten ? [] : [[sn, { ...entry, waiting: undefined, away: later }]];
	});
	const failure = [...outcomes.values()].find((outcome) => outcome instanceof Failure);
	return { removed, away, failure };
}

const byNext = ([, one]: readonly [string, Entry], [, other]: readonly [string, Entry]) =>
	(one.away?.next ?? 0) - (other.away?.next ?? 0);

function canBeRequested(sn: string): boolean {
	return isSerialNumber(sn) && sn === sn.trim() && fitsInPath(sn);
}

/** Returns what a failed request says about its device. */
function outcomeOfFailure(thrown: unknown): 'removed' | Failure {
	if (!(thrown instanceof Failure) || thrown.details.signInFailed === 'for good') throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
