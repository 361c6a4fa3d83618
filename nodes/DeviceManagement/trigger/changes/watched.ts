/**
 * The table of the fields whose changes the trigger reports. Their events, the choices of a rule, the subtitle and the values of a
 * removed device derive from it, so a new kind of change is one entry. It doesn't keep or compare the values: see values.ts and step.ts.
 */
import { type Device, nameOf } from '../../core/device';
import { isRecord, type JsonValue } from '../../core/json';
import { idOf } from '../../core/record';

interface FieldKind {
	readonly name: string;
	readonly event: string;
	/** Label of the field in a rule. The event's label adds “Changed”. */
	readonly label: string;
	readonly description: string;
	/** The event in n8n's nodes panel, if its label says too little. */
	readonly action?: string;
	/** Whether the field has several values, and 'Attributes' lists the keys to watch. */
	readonly hasKeys?: true;
	/** Returns the value to show and to compare; null or undefined if the device has none. */
	readonly read: (device: Device, key: string) => JsonValue;
	/** Returns what is compared instead, if the value is only its name, as with a record that has an ID and a name. */
	readonly identify?: (device: Device) => JsonValue;
	/** Returns what a value adds to a removed device or to a sample, whose other fields are `known`: keep them. */
	readonly show: (value: JsonValue, key: string, known: Device) => Device;
}

function plainField<Name extends string>(name: Name, label: string, description: string) {
	const read = (device: Device) => device[name];
	const show = (value: JsonValue) => ({ [name]: value });
	return { name, event: `${name}Changed`, label, description, read, show } as const satisfies FieldKind;
}

const TABLE = [
	{
		...plainField('onlineStatus', 'Online Status', 'A device went offline or came back online'),
		action: 'On device going offline or online',
	},
	plainField('status', 'Status', 'The status of a device changed'),
	{
		name: 'attributes',
		event: 'attributeChanged',
		label: 'Attribute',
		description: 'An attribute of a device changed',
		hasKeys: true,
		read: ({ attributes }, key) =>
			isRecord(attributes) && Object.hasOwn(attributes, key) ? attributes[key] : undefined,
		show: (value, key, { attributes }) =>
			value === null ? {} : { attributes: { ...(isRecord(attributes) && attributes), [key]: value } },
	},
	{
		name: 'group',
		event: 'groupChanged',
		label: 'Group',
		description: 'A device moved to another group',
		read: ({ group }) => (isRecord(group) ? nameOf(group) : group),
		// A group keeps its ID when it is renamed.
		identify: ({ group }) => (isRecord(group) ? (idOf(group) ?? nameOf(group)) : group),
		show: (name, _key, { group }) => ({ group: name === null ? null : { ...(isRecord(group) && group), name } }),
	},
	{ ...plainField('iccid', 'ICCID', 'A device has a different SIM card'), action: 'On SIM card (ICCID) change' },
] as const satisfies readonly FieldKind[];

/** The update time is watched like a value. It has no rules and needn't last, and its event doesn't show it. */
const UPDATE_TIME = { ...plainField('updateTime', '', ''), event: 'deviceUpdated' } as const satisfies FieldKind;

export type ChangeEvent = (typeof TABLE)[number]['event'];

const FIELD_KINDS: ReadonlyArray<FieldKind & { readonly event: ChangeEvent }> = TABLE;

const byLabel = (one: { label: string }, other: { label: string }) => (one.label < other.label ? -1 : 1);

export const FIELDS = FIELD_KINDS.toSorted(byLabel);

export const EVENTS = [
	{ name: 'deviceCreated' as const, label: 'Device Created', description: 'A device was added to the platform' },
	{ name: 'deviceRemoved' as const, label: 'Device Removed', description: 'A device was removed from the platform' },
	{
		name: 'deviceUpdated' as const,
		label: 'Device Updated',
		description: 'A device was edited (its update time changed)',
	},
	...FIELDS.map(({ event, label, description, action }) => ({
		name: event,
		label: `${label} Changed`,
		description,
		...(action && { action }),
	})),
].sort(byLabel);

export type EventName = (typeof EVENTS)[number]['name'];

/** A watched value of each device. Its name is that of events, rules and sort orders: `attributes.firmware` (section 1.3). */
export type WatchedField = FieldKind & {
	readonly event: ChangeEvent | 'deviceUpdated';
	/** The key of an attribute; else empty. */
	readonly key: string;
};

export const isUpdateTime = ({ event }: WatchedField) => event === UPDATE_TIME.event;

/** Returns the values that the chosen events watch, in the order of the table. `keys` are those of the watched attributes. */
export function watchedFields(events: ReadonlySet<string>, keys: readonly string[]): WatchedField[] {
	const kinds: ReadonlyArray<FieldKind & Pick<WatchedField, 'event'>> = [UPDATE_TIME, ...FIELD_KINDS];
	return kinds
		.filter(({ event }) => events.has(event))
		.flatMap((kind) =>
			kind.hasKeys ? keys.map((key) => ({ ...kind, name: `${kind.name}.${key}`, key })) : { ...kind, key: '' },
		);
}

/** Returns the name of a watched field for messages. */
export function wordsFor({ label, key }: Pick<WatchedField, 'label' | 'key'>): string {
	return key === '' ? `'${label}'` : `the attribute "${key}"`;
}

/** Returns the value of a watched field that users see; null if the device has none. */
export function valueOf({ read, key }: WatchedField, device: Device): JsonValue {
	return read(device, key) ?? null;
}
