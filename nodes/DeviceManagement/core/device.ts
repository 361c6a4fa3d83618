import { z } from 'zod/v4';

import { isRecord, type JsonObject, type JsonValue } from './json';
import { identifyRecord, idOf } from './record';

/** A device as the platform sent it (section 2.1), with all fields, also unknown ones. */
export type Device = JsonObject;

/** Returns the schema of the device with this serial number (section 4.2). A platform may ignore upper and lower case. */
export function deviceSchema(sn: string) {
	const plain = (text: string) => text.trim().toLowerCase();
	const isThisDevice = (data: unknown) => isRecord(data) && plain(serialNumberOf(data)) === plain(sn);
	// Not by `describe`, which keeps each schema until n8n ends.
	return z.custom<Device>(isThisDevice, 'the requested device');
}

/** Returns the identity of a device: its `id`, else its serial number, else the whole record as JSON. */
export function identifyDevice(device: Device): string {
	const sn = ownSerialNumber(device);
	return sn === undefined ? identifyRecord(device) : (idOf(device) ?? `\0sn ${sn}`);
}

/** Returns the identity of a device in Get Many and the dropdown. Some platforms give several devices the same `id`. */
export function identifyListed(device: Device): string {
	return `${identifyDevice(device)}\0${ownSerialNumber(device) ?? ''}`;
}

/** Returns the serial number of a device. If it has none, returns its identity with a mark. */
export function serialNumberOf(device: Device): string {
	return ownSerialNumber(device) ?? `${WITHOUT_SN}${identifyDevice(device)}`;
}

/** Whether this is a real serial number, and not the identity of a device without one. */
export function isSerialNumber(sn: string): boolean {
	return !sn.startsWith(WITHOUT_SN);
}

/** Returns the name of a device's model or group (sections 2.2 and 2.3); null if it has none. */
export function nameOf(record: JsonValue): JsonValue {
	return isRecord(record) ? (record['name'] ?? null) : null;
}

const WITHOUT_SN = '\0';

/** By section 2.1 a serial number is text, but some platforms send a number. */
function ownSerialNumber({ sn }: Device): string | undefined {
	if (typeof sn === 'string') return sn === '' ? undefined : sn;
	return Number.isSafeInteger(sn) ? String(sn) : undefined;
}
