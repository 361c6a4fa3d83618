import pLimit from 'p-limit';

import { fitsInPath } from '../core/address';
import { isSerialNumber } from '../core/device';
import { meansNoDevice } from '../core/errors/table';
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

type Remembered = readonly [sn: string, entry: Entry];

/** What became of the devices that a list lacks. */
export interface Missing {
	readonly removed: readonly Remembered[];
	/** What to remember of those of which it changed; undefined to forget one. */
	readonly away: ReadonlyArray<readonly [sn: string, entry: Entry | undefined]>;
	/** Why a check failed. The next poll checks that device again. */
	readonly failure: Failure | undefined;
}

/**
 * Requests devices that a complete list lacks, by their serial numbers (section 4.2). A device is removed only if the platform says so.
 * One that still exists has left the filters, or the response came from a cache: it is requested again after 1, 2, 4, 8 minutes, and so on.
 * @throws Failure if no other request can succeed either
 */
export async function checkMissing(
	platform: Platform,
	missing: readonly Remembered[],
	{ events, settings, now, newest }: Pick<TriggerParameters, 'events' | 'settings'> & { now: number; newest: string },
): Promise<Missing> {
	const all = missing.map(([sn, entry]) => {
		// If n8n's clock was set back, the device counts as missing since now.
		const isKnown = entry.away !== undefined && entry.away.since <= now;
		return { sn, entry, isKnown, away: isKnown ? entry.away : { since: now, next: 0, newest } };
	});
	const due = all.filter(
		({ sn, entry, away }) => away.next <= now && entry.outside === undefined && canBeRequested(sn),
	);
	// First those that were never requested, then those that have waited longest.
	const ordered = due.toSorted((one, other) => one.away.next - other.away.next);
	const requested = events.has('deviceRemoved') ? ordered.slice(0, MAX_PER_POLL) : [];
	const slots = pLimit(settings.parallelRequests);
	const timeoutMs = Math.min(settings.timeoutMs, LONGEST_CHECK_MS);
	const once = { ...settings, timeoutMs, maxRetries: 0, keepsToken: true };
	const check = async (sn: string) =>
		await fetchDevice(platform, sn, once).then(() => 'exists' as const, outcomeOfFailure);
	const outcomes = new Map(await Promise.all(requested.map(async ({ sn }) => [sn, await slots(check, sn)] as const)));
	const away = all.flatMap(({ sn, entry, isKnown, away: { next, ...since } }): Missing['away'] => {
		const outcome = outcomes.get(sn);
		if (outcome === 'removed' || now - since.since >= REMEMBERED) return [[sn, undefined]];
		if (isKnown && outcome === undefined) return [];
		const wait = outcome === 'exists' ? Math.max(60, now - since.since) : 0;
		return [[sn, { ...entry, waiting: undefined, away: { ...since, next: outcome ? now + wait : next } }]];
	});
	return {
		removed: missing.filter(([sn]) => outcomes.get(sn) === 'removed'),
		away,
		failure: [...outcomes.values()].find((outcome) => outcome instanceof Failure),
	};
}

function canBeRequested(sn: string): boolean {
	return isSerialNumber(sn) && sn === sn.trim() && fitsInPath(sn);
}

/** Returns what a failed request says about its device. */
function outcomeOfFailure(thrown: unknown): 'removed' | Failure {
	if (!(thrown instanceof Failure) || thrown.details.signInFailed === 'for good') throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
