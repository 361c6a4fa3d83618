import { type Device, nameOf } from './device';

export type OutputMode =
	| { output: 'raw' }
	| { output: 'simplified' }
	/** `undocumented`: those of the fields that the API document doesn't have. */
	| { output: 'selected'; fields: readonly string[]; undocumented?: readonly string[] };

/**
 * Returns a device in the chosen output mode.
 * @returns `raw`: the same object; `simplified`: ten fields, flat; `selected`: `id` and the chosen fields that it has
 */
export function shapeDevice(device: Device, mode: OutputMode): Device {
	if (mode.output === 'raw') return device;
	if (mode.output === 'simplified') return simplify(device);
	const fields = ['id', ...mode.fields.filter((field) => Object.hasOwn(device, field))];
	// An assignment to `__proto__` would make no field.
	return Object.fromEntries(fields.map((field) => [field, device[field]]));
}

/** Returns shaped devices. Calls `hint` if none of them has an undocumented field that the user selected. */
export function withHint(devices: Device[], mode: OutputMode, hint: (message: string) => void): Device[] {
	const fields = mode.output === 'selected' && devices.length > 0 ? (mode.undocumented ?? []) : [];
	const unknown = fields.filter((field) => !devices.some((device) => Object.hasOwn(device, field)));
	const names = unknown.map((field) => `"${field}"`).join(', ');
	if (names !== '') hint(`The platform returned no device with the field ${names}. Check the names in 'Fields'.`);
	return devices;
}

function simplify(device: Device): Device {
	const { id, sn, onlineStatus, status, model, group, tags, description, createTime, updateTime } = device;
	const names = { modelName: nameOf(model), groupName: nameOf(group) };
	return { id, sn, onlineStatus, status, ...names, tags, description, createTime, updateTime };
}
