import type { ChangeEvent } from '../../nodes/DeviceManagement/trigger/changes/watched.ts';
import { type Device, Fleet } from '../platform/fleet.mts';

/** How a watched field changes, and what a perfect observer sees of it. It shares no code with the trigger. */
interface Sample {
	/** Name of the field in events. */
	field: string;
	/** What the form needs besides the event. */
	parameters?: { attributes: string };
	/** Returns the value in events; null if the device has none. */
	valueOf: (device: Device) => unknown;
	/** Changes of a device to different values. */
	changes: ReadonlyArray<Partial<Device>>;
}

const GROUP = Fleet.seeded({ size: 1 }).at(0).group;

/** The table of events of change for tests, in the order in which a poll reports them. Each event has a row. */
export const SAMPLES: Readonly<Record<ChangeEvent, Sample>> = {
	onlineStatusChanged: {
		field: 'onlineStatus',
		valueOf: ({ onlineStatus }) => onlineStatus,
		changes: [0, 1, 2].map((onlineStatus) => ({ onlineStatus })),
	},
	statusChanged: {
		field: 'status',
		valueOf: ({ status }) => status,
		changes: [0, 1, 2].map((status) => ({ status })),
	},
	attributeChanged: {
		field: 'attributes.firmware',
		parameters: { attributes: 'firmware' },
		valueOf: ({ attributes }) => attributes['firmware'] ?? null,
		changes: [...['1', '2', 'x'.repeat(101), 3].map((firmware) => ({ attributes: { firmware } })), { attributes: {} }],
	},
	groupChanged: {
		field: 'group',
		valueOf: ({ group }) => group.name,
		changes: ['A', 'B', 'C'].map((name) => ({ group: { ...GROUP, id: `id ${name}`, name } })),
	},
	iccidChanged: {
		field: 'iccid',
		valueOf: ({ iccid }) => iccid,
		changes: ['', '8949000000000000001', '8949000000000000002'].map((iccid) => ({ iccid })),
	},
};

/** The rows of the given events. */
export function samplesOf(events: readonly string[]): Array<Sample & { event: string }> {
	return Object.entries(SAMPLES).flatMap(([event, sample]) => (events.includes(event) ? { event, ...sample } : []));
}

/** What the form needs for these events. */
export function parametersFor(events: readonly string[]): { events: string[]; attributes?: string } {
	return Object.assign({ events: [...events] }, ...samplesOf(events).map(({ parameters }) => parameters));
}

/** Returns a change of the device to other values in every row. */
export function changeOf(device: Device): Partial<Device> {
	const changes = Object.values(SAMPLES).map(({ valueOf, changes: several }) =>
		several.find((change) => valueOf({ ...device, ...change }) !== valueOf(device)),
	);
	return Object.assign({}, ...changes);
}
