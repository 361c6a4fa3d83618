import { type Device, nameOf } from './device';

/** The fields of a device that the node returns. */
export type OutputMode =
	| { output: 'raw' }
	| { output: 'simplified' }
	| { output: 'selected'; fields: readonly string[] };

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

function simplify(device: Device): Device {
	const { id, sn, onlineStatus, status, model, group, tags, description, createTime, updateTime } = device;
	const names = { modelName: nameOf(model), groupName: nameOf(group) };
	return { id, sn, onlineStatus, status, ...names, tags, description, createTime, updateTime };
}
