import { type Device, nameOf } from './device';

/** Which part of a device goes on in the workflow. */
export type OutputMode =
	| { output: 'raw' }
	| { output: 'simplified' }
	| { output: 'selected'; fields: readonly string[] };

/**
 * Shapes a device for the workflow.
 * @returns `raw`: the very object that came, not a copy; `simplified`: ten fields, flat; `selected`: `id` and the
 * chosen fields that the device has
 */
export function shapeDevice(device: Device, mode: OutputMode): Device {
	if (mode.output === 'raw') return device;
	if (mode.output === 'simplified') return simplify(device);
	const shaped: Device = { id: device['id'] };
	for (const field of mode.fields) {
		if (Object.hasOwn(device, field)) shaped[field] = device[field];
	}
	return shaped;
}

function simplify(device: Device): Device {
	return {
		id: device['id'],
		sn: device['sn'],
		onlineStatus: device['onlineStatus'],
		status: device['status'],
		modelName: nameOf(device['model']),
		groupName: nameOf(device['group']),
		tags: device['tags'],
		description: device['description'],
		createTime: device['createTime'],
		updateTime: device['updateTime'],
	};
}
