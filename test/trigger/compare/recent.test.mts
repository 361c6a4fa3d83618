import fc from 'fast-check';

import {
	type FetchedRows,
	floorOf,
	type Recent,
	recentAfter,
	rowOf,
	secondsOf,
	wordsAboutFuture,
} from '../../../nodes/DeviceManagement/trigger/compare/recent.ts';
import { timeText } from '../../../testbed/platform/fleet.mts';
import { runs } from '../../../testbed/runs.mts';

const T = 1_000_000;
const WINDOW = 7200;

/** Compares what was remembered with the times of some devices. */
function look(before: Recent | undefined, times: Record<string, number>, changes: Partial<FetchedRows> = {}) {
	const rows = Object.entries(times).flatMap(
		([id, time]) => rowOf({ id, createTime: timeText(time * 1000) }, 'createTime', before) ?? [],
	);
	const top = [...rows].sort((one, other) => other.time - one.time).at(0);
	const after = recentAfter(before, { rows, top, complete: true, ...changes });
	const isNew = rows.filter((row) => row.isNew).map(({ id }) => id);
	return { isNew, after, kept: { newest: after.newest, ...Object.fromEntries(after.rows) } };
}
const baseline = (times: Record<string, number>): Recent => look(undefined, times).after;

it.each<[unknown, number | undefined]>([
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
])('the time %p of a platform is %p', (time, seconds) => {
	expect(secondsOf(time)).toEqual(seconds);
});

it('the row of a device has its time, and the record if it is new, which a time in another format is not', () => {
	const device = { id: 7, sn: 'A', createTime: '1970-01-12 13:46:40' };
	const row = { id: '7', sn: 'A', time: T };
	expect(rowOf(device, 'createTime', baseline({ 7: T }))).toEqual({ ...row, isNew: false });
	expect(rowOf(device, 'createTime', baseline({ B: T }))).toEqual({ ...row, isNew: true, device });
	expect(rowOf(device, 'updateTime', undefined)).toBeUndefined();
	const odd = rowOf({ ...device, createTime: '12.01.1970' }, 'createTime', baseline({}));
	expect(odd).toEqual({ ...row, time: NaN, isNew: false });
	expect(floorOf({ newest: null })).toBe(-Infinity);
});

const FLEET_TOP = { top: { id: 'C', sn: 'C', time: T, isNew: false } } as const;
it.each<[string, Record<string, number>, Partial<FetchedRows>, object]>([
	['the rows of two hours', { A: T, B: T - WINDOW, C: T - WINDOW - 1 }, {}, { newest: T, A: T, B: T - WINDOW }],
	['a list that moved', { A: T }, { complete: false }, { newest: T, A: T }],
	['a list without times', {}, {}, { newest: null }],
	[
		'the newest time of the fleet, not of the filter',
		{ A: T - WINDOW - 1, B: T - 1 },
		FLEET_TOP,
		{ newest: T, B: T - 1 },
	],
])('a baseline reports nothing and takes %s', (_, times, changes, expected) => {
	const { kept, isNew } = look(undefined, times, changes);
	expect([kept, isNew]).toEqual([expected, []]);
});

it.each<[string, Record<string, number>, string[]]>([
	['nothing that was met', { A: T, B: T - 10 }, []],
	['a later time', { C: T + 1, A: T, B: T - 10 }, ['C']],
	['the second of the newest one', { C: T, A: T }, ['C']],
	['two hours before it', { C: T - WINDOW }, ['C']],
	['not what is older', { C: T - WINDOW - 1 }, []],
	['another time of a known device, also an earlier one', { A: T - 5, B: T - 9 }, ['A', 'B']],
])('new is %s', (_, rows, expected) => {
	expect(look(baseline({ A: T, B: T - 10 }), rows).isNew).toEqual(expected);
	// If the fleet had no time, each is new.
	expect(look(baseline({}), rows).isNew).toEqual(Object.keys(rows));
});

it.each<[string, Record<string, number>, boolean, object]>([
	['rises, and rows below its window are forgotten', { B: T + 7201 }, true, { newest: T + 7201, B: T + 7201 }],
	['rises, and rows in its window are kept', { B: T + 7200 }, true, { newest: T + 7200, A: T, B: T + 7200 }],
	['stays after an incomplete reading', { B: T + 7201 }, false, { newest: T, A: T, B: T + 7201 }],
	['never falls', { B: T - 100 }, true, { newest: T, A: T, B: T - 100 }],
	['stays if nothing is listed', {}, true, { newest: T, A: T }],
])('the newest time %s', (_, rows, complete, expected) => {
	expect(look(baseline({ A: T }), rows, { complete }).kept).toEqual(expected);
});

it('a time more than two days ahead of this clock is named, with its device if that still has it', () => {
	const { after } = look(undefined, { A: T });
	const words = (now: number, top: number) => {
		const row = { id: 'A', sn: 'A', time: top, isNew: false } as const;
		const fetched = { rows: [], top: row, complete: true };
		return wordsAboutFuture(new Map([['createTime', after]]), new Map([['createTime', fetched]]), now);
	};
	const about = "can't find other devices by createTime before 1970-01-12 13:46:40, because";
	expect(words(T - 172_800, T)).toEqual([]);
	expect(words(T - 172_801, T)).toEqual([`${about} the device A has that date`]);
	expect(words(T - 172_801, T - 1)).toEqual([`${about} a device had that date`]);
	expect(wordsAboutFuture(new Map([['createTime', baseline({})]]), new Map(), -T)).toEqual([]);
});

it('reports each pair of device and time once, whichever rows a poll reads', () => {
	const rows = fc.dictionary(
		fc.constantFrom('A', 'B', 'C', 'D', 'E'),
		fc.integer({ min: T - WINDOW / 2, max: T + WINDOW / 4 }),
		{ noNullPrototype: true },
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
