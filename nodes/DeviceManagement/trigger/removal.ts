import pLimit from 'p-limit';

import { meansNoDevice } from '../core/errors/codes';
import { isSerialNumber } from '../core/device';
import { Failure } from '../core/failure';
import { fetchDevice, type ListSettings } from '../transport/devices';
import type { Platform } from '../transport/platform';

/** Most devices to request in one poll. The others wait for later polls. */
const MOST_ASKED_FOR = 100;

/**
 * Requests missing devices by their serial numbers (section 4.2). A device is removed only if the platform says so.
 * @param random returns 0 to 1. Of too many devices it picks some, so that each is requested at some time.
 * @returns the removed devices, the devices that still exist or can't be requested, and why the check of another one failed:
 * the next poll checks that one again
 * @throws Failure if the sign-in was refused
 */
export async function lookForMissing(
	platform: Platform,
	missing: readonly string[],
	settings: ListSettings,
	random: () => number,
): Promise<{ removed: string[]; elsewhere: string[]; obstacle: Failure | undefined }> {
	const asked = [...missing];
	while (asked.length > MOST_ASKED_FOR) asked.splice(Math.floor(random() * asked.length), 1);
	const slots = pLimit(settings.parallelRequests);
	const ask = async (sn: string) =>
		isSerialNumber(sn)
			? await fetchDevice(platform, sn, settings).then(() => 'elsewhere' as const, judge)
			: 'elsewhere';
	const answers = await Promise.all(asked.map(async (sn) => await slots(ask, sn)));
	return {
		removed: asked.filter((_, index) => answers[index] === 'removed'),
		elsewhere: asked.filter((_, index) => answers[index] === 'elsewhere'),
		obstacle: answers.find((answer) => answer instanceof Failure),
	};
}

/** Returns what a failed request says about its device. */
function judge(thrown: unknown): 'removed' | 'elsewhere' | Failure {
	if (!(thrown instanceof Failure)) throw thrown;
	const { final, tokenRefused, kind } = thrown.details;
	// The serial number can't be part of a path.
	if (kind === 'input') return 'elsewhere';
	if (final === true || tokenRefused === true) throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
