import { deviceSchema, Fleet, mulberry32, timeText, type Device } from '../../../testbed/platform/fleet.mts';

const fleet = Fleet.seeded({ size: 2000, seed: 3 });

const some = (test: (device: Device) => boolean) => fleet.devices.some(test);

test('every made device has exactly the fields of sections 2.1 to 2.3, of their types', () => {
	for (const device of fleet.devices) expect(() => deviceSchema.parse(device)).not.toThrow();
});

test('the same size and seed give the same devices, another seed gives others', () => {
	expect(Fleet.seeded({ size: 50, seed: 9 }).devices).toEqual(Fleet.seeded({ size: 50, seed: 9 }).devices);
	expect(Fleet.seeded({ size: 50, seed: 10 }).devices).not.toEqual(Fleet.seeded({ size: 50, seed: 9 }).devices);
});

test('no serial number and no id occurs twice in 100,000 devices', () => {
	const large = Fleet.seeded({ size: 100_000, seed: 5 });
	expect(large.size).toBe(100_000);
	expect(new Set(large.devices.map((device) => device.sn)).size).toBe(100_000);
	expect(new Set(large.devices.map((device) => device.id)).size).toBe(100_000);
});

test('the default order is newest first, and some devices share a second', () => {
	const times = fleet.devices.map((device) => device.createTime);
	expect(times).toEqual([...times].sort().reverse());
	expect(new Set(times).size).toBeLessThan(times.length);
});

test.each<[string, (device: Device) => boolean]>([
	['a router', (device) => device.model.type === 1],
	['a tracker', (device) => device.model.type === 2],
	['a logger', (device) => device.model.type === 3],
	['a null imei', (device) => device.imei === null],
	['an imei', (device) => device.imei !== null],
	['a null description', (device) => device.description === null],
	['an empty description', (device) => device.description === ''],
	['a description beyond ASCII', (device) => /冷蔵/.test(device.description ?? '')],
	['no attributes', (device) => Object.keys(device.attributes).length === 0],
	['a number in the attributes', (device) => typeof device.attributes['floor'] === 'number'],
	['a truth value in the attributes', (device) => typeof device.attributes['moving'] === 'boolean'],
	['an object in the attributes', (device) => typeof device.attributes['position'] === 'object'],
	['a null in the attributes', (device) => device.attributes['calibrated'] === null],
	['an attribute key beyond ASCII', (device) => 'расположение' in device.attributes],
	['an attribute key with a dot', (device) => 'temperature.max' in device.attributes],
	['no tags', (device) => device.tags.length === 0],
	['several tags', (device) => device.tags.length > 1],
	['a tag beyond ASCII', (device) => device.tags.includes('склад')],
	['never been updated', (device) => device.updateTime === null && device.updator === null],
	['been updated', (device) => device.updateTime !== null && device.updator !== null],
	['a model with an empty updator', (device) => device.model.updator === ''],
	['a model that was never updated', (device) => device.model.updateTime === null],
	['a group with an empty description', (device) => device.group.description === ''],
	['a group with a null updator', (device) => device.group.updator === null],
	['a group with a name beyond ASCII', (device) => device.group.name === '東京支店'],
	['an id beyond the safe integers', (device) => Number(device.id) > Number.MAX_SAFE_INTEGER],
])('a made fleet has a device with %s', (_what, test) => {
	expect(some(test)).toBe(true);
});

test('the devices of a group that is at one place are there', () => {
	const ofGroup = fleet.devices.filter(({ group, attributes }) => group.name === '東京支店' && 'site' in attributes);
	expect(new Set(ofGroup.map(({ attributes }) => attributes['site']))).toEqual(new Set(['東京']));
});

test('an updated device was updated after it was made', () => {
	for (const { createTime, updateTime } of fleet.devices) {
		if (updateTime !== null) expect(updateTime > createTime).toBe(true);
	}
});

describe('a change of the fleet', () => {
	let small: Fleet;
	const order = () => small.devices.map((device) => device.sn);
	beforeEach(() => {
		small = Fleet.seeded({ size: 4 });
	});

	test('add puts a new device first, or where told', () => {
		const [first, second, third, fourth] = order();
		const top = small.add();
		const middle = small.add(small.make({ sn: 'MIDDLE' }), 2);
		expect(order()).toEqual([top.sn, first, middle.sn, second, third, fourth]);
		expect(small.get('MIDDLE')).toBe(middle);
	});

	test('make gives a device that is newer than all and not in the fleet', () => {
		const made = small.make();
		expect(small.get(made.sn)).toBeUndefined();
		expect(made.createTime >= small.at(0).createTime).toBe(true);
		expect(small.make().sn).not.toBe(made.sn);
	});

	test('remove takes a device out', () => {
		const [first, second, third, fourth] = order();
		expect(small.remove(second ?? '').sn).toBe(second);
		expect(order()).toEqual([first, third, fourth]);
		expect(small.get(second ?? '')).toBeUndefined();
	});

	test('update replaces the record at its position and its JSON', () => {
		const before = small.at(1);
		const bytes = small.bytes(before);
		const after = small.update(before.sn, { status: 99 });
		expect(small.at(1)).toEqual({ ...before, status: 99 });
		expect(JSON.parse(small.bytes(after).toString())).toEqual(after);
		expect(JSON.parse(bytes.toString())).toEqual(before);
		expect(small.get(before.sn)).toBe(after);
	});

	test('update can give another serial number', () => {
		const { sn } = small.at(0);
		small.update(sn, { sn: 'OTHER' });
		expect(small.get(sn)).toBeUndefined();
		expect(small.get('OTHER')).toBe(small.at(0));
	});

	test('move and reorder change the default order', () => {
		const [first, second, third, fourth] = order();
		small.move(first ?? '', 2);
		expect(order()).toEqual([second, third, first, fourth]);
		small.reorder((devices) => devices.reverse());
		expect(order()).toEqual([fourth, first, third, second]);
	});

	test.each<[string, () => unknown]>([
		['add', () => small.add()],
		['remove', () => small.remove(small.at(0).sn)],
		['update', () => small.update(small.at(0).sn, { status: 9 })],
		['move', () => small.move(small.at(0).sn, 1)],
		['reorder', () => small.reorder((devices) => devices.reverse())],
	])('%s raises the version', (_name, change) => {
		const before = small.version;
		change();
		expect(small.version).toBeGreaterThan(before);
	});

	test.each<[string, () => unknown]>([
		['adding a taken serial number', () => small.add(small.make({ sn: small.at(0).sn }))],
		['changing to a taken serial number', () => small.update(small.at(0).sn, { sn: small.at(1).sn })],
		['removing an unknown device', () => small.remove('NONE')],
		['updating an unknown device', () => small.update('NONE', {})],
		['a new order that lacks a device', () => small.reorder((devices) => devices.slice(1))],
		[
			'a new order with one device twice',
			() => small.reorder(([first, ...rest]) => [first ?? small.at(0), ...rest.slice(1), small.at(0)]),
		],
		['a fleet with one serial number twice', () => new Fleet([small.at(0), small.at(0)])],
		['reading beyond the end', () => small.at(4)],
	])('%s throws and changes nothing', (_name, change) => {
		const before = order();
		expect(change).toThrow();
		expect(order()).toEqual(before);
	});

	test('a record cannot be changed in place', () => {
		expect(() => Object.assign(small.at(0), { status: 9 })).toThrow(TypeError);
	});
});

test('a time is written as YYYY-MM-DD HH:MM:SS in UTC', () => {
	expect(timeText(Date.UTC(2025, 1, 3, 4, 5, 6, 789))).toBe('2025-02-03 04:05:06');
});

test('mulberry32 repeats its numbers and stays in [0, 1)', () => {
	const numbers = Array.from({ length: 1000 }, mulberry32(42));
	expect(numbers).toEqual(Array.from({ length: 1000 }, mulberry32(42)));
	expect(numbers[0]).toBeCloseTo(0.6011, 4);
	expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
	expect(Math.max(...numbers)).toBeLessThan(1);
});
