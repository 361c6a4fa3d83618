import { Fleet } from '../../testbed/platform/fleet.mts';
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import { changedEvent, createdEvent, removedEvent } from '../../nodes/DeviceManagement/trigger/changes/events.ts';
import { type Entry, step, type StepOptions } from '../../nodes/DeviceManagement/trigger/changes/step.ts';
import { keepValue } from '../../nodes/DeviceManagement/trigger/changes/values.ts';
import { watchedFields } from '../../nodes/DeviceManagement/trigger/changes/watched.ts';
import { changeOf, SAMPLES } from '../../testbed/trigger/samples.mts';

const optionsOf = (
	changes: Parameters<typeof watchedFields>[0],
	keys: string[] = [],
	more: Partial<StepOptions> = {},
) =>
	({
		...{ events: new Set(), fields: watchedFields(changes, keys), rules: [], own: undefined, holdSeconds: 0, now: 0 },
		...{ number: 1, since: '2026-01-01', isFirstList: false, reportsFirst: false, isFirstOfProcess: false },
		...more,
	}) satisfies StepOptions;

/** Returns a function that takes a step from the last one, and returns its events as previous and current value. */
function steps() {
	let entry: Entry | undefined;
	return (device: object, options: StepOptions) => {
		const after = step(entry, { sn: 'A', ...device }, true, options);
		entry = after.entry;
		return after.events.map(({ field, previous, current }) => `${field}: ${previous} → ${current}`).join();
	};
}

it('with For At Least, a new value lasts apart from that of another field, and no longer if the clock was set back', () => {
	const options = optionsOf(new Set(['attributeChanged']), ['0', '1'], { holdSeconds: 60 });
	const look = steps();
	// At these seconds, the device has these values. A value has to last a minute.
	const seen = [
		[0, 1, 1],
		[9000, 0, 1],
		[100, 0, 1],
		[150, 0, 0],
		[160, 0, 0],
		[210, 0, 0],
	] as const;
	const told = seen.map(([now, ...values]) => look({ attributes: { ...values } }, { ...options, now }));
	expect(told).toEqual(['', '', '', '', 'attributes.0: 1 → 0', 'attributes.1: 1 → 0']);
});

it('what did not change is the same object, so that a fleet needs little memory and its state stays the same text', () => {
	const options = optionsOf(new Set(['statusChanged']));
	const { entry } = step(undefined, { sn: 'A', status: 1 }, true, options);
	expect(step(entry, { sn: 'B', status: 1 }, true, options).entry).toBe(entry);
	expect(step(entry, { sn: 'B', status: '1' }, true, options)).toEqual({
		entry: { values: { status: '1' } },
		events: [],
	});
});

/** What platforms write for a date that they don't know. */
const NO_DATES = [
	undefined,
	'',
	'N/A',
	'01.11.2026 08:00',
	1_790_000_000,
	'1970-01-01 00:00:00',
	'0000-00-00 00:00:00',
];

it.each<[unknown, boolean]>([
	['2025-12-31 23:59:59', false],
	['2026-01-01 00:00:00', true],
	['2026-01-01T00:00:00.123+02:00', true],
	['2099-01-01 00:00:00', true],
	...NO_DATES.map((date): [unknown, boolean] => [date, true]),
])('a device that is not remembered, dated %p, is new since 2026-01-01: %p', (date, isNew) => {
	const told = (changes: string[], device: object, more: Partial<StepOptions> = {}) =>
		step(undefined, { sn: 'A', ...device }, true, optionsOf(new Set(changes), [], more)).events.length;
	const created = { events: new Set(['deviceCreated'] as const) };
	expect(told([], { createTime: date }, created)).toBe(Number(isNew));
	expect(told([], { createTime: date }, { ...created, since: undefined })).toBe(0);
	expect(told([], { createTime: date })).toBe(0);
	// An edit may have made it match the filters. A device that was never edited has no update time.
	expect(told(['deviceUpdated'], { updateTime: date })).toBe(Number(isNew && date !== undefined));
	expect(told(['deviceUpdated'], { updateTime: date }, { since: undefined })).toBe(0);
	// A new device isn't also edited.
	expect(told(['deviceUpdated'], { createTime: date, updateTime: date }, created)).toBe(Number(isNew));
});

it.each<[string | number | undefined, boolean]>([
	['2026-02-01 00:00:00', false],
	['2026-02-01 00:00:01', true],
	...NO_DATES.map((date): [string | number | undefined, boolean] => [date, false]),
])('a device that was missing since 2026-02-01 and is dated %p was added again: %p', (createTime, isNew) => {
	const options = optionsOf(new Set(['statusChanged']), [], { events: new Set(['deviceCreated']) });
	const away = { since: 0, next: 0, newest: '2026-02-01 00:00:00' };
	const look = (before: Entry, status = 2) => {
		const { entry, events } = step(before, { sn: 'A', createTime, status }, true, options);
		expect(entry).toEqual({ values: { status } });
		return events.map(({ event }) => event);
	};
	expect(look({ values: { status: 1 }, away })).toEqual([isNew ? 'deviceCreated' : 'statusChanged']);
	expect(look({ values: { status: 1 }, away }, 1)).toEqual(isNew ? ['deviceCreated'] : []);
	expect(look({ values: { status: 1 } })).toEqual(['statusChanged']);
});

it('the same event has the same ID, and another event, device, field, value, time or number another one', () => {
	const watched = new Set(['deviceUpdated', 'statusChanged', 'attributeChanged']);
	const [updated, ...fields] = watchedFields(watched, ['a', 'b']);
	const values = [
		[0, 1],
		[0, 2],
		[1, 2],
	] as const;
	const changes = fields.flatMap((field) => values.map(([previous, current]) => ({ field, previous, current })));
	const edit = updated && { field: updated, previous: 'zero', current: 'one' };
	const ids = () => {
		const device: Device = { sn: 'A', createTime: 'one', updateTime: 'one' };
		const other: Device = { ...device, sn: 'B' };
		const events = [1, 2].flatMap((number) =>
			[device, other].flatMap((one) => [
				removedEvent(String(one['sn']), {}, [], number),
				...changes.map((change) => changedEvent(one, change, number)),
			]),
		);
		for (const one of [device, other, { ...device, createTime: 'two' }]) events.push(createdEvent(one));
		for (const one of [device, other, { ...device, updateTime: 'two' }])
			if (edit) events.push(changedEvent(one, edit, 1));
		return events.map(({ eventId }) => eventId);
	};
	expect(ids()).toEqual(ids());
	expect([ids().length, new Set(ids()).size]).toEqual([46, 46]);
});

it('watches no attribute where attributes are missing or have another form, also not an inherited one', () => {
	const [field] = watchedFields(new Set(['attributeChanged']), ['firmware']);
	for (const attributes of [undefined, null, [], 'text', { __proto__: { firmware: 1 } }])
		expect(field && keepValue(field, { attributes })).toBeNull();
});

it('a group changes with its ID, or without one with its name, and events show its name', () => {
	const look = steps();
	const groups = [{ id: '1', name: 'A' }, { id: '1', name: 'B' }, { id: '2', name: 'B' }, { name: 'C' }, null];
	const told = groups.map((group) => look({ group }, optionsOf(new Set(['groupChanged']))));
	expect(told).toEqual(['', '', 'group: B → B', 'group: B → C', 'group: C → null']);
});

it('shows the last value of every field in a removed device, unless it was long', () => {
	const device = Fleet.seeded({ size: 1 }).at(0);
	const changed = { ...device, ...changeOf(device) };
	const fields = watchedFields(new Set(Object.keys(SAMPLES)), ['firmware']);
	const values = Object.fromEntries(fields.map((field) => [field.name, keepValue(field, changed)]));
	const shown = { ...device, ...removedEvent('A', values, fields, 1).device };
	for (const { field, valueOf: see } of Object.values(SAMPLES))
		expect([field, see(shown)]).toEqual([field, see(changed)]);
	// Of a long value, only the digest is known. A state that was still to be reported has no value.
	expect(removedEvent('A', { status: { digest: 'x' } }, fields, 1).device).toEqual({ sn: 'A' });
});

/** Values of the attribute `battery`, a minute apart. A report is the minute, and the previous and the current value. */
const BELOW_20 = { field: 'attributes.battery', from: '', to: '20', limit: 'below' } as const;
const ABOVE_30 = { ...BELOW_20, to: '30', limit: 'above' } as const;
const DEAD = { ...BELOW_20, to: 'dead', limit: undefined } as const;
it.each<[words: string, values: unknown[], told: string, rules?: StepOptions['rules'], minutes?: number]>([
	['is reported once, however it falls on', [25, 19, 18, 17], '1: 25 → 19'],
	['is reported again after it was not below', [25, 19, 20, 19], '1: 25 → 19, 3: 20 → 19'],
	['is neither below nor above the limit itself', [25, 20, 30, 25], '', [BELOW_20, ABOVE_30]],
	[
		'is reported at each of two limits',
		[25, 19, 9, 15],
		'1: 25 → 19, 2: 19 → 9',
		[BELOW_20, { ...BELOW_20, to: '10' }],
	],
	['compares numbers and not texts', ['25', ' 9.5 ', '100', '-1e0'], '1: 25 →  9.5 , 3: 100 → -1e0'],
	['is never below if it is no number', [25, null, '', 'low', [], {}, true, '19 %', '3.5.1'], ''],
	['is reported as the first number', [null, '', 19], '2:  → 19'],
	['is not reported again after a gap', [25, 15, null, '', '19 %', {}, 15, 21, null, 15], '1: 25 → 15, 9: 21 → 15'],
	['waits through a gap, and is reported with a number', [25, 19, null, null, 18, 17], '4: 25 → 18', [BELOW_20], 3],
	['comes back through a gap', [25, 19, 19, 25, null, 25, 19, 19], '2: 25 → 19, 7: 25 → 19', [BELOW_20], 1],
	['must last on both sides', [25, 19, 20, 19, 19, 20, 19, 20, 19], '4: 20 → 19', [BELOW_20], 1],
	[
		'is not crossed again by a certain value',
		[25, 15, 'dead', 15, 'dead', null, 15, 25, 'dead', 15],
		'1: 25 → 15, 2: 15 → dead, 4: 15 → dead, 8: 25 → dead, 9: dead → 15',
		[BELOW_20, DEAD],
	],
	['may also be a certain value', [25, 24, 'dead', 19], '2: 24 → dead, 3: dead → 19', [BELOW_20, DEAD]],
	['must come from the value in From', [25, 19, 30, 19], '3: 30 → 19', [{ ...BELOW_20, from: '30' }]],
	['reports each change if another rule has no value', [25, 24], '1: 25 → 24', [BELOW_20, { ...DEAD, to: '' }]],
	['comes back in that time, to any value', [25, 19, 26, 18, 17, 16], '5: 26 → 16', [BELOW_20], 2],
])('a value that falls below a limit %s', (_words, values, expected, rules = [BELOW_20], minutes = 0) => {
	const options = optionsOf(new Set(['attributeChanged']), ['battery'], { rules, holdSeconds: 60 * minutes });
	const look = steps();
	const told = values.map((battery, minute) => look({ attributes: { battery } }, { ...options, now: 60 * minute }));
	const reports = told.map((report, minute) => report.replace('attributes.battery', `${minute}`)).slice(1);
	expect(reports.filter(Boolean).join(', ')).toBe(expected);
});

it('a state below a limit is reported at the first poll, and of a device that is not remembered', () => {
	const look = (battery: unknown, more: Partial<StepOptions>) =>
		steps()(
			{ attributes: { battery } },
			optionsOf(new Set(['attributeChanged']), ['battery'], { rules: [BELOW_20], ...more }),
		);
	const told = 'attributes.battery: null → 19';
	expect(look(19, { isFirstList: true, reportsFirst: true })).toBe(told);
	expect([look(19, { isFirstList: true }), look(19, {}), look(20, {}), look('low', {})]).toEqual(['', told, '', '']);
});
