import type { NodeParameterValueType } from 'n8n-workflow';

import { compare } from '../../nodes/DeviceManagement/trigger/compare/compare.ts';
import { readTriggerParameters } from '../../nodes/DeviceManagement/trigger/form.ts';
import { fetchFleet } from '../../nodes/DeviceManagement/trigger/read/fleet.ts';
import type { Platform } from '../../nodes/DeviceManagement/transport/platform.ts';
import { decodeState, encodeState, type State } from '../../nodes/DeviceManagement/trigger/state.ts';
import { keepValues } from '../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { watchedFields } from '../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { useBareBench, useStillClock } from '../../testbed/jest.mts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { Watch } from '../../testbed/watch.mts';

const MANY = 100_000;
const fleet = Fleet.seeded({ size: MANY, seed: 5 });
const bench = useBareBench();
useStillClock();

/** The state of a whole fleet, and its bytes per device in n8n's database, where it is JSON within JSON. */
function remembered(events: string[], attributes: string[] = []) {
	const fields = watchedFields(new Set(events), attributes);
	const devices = fleet.devices.map((device) => ({
		id: device.id,
		sn: device.sn,
		values: keepValues(device, fields),
		rows: {},
	}));
	const seen = { recent: new Map(), list: { devices, removed: [], unlisted: [] } };
	const task = {
		fields,
		rules: [],
		isFirstOfProcess: false,
		holdSeconds: 0,
		now: 1_800_000_000,
	};
	const none = { fingerprint: 'f', number: 1, writes: undefined, recent: new Map(), snapshot: undefined };
	const encoded = encodeState(compare(none, seen, task).state);
	const stored = Buffer.byteLength(JSON.stringify({ 'node:Device Management Trigger': { state: encoded } }));
	return { encoded, perDevice: stored / MANY, seen, task };
}

it('both statuses cost six bytes per device, besides the serial number', () => {
	expect(fleet.devices.every(({ sn }) => sn.length === 10)).toBe(true);
	const { perDevice, encoded, seen, task } = remembered(['onlineStatusChanged', 'statusChanged']);
	expect(perDevice).toBeLessThanOrEqual(10 + 6);
	expect(perDevice - remembered([]).perDevice).toBeLessThan(0.1);
	const read = decodeState(encoded);
	if (read === undefined) throw new Error('No state');
	// A poll without changes returns the same text.
	expect(encodeState(compare(read, seen, task).state)).toBe(encoded);
});

it('an attribute costs what its values take, and nothing where devices share them', () => {
	const statuses = ['onlineStatusChanged', 'statusChanged'];
	const { perDevice } = remembered([...statuses, 'attributeChanged'], ['site']);
	expect(perDevice - remembered(statuses).perDevice).toBeLessThan(1);
});

it('a state of more than 20 MB fails the poll, and what was known stays', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 2 });
	const watching = new Watch(bench, { events: ['attributeChanged'], attributes: 'a, b' });
	const attributes = { a: 'x'.repeat(100), b: 'y' };
	for (const { sn } of bench.platform.fleet.devices) bench.platform.fleet.update(sn, { attributes });
	await watching.activate();
	const { state } = watching;
	const device = bench.platform.fleet.at(0);
	// As if each of many devices had a long serial number.
	for (let count = 0; count < 21; count++)
		bench.platform.fleet.add({ ...device, id: `${count}`, sn: `${count}`.padEnd(1_000_000, 'x') });
	await expect(watching.poll()).rejects.toMatchObject({
		message: 'The trigger would have to store 22 MB, but it can store only 20 MB',
		description: "Watch fewer devices with 'Filters', or fewer keys in 'Attributes'.",
	});
	expect(watching.state).toBe(state);
});

it('a state that only missing devices make too large forgets these devices', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 2 });
	const watching = new Watch(bench, { events: ['statusChanged'] }, { host: 'C' });
	const device = bench.platform.fleet.at(0);
	const ids = Array.from({ length: 11 }, (_, index) => `${index}`);
	const many = ids.map((id) => ({ ...device, id, sn: id.padEnd(1_000_000, 'x') }));
	bench.platform.fleet = new Fleet([...bench.platform.fleet.devices, ...many]);
	await watching.activate();
	bench.platform.fleet = new Fleet(bench.platform.fleet.devices.slice(0, 2));
	expect(await watching.poll()).toBeNull();
	expect(watching.state?.length).toBeLessThan(1000);
	expect(bench.engine.logs.at(-1)).toMatchObject({
		message: expect.stringContaining('forgets the devices that are no longer'),
	});
});

it('10,000 new devices take as much of the state as others, and only those whose state is reported keep their records', async () => {
	const fleet = Fleet.seeded({ size: 10_000, seed: 5 });
	for (const [index, { sn }] of fleet.devices.entries()) fleet.update(sn, { onlineStatus: index < 500 ? 0 : 1 });
	const rule = [{ field: 'onlineStatus', to: '0' }];
	const given: Record<string, NodeParameterValueType> = {
		events: ['onlineStatusChanged'],
		conditions: { rule },
		forAtLeast: 15,
		output: 'simplified',
	};
	const parameters = readTriggerParameters({
		getNodeParameter: (name: string, fallback: NodeParameterValueType = '') => given[name] ?? fallback,
	});
	const platform: Platform = {
		request: async ({ schema }) => schema.parse({ content: fleet.devices, totalElements: fleet.size }),
		largestPage: { size: Infinity },
		stop: () => {},
	};
	const none = { fingerprint: 'f', number: 1, writes: undefined, recent: new Map() };
	const before = { ...none, snapshot: { devices: new Map([['A', '[1]']]), away: new Map(), holds: [] } };
	const keptRecords = async (known: State) => {
		const { items } = await fetchFleet(platform, parameters.criteria, parameters, known);
		return { items, count: items.filter(({ device }) => device !== undefined).length };
	};
	const { items, count } = await keptRecords(before);
	expect(count).toBe(500);
	expect((await keptRecords({ ...none, snapshot: undefined })).count).toBe(0);
	const seen = { recent: new Map(), list: { devices: items, removed: [], unlisted: [] } };
	const options = { ...parameters, isFirstOfProcess: false, now: 1_800_000_000 };
	const { state } = compare(before, seen, options);
	expect(encodeState({ ...state, snapshot: state.snapshot && { ...state.snapshot, holds: [] } }).length).toBeLessThan(
		10_000 * (10 + 6),
	);
	expect(state.snapshot?.holds).toHaveLength(500);
});
