import { z } from 'zod/v4';

import { isRecord, type JsonObject } from './json';

/** A device as the platform sent it (section 2.1), every field untouched, unknown ones too. */
export type Device = JsonObject;

/** Metadata is help, not truth: a value that can't be right counts as missing. */
const count = z.number().int().nonnegative().safe().optional().catch(undefined);

/**
 * The page of section 1.2. Its devices are checked to be objects and otherwise left alone: no field of theirs
 * is read or copied.
 */
export const pageSchema = z.object({
	content: z.array(z.custom<Device>(isRecord)),
	number: count,
	size: count,
	totalElements: count,
	totalPages: count,
	last: z.boolean().optional().catch(undefined),
});

export const PAGE_IN_WORDS = "a page of devices (an object with a list of objects in 'content')";

/** One device (section 4.2). */
export const deviceSchema = z.custom<Device>(isRecord);

export const DEVICE_IN_WORDS = 'a device (an object)';

/** What tells one device from another: its `id`, else its serial number, else everything in it. */
export function identifyDevice(device: Device): string {
	for (const field of ['id', 'sn'] as const) {
		const value = device[field];
		if (typeof value === 'string' && value !== '') return `${field} ${value}`;
		if (typeof value === 'number') return `${field} ${value}`;
	}
	return JSON.stringify(device);
}
