import pLimit from 'p-limit';

import { meansNoDevice } from '../../core/errors/codes';
import { isSerialNumber } from '../../core/device';
import { Failure } from '../../core/failure';
import { fitsInPath } from '../../core/address';
import { fetchDevice } from '../../transport/devices';
import type { Platform } from '../../transport/platform';
import { currentClock } from '../../transport/waiting/clock';
import type { TriggerParameters } from '../form';
import type { NodeMemory } from '../memory';
import { isOutside, type ListedDevice, REMEMBERED_SECONDS, type Snapshot } from '../compare/snapshot';

/** Most devices to request in one poll. The others wait for later polls. */
const MAX_PER_POLL = 100;
/** Longest wait for one of them, so that a poll ends in time. The next poll asks again. */
const LONGEST_CHECK_MS = 10_000;
/** When a device that is no longer listed is requested again, in seconds after a list lacked it first: a read may come from a cache. */
const AGAIN_AFTER = [120, 360, 3000];

/**
 * Requests the remembered devices that a complete list lacks, by their serial numbers (section 4.2), unless the trigger does
 * not report removed devices. A device is removed only if the platform says so. One that still exists is requested again later.
 * @param list undefined if the list is incomplete; no device is then missing
 * @returns the removed devices, the devices that still exist or can't be requested, when each was last found, and why the check of
 * another one failed: the next poll checks that one again
 * @throws Failure if no other request can succeed either
 */
export async function checkMissing(
	platform: Platform,
	list: readonly ListedDevice[] | undefined,
	before: Snapshot | undefined,
	options: Pick<TriggerParameters, 'events' | 'settings'> & Pick<NodeMemory, 'found'> & { now: number },
) {
	const { events, settings, now, found } = options;
	const listed = new Set(list?.map(({ sn }) => sn));
	// An empty list is more likely to be wrong than all devices are to be removed.
	const known = list === undefined || listed.size === 0 ? [] : [...(before?.devices.keys() ?? [])];
	const isAway = (sn: string) => before?.away.has(sn) === true;
	const missing = known.filter((sn) => !listed.has(sn));
	if (!events.has('deviceRemoved')) return { removed: [], unlisted: missing, found, failure: undefined };
	const isDueAt = (at: number, sn: string) => at <= now && at > (found.get(sn) ?? 0);
	const isOut = (sn: string) => isOutside(before?.devices.get(sn) ?? '');
	const due = missing.filter((sn) => {
		if (isOut(sn)) return false;
		const since = before?.away.get(sn);
		return since === undefined || AGAIN_AFTER.some((wait) => isDueAt(since + wait, sn));
	});
	// Of too many devices, it picks some by chance, so that each is requested at some time: first of those that it never requested.
	const start = Math.floor(currentClock().random() * due.length);
	const ordered = [...due.slice(start), ...due.slice(0, start)];
	const requested = [...ordered.filter((sn) => !isAway(sn)), ...ordered.filter(isAway)].slice(0, MAX_PER_POLL);
	const slots = pLimit(settings.parallelRequests);
	const timeoutMs = Math.min(settings.timeoutMs, LONGEST_CHECK_MS);
	const once = { ...settings, timeoutMs, maxRetries: 0, keepsToken: true };
	const check = async (sn: string) =>
		isSerialNumber(sn) && sn === sn.trim() && fitsInPath(sn)
			? await fetchDevice(platform, sn, once).then(() => 'unlisted' as const, outcomeOfFailure)
			: 'unlisted';
	const outcomes = new Map(await Promise.all(requested.map(async (sn) => [sn, await slots(check, sn)] as const)));
	const unlisted = due.filter((sn) => outcomes.get(sn) === 'unlisted');
	const latest = unlisted.map((sn) => [sn, now] as const);
	return {
		removed: due.filter((sn) => outcomes.get(sn) === 'removed'),
		unlisted: [...unlisted, ...missing.filter(isOut)],
		found: new Map([...found, ...latest].filter(([, at]) => now - at < REMEMBERED_SECONDS)),
		failure: due.map((sn) => outcomes.get(sn)).find((outcome) => outcome instanceof Failure),
	};
}

/** Returns what a failed request says about its device. */
function outcomeOfFailure(thrown: unknown): 'removed' | Failure {
	if (!(thrown instanceof Failure) || thrown.details.signInFailed === 'for good') throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
