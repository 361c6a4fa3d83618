import fc from 'fast-check';

import {
	compareSnapshot,
	forgetAway,
	type Snapshot,
} from '../../../nodes/DeviceManagement/trigger/compare/snapshot.ts';
import { watchedFields } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { runs } from '../../../testbed/runs.mts';

const fields = watchedFields(new Set(['attributeChanged']), ['0', '1']);
const options = { fields, now: 1000, holdSeconds: 0, rules: [], isFirstOfProcess: false };
const list = (devices: Record<string, unknown[]>) => ({
	devices: Object.entries(devices).map(([sn, values]) => ({ sn, values: JSON.stringify(values), device: { sn } })),
	removed: [],
	unlisted: [],
});
const baseline = (devices: Record<string, unknown[]>): Snapshot =>
	compareSnapshot(undefined, list(devices), options).after;
const told = ({ changes }: ReturnType<typeof compareSnapshot>) =>
	changes.map(({ sn, field, previous, current }) => `${sn} ${field.key}: ${previous} → ${current}`);
const valuesIn = ({ devices }: Snapshot) => Object.fromEntries(devices);

it('returns exactly the differences of known devices, for any devices and values, and changes no argument', () => {
	const values = fc.tuple(fc.nat({ max: 1 }), fc.nat({ max: 1 }));
	const devices = fc.dictionary(fc.constantFrom('A', 'B', 'C', 'D'), values, { noNullPrototype: true });
	fc.assert(
		fc.property(devices, fc.array(devices, { maxLength: 6 }), (first, others) => {
			let before = baseline(first);
			const last = new Map(Object.entries(first));
			for (const shown of others) {
				const expected = Object.entries(shown).flatMap(([sn, now]) =>
					[0, 1].flatMap((field) => {
						const old = last.get(sn)?.[field];
						return old === undefined || old === now[field] ? [] : `${sn} ${field}: ${old} → ${now[field]}`;
					}),
				);
				const copy = structuredClone(before);
				const compared = compareSnapshot(before, list(shown), options);
				expect(told(compared)).toEqual(expected);
				expect(before).toEqual(copy);
				for (const [sn, now] of Object.entries(shown)) last.set(sn, now);
				expect([...compared.after.devices].map(([sn, kept]) => [sn, JSON.parse(kept)])).toEqual([...last]);
				before = compared.after;
			}
		}),
		runs(1000),
	);
});

it('of devices with one serial number, always the same one counts', () => {
	const twins = ['[2]', '[1]'].map((values) => ({ sn: 'A', values }));
	const before = compareSnapshot(undefined, { ...list({}), devices: twins }, options).after;
	expect(valuesIn(before)).toEqual({ A: '[1]' });
	expect(told(compareSnapshot(before, { ...list({}), devices: twins.reverse() }, options))).toEqual([]);
});

// At these seconds, device A has these values. A value has to last a minute.
it.each<[string, number[], string[], string[]]>([
	[
		'is reported when it has lasted, once, with the value before the first change',
		[0, 100, 159, 160, 300],
		['[1]', '[0]', '[0]', '[0]', '[0]'],
		['160 A 0: 1 → 0'],
	],
	[
		'is not reported if the old one came back, and starts again with another one',
		[0, 100, 130, 150, 205, 264, 265],
		['[1]', '[0]', '[1]', '[0]', '[5]', '[5]', '[5]'],
		['265 A 0: 1 → 5'],
	],
	[
		'lasts apart from that of another field',
		[0, 100, 150, 160, 210],
		['[1,1]', '[0,1]', '[0,0]', '[0,0]', '[0,0]'],
		['160 A 0: 1 → 0', '210 A 1: 1 → 0'],
	],
	[
		'does not wait longer if the clock was set back',
		[0, 9000, 100, 160],
		['[1]', '[0]', '[0]', '[0]'],
		['160 A 0: 1 → 0'],
	],
])('with For At Least, a new value %s', (_, times, values, expected) => {
	let before: Snapshot | undefined;
	const reported = times.flatMap((now, index) => {
		const shown = list({ A: JSON.parse(values[index] ?? '') });
		const compared = compareSnapshot(before, shown, { ...options, now, holdSeconds: 60 });
		before = compared.after;
		return told(compared).map((words) => `${now} ${words}`);
	});
	expect(reported).toEqual(expected);
});

describe('a new value that has not lasted', () => {
	const hold = (sn: string, field: number) => ({ sn, field, value: '0', since: 100 });
	const held = compareSnapshot(baseline({ A: [1, 1], B: [1, 1] }), list({ B: [1, 0], A: [0, 0] }), {
		...options,
		now: 100,
		holdSeconds: 60,
	}).after;

	it('is kept beside the old one, always in the same order, also if its device is not listed', () => {
		expect(held.holds).toEqual([hold('A', 0), hold('A', 1), hold('B', 1)]);
		expect(valuesIn(held)).toEqual({ A: '[1,1]', B: '[1,1]' });
		expect(compareSnapshot(held, list({ B: [1, 0] }), { ...options, now: 110, holdSeconds: 60 }).after).toEqual(held);
	});
});

it('a device that left the list is forgotten after an hour, also if the clock was set back', () => {
	const gone = { devices: [], removed: [], unlisted: ['B'] };
	const { after } = compareSnapshot(baseline({ A: [1], B: [1] }), gone, options);
	expect(forgetAway(after, 1000 + 3599)).toEqual(after);
	expect(valuesIn(forgetAway(after, 1000 + 3600))).toEqual({ A: '[1]' });
	expect([...forgetAway(after, 10).away]).toEqual([['B', 10]]);
	expect([...forgetAway(after, 5000, true).away]).toEqual([['B', 5000]]);
});
