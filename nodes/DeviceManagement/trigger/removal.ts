import pLimit from 'p-limit';

import { meansNoDevice } from '../core/errors/codes';
import { isSerialNumber } from '../core/device';
import { Failure } from '../core/failure';
import { fetchDevice, type ListSettings } from '../transport/devices';
import type { Platform } from '../transport/platform';

/** Devices that are asked for in one poll; the others wait for the next ones. */
const MOST_ASKED_FOR = 100;

/**
 * Asks for missing devices by their serial numbers (section 4.2): only the platform's own “no such device” is a removal.
 * @param random from 0 to 1; of too many devices some are picked, so that each has its turn
 * @returns those that are removed, those that the platform still has or that can't be asked for, and why one could not be
 * read: it is asked for again at the next poll
 * @throws Failure that ends the sign-in
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

/** What a failed request says of its device. */
function judge(thrown: unknown): 'removed' | 'elsewhere' | Failure {
	if (!(thrown instanceof Failure)) throw thrown;
	const { final, tokenRefused, kind } = thrown.details;
	// No path can carry the serial number.
	if (kind === 'input') return 'elsewhere';
	if (final === true || tokenRefused === true) throw thrown;
	return meansNoDevice(thrown.details) ? 'removed' : thrown;
}
