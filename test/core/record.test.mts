import { identifyRecord } from '../../nodes/DeviceManagement/core/record.ts';

test('a record is identified by its id, otherwise by its content', () => {
	expect(identifyRecord({ id: '1', name: 'a' })).toBe('1');
	expect(identifyRecord({ id: 7 })).toBe('7');
	for (const id of ['', null, undefined, 2 ** 53, 1.5, {}])
		expect(identifyRecord({ id, name: 'a' })).not.toBe(identifyRecord({ id, name: 'b' }));
});
