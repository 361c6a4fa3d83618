/**
 * The one table of what the trigger can report. The events, the choices of a rule, the node's subtitle and what is known of
 * a removed device derive from it: a new kind of change is one entry. How values are compared and stored is in values.ts.
 */
import type { Device } from '../core/device';
import { isRecord, type JsonValue } from '../core/json';

/** A field of a device whose changes are an event. */
interface FieldKind {
	readonly name: string;
	readonly event: string;
	/** The field in a rule; the event adds “Changed”. */
	readonly label: string;
	readonly description: string;
	/** Whether the field holds several values, and 'Attributes' names the watched ones by their keys. */
	readonly hasKeys: boolean;
	/** The value to compare; null or undefined where the device has none. */
	readonly read: (device: Device, key: string) => JsonValue;
	/** The part of a removed device that shows the remembered value. */
	readonly show: (value: JsonValue, key: string) => Device;
}

const FIELD_KINDS = [
	{
		name: 'onlineStatus',
		event: 'onlineStatusChanged',
		label: 'Online Status',
		description: 'The online status of a device changed',
		hasKeys: false,
		read: ({ onlineStatus }) => onlineStatus,
		show: (onlineStatus) => ({ onlineStatus }),
	},
	{
		name: 'status',
		event: 'statusChanged',
		label: 'Status',
		description: 'The status of a device changed',
		hasKeys: false,
		read: ({ status }) => status,
		show: (status) => ({ status }),
	},
	{
		name: 'attributes',
		event: 'attributeChanged',
		label: 'Attribute',
		description: 'An attribute of a device changed',
		hasKeys: true,
		read: ({ attributes }, key) =>
			isRecord(attributes) && Object.hasOwn(attributes, key) ? attributes[key] : undefined,
		show: (value, key) => (value === null ? {} : { attributes: Object.fromEntries([[key, value]]) }),
	},
] as const satisfies readonly FieldKind[];

/** The times by which devices are new or edited. A device that is new is not reported as edited. */
export const TIMES = [
	{ field: 'createTime', event: 'deviceCreated' },
	{ field: 'updateTime', event: 'deviceUpdated' },
] as const;

export type TimeField = (typeof TIMES)[number]['field'];

export type ChangeEvent = (typeof FIELD_KINDS)[number]['event'];
/** What can be reported of a device, as workflows name it. */
export type EventName = (typeof TIMES)[number]['event'] | 'deviceRemoved' | ChangeEvent;

const byLabel = (one: { label: string }, other: { label: string }) => (one.label < other.label ? -1 : 1);

/** All fields of the table, in the order of their labels. */
export const FIELDS: ReadonlyArray<FieldKind & { readonly event: ChangeEvent }> = [...FIELD_KINDS].sort(byLabel);

const events: Array<{ readonly name: EventName; readonly label: string; readonly description: string }> = [
	{ name: 'deviceCreated', label: 'Device Created', description: 'The platform has a new device' },
	{ name: 'deviceRemoved', label: 'Device Removed', description: 'The platform no longer has a device' },
	{ name: 'deviceUpdated', label: 'Device Updated', description: 'The update time of a device changed' },
	...FIELDS.map(({ event, label, description }) => ({ name: event, label: `${label} Changed`, description })),
];

/** All events, in the order of their labels. */
export const EVENTS: Readonly<typeof events> = events.sort(byLabel);

/** Events of change, which have a value before and after. */
export const CHANGE_EVENTS: readonly ChangeEvent[] = FIELD_KINDS.map(({ event }) => event);

/** A watched value of each device. */
export interface WatchedField {
	/** As events, rules and sorts name it: `status`, `attributes.firmware` (section 1.3). */
	readonly name: string;
	readonly event: ChangeEvent;
	/** The value; null where the device has none. */
	readonly read: (device: Device) => JsonValue;
	/** The part of a removed device that shows the remembered value. */
	readonly show: (value: JsonValue) => Device;
}

/**
 * The values that the chosen events watch, in the order of the table.
 * @param keys of the watched attributes
 */
export function watchedFields(events: ReadonlySet<string>, keys: readonly string[]): WatchedField[] {
	return FIELD_KINDS.filter(({ event }) => events.has(event)).flatMap(({ name, event, hasKeys, read, show }) =>
		(hasKeys ? keys : ['']).map((key) => ({
			name: nameOfField(name, hasKeys, key),
			event,
			read: (device: Device) => read(device, key) ?? null,
			show: (value: JsonValue) => show(value, key),
		})),
	);
}

/** The name of a watched field. */
export function nameOfField(field: string, hasKeys: boolean, key: string): string {
	return hasKeys ? `${field}.${key}` : field;
}

/** A device of which only these values are known. */
export function deviceOf(sn: string, fields: readonly WatchedField[], values: readonly JsonValue[]): Device {
	const device: Device = { sn };
	for (const [position, { show }] of fields.entries()) {
		const value = values[position];
		if (value === undefined) continue;
		for (const [name, part] of Object.entries(show(value))) {
			const known = device[name];
			device[name] = isRecord(known) && isRecord(part) ? { ...known, ...part } : part;
		}
	}
	return device;
}
