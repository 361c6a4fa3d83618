import fc from 'fast-check';

import {
	compareRecent,
	floorOf,
	isNew,
	type FetchedRows,
	type Recent,
	rowOf,
	secondsOf,
	type Row,
	WINDOW,
} from '../../../nodes/DeviceManagement/trigger/compare/recent.ts';
import { runs } from '../../../testbed/runs.mts';

const T = 1_000_000;

const rowsOf = (rows: Record<string, number>): Row[] => Object.entries(rows).map(([id, time]) => ({ id, time }));
const reading = (rows: Record<string, number>, changes: Partial<FetchedRows> = {}): FetchedRows => ({
	rows: rowsOf(rows),
	newest: Object.keys(rows).length === 0 ? null : Math.max(...Object.values(rows)),
	complete: true,
	...changes,
});
const baseline = (rows: Record<string, number>): Recent => compareRecent(undefined, reading(rows)).after;
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
		expect(rowOf(device, 'createTime', baseline({ 7: T }))).toEqual({ id: '7', time: T });
		expect(rowOf(device, 'createTime', baseline({ B: T }))).toEqual({ id: '7', time: T, device });
		expect(rowOf(device, 'updateTime', undefined)).toBeUndefined();
	});

	it('fails for a time in another format, and names the field', () => {
		expect(() => rowOf({ ...device, updateTime: '12.01.1970' }, 'updateTime', undefined)).toThrow(
			expect.objectContaining({
				message: "The platform sends an unknown date format in 'updateTime'",
				details: expect.objectContaining({
					kind: 'response',
					cause: 'platform',
					remedy:
						"The API document has the format YYYY-MM-DD HH:MM:SS. Remove the event that needs it from 'Events', or ask your platform administrator.",
				}),
			}),
		);
	});
});

describe('a baseline', () => {
	it('reports nothing and remembers the rows of two hours', () => {
		const { after, newRows } = compareRecent(undefined, reading({ A: T, B: T - WINDOW, C: T - WINDOW - 1 }));
		expect(newRows).toEqual([]);
		expect(plain(after)).toEqual({ newest: T, rows: { A: T, B: T - WINDOW } });
	});

	it('is also taken from a list that moved, or that has no times', () => {
		expect(compareRecent(undefined, reading({ A: T }, { complete: false })).after.newest).toBe(T);
		expect(plain(baseline({}))).toEqual({ newest: null, rows: {} });
	});

	it('takes the newest time of the fleet, not of the filter', () => {
		const { after } = compareRecent(undefined, reading({ A: T - WINDOW - 1, B: T - 1 }, { newest: T }));
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
		const { after, newRows } = compareRecent(before, reading(rows));
		expect(newRows.map(({ id }) => id)).toEqual(expected);
		expect(compareRecent(after, reading(rows)).newRows).toEqual([]);
	});

	it('every time, if the fleet had none', () => {
		expect(compareRecent(baseline({}), reading({ A: 5 })).newRows).toHaveLength(1);
	});

	it('what has an unknown pair of device and time', () => {
		const before = baseline({ A: T });
		expect([isNew(before, { id: 'A', time: T }), isNew(before, { id: 'A', time: T + 1 })]).toEqual([false, true]);
		expect(isNew(before, { id: 'B', time: T })).toBe(true);
		expect(isNew(undefined, { id: 'B', time: T })).toBe(false);
	});
});

describe('the newest time', () => {
	const before = baseline({ A: T });

	it('rises after a complete reading, and rows below its window are forgotten', () => {
		const { after } = compareRecent(before, reading({ B: T + WINDOW + 1 }));
		expect(plain(after)).toEqual({ newest: T + WINDOW + 1, rows: { B: T + WINDOW + 1 } });
		const { after: kept } = compareRecent(before, reading({ B: T + WINDOW }));
		expect(plain(kept)).toEqual({ newest: T + WINDOW, rows: { A: T, B: T + WINDOW } });
	});

	it('stays after an incomplete one, which also reports and remembers', () => {
		const { after, newRows } = compareRecent(before, reading({ B: T + WINDOW + 1 }, { complete: false }));
		expect(newRows).toHaveLength(1);
		expect(plain(after)).toEqual({ newest: T, rows: { A: T, B: T + WINDOW + 1 } });
	});

	it('never falls, and a row that is not listed is remembered', () => {
		const { after } = compareRecent(before, reading({ B: T - 100 }));
		expect(plain(after)).toEqual({ newest: T, rows: { A: T, B: T - 100 } });
		expect(plain(compareRecent(before, reading({}, { newest: null })).after)).toEqual({ newest: T, rows: { A: T } });
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
				const { after, newRows } = compareRecent(before, reading(shown, { complete }));
				const expected = Object.entries(shown).filter(([id, time]) => last.get(id) !== time);
				expect(newRows.map(({ id, time }) => [id, time])).toEqual(expected);
				for (const [id, time] of Object.entries(shown)) last.set(id, time);
				before = after;
			}
		}),
		runs(1000),
	);
});
