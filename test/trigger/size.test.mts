import { compare } from '../../nodes/DeviceManagement/trigger/compare/compare.ts';
import { readTriggerParameters } from '../../nodes/DeviceManagement/trigger/form.ts';
import { fetchFleet } from '../../nodes/DeviceManagement/trigger/read/fleet.ts';
import type { Platform } from '../../nodes/DeviceManagement/transport/platform.ts';
import { decodeState, encodeState, type State } from '../../nodes/DeviceManagement/trigger/state.ts';
import { keepValues } from '../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { watchedFields } from '../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { useTrigger } from './watching.mts';

/** Enough that the parts of a state that don't grow with the fleet count less than a tenth of a byte per device. */
const MANY = 5000;
const fleet = Fleet.seeded({ size: MANY, seed: 5 });
const NONE: State = { fingerprint: 'f', number: 1, writes: undefined, recent: new Map(), snapshot: undefined };
const { bench, watch, warnings } = useTrigger();

/** The state of a whole fleet, and its bytes per device in n8n's database, where it is JSON within JSON. */
function remembered(events: string[], attributes: string[] = []) {
	const fields = watchedFields(new Set(events), attributes);
	const devices = fleet.devices.map((device) => ({ sn: device.sn, values: keepValues(device, fields) }));
	const seen = { recent: new Map(), list: { devices, removed: [], unlisted: [] } };
	const task = { fields, rules: [], isFirstOfProcess: false, holdSeconds: 0, now: 1_800_000_000 };
	const encoded = encodeState(compare(NONE, seen, task).state);
	const stored = Buffer.byteLength(JSON.stringify({ 'node:Device Management Trigger': { state: encoded } }));
	// A poll without changes returns the same text.
	expect(encodeState(compare(decodeState(encoded) ?? NONE, seen, task).state)).toBe(encoded);
	return stored / MANY;
}

it('both statuses cost six bytes per device besides the serial number, and shared attributes nothing', () => {
	expect(fleet.devices.every(({ sn }) => sn.length === 10)).toBe(true);
	const statuses = ['onlineStatusChanged', 'statusChanged'];
	const perDevice = remembered(statuses);
	expect(perDevice).toBeLessThanOrEqual(10 + 6);
	expect(perDevice - remembered([])).toBeLessThan(0.1);
	expect(remembered([...statuses, 'attributeChanged'], ['site']) - perDevice).toBeLessThan(1);
});

/** As if each of many devices had a long serial number. */
function addLong(count: number): void {
	const { fleet: few } = bench.platform;
	const device = few.at(0);
	for (let id = 0; id < count; id++) few.add({ ...device, id: `${id}`, sn: `${id}`.padEnd(3_000_000, 'x') });
}

it('a state of more than 20 MB fails the poll, and what was known stays', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 2 });
	const watching = await watch({ events: ['statusChanged'] });
	const { state } = watching;
	addLong(7);
	await expect(watching.poll()).rejects.toMatchObject({
		message: 'The trigger would have to store 22 MB, but it can store only 20 MB',
		description: "Watch fewer devices with 'Filters', or fewer keys in 'Attributes'.",
	});
	expect(watching.state).toBe(state);
});

it('a state that only missing devices make too large forgets these devices', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 2 });
	const few = [...bench.platform.fleet.devices];
	addLong(4);
	const watching = await watch({ events: ['statusChanged'] }, { host: 'C' });
	bench.platform.fleet = new Fleet(few);
	expect(await watching.poll()).toBeNull();
	expect(watching.state?.length).toBeLessThan(1000);
	expect(warnings()).toEqual([expect.stringContaining('forgets the devices that are no longer')]);
});

it('new devices take as much of the state as others, and only those whose state is reported keep their records', async () => {
	const devices = fleet.devices.map((device, index) => ({ ...device, onlineStatus: index < 500 ? 0 : 1 }));
	const rule = [{ field: 'onlineStatus', to: '0' }];
	const given: Record<string, string | number | string[] | object> = {
		...{ events: ['onlineStatusChanged'], conditions: { rule }, forAtLeast: 15, output: 'simplified' },
	};
	const parameters = readTriggerParameters({
		getNodeParameter: (name: string, fallback = '') => given[name] ?? fallback,
	});
	const platform: Platform = {
		request: async ({ schema }) => schema.parse({ content: devices, totalElements: MANY }),
		largestPage: { size: Infinity },
		stop: () => {},
	};
	const before = { ...NONE, snapshot: { devices: new Map([['A', '[1]']]), away: new Map(), holds: [] } };
	const read = async (known: State) => (await fetchFleet(platform, parameters.criteria, parameters, known)).items;
	const recordsIn = (items: Awaited<ReturnType<typeof read>>) => items.filter(({ device }) => device !== undefined);
	const items = await read(before);
	expect(recordsIn(items)).toHaveLength(500);
	expect(recordsIn(await read(NONE))).toEqual([]);
	const seen = { recent: new Map(), list: { devices: items, removed: [], unlisted: [] } };
	const { snapshot } = compare(before, seen, { ...parameters, isFirstOfProcess: false, now: 1_800_000_000 }).state;
	expect(snapshot?.holds).toHaveLength(500);
	const withoutHolds = encodeState({ ...NONE, snapshot: snapshot && { ...snapshot, holds: [] } });
	expect(withoutHolds.length).toBeLessThan(MANY * (10 + 6));
});
