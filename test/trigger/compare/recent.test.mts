import {
	type FetchedRows,
	type Recent,
	recentAfter,
	rowOf,
	secondsOf,
} from '../../../nodes/DeviceManagement/trigger/compare/recent.ts';
import { timeText } from '../../../testbed/platform/fleet.mts';

const T = 1_000_000;

/** Compares what was remembered with the times of some devices. */
function look(before: Recent | undefined, times: Record<string, number>, changes: Partial<FetchedRows> = {}) {
	const rows = Object.entries(times).flatMap(
		([id, time]) => rowOf({ id, createTime: timeText(time * 1000) }, 'createTime', before) ?? [],
	);
	const top = [...rows].sort((one, other) => other.time - one.time).at(0);
	const after = recentAfter(before, { rows, top, complete: true, ...changes });
	return { after, kept: { newest: after.newest, ...Object.fromEntries(after.rows) } };
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

it.each<[string, Record<string, number>, boolean, object]>([
	['rises, and rows below its window are forgotten', { B: T + 7201 }, true, { newest: T + 7201, B: T + 7201 }],
	['rises, and rows in its window are kept', { B: T + 7200 }, true, { newest: T + 7200, A: T, B: T + 7200 }],
	['stays after an incomplete reading', { B: T + 7201 }, false, { newest: T, A: T, B: T + 7201 }],
	['never falls', { B: T - 100 }, true, { newest: T, A: T, B: T - 100 }],
	['stays if nothing is listed', {}, true, { newest: T, A: T }],
])('the newest time %s', (_, rows, complete, expected) => {
	expect(look(baseline({ A: T }), rows, { complete }).kept).toEqual(expected);
});
