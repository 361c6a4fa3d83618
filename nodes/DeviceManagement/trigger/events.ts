import type { Device } from '../core/device';
import type { JsonValue } from '../core/json';
import { type Code, canonicalJson, digest, type Kept, readsLike, recall, splitCode } from './values';
import { deviceOf, type EventName, type TIMES, type WatchedField } from './watched';

/** An event before it is shaped for the workflow. */
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

/** Reports a changed value only from and to these; an empty text stands for any. */
export interface ChangeRule {
	/** The name of the field. */
	readonly field: string;
	readonly from: string;
	readonly to: string;
}

/**
 * The event of a device that is new or edited.
 * @param id what tells the device from others
 */
export function timeEvent({ field, event }: (typeof TIMES)[number], id: string, device: Device): DeviceEvent {
	return { event, eventId: idOf([event, id, device[field]]), device };
}

/** @param number the number of the state that the value was compared from */
export function changedEvent({ sn, device, field, previous, current }: Change, number: number): DeviceEvent {
	const { event, name } = field;
	return {
		event,
		eventId: idOf([event, sn, name, previous, current, number]),
		field: name,
		// Of a long value only the digest was kept.
		previous: recall(previous)?.value ?? null,
		current: field.read(device),
		device,
	};
}

/**
 * @param code the values of its watched fields as they were met last
 * @param number the number of the state that still held the device
 */
export function removedEvent(sn: string, code: Code, fields: readonly WatchedField[], number: number): DeviceEvent {
	const values = splitCode(code).map((kept) => recall(kept)?.value);
	const eventId = idOf(['deviceRemoved', sn, number]);
	return { event: 'deviceRemoved', eventId, device: deviceOf(sn, fields, values) };
}

/** Whether a change is one that is asked for: rules of one field are alternatives, a field without rules has any change. */
export function isAskedFor(rules: readonly ChangeRule[], change: Change): boolean {
	const own = rules.filter(({ field }) => field === change.field.name);
	const isMet = (wanted: string, kept: Kept) => wanted === '' || readsLike(kept, wanted);
	return own.length === 0 || own.some(({ from, to }) => isMet(from, change.previous) && isMet(to, change.current));
}

function idOf(parts: readonly unknown[]): string {
	return digest(canonicalJson(parts));
}
