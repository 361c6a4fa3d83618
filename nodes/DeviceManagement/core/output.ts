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
