import type { IDataObject } from 'n8n-workflow';

import { EVENTS } from '../../nodes/DeviceManagement/trigger/watched.ts';
import { useBench } from '../../testbed/jest.mts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import type { Settings } from '../../testbed/platform/settings.mts';
import { Watch } from '../../testbed/watch.mts';
import { changeOf, parametersFor } from './samples.mts';
import { LATER, published, told } from './watching.mts';

const bench = useBench();

/** Presses “Fetch Test Event”. */
async function fetchTestEvent(parameters: IDataObject, staticData: IDataObject = {}): Promise<IDataObject[]> {
	const node = bench.engine.pollingNode(new Watch(bench, parameters).workflow(), { mode: 'manual', staticData });
	return ((await node.poll()) ?? []).map(({ json }) => json);
}

it('shows the newest devices that meet the filters, and touches no state', async () => {
	const newest = bench.fleet.devices.filter(({ tags }) => tags.includes('pilot')).slice(0, 3);
	const staticData = { 'node:Watch': { state: 'whatever' } };
	const items = await fetchTestEvent({ filters: { tags: 'pilot' } }, staticData);
	expect(told(items)).toEqual(newest.map(({ sn }) => `deviceCreated ${sn}`));
	expect(staticData).toEqual({ 'node:Watch': { state: 'whatever' } });
});

it('shows the newest devices of a group, also if they are not among the first', async () => {
	const { group } = bench.fleet.at(249);
	const ofGroup = bench.fleet.devices.filter((device) => device.group.id === group.id).map(({ sn }) => sn);
	const few = await fetchTestEvent({ filters: { group: group.name.toUpperCase() }, options: { pageSize: 10 } });
	expect(told(few)).toEqual(ofGroup.slice(0, 3).map((sn) => `deviceCreated ${sn}`));
	const description =
		/^The platform listed no device in the group "gone"\. The list has the groups Default, F.*\. Change/;
	await expect(fetchTestEvent({ filters: { group: 'gone' } })).rejects.toMatchObject({
		description: expect.stringMatching(description),
	});
});

it('has the form that each event has in production, and a mark at its end', async () => {
	const events = EVENTS.map(({ name }) => name);
	const items = await fetchTestEvent(parametersFor(events));
	const watching = await published(bench, parametersFor(events));
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
});

it('shows devices that have the values of the rules, with previous values in the type of the device’s value, and changes nothing', async () => {
	const today = { open: false, release: '2', place: 'Hamburg', charge: 19.5 };
	const device = bench.fleet.update(bench.fleet.at(200).sn, { onlineStatus: 0, status: 3, attributes: today });
	const items = await fetchTestEvent({
		events: ['onlineStatusChanged', 'statusChanged', 'attributeChanged'],
		attributes: 'charge, release, open, place',
		conditions: {
			rule: [
				{ field: 'onlineStatus', from: '1', to: '0' },
				{ field: 'status', from: '2', to: '3' },
				{ field: 'attributes', attribute: 'open', from: 'true', to: 'false' },
				{ field: 'attributes', attribute: 'release', from: '1.0', to: '2' },
				{ field: 'attributes', attribute: 'charge', to: { mode: 'below', value: '={{ 20 }}' } },
			],
		},
		output: 'raw',
	});
	const own = items.filter((item) => (item['device'] as IDataObject)['sn'] === device.sn);
	expect(own).toMatchObject([
		{ field: 'attributes.charge', previous: null, current: 19.5, device },
		{ field: 'attributes.open', previous: true, current: false, device },
		{ field: 'attributes.release', previous: '1.0', current: '2', device },
	]);
	const [online, status] = ['onlineStatus', 'status'].map((name) => items.find(({ field }) => field === name));
	expect([online, status]).toMatchObject([
		{ previous: 1, current: 0, device: { onlineStatus: 0 } },
		{ previous: 2, current: 3, device: { status: 3 } },
	]);
	expect(items.filter(({ field }) => field === 'attributes.place')).toHaveLength(3);
});

const NONE = 'No data with the current filter could be found';
const HAVE = 'The 3 newest devices have';

/** What a test shows of three devices with these values: the changes of samples, or why there are none. */
async function sampleOf(values: unknown[], rule: IDataObject, field: 'onlineStatus' | 'attributes'): Promise<string> {
	bench.platform.fleet = Fleet.seeded({ size: 3 });
	for (const [index, value] of values.entries()) {
		const attributes = value === undefined ? {} : { a: value };
		bench.fleet.update(bench.fleet.at(index).sn, Object(field === 'attributes' ? { attributes } : { [field]: value }));
	}
	const event = field === 'attributes' ? 'attributeChanged' : `${field}Changed`;
	const conditions = { rule: [{ field, ...(field === 'attributes' && { attribute: 'a' }), ...rule }] };
	return await fetchTestEvent({ events: ['deviceCreated', event], conditions }).then(
		(items) => {
			const changes = items.filter((item) => item['event'] !== 'deviceCreated');
			for (const { current, device, sample } of changes) {
				const { onlineStatus } = device as IDataObject;
				expect([sample, field === 'attributes' || onlineStatus === current]).toEqual([true, true]);
			}
			return changes.map(({ previous, current }) => `${previous} → ${current}`).join(', ');
		},
		({ message, description }) => `${message}. ${description}`,
	);
}

it.each<[to: unknown, values: unknown[], shown: string, from?: string]>([
	['0', [1, 0, 1], 'null → 0'],
	['', [1, 0, 1], 'null → 1, null → 0, null → 1'],
	['', [1, 0, 1], '1 → 0', '1'],
	// A healthy fleet, as it is.
	['0', [1, true, '1'], 'null → 1, null → true, null → 1'],
	['', [1, 1, 1], 'null → 1, null → 1, null → 1', '1'],
	[{ mode: 'below', value: 1 }, [1, 1, 1], 'null → 1, null → 1, null → 1'],
	[
		'offline',
		[1, 0, 1],
		`No device has "offline" in 'Online Status'. ${HAVE} 1 (2), 0 (1). Correct 'To' under 'Conditions'.`,
	],
	['7', [1, true, '1'], `No device has "7" in 'Online Status'. ${HAVE} 1 (3). Correct 'To' under 'Conditions'.`],
	[
		'0',
		[1, 0, 1],
		`No device has "on" in 'Online Status'. ${HAVE} 1 (2), 0 (1). Correct 'From' under 'Conditions'.`,
		'on',
	],
	[
		{ mode: 'above', value: 2 },
		[1, 2, 'x'],
		`No device has a number above "2" in 'Online Status'. ${HAVE} 1 (1), 2 (1), x (1). Correct 'To' under 'Conditions'.`,
	],
])('a sample is a device as it is, or a condition on the online status is refused: to %j of %j', async (...row) => {
	const [to, values, shown, from = ''] = row;
	expect(await sampleOf(values, { from, to: to as string }, 'onlineStatus')).toBe(shown);
});

const BAD_TO = "Correct 'To' under 'Conditions'.";
it.each<[to: unknown, values: unknown[], shown: string]>([
	['2.1.0', ['1.9', '2', '2.0.1'], 'null → 1.9, null → 2, null → 2.0.1'],
	['2', [undefined, undefined, undefined], 'null → null, null → null, null → null'],
	['2', [undefined, '1', '2'], 'null → 2'],
	['null', ['1', '1', '1'], 'null → 1, null → 1, null → 1'],
	['low', [7, '8', ''], `No device has "low" in the attribute "a". ${HAVE} 7 (1), 8 (1). ${BAD_TO}`],
	[
		'7',
		['low', true, undefined],
		`No device has "7" in the attribute "a". ${HAVE} low (1), null (1), true (1). ${BAD_TO}`,
	],
	[{ mode: 'below', value: '20' }, [25, '19.5', null], 'null → 19.5'],
	[{ mode: 'below', value: '20' }, [25, 'low', '19 %'], 'null → 25, null → low, null → 19 %'],
	[
		{ mode: 'below', value: '20' },
		['18 %', '19 %', null],
		`No device has a number below "20" in the attribute "a". ${HAVE} 18 % (1), 19 % (1), null (1). ${BAD_TO}`,
	],
])(
	'a sample is a device as it is, or a condition on an attribute is refused: to %j of %j',
	async (to, values, shown) => {
		expect(await sampleOf(values, { to: to as string }, 'attributes')).toBe(shown);
	},
);

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
	const description = "No device matches the 'Filters'. Change the filters, or remove them to see any device.";
	await expect(fetchTestEvent({ filters: { name: 'x' } })).rejects.toMatchObject({ message: NONE, description });
});

it('starts a workflow when it is run by hand', async () => {
	const run = await bench.engine.run(new Watch(bench, {}).workflow());
	expect(run.data('Watch')).toHaveLength(3);
});
