import { z } from 'zod/v4';

import { isRecord, type JsonObject, type JsonValue } from './json';
import { identifyRecord, idOf } from './record';

/** A device as the platform sent it (section 2.1), every field untouched, unknown ones too. */
export type Device = JsonObject;

/** One device (section 4.2). */
export const deviceSchema = z.custom<Device>(isRecord);

export const DEVICE_IN_WORDS = 'a device (an object)';

/** What tells one device from another: its `id`, else its serial number, else everything in it. */
export function identifyDevice(device: Device): string {
	const sn = ownSerialNumber(device);
	return sn === undefined ? identifyRecord(device) : (idOf(device) ?? `\0sn ${sn}`);
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
