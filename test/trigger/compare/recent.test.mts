import { recentAfter, secondsOf } from '../../../nodes/DeviceManagement/trigger/compare/recent.ts';

const T = 1_000_000;
/** The latest date that counts, two days ahead. */
const AHEAD = Date.UTC(2026, 2, 30) / 1000;

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
	['2026-03-30 00:00:00', AHEAD],
	['2026-03-30 00:00:01', NaN],
])('the time %p of a platform is %p', (time, seconds) => {
	expect(secondsOf(time, AHEAD - 2 * 86_400)).toEqual(seconds);
});

it.each<[string, number, boolean, object]>([
	['rises, and rows below its window are forgotten', T + 7201, true, { newest: T + 7201, B: T + 7201 }],
	['rises, and rows in its window are kept', T + 7200, true, { newest: T + 7200, A: T, B: T + 7200 }],
	['stays after an incomplete reading', T + 7201, false, { newest: T, A: T, B: T + 7201 }],
	['never falls', T - 100, true, { newest: T, A: T, B: T - 100 }],
])('the newest time %s', (_, time, complete, expected) => {
	const fetched = { rows: [{ id: 'B', sn: 'B', time, isNew: false }] as const, top: time, complete };
	const { newest, rows } = recentAfter({ newest: T, rows: new Map([['A', T]]) }, fetched);
	expect({ newest, ...Object.fromEntries(rows) }).toEqual(expected);
});
