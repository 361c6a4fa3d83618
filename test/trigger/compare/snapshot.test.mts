import fc from 'fast-check';

import {
	compareSnapshot,
	forgetAway,
	type Snapshot,
} from '../../../nodes/DeviceManagement/trigger/compare/snapshot.ts';
import { watchedFields } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { runs } from '../../../testbed/runs.mts';

const fields = watchedFields(new Set(['attributeChanged']), ['0', '1', '2']);
const options = { fields, now: 1000, holdSeconds: 0, rules: [], isFirstOfProcess: false };
const list = (devices: Record<string, unknown[]>) => ({
	devices: Object.entries(devices).map(([sn, values]) => ({ sn, values: JSON.stringify(values), device: { sn } })),
	removed: [],
	unlisted: [],
});
const baseline = (devices: Record<string, unknown[]>): Snapshot =>
	compareSnapshot(undefined, list(devices), options).after;
const told = ({ changes }: ReturnType<typeof compareSnapshot>) =>
	changes.map(({ sn, field, previous, current }) => [sn, fields.indexOf(field), previous, current]);
const plain = ({ devices, holds }: Snapshot) => ({ devices: Object.fromEntries(devices), holds });

it('takes a baseline without changes, and a quiet list in any order changes nothing', () => {
	const first = compareSnapshot(undefined, list({ A: [1], B: [2] }), options);
	expect(first).toMatchObject({ changes: [] });
	const second = compareSnapshot(first.after, list({ B: [2], A: [1] }), options);
	expect([...second.after.devices]).toEqual([...first.after.devices]);
	expect(second).toMatchObject({ changes: [], after: { holds: [] } });
});

it('reports each changed field once, and does not change its arguments', () => {
	const before = baseline({ A: [1, 2, 3], B: [1, 2, 3] });
	const compared = compareSnapshot(before, list({ A: [7, 2, 'x'], B: [1, 2, 3] }), options);
	expect(told(compared)).toEqual([
		['A', 0, '1', '7'],
		['A', 2, '3', '"x"'],
	]);
	expect(plain(compared.after).devices).toEqual({ A: '[7,2,"x"]', B: '[1,2,3]' });
	expect(told(compareSnapshot(compared.after, list({ A: [7, 2, 'x'], B: [1, 2, 3] }), options))).toEqual([]);
	expect(before.devices.get('A')).toBe('[1,2,3]');
});

it('takes up a device that it did not know without a change, and one that is reported as created', () => {
	const before = baseline({ A: [1] });
	const compared = compareSnapshot(before, list({ A: [2], B: [9] }), options, new Set(['A']));
	expect(told(compared)).toEqual([]);
	expect(plain(compared.after).devices).toEqual({ A: '[2]', B: '[9]' });
});

it('handles two devices with one serial number, in any order', () => {
	const twins = [
		{ sn: 'A', values: '[2]' },
		{ sn: 'A', values: '[1]' },
	];
	const before = compareSnapshot(undefined, { ...list({}), devices: twins }, options).after;
	expect(plain(before).devices).toEqual({ A: '[1]' });
	const compared = compareSnapshot(before, { ...list({}), devices: [...twins].reverse() }, options);
	expect(told(compared)).toEqual([]);
});

describe('for at least', () => {
	const hold = (now: number, holdSeconds = 60) => ({ ...options, now, holdSeconds });

	it('reports a value when it has held so long, once, and with the value before the first change', () => {
		const first = compareSnapshot(baseline({ A: [1] }), list({ A: [0] }), hold(100));
		expect(told(first)).toEqual([]);
		expect(plain(first.after)).toEqual({
			devices: { A: '[1]' },
			holds: [{ sn: 'A', field: 0, value: '0', since: 100 }],
		});
		const second = compareSnapshot(first.after, list({ A: [0] }), hold(159));
		expect(second.after).toEqual(first.after);
		const third = compareSnapshot(second.after, list({ A: [0] }), hold(160));
		expect(told(third)).toEqual([['A', 0, '1', '0']]);
		expect(plain(third.after)).toEqual({ devices: { A: '[0]' }, holds: [] });
	});

	it('says nothing of a device that came back, and starts again with another value', () => {
		const down = compareSnapshot(baseline({ A: [1] }), list({ A: [0] }), hold(100)).after;
		const back = compareSnapshot(down, list({ A: [1] }), hold(130)).after;
		expect(back.holds).toEqual([]);
		const again = compareSnapshot(back, list({ A: [0] }), hold(150)).after;
		const other = compareSnapshot(again, list({ A: [5] }), hold(205));
		expect(told(other)).toEqual([]);
		expect(told(compareSnapshot(other.after, list({ A: [5] }), hold(265)))).toEqual([['A', 0, '1', '5']]);
	});

	it('holds each field for itself', () => {
		const first = compareSnapshot(baseline({ A: [1, 1] }), list({ A: [0, 1] }), hold(100)).after;
		const second = compareSnapshot(first, list({ A: [0, 0] }), hold(150)).after;
		const third = compareSnapshot(second, list({ A: [0, 0] }), hold(160));
		expect(told(third)).toEqual([['A', 0, '1', '0']]);
		expect(told(compareSnapshot(third.after, list({ A: [0, 0] }), hold(210)))).toEqual([['A', 1, '1', '0']]);
	});

	it('reports held changes at once if the time is set to 0', () => {
		const held = compareSnapshot(baseline({ A: [1] }), list({ A: [0] }), hold(100)).after;
		expect(told(compareSnapshot(held, list({ A: [0] }), hold(101, 0)))).toEqual([['A', 0, '1', '0']]);
	});

	it('does not hold forever after the clock was set back', () => {
		const held = compareSnapshot(baseline({ A: [1] }), list({ A: [0] }), hold(1_000_000)).after;
		const back = compareSnapshot(held, list({ A: [0] }), hold(100)).after;
		expect(told(compareSnapshot(back, list({ A: [0] }), hold(160)))).toHaveLength(1);
	});

	it('keeps the holds of devices that are not listed, in another order', () => {
		const before = baseline({ A: [1, 1], B: [1, 1] });
		const held = compareSnapshot(before, list({ B: [1, 0], A: [0, 0] }), hold(100)).after;
		expect(held.holds.map(({ sn, field }) => [field, sn])).toEqual([
			[0, 'A'],
			[1, 'A'],
			[1, 'B'],
		]);
		const other = compareSnapshot(held, list({ B: [1, 0] }), hold(110)).after;
		expect(other).toEqual(held);
	});

	it('drops the holds of a device that is reported as created', () => {
		const held = compareSnapshot(baseline({ A: [1] }), list({ A: [0] }), hold(100)).after;
		const created = compareSnapshot(held, list({ A: [0] }), hold(110), new Set(['A']));
		expect(plain(created.after)).toEqual({ devices: { A: '[0]' }, holds: [] });
	});
});

describe('devices that are not listed', () => {
	const hold = (sn: string) => ({ sn, field: 0, value: '0', since: 5 });
	const before = { ...baseline({ A: [1], B: [1], C: [1] }), holds: [hold('A'), hold('B'), hold('C')] };

	it('stay remembered', () => {
		const { after } = compareSnapshot(before, list({ A: [1], D: [1] }), options);
		expect(plain(after)).toEqual({ devices: { A: '[1]', B: '[1]', C: '[1]', D: '[1]' }, holds: before.holds.slice(1) });
	});

	it('are forgotten if they are removed, and an hour after they left the filter', () => {
		const gone = { devices: [], removed: ['B', 'X'], unlisted: ['C'] };
		const { after } = compareSnapshot(before, gone, options);
		expect(plain(after)).toEqual({ devices: { A: '[1]', C: '[1]' }, holds: [hold('A')] });
		expect(forgetAway(after, 1000 + 3599)).toEqual(after);
		expect(plain(forgetAway(after, 1000 + 3600))).toEqual({ devices: { A: '[1]' }, holds: [hold('A')] });
		// The clock was set back.
		expect([...forgetAway(after, 10).away]).toEqual([['C', 10]]);
	});
});

it('returns exactly the differences, for any devices and values', () => {
	const values = fc.tuple(fc.nat({ max: 1 }), fc.nat({ max: 1 }));
	const devices = fc.dictionary(fc.constantFrom('A', 'B', 'C', 'D'), values, { noNullPrototype: true });
	fc.assert(
		fc.property(devices, fc.array(devices, { maxLength: 6 }), (first, others) => {
			let before = baseline(first);
			const last = new Map(Object.entries(first));
			for (const shown of others) {
				const expected = Object.entries(shown).flatMap(([sn, now]) => {
					const old = last.get(sn);
					return old === undefined
						? []
						: [0, 1].filter((field) => old[field] !== now[field]).map((field) => [sn, field]);
				});
				const compared = compareSnapshot(before, list(shown), options);
				expect(told(compared).map(([sn, field]) => [sn, field])).toEqual(expected);
				for (const [sn, now] of Object.entries(shown)) last.set(sn, now);
				expect([...compared.after.devices].map(([sn, kept]) => [sn, JSON.parse(kept)])).toEqual([...last]);
				before = compared.after;
			}
		}),
		runs(1000),
	);
});
