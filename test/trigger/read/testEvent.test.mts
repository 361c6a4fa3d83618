import type { IDataObject } from 'n8n-workflow';

import { isRecord } from '../../../nodes/DeviceManagement/core/json.ts';
import { EVENTS } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { useBench } from '../../../testbed/jest.mts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { Watch } from '../../../testbed/watch.mts';
import { changeOf, parametersFor, SAMPLES } from '../samples.mts';

const bench = useBench();

/** Presses “Fetch Test Event”. */
async function fetchTestEvent(parameters: IDataObject, staticData: IDataObject = {}) {
	return await bench.engine.poll(new Watch(bench, parameters).workflow(), { mode: 'manual', staticData });
}

it('shows the newest devices that meet the filters, and touches no state', async () => {
	for (const staticData of [{}, { 'node:Watch': { state: 'whatever' } }]) {
		const { items, staticData: after } = await fetchTestEvent({ filters: { tags: 'pilot' } }, staticData);
		const newest = bench.fleet.devices.filter(({ tags }) => tags.includes('pilot')).slice(0, 3);
		expect(items?.map(({ json }) => [json['event'], (json['device'] as IDataObject)['sn']])).toEqual(
			newest.map(({ sn }) => ['deviceCreated', sn]),
		);
		expect(after).toEqual(staticData);
	}
});

it('has the form that each event has in production', async () => {
	const events = EVENTS.map(({ name }) => name);
	const parameters = parametersFor(events);
	const { items } = await fetchTestEvent(parameters);
	const watching = new Watch(bench, parameters);
	await watching.activate();
	const [first, second] = [bench.fleet.at(0), bench.fleet.at(1)];
	bench.fleet.update(first.sn, { ...changeOf(first), updateTime: '2031-01-01 00:00:00' });
	bench.fleet.remove(second.sn);
	bench.fleet.add();
	const real = [...((await watching.poll()) ?? []), ...((await watching.poll()) ?? [])];
	const form = (item: IDataObject) => ({
		...item,
		eventId: '',
		detectedAt: '',
		previous: '',
		current: '',
		device: Object.keys(item['device'] as IDataObject).filter((name) => name !== 'attributes'),
	});
	for (const item of real) {
		const shown = items?.map(({ json }) => json).find(({ event }) => event === item['event']);
		expect(Object.keys(shown ?? {})).toEqual(Object.keys(item));
		expect(form(shown ?? {})).toEqual(form(item));
	}
	expect(new Set(real.map(({ event }) => event))).toEqual(new Set(events));
	expect(items).toHaveLength(3 * EVENTS.length);
});

it('shows the values of the first rule for its field, in the type of the device’s value', async () => {
	const [{ sn }] = [bench.fleet.at(0)];
	bench.fleet.update(sn, {
		onlineStatus: 1,
		status: 3,
		attributes: { moving: true, firmware: '2.1', site: 'Hamburg' },
	});
	const { items } = await fetchTestEvent({
		events: ['onlineStatusChanged', 'statusChanged', 'attributeChanged'],
		attributes: 'firmware, moving, none, site',
		conditions: {
			rule: [
				{ field: 'onlineStatus', from: '1', to: '0' },
				{ field: 'onlineStatus', from: '5', to: '6' },
				{ field: 'status', from: 'x', to: '' },
				{ field: 'attributes', attribute: 'moving', from: '', to: 'false' },
				{ field: 'attributes', attribute: 'firmware', from: '1.0', to: '2' },
				{ field: 'attributes', attribute: 'none', from: '', to: '7' },
			],
		},
		output: 'raw',
	});
	const shown = (items ?? []).slice(0, 6).map(({ json: { field, previous, current, device } }) => {
		const { onlineStatus, status, attributes } = device as IDataObject;
		return [field, previous, current, onlineStatus, status, attributes];
	});
	const today = { moving: true, firmware: '2.1', site: 'Hamburg' };
	expect(shown).toEqual([
		['onlineStatus', 1, 0, 0, 3, today],
		['status', 'x', 3, 1, 3, today],
		['attributes.firmware', '1.0', '2', 1, 3, { ...today, firmware: '2' }],
		['attributes.moving', true, false, 1, 3, { ...today, moving: false }],
		['attributes.none', null, '7', 1, 3, { ...today, none: '7' }],
		['attributes.site', null, 'Hamburg', 1, 3, today],
	]);
});

describe('a sample is a change that the rules let pass', () => {
	const fetchSamples = async (from: string, to: string, onlineStatus: number, events = ['onlineStatusChanged']) => {
		for (const { sn } of bench.fleet.devices.slice(0, 3)) bench.fleet.update(sn, { onlineStatus });
		const { items } = await fetchTestEvent({ events, conditions: { rule: [{ field: 'onlineStatus', from, to }] } });
		return (items ?? []).map(({ json: { event, previous, current } }) => [event, previous, current]);
	};

	it.each<[from: string, to: string, today: number, previous: number | null, current: number]>([
		['', '0', 1, 1, 0],
		['', '0', 0, null, 0],
		['', '', 1, null, 1],
		['1', '', 0, 1, 0],
		['1', '0', 0, 1, 0],
	])('from %j to %j of a device that has %i: %p → %p', async (from, to, today, previous, current) => {
		const sample = ['onlineStatusChanged', previous, current];
		expect(await fetchSamples(from, to, today)).toEqual([sample, sample, sample]);
	});

	it.each(['', '1'])('from 1 to %j of a device that has 1: no sample, and a message says what helps', async (to) => {
		const events = (await fetchSamples('1', to, 1, ['deviceCreated', 'onlineStatusChanged'])).map(([event]) => event);
		expect(events).toEqual(['deviceCreated', 'deviceCreated', 'deviceCreated']);
		await expect(fetchSamples('1', to, 1)).rejects.toMatchObject({
			message: 'No data with the current filter could be found',
			description:
				"The newest devices already have the value in 'From', and 'To' has no other value. Enter one in 'To' for the test.",
		});
	});
});

it.each(Object.entries(SAMPLES))('changes only the value of the field: %s', async (event, { field }) => {
	const device = bench.fleet.update(bench.fleet.at(0).sn, { attributes: { firmware: '1', site: 'Hamburg' } });
	const [name, attribute = ''] = field.split('.');
	const conditions = { rule: [{ field: name, attribute, to: '99' }] };
	const { items } = await fetchTestEvent({ ...parametersFor([event]), conditions, output: 'raw' });
	const shown = items?.[0]?.json['device'] as IDataObject;
	const keysOf = (record: object) =>
		Object.entries(record).map(([key, value]) => [key, ...(isRecord(value) ? Object.keys(value) : [])]);
	expect(shown).not.toEqual(device);
	expect(keysOf(shown)).toEqual(keysOf(device));
});

it('shows one item where all events of a poll are one', async () => {
	const { items } = await fetchTestEvent({ options: { emit: 'perPoll' } });
	expect(items).toMatchObject([{ json: { count: 3, events: [{ event: 'deviceCreated' }, {}, {}] } }]);
});

it('does without the order that a platform refuses', async () => {
	bench.platform.settings.sorting = 'refused';
	const { items } = await fetchTestEvent({});
	expect(items).toHaveLength(3);
});

it('shows the message of n8n’s own triggers if there is no device', async () => {
	await expect(fetchTestEvent({ filters: { tags: 'nobody has it' } })).rejects.toMatchObject({
		message: 'No data with the current filter could be found',
		description: "No device matches the 'Filters'. Change them, or remove them to see any device.",
	});
	bench.platform.fleet = Fleet.seeded({ size: 0 });
	await expect(fetchTestEvent({})).rejects.toThrow('No data with the current filter could be found');
});

it('reports each failure, and never waits for another poll', async () => {
	bench.platform.settings.faults = [{ fault: { status: 503 }, times: Infinity }];
	for (let count = 0; count < 2; count++)
		await expect(fetchTestEvent({ options: { maxRetries: 0 } })).rejects.toThrow('HTTP 503');
	expect(bench.platform.requests).toHaveLength(2);
});

it('starts a workflow when it is run by hand', async () => {
	const run = await bench.engine.run(new Watch(bench, {}).workflow());
	expect(run.data('Watch')).toHaveLength(3);
});
