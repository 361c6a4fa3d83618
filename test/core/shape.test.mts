import { shapeDevice } from '../../nodes/DeviceManagement/core/shape.ts';
import { deviceFieldChoices } from '../../nodes/DeviceManagement/fields/deviceFields.ts';
import { deviceSchema, Fleet } from '../../testbed/platform/fleet.mts';

describe('output', () => {
	const device = { ...Fleet.seeded({ size: 1 }).at(0), added: { by: 'a later version' } };

	test('raw is the very object that came', () => {
		expect(shapeDevice(device, { output: 'raw' })).toBe(device);
	});

	test('simplified has ten flat fields', () => {
		const shaped = shapeDevice(device, { output: 'simplified' });
		expect(shaped).toMatchObject({
			id: device.id,
			sn: device.sn,
			modelName: device.model.name,
			groupName: device.group.name,
		});
		expect(Object.keys(shaped)).toHaveLength(10);
	});

	test('simplified says null where a device has no model or group', () => {
		expect(shapeDevice({ id: '1', model: null }, { output: 'simplified' })).toMatchObject({
			modelName: null,
			groupName: null,
		});
	});

	test('selected has the chosen fields and always the ID', () => {
		expect(shapeDevice(device, { output: 'selected', fields: ['sn', 'absent', '__proto__'] })).toEqual({
			id: device.id,
			sn: device.sn,
		});
	});

	test('offers the fields of the API document', () => {
		expect(deviceFieldChoices.map(({ value }) => value)).toEqual(Object.keys(deviceSchema.shape).sort());
	});
});

test('simplified takes each field as it is, and the names of model and group', () => {
	const device = {
		id: '1',
		sn: 'A',
		onlineStatus: 0,
		status: -1,
		tags: [],
		description: null,
		createTime: 'c',
		updateTime: 'u',
		imei: 'left out',
	};
	const { imei: _imei, ...taken } = device;
	const named = { ...device, model: { name: 'R200', vendor: 'left out' }, group: { name: '' } };
	expect(shapeDevice(named, { output: 'simplified' })).toEqual({ ...taken, modelName: 'R200', groupName: '' });
	for (const model of [undefined, null, 'R200', [], {}, { name: undefined }]) {
		expect(shapeDevice({ ...device, model, group: model }, { output: 'simplified' })).toEqual({
			...taken,
			modelName: null,
			groupName: null,
		});
	}
});

test('selected leaves out what the device does not have', () => {
	expect(Object.keys(shapeDevice({ id: '1', sn: 'A' }, { output: 'selected', fields: ['sn', 'imei'] }))).toEqual([
		'id',
		'sn',
	]);
});
