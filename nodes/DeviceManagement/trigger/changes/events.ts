import { type Device, serialNumberOf } from '../../core/device';
import type { JsonValue } from '../../core/json';
import { digestOf, type Kept, partOf, recall } from './values';
import { type EventName, isUpdateTime, valueOf, type WatchedField } from './watched';

/** An event, before its device is reduced to the chosen fields. */
export interface DeviceEvent {
	readonly event: EventName;
	readonly eventId: string;
	readonly field?: string;
	readonly previous?: JsonValue;
	readonly current?: JsonValue;
	readonly device: Device;
}

/** A value that differs from the remembered one; undefined before a state that wasn't reported yet. */
export interface Change {
	readonly field: WatchedField;
	readonly previous: Kept | undefined;
	readonly current: Kept;
}

export function createdEvent(device: Device): DeviceEvent {
	return timeEvent('deviceCreated', device, device['createTime']);
}

/** Returns the event of a changed value. `number` is the number of the state that it was compared with. */
export function changedEvent(device: Device, { field, previous = null, current }: Change, number: number): DeviceEvent {
	const { event, name } = field;
	if (isUpdateTime(field)) return timeEvent(event, device, device['updateTime']);
	const sn = serialNumberOf(device);
	return {
		event,
		eventId: digestOf([event, sn, name, partOf(previous, 'id'), partOf(current, 'id'), number]),
		field: name,
		// Only the digest of a long value is known.
		previous: recall(previous) ?? null,
		current: valueOf(field, device),
		device,
	};
}

/** Returns the event of a removed device, with the last known values. `number` is that of the state that still had the device. */
export function removedEvent(
	sn: string,
	values: Readonly<Record<string, Kept>>,
	fields: readonly WatchedField[],
	number: number,
): DeviceEvent {
	const device: Device = { sn };
	for (const { name, key, show } of fields) {
		const kept = values[name];
		const value = kept === undefined ? undefined : recall(kept);
		if (value !== undefined) Object.assign(device, show(value, key, device));
	}
	return { event: 'deviceRemoved', eventId: digestOf(['deviceRemoved', sn, number]), device };
}

/** Returns the event of a new or edited device. It has no number: the device and its time tell it from every other one. */
function timeEvent(event: EventName, device: Device, time: JsonValue): DeviceEvent {
	return { event, eventId: digestOf([event, serialNumberOf(device), time]), device };
}
