import pLimit from 'p-limit';

import { isSerialNumber } from '../../core/device';
import { meansNoDevice } from '../../core/errors/table';
import { Failure } from '../../core/failure';
import { fetchDevice } from '../../transport/devices';
import type { Platform } from '../../transport/platform';
import { removedEvent } from '../changes/events';
import type { TriggerParameters } from '../form/form';
import type { Entry, Step, StepOptions } from '../changes/step';

const MAX_PER_POLL = 100;
/** Longest wait for one of them, so that a poll ends in time. The next poll asks again. */
const LONGEST_CHECK_MS = 10_000;
/** 30 days, in seconds. */
const REMEMBERED = 30 * 86_400;

/** What a poll makes of a device. Without an entry, it is forgotten. */
export type Fate = Pick<Step, 'events'> & { readonly sn: string; readonly entry: Entry | undefined };

/**
 * Requests devices that a complete list lacks, by their serial numbers (section 4.2). A device is removed only if the platform says so.
 * One that still exists has left the filters, or the response came from a cache: it is requested again after 1, 2, 4, 8 minutes, and so on.
 * @returns what became of the devices, and why a check failed. The next poll checks that device again
 * @throws Failure if no other request can succeed either
 */
export async function checkMissing(
	platform: Platform,
	missing: ReadonlyArray<readonly [sn: string, entry: Entry]>,
	{ events, settings, now, newest, fields, number }: TriggerParameters & StepOptions & { newest: string },
): Promise<{ outcomes: Fate[]; failure: Failure | undefined }> {
	const all = missing.map(([sn, entry]) => {
		// If n8n's clock was set back, the device counts as missing since now.
		const away = entry.away && entry.away.since <= now ? entry.away : { since: now, next: 0, newest };
		// A request would not have the spaces around a serial number.
		const isDue = away.next <= now && entry.outside === undefined && isSerialNumber(sn) && sn === sn.trim();
		return { sn, entry, away, isDue };
	});
	// First those that were never requested, then those that have waited longest.
	const due = all.filter(({ isDue }) => isDue).sort((one, other) => one.away.next - other.away.next);
	const requested = events.has('deviceRemoved') ? due.slice(0, MAX_PER_POLL) : [];
	const slots = pLimit(settings.parallelRequests);
	const timeoutMs = Math.min(settings.timeoutMs, LONGEST_CHECK_MS);
	const once = { ...settings, timeoutMs, maxRetries: 0, keepsToken: true };
	const check = async (sn: string) => await fetchDevice(platform, sn, once).then(() => 'exists' as const, meaningOf);
	const found = new Map(await Promise.all(requested.map(async ({ sn }) => [sn, await slots(check, sn)] as const)));
	const outcomes = all.map(({ sn, entry, away }): Fate => {
		const says = found.get(sn);
		if (says === 'removed') return { sn, entry: undefined, events: [removedEvent(sn, entry.values, fields, number)] };
		if (now - away.since >= REMEMBERED) return { sn, entry: undefined, events: [] };
		if (says === undefined && away === entry.away) return { sn, entry, events: [] };
		const wait = says === 'exists' ? Math.max(60, now - away.since) : 0;
		const next = says === undefined ? away.next : now + wait;
		return { sn, entry: { ...entry, waiting: undefined, away: { ...away, next } }, events: [] };
	});
	return { outcomes, failure: [...found.values()].find((says) => says instanceof Failure) };
}

function meaningOf(thrown: unknown): 'removed' | Failure {
	if (!(thrown instanceof Failure) || thrown.details.signInFailed === 'for good') throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
