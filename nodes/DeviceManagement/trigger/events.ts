import type { Device } from '../core/device';
import type { JsonObject, JsonValue } from '../core/json';
import { canonicalJson, digest } from './digest';
import { type Code, decodeValue, partsOf, readField, readsLike, textOf, type WatchedField } from './values';

/** What can be reported of a device, as workflows name it. */
export const EVENT_NAMES = [
	'attributeChanged',
	'deviceCreated',
	'deviceRemoved',
	'deviceUpdated',
	'onlineStatusChanged',
	'statusChanged',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];

/** An event before it is shaped for the workflow. */
export interface DeviceEvent {
	readonly event: EventName;
	readonly eventId: string;
	readonly field?: WatchedField;
	readonly previous?: JsonValue;
	readonly current?: JsonValue;
	readonly device: Device;
}

/** Reports a changed value only from and to these; an empty text stands for any. */
export interface ChangeRule {
	readonly field: WatchedField;
	readonly from: string;
	readonly to: string;
}

/** A value that changed. */
export interface Change {
	readonly sn: string;
	readonly device: Device;
	readonly field: WatchedField;
	/** Codes of the values. */
	readonly previous: string;
	readonly current: string;
}

/** Characters of an event's id: 132 bits, so that no two are ever equal by chance. */
const ID_LENGTH = 22;

/** Which fields the chosen events watch; the statuses come first. */
export function watchedFields(events: ReadonlySet<EventName>, attributes: readonly string[]): WatchedField[] {
	const fields: WatchedField[] = [];
	if (events.has('onlineStatusChanged')) fields.push('onlineStatus');
	if (events.has('statusChanged')) fields.push('status');
	if (events.has('attributeChanged')) fields.push(...attributes.map((key) => `attributes.${key}` as const));
	return fields;
}

/** The text that says what a device holds, statuses aside: they have events of their own, and change without an update. */
export function contentOf(device: Device): string {
	return canonicalJson({ ...device, onlineStatus: null, status: null });
}

/** @param id what tells the device from others */
export function createdEvent(id: string, device: Device): DeviceEvent {
	const event = 'deviceCreated';
	return { event, eventId: idOf([event, id, device['createTime']]), device };
}

/**
 * @param id what tells the device from others
 * @param number the number of the state that held the device with the same update time: it may go back to a content it had
 */
export function updatedEvent(id: string, device: Device, number?: number): DeviceEvent {
	const event = 'deviceUpdated';
	const again = number === undefined ? [] : [number];
	return { event, eventId: idOf([event, id, device['updateTime'], contentOf(device), ...again]), device };
}

/** @param number the number of the state that the value was compared from */
export function changedEvent({ sn, device, field, previous, current }: Change, number: number): DeviceEvent {
	const event = eventOf(field);
	return {
		event,
		eventId: idOf([event, sn, field, previous, current, number]),
		field,
		// Of a long value only the digest was kept.
		previous: decodeValue(previous)?.value ?? null,
		current: readField(device, field),
		device,
	};
}

/**
 * @param code the values of its watched fields as they were met last
 * @param number the number of the state that still held the device
 */
export function removedEvent(sn: string, code: Code, fields: readonly WatchedField[], number: number): DeviceEvent {
	const event = 'deviceRemoved';
	return { event, eventId: idOf([event, sn, number]), device: lastKnown(sn, code, fields) };
}

/** Whether a change is one that is asked for: rules of one field are alternatives, a field without rules has any change. */
export function isAskedFor(rules: readonly ChangeRule[], { field, device, previous }: Change): boolean {
	const own = rules.filter((rule) => rule.field === field);
	const current = textOf(readField(device, field));
	return (
		own.length === 0 ||
		own.some(({ from, to }) => (from === '' || readsLike(previous, from)) && (to === '' || current === to))
	);
}

/** The event that reports a change of a field. */
export function eventOf(field: WatchedField): EventName {
	if (field === 'onlineStatus') return 'onlineStatusChanged';
	return field === 'status' ? 'statusChanged' : 'attributeChanged';
}

/** A device that is gone, as far as it is remembered. */
function lastKnown(sn: string, code: Code, fields: readonly WatchedField[]): Device {
	const device: Device = { sn };
	const attributes: JsonObject = {};
	for (const [position, part] of partsOf(code).entries()) {
		const field = fields[position];
		const value = decodeValue(part)?.value;
		if (field === undefined || value === undefined) continue;
		if (field === 'onlineStatus' || field === 'status') device[field] = value;
		else if (value !== null) attributes[field.slice('attributes.'.length)] = value;
	}
	return Object.keys(attributes).length === 0 ? device : { ...device, attributes };
}

function idOf(parts: readonly unknown[]): string {
	return digest(canonicalJson(parts), ID_LENGTH);
}
