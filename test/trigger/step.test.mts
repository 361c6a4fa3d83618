import { Fleet } from '../../testbed/platform/fleet.mts';
import { removedEvent } from '../../nodes/DeviceManagement/trigger/events.ts';
import { type Entry, step, type StepOptions } from '../../nodes/DeviceManagement/trigger/step.ts';
import { keepValue } from '../../nodes/DeviceManagement/trigger/values.ts';
import { watchedFields } from '../../nodes/DeviceManagement/trigger/watched.ts';
import { changeOf, SAMPLES } from './samples.mts';

const optionsOf = (
	events: Parameters<typeof watchedFields>[0],
	keys: string[] = [],
	rules: StepOptions['rules'] = [],
) =>
	({
		...{
			events: new Set(),
			fields: watchedFields(events, keys),
			rules,
			own: undefined,
			holdSeconds: 60,
			now: 0,
			number: 1,
		},
		...{ since: '2026-01-01', isFirstList: false, reportsFirst: false, isFirstOfProcess: false },
	}) satisfies StepOptions;

it('with For At Least, a new value lasts apart from that of another field, and no longer if the clock was set back', () => {
	const options = optionsOf(new Set(['attributeChanged']), ['0', '1']);
	let before: Entry | undefined;
	// At these seconds, the device has these values. A value has to last a minute.
	const seen: Array<[number, number[]]> = [
		[0, [1, 1]],
		[9000, [0, 1]],
		[100, [0, 1]],
		[150, [0, 0]],
		[160, [0, 0]],
		[210, [0, 0]],
	];
	const reported = seen.flatMap(([now, values]) => {
		const { entry, events } = step(before, { sn: 'A', attributes: { ...values } }, true, { ...options, now });
		before = entry;
		return events.map(({ field, previous, current }) => `${now} ${field}: ${previous} → ${current}`);
	});
	expect(reported).toEqual(['160 attributes.0: 1 → 0', '210 attributes.1: 1 → 0']);
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
	const told = (events: string[], device: object, changes = {}) =>
		step(undefined, { sn: 'A', ...device }, true, { ...optionsOf(new Set(events)), ...changes }).events.length;
	const names = ['deviceCreated', 'deviceUpdated'] as const;
	const created = { events: new Set([names[0]]) };
	expect(told([], { createTime: date }, created)).toBe(Number(isNew));
	expect(told([], { createTime: date }, { ...created, since: undefined })).toBe(0);
	expect(told([], { createTime: date }, { events: new Set() })).toBe(0);
	// An edit may have made it match the filters. A device that was never edited has no update time.
	expect(told([names[1]], { updateTime: date })).toBe(Number(isNew && date !== undefined));
	expect(told([names[1]], { updateTime: date }, { since: undefined })).toBe(0);
	// A new device isn't also edited.
	expect(told([names[1]], { createTime: date, updateTime: date }, created)).toBe(Number(isNew));
});

it.each<[string | number | undefined, boolean]>([
	['2026-02-01 00:00:00', false],
	['2026-02-01 00:00:01', true],
	...NO_DATES.map((date): [string | number | undefined, boolean] => [date, false]),
])('a device that was missing since 2026-02-01 and is dated %p was added again: %p', (createTime, isNew) => {
	const options = {
		...optionsOf(new Set(['statusChanged'])),
		events: new Set(['deviceCreated'] as const),
		holdSeconds: 0,
	};
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

it('a device that matches the filters of the node for the first time is new, and not when it returns', () => {
	const options = {
		...optionsOf(new Set(['groupChanged'])),
		events: new Set(['deviceCreated'] as const),
		holdSeconds: 0,
	};
	let entry: Entry | undefined;
	const told = [false, true, false, true].map((isInside) => {
		const device = { sn: 'A', createTime: '2026-02-01 00:00:00', group: isInside ? 'A' : 'B' };
		const after = step(entry, device, isInside, { ...options, own: { group: 'A' } });
		entry = after.entry;
		return after.events.map(({ event }) => event).join();
	});
	expect(told).toEqual(['', 'deviceCreated', 'groupChanged', 'groupChanged']);
});

it('the same event has the same id, and another event, device, value or number another one', () => {
	const watching = (now: number, number: number) => ({
		...optionsOf(new Set(['statusChanged', 'onlineStatusChanged', 'deviceUpdated'])),
		...{ events: new Set(['deviceCreated'] as const), holdSeconds: 0, now, number },
	});
	const known = (status: number) => ({ values: { status, onlineStatus: 1, updateTime: 'one' } });
	const device = { sn: 'A', createTime: 'one', updateTime: 'one', status: 2, onlineStatus: 1 };
	const all = (now: number) =>
		[
			...[{}, { sn: 'B' }, { createTime: 'two' }].map((other) =>
				step(undefined, { ...device, ...other }, true, watching(now, 1)),
			),
			...[{}, { sn: 'B' }, { status: 3 }, { status: 1, onlineStatus: 2 }, { status: 1, updateTime: 'two' }].map(
				(other) => step(known(1), { ...device, ...other }, true, watching(now, 1)),
			),
			step(known(0), device, true, watching(now, 1)),
			step(known(1), device, true, watching(now, 2)),
			...[['A', 1] as const, ['B', 1] as const, ['A', 2] as const].map(([sn, number]) => ({
				events: [removedEvent(sn, {}, [], number)],
			})),
		].flatMap(({ events }) => events.map(({ eventId }) => eventId));
	expect(all(5)).toEqual(all(0));
	expect([all(0).length, new Set(all(0)).size]).toEqual([13, 13]);
});

it('watches no attribute where attributes are missing or have another form, also not an inherited one', () => {
	const [field] = watchedFields(new Set(['attributeChanged']), ['firmware']);
	for (const attributes of [undefined, null, [], 'text', { __proto__: { firmware: 1 } }])
		expect(field && keepValue(field, { attributes })).toBeNull();
});

it('a group changes with its ID, or without one with its name, and events show its name', () => {
	const options = { ...optionsOf(new Set(['groupChanged'])), holdSeconds: 0 };
	let entry: Entry | undefined;
	const look = (id: unknown, name: string | null) => {
		const after = step(entry, { sn: 'A', group: name === null ? null : Object({ id, name }) }, true, options);
		entry = after.entry;
		return after.events.map(({ previous, current }) => `${previous} → ${current}`).join();
	};
	const told = [
		look('1', 'Hamburg'),
		look('1', 'Berlin'),
		look('2', 'Berlin'),
		look(undefined, 'Kiel'),
		look('', null),
	];
	expect(told).toEqual(['', '', 'Berlin → Berlin', 'Berlin → Kiel', 'Kiel → null']);
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
const EQUALS = { ...BELOW_20, limit: undefined } as const;
it.each<[words: string, values: unknown[], told: string, rules?: StepOptions['rules'], minutes?: number]>([
	['is reported once, however it falls on', [25, 19, 18, 17], '1: 25 → 19'],
	['is reported again after it was not below', [25, 19, 20, 19], '1: 25 → 19, 3: 20 → 19'],
	['is neither below nor above the limit itself', [25, 20, 30, 25], '', [BELOW_20, ABOVE_30]],
	['is not reported when it rises within the limits', [25, 9, 15], '1: 25 → 9', [BELOW_20, { ...BELOW_20, to: '10' }]],
	['is reported at each of two limits', [25, 19, 9], '1: 25 → 19, 2: 19 → 9', [BELOW_20, { ...BELOW_20, to: '10' }]],
	['compares numbers and not texts', ['25', ' 9.5 ', '100', '-1e0'], '1: 25 →  9.5 , 3: 100 → -1e0'],
	['is never below if it is no number', [25, null, '', 'low', [], {}, true, '19 %', '3.5.1'], ''],
	['is reported when it is a number again', [25, null, 19], '2: 25 → 19'],
	['is reported as the first number', [null, '', 19], '2:  → 19'],
	['is not reported again after a gap', [25, 15, null, '', '19 %', {}, 15, 21, null, 15], '1: 25 → 15, 9: 21 → 15'],
	['is reported when it crosses in a gap', [15, 25, null, 15], '3: 25 → 15'],
	[
		'waits through a gap, and is reported with a number',
		[25, 19, null, null, null, 18, 17],
		'5: 25 → 18',
		[BELOW_20],
		3,
	],
	['comes back through a gap', [25, 19, 19, 25, null, 25, 19, 19], '2: 25 → 19, 7: 25 → 19', [BELOW_20], 1],
	['must last on both sides', [25, 19, 20, 19, 19, 20, 19, 20, 19], '4: 20 → 19', [BELOW_20], 1],
	[
		'is not crossed again by a certain value',
		[25, 15, 'dead', 15, 'dead', null, 15, 25, 'dead', 15],
		'1: 25 → 15, 2: 15 → dead, 4: 15 → dead, 8: 25 → dead, 9: dead → 15',
		[BELOW_20, { ...EQUALS, to: 'dead' }],
	],
	['may be above another limit', [25, 31, 19], '1: 25 → 31, 2: 31 → 19', [BELOW_20, ABOVE_30]],
	[
		'may also be a certain value',
		[25, 24, 'dead', 19],
		'2: 24 → dead, 3: dead → 19',
		[BELOW_20, { ...EQUALS, to: 'dead' }],
	],
	['must come from the value in From', [25, 19, 30, 19], '3: 30 → 19', [{ ...BELOW_20, from: '30' }]],
	['reports each change if another rule has no value', [25, 24], '1: 25 → 24', [BELOW_20, { ...EQUALS, to: '' }]],
	['may differ while it has to last', [25, 19, 18, 17, 16], '3: 25 → 17', [BELOW_20], 2],
	['comes back in that time, to any value', [25, 19, 26, 18, 17, 16], '5: 26 → 16', [BELOW_20], 2],
	[
		'is reported again after other values were above',
		[25, 19, 18, 17, 25, 26, 27, 19, 18, 17],
		'3: 25 → 17, 9: 27 → 17',
		[BELOW_20],
		2,
	],
])('a value that falls below a limit %s', (_words, values, expected, rules = [BELOW_20], minutes = 0) => {
	const options = { ...optionsOf(new Set(['attributeChanged']), ['battery'], rules), holdSeconds: 60 * minutes };
	let before: Entry | undefined;
	const told = values.flatMap((battery, minute) => {
		const device = { sn: 'A', attributes: { battery } } as Parameters<typeof step>[1];
		const { entry, events } = step(before, device, true, { ...options, now: 60 * minute });
		before = entry;
		return minute === 0 ? [] : events.map(({ previous, current }) => `${minute}: ${previous} → ${current}`);
	});
	expect(told.join(', ')).toBe(expected);
});

it('a state below a limit is reported at the first poll, and of a device that is not remembered', () => {
	const options = { ...optionsOf(new Set(['attributeChanged']), ['battery'], [BELOW_20]), holdSeconds: 0 };
	const look = (battery: unknown, more: Partial<StepOptions>) =>
		step(undefined, Object({ sn: 'A', attributes: { battery } }), true, { ...options, ...more }).events.length;
	expect(look(19, { isFirstList: true, reportsFirst: true })).toBe(1);
	expect([look(19, { isFirstList: true }), look(19, {}), look(20, {}), look('low', {})]).toEqual([0, 1, 0, 0]);
});
