import fc from 'fast-check';

import {
	compareSnapshot,
	emptySnapshot,
	forget,
	type Snapshot,
	type Whereabouts,
} from '../../nodes/DeviceManagement/trigger/snapshot.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 1000);

const options = { now: 1000, holdSeconds: 0, created: new Set<string>() };
const list = (devices: Record<string, string>, complete = true) => ({
	devices: Object.entries(devices).map(([sn, code]) => ({ sn, code })),
	complete,
});
const baseline = (devices: Record<string, string>): Snapshot => compareSnapshot(emptySnapshot(1), list(devices), options).after;
const told = ({ changes }: ReturnType<typeof compareSnapshot>) =>
	changes.map(({ device: { sn }, field, previous, current }) => [sn, field, previous, current]);

it('takes a baseline without changes, and the very same object comes back from a quiet list', () => {
	const first = compareSnapshot(emptySnapshot(1), list({ A: '=1', B: '=2' }), options);
	expect(first).toMatchObject({ changes: [], missing: [] });
	expect(compareSnapshot(first.after, list({ B: '=2', A: '=1' }), options).after).toBe(first.after);
});

it('reports each field that changed, once', () => {
	const before = baseline({ A: '=1=2=3', B: '=1=2=3' });
	const compared = compareSnapshot(before, list({ A: "=7=2='x", B: '=1=2=3' }), options);
	expect(told(compared)).toEqual([
		['A', 0, '=1', '=7'],
		['A', 2, '=3', "='x"],
	]);
	expect(told(compareSnapshot(compared.after, list({ A: "=7=2='x", B: '=1=2=3' }), options))).toEqual([]);
	// What was given is not written to.
	expect(before.devices.get('A')).toBe('=1=2=3');
});

it('takes up a device that it did not know without a change, and one that is reported as created', () => {
	const before = baseline({ A: '=1' });
	const compared = compareSnapshot(before, list({ A: '=2', B: '=9' }), { ...options, created: new Set(['A']) });
	expect(told(compared)).toEqual([]);
	expect([...compared.after.devices]).toEqual([
		['A', '=2'],
		['B', '=9'],
	]);
});

it('is not confused by two devices with one serial number, in whatever order they come', () => {
	const twins = [
		{ sn: 'A', code: '=2' },
		{ sn: 'A', code: '=1' },
	];
	const before = compareSnapshot(emptySnapshot(1), { devices: twins, complete: true }, options).after;
	const compared = compareSnapshot(before, { devices: [...twins].reverse(), complete: true }, options);
	expect(compared.after).toBe(before);
});

describe('for at least', () => {
	const hold = (now: number, holdSeconds = 60) => ({ ...options, now, holdSeconds });

	it('reports a value when it has held so long, once, and with the value before the first change', () => {
		const first = compareSnapshot(baseline({ A: '=1' }), list({ A: '=0' }), hold(100));
		expect(told(first)).toEqual([]);
		const second = compareSnapshot(first.after, list({ A: '=0' }), hold(159));
		expect(second.after).toBe(first.after);
		const third = compareSnapshot(second.after, list({ A: '=0' }), hold(160));
		expect(told(third)).toEqual([['A', 0, '=1', '=0']]);
		expect(third.after.holds.size).toBe(0);
		expect(compareSnapshot(third.after, list({ A: '=0' }), hold(500)).after).toBe(third.after);
	});

	it('says nothing of a device that came back, and begins anew with another value', () => {
		const down = compareSnapshot(baseline({ A: '=1' }), list({ A: '=0' }), hold(100)).after;
		const back = compareSnapshot(down, list({ A: '=1' }), hold(130)).after;
		expect(back.holds.size).toBe(0);
		const again = compareSnapshot(back, list({ A: '=0' }), hold(150)).after;
		const other = compareSnapshot(again, list({ A: '=5' }), hold(205));
		expect(told(other)).toEqual([]);
		expect(told(compareSnapshot(other.after, list({ A: '=5' }), hold(265)))).toEqual([['A', 0, '=1', '=5']]);
	});

	it('holds each field for itself', () => {
		const first = compareSnapshot(baseline({ A: '=1=1' }), list({ A: '=0=1' }), hold(100)).after;
		const second = compareSnapshot(first, list({ A: '=0=0' }), hold(150)).after;
		const third = compareSnapshot(second, list({ A: '=0=0' }), hold(160));
		expect(told(third)).toEqual([['A', 0, '=1', '=0']]);
		expect(told(compareSnapshot(third.after, list({ A: '=0=0' }), hold(210)))).toEqual([['A', 1, '=1', '=0']]);
	});

	it('reports at once what was held when the time is set to nothing', () => {
		const held = compareSnapshot(baseline({ A: '=1' }), list({ A: '=0' }), hold(100)).after;
		expect(told(compareSnapshot(held, list({ A: '=0' }), hold(101, 0)))).toEqual([['A', 0, '=1', '=0']]);
	});

	it('does not hold for ever under a clock that was set back', () => {
		const held = compareSnapshot(baseline({ A: '=1' }), list({ A: '=0' }), hold(1_000_000)).after;
		const back = compareSnapshot(held, list({ A: '=0' }), hold(100)).after;
		expect(told(compareSnapshot(back, list({ A: '=0' }), hold(160)))).toHaveLength(1);
	});
});

describe('absence', () => {
	const before = baseline({ A: '=1', B: '=1', C: '=1' });

	it('counts from the second complete list in a row', () => {
		const once = compareSnapshot(before, list({ A: '=1' }), options);
		expect(once.missing).toEqual([]);
		const twice = compareSnapshot(once.after, list({ A: '=1' }), options);
		expect(twice.missing).toEqual(['B', 'C']);
		expect(twice.after).toBe(once.after);
		const back = compareSnapshot(once.after, list({ A: '=1', B: '=1' }), options);
		expect(back.missing).toEqual(['C']);
		expect(compareSnapshot(back.after, list({ A: '=1', C: '=1' }), options).missing).toEqual([]);
	});

	it('is no absence in a list that is incomplete or empty', () => {
		const once = compareSnapshot(before, list({ A: '=1' }), options).after;
		for (const other of [list({ A: '=1' }, false), list({}), list({}, false)]) {
			const compared = compareSnapshot(once, other, options);
			expect(compared).toMatchObject({ missing: [] });
			expect(compared.after).toBe(once);
			expect(compareSnapshot(before, other, options).after).toBe(before);
		}
		// To be there counts in any list.
		expect([...compareSnapshot(once, list({ A: '=1', B: '=1' }, false), options).after.absent]).toEqual(['C']);
	});

	it('ends with what was found out, and goes on where nothing was', () => {
		const once = compareSnapshot(before, list({ A: '=1' }), { ...options, holdSeconds: 5 }).after;
		const found = forget(once, new Map<string, Whereabouts>([['B', 'removed'], ['C', 'unknown']]));
		expect([...found.devices.keys()]).toEqual(['A', 'C']);
		expect([...found.absent]).toEqual(['C']);
		expect([...forget(found, new Map<string, Whereabouts>([['C', 'elsewhere']])).devices.keys()]).toEqual(['A']);
		expect(forget(once, new Map())).toBe(once);
	});
});

it('tells exactly the differences, whatever devices and values come and go', () => {
	const devices = fc.dictionary(fc.constantFrom('A', 'B', 'C', 'D'), fc.constantFrom('=0=0', '=0=1', '=1=0', '=1=1'), { noNullPrototype: true });
	fc.assert(
		fc.property(devices, fc.array(devices, { maxLength: 6 }), (first, others) => {
			let before = baseline(first);
			const last = new Map(Object.entries(first));
			for (const shown of others) {
				const expected = Object.entries(shown).flatMap(([sn, code]) => {
					const old = last.get(sn);
					if (old === undefined) return [];
					return [0, 1].filter((field) => old[2 * field + 1] !== code[2 * field + 1]).map((field) => [sn, field]);
				});
				const compared = compareSnapshot(before, list(shown, false), options);
				expect(compared.changes.map(({ device: { sn }, field }) => [sn, field])).toEqual(expected);
				for (const [sn, code] of Object.entries(shown)) last.set(sn, code);
				expect(Object.fromEntries(compared.after.devices)).toEqual(Object.fromEntries(last));
				before = compared.after;
			}
		}),
		{ numRuns: RUNS },
	);
});
