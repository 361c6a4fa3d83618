import { z } from 'zod/v4';

import { isRecord, type JsonObject, type JsonValue } from './json';

/** A device as the platform sent it (section 2.1), every field untouched, unknown ones too. */
export type Device = JsonObject;

/** Metadata is help, not truth: a value that can't be right counts as missing. */
const count = z.number().int().nonnegative().safe().optional().catch(undefined);

/** Stops at the first item that is no object: a list of a million numbers must not become a million complaints. */
const devices = z.custom<Device[]>(Array.isArray).superRefine((content, refinement) => {
	const index = Array.isArray(content) ? content.findIndex((item) => !isRecord(item)) : -1;
	if (index >= 0) refinement.addIssue({ code: 'custom', message: 'not an object', path: [index] });
});

/**
 * The page of section 1.2. Its devices are checked to be objects and otherwise left alone: no field of theirs
 * is read or copied.
 */
export const pageSchema = z.object({
	content: devices,
	number: count,
	size: count,
	totalElements: count,
	totalPages: count,
	last: z.boolean().optional().catch(undefined),
	pageable: z.object({ offset: count }).optional().catch(undefined),
});

export const PAGE_IN_WORDS = "a page of devices (an object with a list of objects in 'content')";

/** One device (section 4.2). */
export const deviceSchema = z.custom<Device>(isRecord);

export const DEVICE_IN_WORDS = 'a device (an object)';

/** What tells one device from another: its `id`, else its serial number, else everything in it. */
export function identifyDevice(device: Device): string {
	const { id } = device;
	if (typeof id === 'string' && id !== '') return id;
	// Beyond 2^53 different numbers in the answer become one number here.
	if (Number.isSafeInteger(id)) return String(id);
	const sn = ownSerialNumber(device);
	return sn === undefined ? `\0${JSON.stringify(device)}` : `\0sn ${sn}`;
}

/** The serial number of a device as it is asked for and remembered; of one that has none, what tells it from others. */
export function serialNumberOf(device: Device): string {
	return ownSerialNumber(device) ?? `${WITHOUT_SN}${identifyDevice(device)}`;
}

/** Whether something is a serial number that the platform knows, and not what stands for a missing one. */
export function isSerialNumber(sn: string): boolean {
	return !sn.startsWith(WITHOUT_SN);
}

/** The name of a device's model or group (sections 2.2 and 2.3); null where it has none. */
export function nameOf(record: JsonValue): JsonValue {
	return isRecord(record) ? (record['name'] ?? null) : null;
}

const WITHOUT_SN = '\0';

/** The platform's serial numbers are texts (section 2.1); some send a number. */
function ownSerialNumber({ sn }: Device): string | undefined {
	if (typeof sn === 'string') return sn === '' ? undefined : sn;
	return Number.isSafeInteger(sn) ? String(sn) : undefined;
}
