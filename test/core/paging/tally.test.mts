import type { Page } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import { Tally } from '../../../nodes/DeviceManagement/core/paging/tally.ts';
import type { Metadata } from '../../../testbed/pagedServer.mts';
import { lettersOf, noSuchPage } from './pages.mts';

type Said = Metadata | ((page: number) => Metadata);

/** Adds the pages of a list until the tally is at its end. A page behind `pages` is refused. */
function tally(list: string, said: Said = {}, { size = 2, pages = Infinity, skip = 0, limit = Infinity } = {}) {
	const at = (page: number): Page<string> => ({
		content: lettersOf(list, page),
		...(typeof said === 'function' ? said(page) : said),
	});
	const needs = { size, skip, enough: skip + limit, sharing: new Set<string>() };
	const counted = new Tally<string>({ identify: String }, at(1), needs);
	const found: Array<ReturnType<typeof counted.add>> = [];
	for (let page = 1; !counted.isAtEnd; page++) {
		if (page > pages && !counted.expectsEnd) throw noSuchPage;
		found.push(counted.add(page > pages ? undefined : at(page)));
	}
	return found;
}
const words = (...list: Parameters<typeof tally>) => tally(...list).map(({ newItems }) => newItems.join(''));

describe('a page that has nothing new', () => {
	test.each([
		{ name: 'where the total says that more follows', list: 'ab cd…', said: { totalElements: 9 }, page: 4 },
		{ name: 'in another order', list: 'ab cd dc…', said: { last: false }, page: 4 },
		{ name: 'between others that have', list: 'ab cd ba e a…', said: { last: false }, page: 5 },
	])('is accepted once, and the second one fails, $name', ({ list, said, page }) => {
		expect(() => words(list, said)).toThrow(`Page ${page} of the list has only items of earlier pages`);
	});

	test.each([
		{ name: 'is past the end by the total', list: 'ab…', said: { totalElements: 2, last: false }, found: ['ab', ''] },
		{ name: 'has something new, with any total', list: 'ab bc', said: { totalElements: 2 }, found: ['ab', 'c', ''] },
	])('$name', ({ list, said, found }) => {
		expect(words(list, said)).toEqual(found);
	});
});

const more = { totalElements: 1, totalPages: 200, last: false };
test.each([
	{ hole: 1, said: { totalElements: 1 }, found: 'a' },
	{ hole: 99, said: more, found: 'a' },
	{ hole: 100, said: more, found: '' },
	{ hole: 2, said: { ...more, totalElements: undefined }, found: '' },
	{ hole: 2, said: { ...more, totalPages: undefined }, found: '' },
	{ hole: 2, said: { ...more, last: undefined }, found: '' },
])('behind $hole empty pages that say $said, the walk finds "$found"', ({ hole, said, found }) => {
	expect(words(`${'- '.repeat(hole)}a`, said).join('')).toBe(found);
});

describe('a short page in the middle, which lacks hidden items', () => {
	test.each<{ says: string; said: (page: number) => Metadata }>([
		{ says: 'nothing', said: () => ({}) },
		{ says: 'only its number and size', said: () => ({ size: 3 }) },
		{ says: 'only its own length as the total', said: (page) => ({ totalElements: page === 2 ? 2 : 3 }) },
		{ says: 'a total of 0, and one page', said: () => ({ totalElements: 0, totalPages: 1 }) },
		{ says: 'that it is the last one, as each page does', said: () => ({ last: true }) },
		{ says: 'nothing, unlike the last one', said: (page) => (page > 2 ? { last: true } : {}) },
	])('does not end a walk if it says $says', ({ said }) => {
		// A page past the end is empty, repeats the last one, or is refused.
		for (const [end, count] of [
			['', Infinity],
			['…', Infinity],
			['', 4],
		] as const)
			expect(words(`abc de fgh i${end}`, said, { size: 3, pages: count }).join('')).toBe('abcdefghi');
	});

	test('ends it if a field says so, without another page', () => {
		for (const said of [{ totalElements: 5 }, { totalPages: 2 }, { last: true }])
			expect(words('abc de', (page) => (page === 2 ? said : {}), { size: 3 })).toEqual(['abc', 'de']);
	});
});

test.each<{ list: string; said: Metadata; steady: boolean[]; skip?: number; limit?: number }>([
	{ list: 'ab cd e', said: { totalElements: 5 }, steady: [false, false, true] },
	{ list: 'ab cd a', said: { totalElements: 5 }, steady: [false, false, false, false] },
	{ list: 'ab cd ef', said: { totalElements: 6 }, skip: 1, limit: 3, steady: [false, true] },
	{ list: 'ab cd', said: { totalElements: 2, totalPages: 2 }, steady: [true, false, false] },
	{ list: 'ab', said: { last: true }, steady: [true, true] },
	{ list: 'ab cd', said: {}, steady: [true, false, false] },
])('after each page of $list, the list may be whole: $steady', ({ list, said, steady, ...needs }) => {
	expect(tally(list, said, needs).map((page) => page.steady)).toEqual(steady);
});
