import pLimit from 'p-limit';

import { meansNoDevice } from '../core/codes';
import { isSerialNumber } from '../core/device';
import { Failure } from '../core/failure';
import { pathOfSerialNumber } from '../core/query';
import { fetchDeviceAt, type ListSettings } from '../transport/devices';
import type { Platform } from '../transport/platform';
import type { Whereabouts } from './snapshot';

/** Devices that are looked at in one poll; the others wait for the next ones. */
const MOST_LOOKED_AT = 100;

/** What looking at missing devices said. */
export interface Search {
	readonly whereabouts: ReadonlyMap<string, Whereabouts>;
	/** Why a device could not be looked at, where one could not. */
	readonly obstacle: Failure | undefined;
}

/**
 * Reads devices that are missing from the list by their serial numbers (section 4.2): only what the platform says it does
 * not have is removed. A device that can't be read is looked for again at the next poll.
 * @param random from 0 to 1; of too many devices some are picked, so that none is always left out
 * @throws Failure that ends the sign-in
 */
export async function lookForMissing(
	platform: Platform,
	missing: readonly string[],
	settings: ListSettings,
	random: () => number,
): Promise<Search> {
	const slots = pLimit(settings.parallelRequests);
	let obstacle: Failure | undefined;
	const look = async (sn: string): Promise<Whereabouts> => {
		const path = isSerialNumber(sn) ? pathOfSerialNumber(sn) : undefined;
		// Nobody can ask for this device: it is just no longer watched.
		if (path === undefined) return 'elsewhere';
		return await fetchDeviceAt(platform, path, settings).then(
			() => 'elsewhere',
			(thrown: unknown) => {
				if (!(thrown instanceof Failure)) throw thrown;
				const { final, tokenRefused } = thrown.details;
				if (final === true || tokenRefused === true) throw thrown;
				if (meansNoDevice(thrown.details)) return 'removed';
				obstacle ??= thrown;
				return 'unknown';
			},
		);
	};
	const picked = missing.length <= MOST_LOOKED_AT ? missing : pick(missing, MOST_LOOKED_AT, random);
	const found = await Promise.all(
		picked.map(async (sn) => await slots(async () => [sn, await look(sn)] as const)),
	);
	return { whereabouts: new Map(found), obstacle };
}

/** So many of a list, by chance. */
function pick<T>(list: readonly T[], count: number, random: () => number): T[] {
	const rest = [...list];
	return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)).flat();
}
