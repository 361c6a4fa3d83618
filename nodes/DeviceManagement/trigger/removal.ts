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
	const nextOf = ([, { away }]: Remembered) => (away !== undefined && away.since <= now ? away.next : 0);
	const due = missing.filter((one) => nextOf(one) <= now && one[1].outside === undefined && canBeRequested(one[0]));
	// First those that were never requested, then those that have waited longest.
	const ordered = due.toSorted((one, other) => nextOf(one) - nextOf(other));
	const requested = events.has('deviceRemoved') ? ordered.slice(0, MAX_PER_POLL) : [];
	const slots = pLimit(settings.parallelRequests);
	const timeoutMs = Math.min(settings.timeoutMs, LONGEST_CHECK_MS);
	const once = { ...settings, timeoutMs, maxRetries: 0, keepsToken: true };
	const check = async (sn: string) =>
		await fetchDevice(platform, sn, once).then(() => 'exists' as const, outcomeOfFailure);
	const outcomes = new Map(await Promise.all(requested.map(async ([sn]) => [sn, await slots(check, sn)] as const)));
	const away = missing.map(([sn, entry]) => [sn, awayAfter(entry, outcomes.get(sn), now, newest)] as const);
	return {
		removed: missing.filter(([sn]) => outcomes.get(sn) === 'removed'),
		away: away.filter(([, entry], index) => entry !== missing[index]?.[1]),
		failure: [...outcomes.values()].find((outcome) => outcome instanceof Failure),
	};
}

type Outcome = 'exists' | 'removed' | Failure | undefined;

/** Returns what to remember of a missing device; undefined to forget it. If n8n's clock was set back, it counts as missing since now. */
function awayAfter(entry: Entry, outcome: Outcome, now: number, newest: string): Entry | undefined {
	const isKnown = entry.away !== undefined && entry.away.since <= now;
	const away = isKnown ? entry.away : { since: now, next: 0, newest };
	if (outcome === 'removed' || now - away.since >= REMEMBERED) return undefined;
	if (isKnown && outcome === undefined) return entry;
	const wait = outcome === 'exists' ? Math.max(60, now - away.since) : 0;
	return { ...entry, waiting: undefined, away: { ...away, next: outcome === undefined ? away.next : now + wait } };
}

function canBeRequested(sn: string): boolean {
	return isSerialNumber(sn) && sn === sn.trim() && fitsInPath(sn);
}

/** Returns what a failed request says about its device. */
function outcomeOfFailure(thrown: unknown): Outcome {
	if (!(thrown instanceof Failure) || thrown.details.signInFailed === 'for good') throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
