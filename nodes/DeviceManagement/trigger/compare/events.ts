import type { Device } from '../../core/device';
import type { JsonValue } from '../../core/json';
import { digestOf, type Kept, type KeptValues, partOf, recall, splitKept } from './kept';
import { deviceOf, type EventName, type TIMES, valueOf, type WatchedField } from './watched';

/** An event, before its device is reduced to the chosen fields. */
export interface DeviceEvent {
	readonly event: EventName;
	readonly eventId: string;
	readonly field?: string;
	readonly previous?: JsonValue;
	readonly current?: JsonValue;
	readonly device: Device;
}

/** A value that changed. */
export interface Change {
	readonly sn: string;
	readonly device: Device;
	readonly field: WatchedField;
	readonly previous: Kept;
	readonly current: Kept;
}

/**
 * Returns the event of a new or edited device.
 * @param id identity of the device
 */
export function timeEvent({ field, event }: (typeof TIMES)[number], id: string, device: Device): DeviceEvent {
	return { event, eventId: digestOf([event, id, device[field]]), device };
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

/**
 * Returns the event of a removed device.
 * @param values the last known values of its watched fields
 * @param number number of the state that still had the device
 */
export function removedEvent(
	sn: string,
	values: KeptValues,
	fields: readonly WatchedField[],
	number: number,
): DeviceEvent {
	const device = deviceOf(sn, fields, splitKept(values).map(recall));
	return { event: 'deviceRemoved', eventId: digestOf(['deviceRemoved', sn, number]), device };
}
