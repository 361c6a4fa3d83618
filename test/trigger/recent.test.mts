import fc from 'fast-check';

import { compareRecent, oldestNew, type Recent, secondsOf, WINDOW } from '../../nodes/DeviceManagement/trigger/recent.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 1000);
const HOUR = 3600;

const name = (number: number) => String(number).padStart(5, '0');
/** A row of a device, in one of its versions. */
const row = (device: number, time: number, version = 0) => ({ time, digest: name(device) + String(version).padStart(6, '0') });
const steady = { now: 1000, steady: true, identityLength: 5 };

function baseline(...rows: Array<{ time: number; digest: string }>): Recent {
	return compareRecent(undefined, rows, steady).after;
}

it('reads the times of the API document, and only compares them', () => {
	expect(secondsOf('1970-01-01 00:00:10')).toBe(10);
	expect(secondsOf('2024-03-11T08:15:00.5+02:00')).toBe(secondsOf('2024-03-11 08:15:00'));
	expect([null, undefined, ''].map(secondsOf)).toEqual([undefined, undefined, undefined]);
	expect([1710144900, '11.03.2024', 'yesterday', {}].map(secondsOf)).toEqual([NaN, NaN, NaN, NaN]);
});

it('takes a baseline without news, and remembers two hours of it', () => {
	const { after, fresh } = compareRecent(undefined, [row(1, 9000), row(2, 9000 - WINDOW), row(3, 8999 - WINDOW)], steady);
	expect(fresh).toEqual([]);
	expect(after).toEqual({ watermark: 9000, risenAt: 1000, rows: new Map([['00001000000', 9000], ['00002000000', 9000 - WINDOW]]) });
});

it('gives back the very same object on a quiet list, whatever its order', () => {
	const before = baseline(row(1, 9000), row(2, 8000), row(3, 7000));
	expect(compareRecent(before, [row(3, 7000), row(1, 9000), row(2, 8000)], steady).after).toBe(before);
	// One that is missing from it is not forgotten: it may come back.
	expect(compareRecent(before, [row(1, 9000)], steady).after).toBe(before);
	expect(compareRecent(before, [], steady).after).toBe(before);
});

it('reports a row that comes late, in the second of the watermark, or in a repeated hour, once', () => {
	const before = baseline(row(1, 9000));
	const late = [row(2, 9000), row(3, 9000 - HOUR), row(4, 9000 - WINDOW)];
	const { after, fresh } = compareRecent(before, [row(1, 9000), ...late], steady);
	expect(fresh).toEqual(late);
	expect(after.watermark).toBe(9000);
	expect(compareRecent(after, [row(1, 9000), ...late], steady)).toEqual({ after, fresh: [] });
});

it('reports each version of a device once, also when it goes back to an older one', () => {
	let before = baseline(row(1, 9000, 0));
	for (const version of [1, 0, 2, 1]) {
		const { after, fresh } = compareRecent(before, [row(1, 9000, version)], steady);
		expect(fresh).toEqual([row(1, 9000, version)]);
		expect(after.rows.size).toBe(1);
		before = after;
	}
});

it('keeps the watermark where rows may have been missed, so that they are looked for again', () => {
	const before = baseline(row(1, 9000));
	const { after, fresh } = compareRecent(before, [row(1, 9000), row(2, 90_000)], { ...steady, steady: false });
	expect(fresh).toEqual([row(2, 90_000)]);
	expect(oldestNew(after, 2000, 100)).toBe(9000 - WINDOW);
	const next = compareRecent(after, [row(1, 9000), row(2, 90_000), row(3, 10_000)], steady);
	expect(next.fresh).toEqual([row(3, 10_000)]);
	expect(next.after.watermark).toBe(90_000);
});

describe('a baseline during which the list moved', () => {
	const moved = { ...steady, steady: false };

	it('is completed without news by the first list that holds still', () => {
		const { after } = compareRecent(undefined, [row(1, 9000), row(2, 8000)], moved);
		expect(after).toMatchObject({ watermark: 9000, incomplete: true });
		// A hidden one, one in the newest second, a known one in another version, and one that is surely new.
		const rows = [row(1, 9000), row(2, 8000, 1), row(3, 8500), row(4, 9000), row(5, 9001)];
		const completed = compareRecent(after, rows, steady);
		expect(completed.fresh).toEqual([row(2, 8000, 1), row(5, 9001)]);
		expect(completed.after.incomplete).toBeUndefined();
		expect(compareRecent(completed.after, rows, steady)).toEqual({ after: completed.after, fresh: [] });
		expect(compareRecent(completed.after, [row(6, 8500)], steady).fresh).toEqual([row(6, 8500)]);
	});

	it('gives back the very same object as long as nothing more is met', () => {
		const { after } = compareRecent(undefined, [row(1, 9000)], moved);
		expect(compareRecent(after, [row(1, 9000)], moved).after).toBe(after);
		expect(compareRecent(after, [row(1, 9000)], steady).after).toEqual({ watermark: 9000, risenAt: 1000, rows: after.rows });
	});

	it('begins anew where it met no row', () => {
		const { after } = compareRecent(undefined, [], moved);
		const { after: next, fresh } = compareRecent(after, [row(1, 9000)], moved);
		expect(fresh).toEqual([]);
		expect(next).toMatchObject({ watermark: 9000, incomplete: true });
	});

	it('begins anew only once: the first row of a fleet without any, which never holds still, is news', () => {
		const { after } = compareRecent(undefined, [], moved);
		const { after: next } = compareRecent(after, [], moved);
		expect(next.incomplete).toBeUndefined();
		expect(compareRecent(next, [row(1, 9000)], moved).fresh).toEqual([row(1, 9000)]);
	});

	it('reports no device of before, and each one once that comes above all of them, whenever lists hide some', () => {
		const times = fc.array(fc.nat({ max: WINDOW }), { minLength: 1, maxLength: 8 });
		const poll = fc.record({ added: times, hidden: fc.infiniteStream(fc.boolean()), isSteady: fc.boolean() });
		fc.assert(
			fc.property(times, fc.infiniteStream(fc.boolean()), fc.array(poll, { minLength: 1, maxLength: 6 }), (old, hiddenAtFirst, polls) => {
				let newest = 1_000_000;
				// The newest one comes first on every page, so no walk misses it.
				const all = [row(0, newest), ...old.map((by, index) => row(index + 1, newest - by))];
				const first = all.filter((_, index) => index === 0 || hiddenAtFirst.next().value !== true);
				let before = compareRecent(undefined, first, moved).after;
				const reported: unknown[] = [];
				const expected: unknown[] = [];
				for (const { added, hidden, isSteady } of polls) {
					const top = newest;
					for (const by of added) {
						const fresh = row(all.length, top + 1 + by);
						newest = Math.max(newest, fresh.time);
						all.push(fresh);
						expected.push(fresh);
					}
					const met = isSteady ? all : all.filter(({ time }) => time === newest || hidden.next().value !== true);
					const from = oldestNew(before, 0, Infinity);
					const compared = compareRecent(before, met.filter(({ time }) => time >= from), { ...steady, steady: isSteady });
					reported.push(...compared.fresh);
					before = compared.after;
				}
				const from = oldestNew(before, 0, Infinity);
				reported.push(...compareRecent(before, all.filter(({ time }) => time >= from), steady).fresh);
				expect(new Set(reported)).toEqual(new Set(expected));
				expect(reported).toHaveLength(expected.length);
			}),
			{ numRuns: RUNS },
		);
	});
});

it('closes a window of many rows when nothing can come late any more', () => {
	const before = baseline(...Array.from({ length: 50 }, (_, device) => row(device, 9000 - device)));
	expect(oldestNew(before, 1000 + 4 * HOUR, 49)).toBe(9000 - WINDOW);
	expect(oldestNew(before, 1001 + 4 * HOUR, 49)).toBe(9000);
	expect(oldestNew(before, 1001 + 4 * HOUR, 50)).toBe(9000 - WINDOW);
	expect(oldestNew({ ...before, watermark: null }, 1001 + 4 * HOUR, 0)).toBe(-Infinity);
	// A clock that was set back closes nothing.
	expect(oldestNew(before, 0, 0)).toBe(9000 - WINDOW);
});

it('reports every row once, in any order, as long as none is two hours late', () => {
	const offsets = fc.array(fc.nat({ max: WINDOW }), { minLength: 1, maxLength: 12 });
	fc.assert(
		fc.property(fc.array(fc.tuple(fc.nat({ max: 5000 }), offsets), { minLength: 1, maxLength: 8 }), fc.boolean(), (polls, hasBaseline) => {
			const all: Array<{ time: number; digest: string }> = [];
			let newest = 1_000_000;
			let before = baseline(...(hasBaseline ? [row(0, newest)] : []));
			if (hasBaseline) all.push(row(0, newest));
			for (const [step, late] of polls) {
				newest += step;
				const fresh = late.map((by, index) => row(all.length + index + 1, newest - by));
				all.push(...fresh);
				// What the platform lists from the oldest that can be new on.
				const from = oldestNew(before, 0, Infinity);
				const compared = compareRecent(before, all.filter(({ time }) => time >= from), steady);
				expect(compared.fresh).toEqual(fresh);
				newest = Math.max(newest, before.watermark ?? 0);
				before = compared.after;
				newest = before.watermark ?? newest;
				for (const time of before.rows.values()) expect(time).toBeGreaterThanOrEqual(newest - WINDOW);
			}
		}),
		{ numRuns: RUNS },
	);
});
