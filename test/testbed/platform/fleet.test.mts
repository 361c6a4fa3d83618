import { deviceSchema, Fleet, type Device } from '../../../testbed/platform/fleet.mts';

const fleet = Fleet.seeded({ size: 2000, seed: 3 });

test('every device has exactly the fields of sections 2.1 to 2.3, and was updated after it was made', () => {
	expect(() => deviceSchema.array().parse(fleet.devices)).not.toThrow();
	expect(fleet.devices.some(({ createTime, updateTime }) => updateTime !== null && updateTime <= createTime)).toBe(
		false,
	);
});

test('the same size and seed give the same devices, another seed gives others', () => {
	expect(Fleet.seeded({ size: 50, seed: 9 }).devices).toEqual(Fleet.seeded({ size: 50, seed: 9 }).devices);
	expect(Fleet.seeded({ size: 50, seed: 10 }).devices).not.toEqual(Fleet.seeded({ size: 50, seed: 9 }).devices);
});

test('no serial number and no id occurs twice in 20,000 devices', () => {
	const { devices } = Fleet.seeded({ size: 20_000, seed: 5 });
	expect(new Set(devices.map(({ sn }) => sn)).size).toBe(20_000);
	expect(new Set(devices.map(({ id }) => id)).size).toBe(20_000);
});

test('the default order is newest first, and some devices share a second', () => {
	const times = fleet.devices.map(({ createTime }) => createTime);
	expect(times).toEqual([...times].sort().reverse());
	expect(new Set(times).size).toBeLessThan(times.length);
});

test.each<[string, (device: Device) => boolean]>([
	['a null imei', ({ imei }) => imei === null],
	['a null description', ({ description }) => description === null],
	['an empty description', ({ description }) => description === ''],
	['a description beyond ASCII', ({ description }) => /冷蔵/.test(description ?? '')],
	['no attributes', ({ attributes }) => Object.keys(attributes).length === 0],
	[
		'a number, a boolean and an object in the attributes',
		({ attributes: { floor, moving, position } }) =>
			typeof floor === 'number' && typeof moving === 'boolean' && typeof position === 'object',
	],
	[
		'a null and keys with a dot and beyond ASCII in the attributes',
		({ attributes }) =>
			attributes['calibrated'] === null && 'temperature.max' in attributes && 'расположение' in attributes,
	],
	['no tags', ({ tags }) => tags.length === 0],
	['several tags, one beyond ASCII', ({ tags }) => tags.length > 1 && tags.includes('склад')],
	['no update', ({ updateTime, updator }) => updateTime === null && updator === null],
	['a model without an update', ({ model }) => model.updator === '' && model.updateTime === null],
	['a group with an empty description', ({ group }) => group.description === '' && group.updator === null],
	['an id beyond the safe integers', ({ id }) => Number(id) > Number.MAX_SAFE_INTEGER],
])('a fleet has a device with %s', (_what, test) => {
	expect(fleet.devices.some(test)).toBe(true);
});

describe('a change of the fleet', () => {
	let small: Fleet;
	const order = () => small.devices.map(({ sn }) => sn).join('');
	beforeEach(() => {
		const maker = Fleet.seeded({ size: 0 });
		small = new Fleet(['A', 'B', 'C', 'D'].map((sn) => maker.make({ sn })));
	});

	test.each<[string, () => unknown, string]>([
		['add as the newest', () => small.add(small.make({ sn: 'N' })), 'NABCD'],
		['add at a position', () => small.add(small.make({ sn: 'N' }), 2), 'ABNCD'],
		['remove', () => small.remove('B'), 'ACD'],
		['update', () => small.update('B', { sn: 'X' }), 'AXCD'],
		['move', () => small.move('A', 2), 'BCAD'],
		['reorder', () => small.reorder((devices) => devices.reverse()), 'DCBA'],
	])('%s shows at once and raises the version', (_name, change, expected) => {
		const { version } = small;
		change();
		expect(order()).toBe(expected);
		expect(small.version).toBeGreaterThan(version);
		expect(small.devices.map(({ sn }) => small.get(sn))).toEqual(small.devices);
		expect(small.get('B') === undefined).toBe(!expected.includes('B'));
	});

	test('update replaces the record and its JSON', () => {
		const before = small.at(1);
		const bytes = small.bytes(before);
		const after = small.update('B', { status: 99 });
		expect(after).toEqual({ ...before, status: 99 });
		expect(JSON.parse(small.bytes(after).toString())).toEqual(after);
		expect(JSON.parse(bytes.toString())).toEqual(before);
		expect(() => Object.assign(after, { status: 9 })).toThrow(TypeError);
	});

	test.each<[string, () => unknown]>([
		['adding an existing serial number', () => small.add(small.make({ sn: 'A' }))],
		['changing to an existing serial number', () => small.update('A', { sn: 'B' })],
		['removing an unknown device', () => small.remove('NONE')],
		['updating an unknown device', () => small.update('NONE', {})],
		['a new order without a device', () => small.reorder((devices) => devices.slice(1))],
		['a fleet with one serial number twice', () => new Fleet([small.at(0), small.at(0)])],
		['reading beyond the end', () => small.at(4)],
	])('%s throws and changes nothing', (_name, change) => {
		expect(change).toThrow();
		expect(order()).toBe('ABCD');
	});
});
