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

it('shows the values of the first rule for its field, in the type of the device’s value, and changes nothing else', async () => {
	const today = { moving: true, firmware: '2.1', site: 'Hamburg' };
	const device = bench.fleet.update(bench.fleet.at(0).sn, { onlineStatus: 1, status: 3, attributes: today });
	const items = await fetchTestEvent({
		events: ['onlineStatusChanged', 'statusChanged', 'attributeChanged'],
		attributes: 'firmware, moving, none, site',
		conditions: {
			rule: [
				{ field: 'onlineStatus', from: '1', to: '0' },
				{ field: 'status', from: 'x', to: '' },
				{ field: 'attributes', attribute: 'moving', from: '', to: 'false' },
				{ field: 'attributes', attribute: 'firmware', from: '1.0', to: '2' },
				{ field: 'attributes', attribute: 'none', from: '', to: '7' },
			],
		},
		output: 'raw',
	});
	expect(items.slice(0, 6)).toMatchObject([
		{ field: 'onlineStatus', previous: 1, current: 0, device: { ...device, onlineStatus: 0 } },
		{ field: 'status', previous: 'x', current: 3, device },
		{ previous: '1.0', current: '2', device: { ...device, attributes: { ...today, firmware: '2' } } },
		{ previous: true, current: false, device: { ...device, attributes: { ...today, moving: false } } },
		{ previous: null, current: '7', device: { ...device, attributes: { ...today, none: '7' } } },
		{ field: 'attributes.site', previous: null, current: 'Hamburg', device },
	]);
});

const NONE = 'No data with the current filter could be found';
it.each<[from: string, to: string, today: number, expected: string]>([
	['', '0', 1, '1 → 0'],
	['', '0', 0, 'null → 0'],
	['1', '', 0, '1 → 0'],
	['1', '', 1, NONE],
	['1', '1', 1, NONE],
])(
	'a sample is a change that the rules let pass: from %j to %j of a device that has %i',
	async (from, to, today, expected) => {
		for (const { sn } of bench.fleet.devices.slice(0, 3)) bench.fleet.update(sn, { onlineStatus: today });
		const conditions = { rule: [{ field: 'onlineStatus', from, to }] };
		const fetched = fetchTestEvent({ events: ['onlineStatusChanged'], conditions });
		if (expected === NONE) {
			await expect(fetched).rejects.toMatchObject({
				message: NONE,
				description:
					"The newest devices already have the value in 'From', and 'To' has no other value. Enter one in 'To' for the test.",
			});
			// Another event still has samples.
			expect(await fetchTestEvent({ events: ['deviceCreated', 'onlineStatusChanged'], conditions })).toHaveLength(3);
		} else
			expect((await fetched).map(({ previous, current }) => `${previous} → ${current}`)).toEqual(
				Array(3).fill(expected),
			);
	},
);

it.each<Partial<Settings>>([
	{ sorting: 'refused' },
	{ fault: ({ query }) => (query['size'] === '3' ? { code: 10001 } : undefined) },
])('does without the order or the size that a platform refuses', async (settings) => {
	Object.assign(bench.platform.settings, settings);
	expect(await fetchTestEvent({})).toHaveLength(3);
});

it('shows the message of n8n’s own triggers if there is no device', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 0 });
	const description = "No device matches the 'Filters'. Change the filters, or remove them to see any device.";
	await expect(fetchTestEvent({})).rejects.toMatchObject({ message: NONE, description });
});

it('starts a workflow when it is run by hand', async () => {
	const run = await bench.engine.run(new Watch(bench, {}).workflow());
	expect(run.data('Watch')).toHaveLength(3);
});
