import { shapeDevice } from '../../nodes/DeviceManagement/core/shape.ts';
import { Fleet } from '../../testbed/platform/fleet.mts';

const device = { ...Fleet.seeded({ size: 1 }).at(0), onlineStatus: 0, added: { by: 'a later version' } };

test('raw is the very object that came', () => {
	expect(shapeDevice(device, { output: 'raw' })).toBe(device);
});

test('simplified has ten flat fields, with the names of model and group', () => {
	const { id, sn, onlineStatus, status, tags, description, createTime, updateTime } = device;
	const taken = { id, sn, onlineStatus, status, tags, description, createTime, updateTime };
	const named = { ...device, model: { name: 'R200', vendor: 'left out' }, group: { name: '' } };
	const names = { modelName: 'R200', groupName: '' };
	expect(shapeDevice(named, { output: 'simplified' })).toStrictEqual({ ...taken, ...names });
	for (const model of [undefined, null, 'R200', ['R200'], 7, {}, { name: undefined }]) {
		const shaped = shapeDevice({ ...device, model, group: model }, { output: 'simplified' });
		expect(shaped).toStrictEqual({ ...taken, modelName: null, groupName: null });
	}
});

test('selected has the ID, and the chosen fields that the device has', () => {
	const shaped = shapeDevice(device, { output: 'selected', fields: ['sn', 'absent', '__proto__'] });
	expect(Object.entries(shaped)).toEqual([
		['id', device.id],
		['sn', device.sn],
	]);
	const odd = { ...device, ['__proto__']: 'x', constructor: 'y' };
	const same = shapeDevice(odd, { output: 'selected', fields: Object.keys(odd) });
	expect(new Map(Object.entries(same))).toEqual(new Map(Object.entries(odd)));
});
