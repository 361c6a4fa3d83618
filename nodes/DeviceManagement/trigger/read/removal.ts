import pLimit from 'p-limit';

import { meansNoDevice } from '../../core/errors/codes';
import { isSerialNumber } from '../../core/device';
import { Failure } from '../../core/failure';
import { fitsInPath } from '../../core/query';
import { fetchDevice } from '../../transport/devices';
import type { Platform } from '../../transport/platform';
import { currentClock } from '../../transport/waiting/clock';
import type { TriggerParameters } from '../form';
import type { ListedDevice, Snapshot } from '../compare/snapshot';

/** Most devices to request in one poll. The others wait for later polls. */
const MAX_PER_POLL = 100;
/** Longest wait for one of them, so that a poll ends in time. The next poll asks again. */
const LONGEST_CHECK_MS = 10_000;

/**
 * Requests the remembered devices that a complete list lacks, each once, by their serial numbers (section 4.2), unless the trigger does
 * not report removed devices. A device is removed only if the platform says so.
 * @param list undefined if the list is incomplete; no device is then missing
 * @returns the removed devices, the devices that still exist or can't be requested, and why the check of another one failed:
 * the next poll checks that one again
 * @throws Failure if no other request can succeed either
 */
export async function checkMissing(
	platform: Platform,
	list: readonly ListedDevice[] | undefined,
	before: Snapshot | undefined,
	{ events, settings }: Pick<TriggerParameters, 'events' | 'settings'>,
): Promise<{ removed: string[]; unlisted: string[]; failure: Failure | undefined }> {
	const listed = new Set(list?.map(({ sn }) => sn));
	// An empty list is more likely to be wrong than all devices are to be removed.
	const known = list === undefined || listed.size === 0 ? [] : [...(before?.devices.keys() ?? [])];
	const missing = known.filter((sn) => !listed.has(sn) && before?.away.has(sn) !== true);
	if (!events.has('deviceRemoved')) return { removed: [], unlisted: missing, failure: undefined };
	// Of too many devices, it picks some by chance, so that each is requested at some time.
	const start = missing.length > MAX_PER_POLL ? Math.floor(currentClock().random() * missing.length) : 0;
	const requested = [...missing.slice(start), ...missing.slice(0, start)].slice(0, MAX_PER_POLL);
	const slots = pLimit(settings.parallelRequests);
	const timeoutMs = Math.min(settings.timeoutMs, LONGEST_CHECK_MS);
	const once = { ...settings, timeoutMs, maxRetries: 0, keepsToken: true };
	const check = async (sn: string) =>
		isSerialNumber(sn) && sn === sn.trim() && fitsInPath(sn)
			? await fetchDevice(platform, sn, once).then(() => 'unlisted' as const, outcomeOfFailure)
			: 'unlisted';
	const outcomes = await Promise.all(requested.map(async (sn) => await slots(check, sn)));
	return {
		removed: requested.filter((_, index) => outcomes[index] === 'removed'),
		unlisted: requested.filter((_, index) => outcomes[index] === 'unlisted'),
		failure: outcomes.find((outcome) => outcome instanceof Failure),
	};
}

/** Returns what a failed request says about its device. */
function outcomeOfFailure(thrown: unknown): 'removed' | Failure {
	if (!(thrown instanceof Failure) || thrown.details.final === true) throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
