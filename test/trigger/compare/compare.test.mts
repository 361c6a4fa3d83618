import { type Device, nameOf } from '../../../nodes/DeviceManagement/core/device.ts';
import { isRecord } from '../../../nodes/DeviceManagement/core/json.ts';
import { compare, type Observation } from '../../../nodes/DeviceManagement/trigger/compare/compare.ts';
import type { State } from '../../../nodes/DeviceManagement/trigger/state.ts';
import { rowOf } from '../../../nodes/DeviceManagement/trigger/compare/recent.ts';
import { readRules } from '../../../nodes/DeviceManagement/trigger/compare/rules.ts';
import { removedEvent } from '../../../nodes/DeviceManagement/trigger/compare/events.ts';
import { keepValues } from '../../../nodes/DeviceManagement/trigger/compare/kept.ts';
import {
	CHANGE_EVENTS,
	EVENTS,
	FIELDS,
	TIMES,
	valueOf,
	watchedFields,
	type WatchedField,
} from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { timeText } from '../../../testbed/platform/fleet.mts';

const T = 1_000_000;
const ALL: ReadonlySet<string> = new Set(['onlineStatusChanged', 'statusChanged', 'attributeChanged', 'deviceRemoved']);
const fields = watchedFields(ALL, ['firmware']);
const task = { fields, rules: [], isFirstOfProcess: false, holdSeconds: 0, now: 500 };
/** What a baseline is compared with. */
const nothing: State = { fingerprint: 'f', number: 40, writes: undefined, recent: new Map(), snapshot: undefined };

const device = (sn: string, changes: Device = {}): Device => ({
	id: `id ${sn}`,
	sn,
	onlineStatus: 1,
	status: 2,
	attributes: {},
	...changes,
});
/** What a poll sees of devices, dated by seconds. */
const seen = (before: State, devices: Device[], removed: string[] = [], unlisted: string[] = []): Observation => ({
	recent: new Map(
		TIMES.map(({ field }) => {
			const dated = devices.map((one) => ({ ...one, [field]: one[field] && timeText(Number(one[field]) * 1000) }));
			const rows = dated.flatMap((one) => rowOf(one, field, before.recent.get(field)) ?? []);
			return [field, { rows, top: { id: '', sn: '', time: T, isNew: false }, complete: true }];
		}),
	),
	list: {
		removed,
		unlisted,
		devices: devices.map((one) => ({ sn: String(one['sn']), values: keepValues(one, fields), device: one })),
	},
});
const baseline = (devices: Device[]): State => compare(nothing, seen(nothing, devices), task).state;
const told = ({ events }: Pick<ReturnType<typeof compare>, 'events'>) =>
	events.map(({ event, device: { sn } }) => [event, sn]);

it('lists events and fields in the order of their labels, and an event for each field', () => {
	for (const list of [EVENTS, FIELDS]) {
		const labels = list.map(({ label }) => label);
		expect(labels).toEqual([...labels].sort());
	}
	const changes = EVENTS.filter(({ name }) => CHANGE_EVENTS.some((event) => event === name));
	expect(changes.map(({ label }) => label)).toEqual(FIELDS.map(({ label }) => `${label} Changed`));
	expect(changes.map(({ description }) => description)).toEqual(FIELDS.map(({ description }) => description));
});

describe('a watched field', () => {
	it('is read, and shown in a removed device', () => {
		const record = device('A', { attributes: { firmware: '1.4', 'a.b': 7 } });
		const watched = watchedFields(ALL, ['firmware', 'a.b', 'none']);
		expect(watched.map((field) => [field.name, valueOf(field, record)])).toEqual([
			['onlineStatus', 1],
			['status', 2],
			['attributes.firmware', '1.4'],
			['attributes.a.b', 7],
			['attributes.none', null],
		]);
		expect(removedEvent('A', keepValues(record, watched), watched, 1).device).toEqual({
			sn: 'A',
			onlineStatus: 1,
			status: 2,
			attributes: { firmware: '1.4', 'a.b': 7 },
		});
		// A value of which only the digest was kept is not known.
		expect(removedEvent('A', '[null,{"digest":"x"},{"digest":"y"}]', watched, 1).device).toEqual({
			sn: 'A',
			onlineStatus: null,
		});
		// A state that was still to be reported is no value.
		expect(removedEvent('A', '[{"json":null}]', watched, 1).device).toEqual({ sn: 'A' });
	});

	it.each([[undefined], [null], [[]], ['text'], [{ __proto__: { firmware: 1 } }]])(
		'is null in attributes %p',
		(attributes) => {
			const watched = watchedFields(ALL, ['firmware']).slice(-1);
			expect(watched.map((field) => valueOf(field, { attributes }))).toEqual([null]);
		},
	);

	it('is one of the chosen events', () => {
		expect(
			watchedFields(new Set(['statusChanged', 'deviceCreated']), ['firmware']).map(({ name, event }) => [name, event]),
		).toEqual([['status', 'statusChanged']]);
	});
});

it('a field with an identity changes with it, and shows its name', () => {
	const [watched] = watchedFields(new Set(['statusChanged']), []);
	if (watched === undefined) throw new Error('No field is watched');
	const group: WatchedField = {
		...watched,
		read: ({ group: own }) => nameOf(own),
		identify: ({ group: own }) => (isRecord(own) ? own['id'] : null),
		show: (name, _key, { group: own }) => ({ group: { ...(isRecord(own) && own), name } }),
	};
	const rules = readRules(() => ({ rule: [{ field: 'status', from: 'Berlin' }] }), [group]);
	const look = (before: State, id: number, name: string, now: number, removed: string[] = []) => {
		const record = device('A', { group: { id, name } });
		const devices = removed.length > 0 ? [] : [{ sn: 'A', values: keepValues(record, [group]), device: record }];
		const observation = { recent: new Map(), list: { removed, unlisted: [], devices } };
		const { state, events } = compare(before, observation, { ...task, fields: [group], rules, holdSeconds: 60, now });
		return { state, told: events.map(({ previous, current, device: shown }) => [previous, current, shown['group']]) };
	};
	const renamed = look(look(nothing, 1, 'Hamburg', 0).state, 1, 'Berlin', 0);
	expect(renamed.told).toEqual([]);
	const moved = look(look(renamed.state, 2, 'Berlin', 0).state, 2, 'Kiel', 60);
	expect(moved.told).toEqual([['Berlin', 'Kiel', { id: 2, name: 'Kiel' }]]);
	expect(look(moved.state, 2, 'Kiel', 60, ['A']).told).toEqual([[undefined, undefined, { name: 'Kiel' }]]);
});

describe('a comparison', () => {
	it('takes a baseline without events, with the number it is given', () => {
		const { state, events } = compare(nothing, seen(nothing, [device('A', { createTime: T })]), task);
		expect(events).toEqual([]);
		expect(state).toMatchObject({ fingerprint: 'f', number: 40 });
		expect(state.recent.get('createTime')).toMatchObject({ newest: T });
		expect(compare(nothing, { recent: new Map(), list: undefined }, task).state).toEqual(nothing);
	});

	it('tells created, updated and changed, in this order, and raises the number', () => {
		const before = baseline([device('A', { updateTime: T - 5 }), device('B')]);
		const now = [
			device('A', { updateTime: T }),
			device('B', { status: 9 }),
			device('C', { createTime: T, updateTime: T }),
		];
		const compared = compare(before, seen(before, now), task);
		expect(told(compared)).toEqual([
			['deviceCreated', 'C'],
			['deviceUpdated', 'A'],
			['statusChanged', 'B'],
		]);
		expect(compared.events[2]).toMatchObject({ field: 'status', previous: 2, current: 9 });
		expect(compared.state.number).toBe(41);
		const quiet = compare(compared.state, seen(compared.state, now), task);
		expect(quiet).toMatchObject({ events: [], state: { number: 41 } });
	});

	it('says nothing else of a device that is new', () => {
		const before = baseline([device('A')]);
		expect(told(compare(before, seen(before, [device('A', { createTime: T, onlineStatus: 7 })]), task))).toEqual([
			['deviceCreated', 'A'],
		]);
	});

	it('the same change has the same id, and another change another one', () => {
		const before = baseline([device('A', { createTime: T - 9, updateTime: T - 9 })]);
		const ids = (changes: Device, from = before) =>
			compare(from, seen(from, [device('A', { createTime: T - 9, updateTime: T - 9, ...changes })]), task).events.map(
				({ eventId }) => eventId,
			);
		const changes: Device[] = [
			{ createTime: T },
			{ updateTime: T },
			{ updateTime: T - 1 },
			{ status: 3 },
			{ status: 4 },
			{ onlineStatus: 3 },
		];
		const all = changes.flatMap((one) => ids(one));
		expect(all).toEqual(changes.flatMap((one) => ids(one)));
		expect(new Set([...all, ...ids({ status: 3 }, { ...before, number: 41 })]).size).toBe(7);
		for (const id of all) expect(id).toMatch(/^[\w-]{22}$/);
	});

	it('leaves out changes that match no rule, and remembers them', () => {
		const rules = readRules(() => ({ rule: [{ field: 'status', to: '5' }] }), fields);
		const compared = compare(baseline([device('A')]), seen(nothing, [device('A', { status: 9, onlineStatus: 3 })]), {
			...task,
			rules,
		});
		expect(told(compared)).toEqual([['onlineStatusChanged', 'A']]);
		expect(compared.state.snapshot?.devices.get('A')).toBe('[3,9,null]');
	});

	it('tells of a large fleet that goes offline at once', () => {
		const fleet = (onlineStatus: number) =>
			seen(
				nothing,
				Array.from({ length: 150_000 }, (_, index) => device(`S${index}`, { onlineStatus })),
			);
		const { state } = compare(nothing, fleet(1), task);
		expect(compare(state, fleet(0), task).events).toHaveLength(150_000);
	});
});

it('each device and each removal has its own id; a value that was not kept is null', () => {
	const before = baseline([device('A', { attributes: { firmware: 'x'.repeat(101) } })]);
	const two = [device('B', { createTime: T }), device('C', { createTime: T })];
	const { events } = compare(before, seen(before, [device('A', { attributes: { firmware: '2' } }), ...two]), task);
	expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(3);
	expect(events[2]).toMatchObject({ event: 'attributeChanged', previous: null, current: '2' });
	const removals = [before, { ...before, number: 77 }].flatMap(
		(from) => compare(from, seen(from, [], ['A', 'B']), task).events,
	);
	expect(new Set(removals.map(({ eventId }) => eventId)).size).toBe(4);
});

describe('missing devices', () => {
	const before = baseline([device('A'), device('B', { attributes: { firmware: 'x'.repeat(101) } }), device('C')]);

	it('are reported as removed if the platform does not have them', () => {
		const compared = compare(before, seen(before, [device('A')], ['B'], ['C']), task);
		expect(compared.events).toEqual([
			{ event: 'deviceRemoved', eventId: expect.any(String), device: { sn: 'B', onlineStatus: 1, status: 2 } },
		]);
		expect([...(compared.state.snapshot?.devices.keys() ?? [])]).toEqual(['A', 'C']);
		expect([...(compared.state.snapshot?.away ?? [])]).toEqual([['C', 500]]);
		expect(compared.state.number).toBe(41);
	});

	it('stay where nothing is known, without an event', () => {
		expect(compare(before, seen(before, [device('A')]), task)).toEqual({ events: [], state: before, untaken: before });
	});

	it('come behind other events, with one rise of the number', () => {
		const compared = compare(before, seen(before, [device('A', { status: 9 })], ['B']), task);
		expect(told(compared)).toEqual([
			['statusChanged', 'A'],
			['deviceRemoved', 'B'],
		]);
		expect(compared.state.number).toBe(41);
	});
});

it('what is carried if n8n does not take the events has everything that was not reported', () => {
	const values = (onlineStatus: number) => keepValues(device('', { onlineStatus }), fields);
	const before = baseline([device('A'), device('B', { onlineStatus: 0 }), device('C')]);
	const list = [device('A', { onlineStatus: 0 }), device('B'), device('D', { createTime: T }), device('E')];
	const rules = [{ field: 'onlineStatus', from: '1', to: '0' }];
	const compared = compare(before, seen(before, list, ['C']), { ...task, rules });
	expect(told(compared)).toEqual([
		['deviceCreated', 'D'],
		['onlineStatusChanged', 'A'],
		['deviceRemoved', 'C'],
	]);
	const { devices, holds } = compared.untaken.snapshot ?? {};
	expect(Object.fromEntries(devices ?? [])).toEqual({ A: values(1), B: values(1), C: values(1), E: values(1) });
	expect(holds).toEqual([
		{ sn: 'A', field: fields.findIndex(({ name }) => name === 'onlineStatus'), value: '0', since: 500 },
	]);
	expect(compared.untaken).toMatchObject({ number: before.number, recent: before.recent });
});
