import { learnNumbering } from '../../../nodes/DeviceManagement/core/paging/numbering.ts';

const first = { number: 0, totalElements: 4, ids: ['a', 'b'] };

test('page 2 tells by its number that the server counts from 1, whatever it calls its first page', () => {
	expect(learnNumbering(first, { parameter: 2, number: 1 })).toBe(1);
	expect(learnNumbering({ ...first, number: 1 }, { parameter: 2, number: 2 })).toBe(1);
});

test.each([undefined, 0, 2, 7, Number.MAX_SAFE_INTEGER])('page 2 with the number %p tells nothing', (number) => {
	expect(learnNumbering(first, { parameter: 2, number })).toBeUndefined();
});

test('page 2 tells nothing where the first page has no number, no total or no items', () => {
	expect(learnNumbering({ ...first, number: undefined }, { parameter: 2, number: 1 })).toBeUndefined();
	expect(learnNumbering({ ...first, totalElements: undefined }, { parameter: 2, number: 1 })).toBeUndefined();
	expect(learnNumbering({ ...first, ids: [] }, { parameter: 2, number: 1 })).toBeUndefined();
});

test('page 1 tells by its items', () => {
	expect(learnNumbering(first, { parameter: 1, ids: ['a', 'b'] })).toBe(1);
	expect(learnNumbering(first, { parameter: 1, ids: ['c', 'd'] })).toBe(0);
	expect(learnNumbering(first, { parameter: 1, ids: ['b', 'a'] })).toBe(0);
	expect(learnNumbering(first, { parameter: 1, ids: ['a'] })).toBe(0);
	expect(learnNumbering(first, { parameter: 1, ids: ['a', 'b', 'c'] })).toBe(0);
});
