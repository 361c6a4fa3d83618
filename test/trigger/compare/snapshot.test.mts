import {
	compareSnapshot,
	forgetAway,
	type Snapshot,
} from '../../../nodes/DeviceManagement/trigger/compare/snapshot.ts';
import { keepValues } from '../../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { watchedFields } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';

const fields = watchedFields(new Set(['attributeChanged']), ['0', '1']);
const options = { fields, now: 1000, holdSeconds: 0, rules: [], isFirstOfProcess: false };
const list = (devices: Record<string, unknown[]>) => ({
	devices: Object.entries(devices).map(([sn, values]) => {
		const device = { sn, attributes: Object({ ...values }) };
		return { sn, values: keepValues(device, fields), device };
	}),
	removed: [],
	unlisted: [],
});
const baseline = (devices: Record<string, unknown[]>): Snapshot =>
	compareSnapshot(undefined, list(devices), options).after;
const told = ({ changes }: ReturnType<typeof compareSnapshot>) =>
	changes.map(({ sn, field, previous, current }) => `${sn} ${field.key}: ${previous} → ${current}`);
const valuesIn = ({ devices }: Snapshot) => Object.fromEntries(devices);

it('of devices with one serial number, always the same one counts', () => {
	const twins = [2, 1].flatMap((value) => list({ A: [value, 1] }).devices);
	const before = compareSnapshot(undefined, { ...list({}), devices: twins }, options).after;
	expect(valuesIn(before)).toEqual({ A: '[1,1]' });
	expect(told(compareSnapshot(before, { ...list({}), devices: twins.reverse() }, options))).toEqual([]);
});

it('with For At Least, a new value lasts apart from that of another field, and no longer if the clock was set back', () => {
	let before: Snapshot | undefined;
	// At these seconds, device A has these values. A value has to last a minute.
	const seen: Array<[number, number[]]> = [
		[0, [1, 1]],
		[9000, [0, 1]],
		[100, [0, 1]],
		[150, [0, 0]],
		[160, [0, 0]],
		[210, [0, 0]],
	];
	const reported = seen.flatMap(([now, A]) => {
		const compared = compareSnapshot(before, list({ A }), { ...options, now, holdSeconds: 60 });
		before = compared.after;
		return told(compared).map((words) => `${now} ${words}`);
	});
	expect(reported).toEqual(['160 A 0: 1 → 0', '210 A 1: 1 → 0']);
});

it('a new value that has not lasted is kept beside the old one, always in the same order, also if its device is not listed', () => {
	const held = { ...options, now: 100, holdSeconds: 60 };
	const { after } = compareSnapshot(baseline({ A: [1, 1], B: [1, 1] }), list({ B: [1, 0], A: [0, 0] }), held);
	const hold = (sn: string, field: number) => ({ sn, field, value: '0', since: 100 });
	expect(after.holds).toEqual([hold('A', 0), hold('A', 1), hold('B', 1)]);
	expect(valuesIn(after)).toEqual({ A: '[1,1]', B: '[1,1]' });
	expect(compareSnapshot(after, list({ B: [1, 0] }), { ...held, now: 110 }).after).toEqual(after);
});

it('a device that left the list is forgotten after an hour, also if the clock was set back', () => {
	const gone = { devices: [], removed: [], unlisted: ['B'] };
	const { after } = compareSnapshot(baseline({ A: [1, 1], B: [1, 1] }), gone, options);
	expect(forgetAway(after, 1000 + 3599)).toEqual(after);
	expect(valuesIn(forgetAway(after, 1000 + 3600))).toEqual({ A: '[1,1]' });
	expect([...forgetAway(after, 10).away]).toEqual([['B', 10]]);
	expect([...forgetAway(after, 5000, true).away]).toEqual([['B', 5000]]);
});

const LONG = 'x'.repeat(101);
/** Values, each in forms that a platform may send. */
const FORMS: unknown[][] = [[0, '0'], [1, '1'], [-1.5, '-1.5'], ['']];
const OF_ATTRIBUTE = [
	...FORMS,
	...[[true, 'true'], [false, 'false'], [null, undefined, 'null'], [LONG], [[1], '[1]'], ['"0"'], [' 0']],
	...[{ a: 1, b: [2] }, { a: LONG }].map((value) => [value, { b: undefined, ...value }, JSON.stringify(value)]),
];
const OF_STATUS: unknown[][] = [...FORMS, [null, undefined]];
for (const [at, forms] of [
	[false, 'false'],
	[true, 'true'],
].entries())
	OF_STATUS[at] = [...(FORMS[at] ?? []), ...forms];

it.each([
	['attributeChanged', OF_ATTRIBUTE],
	['statusChanged', OF_STATUS],
	['onlineStatusChanged', OF_STATUS],
])(
	'the same value in another form is no change and goes on waiting, and no other value is the same: %s',
	(event, values) => {
		const watched = watchedFields(new Set([event]), ['a']);
		const look = (before: Snapshot | undefined, value: unknown, now: number) => {
			const device = Object({ sn: 'A', onlineStatus: value, status: value, attributes: { a: value } });
			const devices = [{ sn: 'A', values: keepValues(device, watched), device }];
			return compareSnapshot(before, { ...list({}), devices }, { ...options, fields: watched, now, holdSeconds: 60 });
		};
		const waiting = (value: unknown) => look(look(undefined, 'another', 0).after, value, 0).after;
		const all = values.flatMap((forms, id) => forms.map((form) => ({ id, form })));
		for (const one of all)
			for (const other of all) {
				const isSame = one.id === other.id;
				const changed = look(look(undefined, one.form, 0).after, other.form, 60);
				const waited = look(waiting(one.form), other.form, 60);
				expect([one, other, changed.after.holds.length, waited.changes.length]).toEqual([
					one,
					other,
					+!isSame,
					+isSame,
				]);
			}
	},
);
