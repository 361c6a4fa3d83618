import { z } from 'zod/v4';

import {
	deviceSchema,
	identifyDevice,
	identifyListed,
	isSerialNumber,
	serialNumberOf,
} from '../../nodes/DeviceManagement/core/device.ts';

test.each([
	{ device: { id: 'a', sn: 'b' }, identity: 'a' },
	{ device: { id: 0, sn: 'b' }, identity: '0' },
	{ device: { id: '', sn: 'b' }, identity: '\0sn b' },
	{ device: { id: 1.5, sn: 'b' }, identity: '\0sn b' },
	// JavaScript reads this ID and the next one as the same number.
	{ device: JSON.parse('{"id":1741900010000000117,"sn":"b"}'), identity: '\0sn b' },
	{ device: { sn: 7 }, identity: '\0sn 7' },
	{ device: { sn: 2 ** 53 }, identity: '\0{"sn":9007199254740992}' },
	{ device: { id: '', sn: '' }, identity: '\0{"id":"","sn":""}' },
])('a device is identified by id, else by serial number, else by everything: $device', ({ device, identity }) => {
	expect(identifyDevice(device)).toBe(identity);
});

test('Get Many distinguishes devices by id and serial number together', () => {
	const same = { id: '1', sn: 'a' };
	expect(identifyListed({ ...same, imei: '2' })).toBe(identifyListed(same));
	for (const other of [{ id: '1', sn: 'b' }, { id: '2', sn: 'a' }, { id: '1' }, { sn: 'a' }, { id: '1a' }])
		expect(identifyListed(other)).not.toBe(identifyListed(same));
});

test('a serial number is a text, or a whole number that n8n can keep', () => {
	for (const sn of ['A-1', '0', 0, 89882110, Number.MAX_SAFE_INTEGER]) {
		expect(serialNumberOf({ id: '1', sn })).toBe(String(sn));
		expect(isSerialNumber(String(sn))).toBe(true);
	}
	for (const sn of [undefined, null, '', 1.5, 2 ** 53, true, {}, ['A']]) {
		expect(serialNumberOf({ id: '1', sn })).toBe('\u00001');
		expect(isSerialNumber('\u00001')).toBe(false);
	}
});

test('a response is the device with a serial number in upper or lower case, and nothing else is', () => {
	const isDevice = (data: unknown) => deviceSchema('A1').safeParse(data).success;
	expect([{ sn: 'a1' }, { sn: ' A1' }].map(isDevice)).toEqual([true, true]);
	for (const data of [{}, { id: 'A1' }, { sn: 'A2' }, { sn: null }, null, [], 'A1', undefined])
		expect(isDevice(data)).toBe(false);
});

test('the schema of a device is not kept after its request', () => {
	expect(z.globalRegistry.has(deviceSchema('A-1'))).toBe(false);
});
