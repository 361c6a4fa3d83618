import { type Device, identifyDevice } from '../../core/device';
import type { JsonValue } from '../../core/json';
import { digestOf, type Kept, type KeptValues, partOf, recall, shortIdentity, splitKept, UNREPORTED } from './kept';
import { type EventName, type TIMES, valueOf, type WatchedField } from './watched';

/** An event, before its device is reduced to the chosen fields. */
export interface DeviceEvent {
	readonly event: EventName;
	readonly eventId: string;
	readonly field?: string;
	readonly previous?: JsonValue;
	readonly current?: JsonValue;
	readonly device: Device;
}

export interface Change {
	readonly sn: string;
	readonly device: Device;
	readonly field: WatchedField;
	readonly previous: Kept;
	readonly current: Kept;
}

/** Returns the event of a new or edited device. */
export function timeEvent({ field, event }: (typeof TIMES)[number], device: Device): DeviceEvent {
	return { event, eventId: digestOf([event, shortIdentity(identifyDevice(device)), device[field]]), device };
}

/** Returns the event of a changed value. `number` is the number of the state that it was compared with. */
export function changedEvent({ sn, device, field, previous, current }: Change, number: number): DeviceEvent {
	const { event, name } = field;
	return {
		event,
		eventId: digestOf([event, sn, name, partOf(previous, 'id'), partOf(current, 'id'), number]),
		field: name,
		// The state has only a digest of a long value.
		previous: recall(previous) ?? null,
		current: valueOf(field, device),
		device,
	};
}

/** Returns the event of a removed device, with the last known values. `number` is that of the state that still had the device. */
export function removedEvent(
	sn: string,
	values: KeptValues,
	fields: readonly WatchedField[],
	number: number,
): DeviceEvent {
	const device: Device = { sn };
	for (const [position, kept] of splitKept(values).entries()) {
		const [field, value] = [fields[position], recall(kept)];
		if (field !== undefined && value !== undefined && kept !== UNREPORTED)
			Object.assign(device, field.show(value, field.key, device));
	}
	return { event: 'deviceRemoved', eventId: digestOf(['deviceRemoved', sn, number]), device };
}
