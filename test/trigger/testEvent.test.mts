import type { IDataObject } from 'n8n-workflow';

import { EVENTS } from '../../nodes/DeviceManagement/trigger/changes/watched.ts';
import { useBench } from '../../testbed/jest.mts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import type { Settings } from '../../testbed/platform/settings.mts';
import { Watch } from '../../testbed/watch.mts';
import { changeOf, parametersFor } from '../../testbed/trigger/samples.mts';
import { LATER, published, told } from '../../testbed/trigger/watching.mts';

const bench = useBench();

/** Presses “Fetch Test Event”. */
const fetchTestEvent = async (parameters: IDataObject) => await new Watch(bench, parameters).test();

it('shows the newest devices that meet the filters', async () => {
	const newest = bench.fleet.devices.filter(({ tags }) => tags.includes('pilot')).slice(0, 3);
	const items = await fetchTestEvent({ filters: { tags: 'pilot' } });
	expect(told(items)).toEqual(newest.map(({ sn }) => `deviceCreated ${sn}`));
});

it('shows the newest devices of a group, also if they are not among the first', async () => {
	const { group } = bench.fleet.at(249);
	const ofGroup = bench.fleet.devices.filter((device) => device.group.id === group.id).map(({ sn }) => sn);
	const few = await fetchTestEvent({ filters: { group: group.name.toUpperCase() }, options: { pageSize: 10 } });
	expect(told(few)).toEqual(ofGroup.slice(0, 3).map((sn) => `deviceCreated ${sn}`));
	const words = /^The platform listed no device in the group "gone"\. The list has the groups Default, F.*\. Change/;
	const failure = { description: expect.stringMatching(words) };
	await expect(fetchTestEvent({ filters: { group: 'gone' } })).rejects.toMatchObject(failure);
});

it('has the form that each event has in production, and a mark at its end, and touches no state', async () => {
	const events = EVENTS.map(({ name }) => name);
	const watching = await published(bench, parametersFor(events));
	const { state } = watching;
	const items = await watching.test();
	expect(watching.state).toBe(state);
	bench.fleet.update(bench.fleet.at(0).sn, { ...changeOf(bench.fleet.at(0)), updateTime: LATER });
	bench.fleet.remove(bench.fleet.at(1).sn);
	bench.fleet.add();
	const formsOf = (list: IDataObject[] | null) =>
		new Map(
			list?.map(({ event, field, device, ...rest }) => {
				const names = Object.keys(device as IDataObject).filter((name) => name !== 'attributes');
				return [event, [field, ...Object.keys(rest), ...names]];
			}),
		);
	const real = formsOf(await watching.poll());
	expect(formsOf(items.map(({ sample: _, ...item }) => item))).toEqual(real);
	const [all] = await fetchTestEvent({ ...parametersFor(events), options: { emit: 'perPoll' } });
	const marks = [...items, ...(all?.['events'] as IDataObject[])].map((item) => Object.entries(item).at(-1));
	expect(marks).toEqual(marks.map(() => ['sample', true]));
	expect([...real.keys()].sort()).toEqual([...events].sort());
	expect(items).toHaveLength(3 * EVENTS.length);
	// A workflow may change an item. That must not change another item of this device.
	const nested = items.flatMap(({ device }) => [
		device,
		...Object.values(Object(device)).filter((one) => one === Object(one)),
	]);
	expect(new Set(nested).size).toBe(nested.length);
});

it('shows devices that have the values of the rules, with previous values in the type of the device’s value, and changes nothing', async () => {
	const today = { open: false, release: '2', place: 'Hamburg', charge: 19.5 };
	const device = bench.fleet.update(bench.fleet.at(200).sn, { onlineStatus: 0, attributes: today });
	const ofAttribute = (attribute: string, from: string, to: unknown) => ({ field: 'attributes', attribute, from, to });
	const rule = [
		{ field: 'onlineStatus', from: '1', to: '0' },
		ofAttribute('open', 'true', 'false'),
		ofAttribute('release', '1.0', '2'),
		ofAttribute('charge', '', { mode: 'below', value: '={{ 20 }}' }),
	] as IDataObject[];
	const items = await fetchTestEvent({
		...{ events: ['onlineStatusChanged', 'attributeChanged'], attributes: 'charge, release, open, place' },
		...{ conditions: { rule }, output: 'raw' },
	});
	const own = items.filter((item) => (item['device'] as IDataObject)['sn'] === device.sn);
	expect(own).toMatchObject([
		{ field: 'attributes.charge', previous: null, current: 19.5, device },
		{ field: 'attributes.open', previous: true, current: false, device },
		{ field: 'attributes.release', previous: '1.0', current: '2', device },
	]);
	const online = items.find(({ field }) => field === 'onlineStatus');
	expect(online).toMatchObject({ previous: 1, current: 0, device: { onlineStatus: 0 } });
	expect(items.filter(({ field }) => field === 'attributes.place')).toHaveLength(3);
});

/** What a test shows of three devices with these values: the changes of samples, or why there are none. */
async function sampleOf(values: readonly unknown[], rule: object, isStatus: boolean): Promise<string> {
	bench.platform.fleet = Fleet.seeded({ size: 3 });
	for (const [index, value] of values.entries()) {
		const changes = isStatus ? { onlineStatus: value } : { attributes: value === undefined ? {} : { a: value } };
		bench.fleet.update(bench.fleet.at(index).sn, Object(changes));
	}
	const field = isStatus ? { field: 'onlineStatus' } : { field: 'attributes', attribute: 'a' };
	const conditions = { rule: [{ ...field, ...rule }] };
	const events = ['deviceCreated', isStatus ? 'onlineStatusChanged' : 'attributeChanged'];
	return await fetchTestEvent({ events, conditions }).then(
		(items) =>
			items
				.flatMap(({ event, previous, current }) => (event === 'deviceCreated' ? [] : `${previous} → ${current}`))
				.join(', '),
		({ message, description }) => `${message}. ${description}`,
	);
}

const below = (value: unknown) => ({ to: { mode: 'below', value } });
const refused = (value: string, have: string, side = 'To', where = "'Online Status'") =>
	`No device has ${value} in ${where}. The 3 newest devices have ${have}. Correct '${side}' under 'Conditions'.`;
const refusedOf = (value: string, have: string) => refused(value, have, 'To', 'the attribute "a"');
it.each<[what: 'online' | 'attribute', rule: object, values: unknown[], shown: string]>([
	['online', { to: '0' }, [1, 0, 1], 'null → 0'],
	['online', { to: '' }, [1, 0, 1], 'null → 1, null → 0, null → 1'],
	['online', { from: '1', to: '' }, [1, 0, 1], '1 → 0'],
	// A healthy fleet, as it is.
	['online', { to: '0' }, [1, true, '1'], 'null → 1, null → true, null → 1'],
	['online', { from: '1', to: '' }, [1, 1, 1], 'null → 1, null → 1, null → 1'],
	['online', below(1), [1, 1, 1], 'null → 1, null → 1, null → 1'],
	['online', { to: 'offline' }, [1, 0, 1], refused('"offline"', '1 (2), 0 (1)')],
	['online', { to: '7' }, [1, true, '1'], refused('"7"', '1 (3)')],
	['online', { from: 'on', to: '0' }, [1, 0, 1], refused('"on"', '1 (2), 0 (1)', 'From')],
	['online', { to: { mode: 'above', value: 2 } }, [1, 2, 'x'], refused('a number above "2"', '1 (1), 2 (1), x (1)')],
	['online', { to: '7' }, ['', '', ''], refused('"7"', 'an empty text')],
	['attribute', { to: '7' }, ['x'.repeat(101), 'x', ''], refusedOf('"7"', 'a long text (1), x (1)')],
	['attribute', { to: '2.1.0' }, ['1.9', '2', '2.0.1'], 'null → 1.9, null → 2, null → 2.0.1'],
	['attribute', { to: '2' }, [undefined, undefined, undefined], 'null → null, null → null, null → null'],
	['attribute', { to: '2' }, [undefined, '1', '2'], 'null → 2'],
	['attribute', { to: 'null' }, ['1', '1', '1'], 'null → 1, null → 1, null → 1'],
	['attribute', { to: 'low' }, [7, '8', ''], refusedOf('"low"', '7 (1), 8 (1)')],
	['attribute', { to: '7' }, ['low', true, undefined], refusedOf('"7"', 'low (1), null (1), true (1)')],
	['attribute', below('20'), [25, '19.5', null], 'null → 19.5'],
	['attribute', below('20'), [25, 'low', '19 %'], 'null → 25, null → low, null → 19 %'],
	['attribute', below('20'), ['18 %', '9 %', null], refusedOf('a number below "20"', '18 % (1), 9 % (1), null (1)')],
])('a sample is a device as it is, or a condition is refused: %s, %j of %j', async (what, rule, values, shown) => {
	expect(await sampleOf(values, rule, what === 'online')).toBe(shown);
});

it('looks for the value among the first 1,000 devices', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 1500 });
	for (const { sn } of bench.fleet.devices) bench.fleet.update(sn, { onlineStatus: 1 });
	bench.fleet.update(bench.fleet.at(999).sn, { onlineStatus: 0 });
	const conditions = { rule: [{ field: 'onlineStatus', to: '0' }] };
	const items = await fetchTestEvent({ events: ['onlineStatusChanged'], conditions });
	expect(items.map(({ device }) => (device as IDataObject)['sn'])).toEqual([bench.fleet.at(999).sn]);
	expect(bench.platform.requestsOf('list').map(({ query }) => query['size'])).toEqual(['1000']);
});

it.each<Partial<Settings>>([
	{ sorting: 'refused' },
	{ fault: ({ query }) => (query['size'] === '3' ? { code: 10001 } : undefined) },
])('does without the order or the size that a platform refuses', async (settings) => {
	Object.assign(bench.platform.settings, settings);
	expect(await fetchTestEvent({})).toHaveLength(3);
});

it('shows the message of n8n’s own triggers if no device matches the filters, and says so if there is none', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 0 });
	await expect(fetchTestEvent({})).rejects.toMatchObject({ message: 'The platform has no devices' });
	const message = 'No data with the current filter could be found';
	const description = "No device matches the 'Filters'. Change the filters, or remove them to see any device.";
	await expect(fetchTestEvent({ filters: { name: 'x' } })).rejects.toMatchObject({ message, description });
});

it('starts a workflow when it is run by hand', async () => {
	const run = await bench.engine.run(new Watch(bench, {}).workflow());
	expect(run.data('Watch')).toHaveLength(3);
});
