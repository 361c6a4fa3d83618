import {
	type FetchedRows,
	type Recent,
	recentAfter,
	rowOf,
	secondsOf,
	wordsAboutFuture,
} from '../../../nodes/DeviceManagement/trigger/compare/recent.ts';
import { timeText } from '../../../testbed/platform/fleet.mts';

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
