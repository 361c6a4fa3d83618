import { z } from 'zod/v4';

import {
	deviceSchema,
	identifyDevice,
	identifyListed,
	isSerialNumber,
	nameOf,
	serialNumberOf,
} from '../../nodes/DeviceManagement/core/device.ts';

test('a device is told from others by id, else by serial number, else by everything', () => {
	expect(identifyDevice({ id: '1', sn: 'a' })).toBe(identifyDevice({ id: '1', sn: 'b' }));
	expect(identifyDevice({ sn: 'a' })).not.toBe(identifyDevice({ id: 'a' }));
	expect(identifyDevice({ imei: '1' })).not.toBe(identifyDevice({ imei: '2' }));
});

test('Get Many tells devices apart by id and serial number together', () => {
	const same = { id: '1', sn: 'a' };
	expect(identifyListed({ ...same, imei: '2' })).toBe(identifyListed(same));
	for (const other of [{ id: '1', sn: 'b' }, { id: '2', sn: 'a' }, { id: '1' }, { sn: 'a' }, { id: '1a' }]) {
		expect(identifyListed(other)).not.toBe(identifyListed(same));
	}
});

test('devices whose number as ID is too large to tell from the next are told by serial number', () => {
	const [one, other]: unknown[] = JSON.parse(
		'[{"id":1741900010000000117,"sn":"a"},{"id":1741900010000000118,"sn":"b"}]',
	);
	expect(one).toMatchObject({ id: expect.any(Number) });
	const identities = [one, other].map((device) => identifyDevice({ ...Object(device) }));
	expect(new Set(identities).size).toBe(2);
});

test('what tells a device from others comes in this order: a text as id, a number as id, the serial number', () => {
	expect(identifyDevice({ id: 'a', sn: 'b' })).toBe('a');
	expect(identifyDevice({ id: 0, sn: 'b' })).toBe('0');
	expect(identifyDevice({ id: '', sn: 'b' })).toBe('\0sn b');
	expect(identifyDevice({ id: null, sn: 'b' })).toBe('\0sn b');
	expect(identifyDevice({ id: 1.5, sn: 'b' })).toBe('\0sn b');
	expect(identifyDevice({ id: '', sn: '' })).toBe('\0{"id":"","sn":""}');
	expect(identifyDevice({ sn: 7 })).toBe('\0sn 7');
	expect(identifyDevice({ sn: 2 ** 53 })).toBe('\0{"sn":9007199254740992}');
});

describe('a serial number', () => {
	test.each([
		['A-1', 'A-1'],
		['0', '0'],
		[0, '0'],
		[89882110, '89882110'],
		[Number.MAX_SAFE_INTEGER, '9007199254740991'],
	])('is a text, or a whole number that n8n can keep: %j', (sn, text) => {
		expect(serialNumberOf({ id: '1', sn })).toBe(text);
		expect(isSerialNumber(serialNumberOf({ id: '1', sn }))).toBe(true);
	});

	test.each([undefined, null, '', 1.5, 2 ** 53, true, {}, ['A']])('is nothing else: %j', (sn) => {
		expect(isSerialNumber(serialNumberOf({ id: '1', sn }))).toBe(false);
		expect(serialNumberOf({ id: '1', sn })).toBe('\u00001');
		expect(serialNumberOf({ id: '1', sn })).not.toBe(serialNumberOf({ id: '2', sn }));
	});
});

test('the name of a model or a group is null where there is none', () => {
	expect(nameOf({ name: 'R200' })).toBe('R200');
	for (const record of [{}, { name: null }, null, undefined, 'R200', ['R200'], 7]) expect(nameOf(record)).toBeNull();
});

test.each([
	[true, [{ sn: 'a1' }, { sn: ' A1' }]],
	[false, [{}, { id: 'A1' }, { sn: 'A2' }, { sn: null }, null, [], 'A1', undefined]],
])('that it is the device with a serial number is %p of some responses', (isIt, responses) => {
	for (const data of responses) expect(deviceSchema('A1').safeParse(data).success).toBe(isIt);
});

test('the schema of a device is not kept after its request', () => {
	expect(z.globalRegistry.has(deviceSchema('A-1'))).toBe(false);
});
