import fc from 'fast-check';

import {
	type FetchedRows,
	floorOf,
	type Recent,
	recentAfter,
	rowOf,
	secondsOf,
	WINDOW,
} from '../../../nodes/DeviceManagement/trigger/compare/recent.ts';
import { timeText } from '../../../testbed/platform/fleet.mts';
import { runs } from '../../../testbed/runs.mts';

const T = 1_000_000;

/** Compares what was remembered with the times of some devices. */
function look(before: Recent | undefined, times: Record<string, number>, changes: Partial<FetchedRows> = {}) {
	const rows = Object.entries(times).flatMap(
		([id, time]) => rowOf({ id, createTime: timeText(time * 1000) }, 'createTime', before) ?? [],
	);
	const top = [...rows].sort((one, other) => other.time - one.time).at(0);
	const isNew = rows.filter((row) => row.isNew).map(({ id }) => id);
	return { isNew, after: recentAfter(before, { rows, top, complete: true, ...changes }) };
}
const baseline = (times: Record<string, number>): Recent => look(undefined, times).after;
const plain = ({ newest, rows }: Recent) => ({ newest, rows: Object.fromEntries(rows) });

it('the window is two hours', () => {
	expect(WINDOW).toBe(7200);
	expect(floorOf({ newest: T })).toBe(T - 7200);
	expect(floorOf({ newest: null })).toBe(-Infinity);
});

describe('a time of the platform', () => {
	it.each([
		['2026-03-29 02:30:00', Date.UTC(2026, 2, 29, 2, 30) / 1000],
		['2026-03-29T02:30:01', Date.UTC(2026, 2, 29, 2, 30, 1) / 1000],
		['2026-03-29 02:30:00.123+02:00', Date.UTC(2026, 2, 29, 2, 30) / 1000],
		[undefined, undefined],
		[null, undefined],
		['', undefined],
		['29.03.2026 02:30', NaN],
		['x 2026-03-29 02:30:00', NaN],
		[1_774_751_400, NaN],
		['2026-03-29', NaN],
	])('%p is %p', (time, seconds) => {
		expect(secondsOf(time)).toEqual(seconds);
	});
});

describe('the row of a device', () => {
	const device = { id: 7, sn: 'A', createTime: '1970-01-12 13:46:40' };

	it('has its time, and the record if it is new', () => {
		expect(rowOf(device, 'createTime', baseline({ 7: T }))).toEqual({ id: '7', sn: 'A', time: T, isNew: false });
		expect(rowOf(device, 'createTime', baseline({ B: T }))).toEqual({ id: '7', sn: 'A', time: T, isNew: true, device });
		expect(rowOf(device, 'updateTime', undefined)).toBeUndefined();
	});

	it('is not new if the time has another format', () => {
		expect(rowOf({ ...device, createTime: '12.01.1970' }, 'createTime', baseline({}))).toEqual({
			id: '7',
			sn: 'A',
			time: NaN,
			isNew: false,
		});
	});
});

describe('a baseline', () => {
	it('reports nothing and remembers the rows of two hours', () => {
		const { after, isNew } = look(undefined, { A: T, B: T - WINDOW, C: T - WINDOW - 1 });
		expect(isNew).toEqual([]);
		expect(plain(after)).toEqual({ newest: T, rows: { A: T, B: T - WINDOW } });
	});

	it('is also taken from a list that moved, or that has no times', () => {
		expect(look(undefined, { A: T }, { complete: false }).after.newest).toBe(T);
		expect(plain(baseline({}))).toEqual({ newest: null, rows: {} });
	});

	it('takes the newest time of the fleet, not of the filter', () => {
		const { after } = look(
			undefined,
			{ A: T - WINDOW - 1, B: T - 1 },
			{ top: { id: 'C', sn: 'C', time: T, isNew: false } },
		);
		expect(plain(after)).toEqual({ newest: T, rows: { B: T - 1 } });
	});
});

describe('new is', () => {
	it.each<[string, Record<string, number>, string[]]>([
		['nothing that was met', { A: T, B: T - 10 }, []],
		['a later time', { C: T + 1, A: T, B: T - 10 }, ['C']],
		['the second of the newest one', { C: T, A: T }, ['C']],
		['two hours before it', { C: T - WINDOW }, ['C']],
		['not what is older', { C: T - WINDOW - 1 }, []],
		['another time of a known device, also an earlier one', { A: T - 5, B: T - 9 }, ['A', 'B']],
	])('%s', (_, rows, expected) => {
		const before = baseline({ A: T, B: T - 10 });
		const { after, isNew } = look(before, rows);
		expect(isNew).toEqual(expected);
		expect(look(after, rows).isNew).toEqual([]);
	});

	it('every time, if the fleet had none', () => {
		expect(look(baseline({}), { A: 5 }).isNew).toHaveLength(1);
	});
});

describe('the newest time', () => {
	const before = baseline({ A: T });

	it('rises after a complete reading, and rows below its window are forgotten', () => {
		const { after } = look(before, { B: T + WINDOW + 1 });
		expect(plain(after)).toEqual({ newest: T + WINDOW + 1, rows: { B: T + WINDOW + 1 } });
		const { after: kept } = look(before, { B: T + WINDOW });
		expect(plain(kept)).toEqual({ newest: T + WINDOW, rows: { A: T, B: T + WINDOW } });
	});

	it('stays after an incomplete one, which also reports and remembers', () => {
		const { after, isNew } = look(before, { B: T + WINDOW + 1 }, { complete: false });
		expect(isNew).toHaveLength(1);
		expect(plain(after)).toEqual({ newest: T, rows: { A: T, B: T + WINDOW + 1 } });
	});

	it('never falls, and a row that is not listed is remembered', () => {
		const { after } = look(before, { B: T - 100 });
		expect(plain(after)).toEqual({ newest: T, rows: { A: T, B: T - 100 } });
		expect(plain(look(before, {}).after)).toEqual({ newest: T, rows: { A: T } });
	});
});

it('reports each pair of device and time once, whichever rows a poll reads', () => {
	const rows = fc.dictionary(
		fc.constantFrom('A', 'B', 'C', 'D', 'E'),
		fc.integer({ min: T - WINDOW / 2, max: T + WINDOW / 4 }),
		{
			noNullPrototype: true,
		},
	);
	fc.assert(
		fc.property(rows, fc.array(fc.tuple(rows, fc.boolean()), { maxLength: 8 }), (first, others) => {
			let before = baseline(first);
			const last = new Map(Object.entries(first));
			for (const [shown, complete] of others) {
				const { after, isNew } = look(before, shown, { complete });
				expect(isNew).toEqual(Object.keys(shown).filter((id) => last.get(id) !== shown[id]));
				for (const [id, time] of Object.entries(shown)) last.set(id, time);
				before = after;
			}
		}),
		runs(1000),
	);
});
