import { compare, type State } from '../../../nodes/DeviceManagement/trigger/compare/compare.ts';
import { readRules } from '../../../nodes/DeviceManagement/trigger/compare/rules.ts';
import { changedEvent, removedEvent, timeEvent } from '../../../nodes/DeviceManagement/trigger/compare/events.ts';
import { keepValues } from '../../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { TIMES, valueOf, watchedFields } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { changeOf, SAMPLES } from '../samples.mts';

const ALL: ReadonlySet<string> = new Set(['onlineStatusChanged', 'statusChanged', 'attributeChanged', 'deviceRemoved']);
const task = { fields: watchedFields(ALL, ['firmware']), rules: [], isFirstOfProcess: false, holdSeconds: 0, now: 500 };
/** What a baseline is compared with. */
const nothing: State = { fingerprint: 'f', number: 40, writes: undefined, recent: new Map(), snapshot: undefined };

it('shows only known values in a removed device', () => {
	const record = { id: 'id A', sn: 'A', onlineStatus: 1, status: 2, attributes: { firmware: '1.4', 'a.b': 7 } };
	const watched = watchedFields(ALL, ['firmware', 'a.b', 'none']);
	const shown = (values: string) => removedEvent('A', values, watched, 1).device;
	expect(shown(keepValues(record, watched))).toEqual({ ...record, id: undefined });
	// A value of which only the digest was kept is not known.
	expect(shown('[null,{"digest":"x"},{"digest":"y"}]')).toEqual({ sn: 'A', onlineStatus: null });
	// A state that was still to be reported is no value.
	expect(shown('[{"json":null}]')).toEqual({ sn: 'A' });
});

it('watches no attribute where attributes are missing or have another form, also not an inherited one', () => {
	for (const other of [undefined, null, [], 'text', { __proto__: { firmware: 1 } }])
		expect(task.fields.slice(-1).map((field) => valueOf(field, { attributes: other }))).toEqual([null]);
});

it('shows the last value of every field in a removed device', () => {
	const device = Fleet.seeded({ size: 1 }).at(0);
	const changed = { ...device, ...changeOf(device) };
	const fields = watchedFields(new Set(Object.keys(SAMPLES)), [SAMPLES.attributeChanged.parameters?.attributes ?? '']);
	const shown = { ...device, ...removedEvent('A', keepValues(changed, fields), fields, 1).device };
	for (const { field, valueOf: see } of Object.values(SAMPLES))
		expect([field, see(shown)]).toEqual([field, see(changed)]);
});

it('a group changes with its ID, or without one with its name, and events show its name', () => {
	const fields = watchedFields(new Set(['groupChanged']), []);
	const rules = readRules(() => ({ rule: [{ field: 'group', from: 'Berlin' }] }), fields);
	const look = (before: State, id: unknown, name: string | null, now: number, removed: string[] = []) => {
		const record = { sn: 'A', group: name === null ? null : Object({ id, name, description: '' }) };
		const devices = removed.length > 0 ? [] : [{ sn: 'A', values: keepValues(record, fields), device: record }];
		const observation = { recent: new Map(), list: { removed, unlisted: [], devices } };
		const { state, events } = compare(before, observation, { ...task, fields, rules, holdSeconds: 60, now });
		return { state, told: events.map(({ previous, current, device: shown }) => [previous, current, shown['group']]) };
	};
	const renamed = look(look(nothing, 'one', 'Hamburg', 0).state, 'one', 'Berlin', 0);
	expect(renamed.told).toEqual([]);
	const moved = look(look(renamed.state, 'two', 'Berlin', 0).state, 'two', 'Kiel', 60);
	expect(moved.told).toEqual([['Berlin', 'Kiel', { id: 'two', name: 'Kiel', description: '' }]]);
	expect(look(moved.state, 'two', 'Kiel', 60, ['A']).told).toEqual([[undefined, undefined, { name: 'Kiel' }]]);
	const without = look(nothing, undefined, 'Berlin', 0).state;
	expect(look(look(without, undefined, 'Kiel', 0).state, undefined, 'Kiel', 60).told).toHaveLength(1);
	const left = look(look(without, undefined, null, 0).state, undefined, null, 60);
	expect(left.told).toEqual([['Berlin', null, null]]);
	expect(look(left.state, undefined, null, 60, ['A']).told).toEqual([[undefined, undefined, null]]);
});

it('the same event has the same id, and another event, device, value or number another one', () => {
	const [status, onlineStatus] = watchedFields(ALL, []).filter(({ key }) => key === '');
	if (status === undefined || onlineStatus === undefined) throw new Error('Fields are missing');
	const times = { id: 'A', createTime: 'one', updateTime: 'one' };
	const change = { sn: 'A', device: {}, field: status, previous: '1', current: '2' };
	const others = [{}, { sn: 'B' }, { field: onlineStatus }, { previous: '0' }, { current: '3' }];
	const all = () => [
		...TIMES.flatMap((time) =>
			[times, { ...times, id: 'B' }, { ...times, [time.field]: 'two' }].map((one) => timeEvent(time, one)),
		),
		...others.map((other) => changedEvent({ ...change, ...other }, 1)),
		changedEvent(change, 2),
		...[['A', 1] as const, ['B', 1] as const, ['A', 2] as const].map(([sn, number]) =>
			removedEvent(sn, '[]', [], number),
		),
	];
	expect(all()).toEqual(all());
	expect(new Set(all().map(({ eventId }) => eventId)).size).toBe(15);
});

it('tells of a large fleet at once: no call has an argument for each device, which the stack could not hold', () => {
	const one = { values: '[0]', device: { onlineStatus: 0 } };
	const devices = Array.from({ length: 500 }, (_, index) => ({ ...one, sn: `S${index}` }));
	const snapshot = { devices: new Map(devices.map(({ sn }) => [sn, '[1]'])), away: new Map(), holds: [] };
	const { push } = Array.prototype;
	let most = 0;
	Array.prototype.push = function (...items) {
		most = Math.max(most, items.length);
		return push.apply(this, items);
	};
	const list = { removed: [], unlisted: [], devices };
	const { events } = compare({ ...nothing, snapshot }, { recent: new Map(), list }, task);
	Array.prototype.push = push;
	expect([events.length, most]).toEqual([500, 1]);
});
