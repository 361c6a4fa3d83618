import { expectsMore, saysItIsLast } from '../../../nodes/DeviceManagement/core/paging/end.ts';
import type { Page } from '../../../nodes/DeviceManagement/core/paging/page.ts';

type Said = Omit<Page<string>, 'content'>;
/** The third page was read, and twenty-five items with it. */
const progress = { index: 2, read: 25 };
const more = (said: Said, full = false) => expectsMore({ content: [], ...said }, { ...progress, full });
const isLast = (said: Said, lastWasWrong = false) => saysItIsLast({ content: [], ...said }, progress, lastWasWrong);

test.each([
	{ said: {}, is: [false, false] },
	{ said: { totalElements: 26 }, is: [true, false] },
	{ said: { totalElements: 25 }, is: [false, true] },
	{ said: { totalElements: 24 }, is: [false, false] },
	{ said: { totalPages: 4 }, is: [true, false] },
	{ said: { totalPages: 3 }, is: [false, true] },
	{ said: { totalPages: 2 }, is: [false, false] },
	{ said: { last: false }, is: [true, false] },
	{ said: { last: true }, is: [false, true] },
	{ said: { totalElements: 26, totalPages: 3, last: true }, is: [true, false] },
	{ said: { totalElements: 25, totalPages: 4, last: true }, is: [true, false] },
	{ said: { totalElements: 25, totalPages: 3, last: false }, is: [true, false] },
	{ said: { totalElements: 24, totalPages: 2, last: true }, is: [false, true] },
])('$said after 25 items in three pages, the third a short one: more, and the last one: $is', ({ said, is }) => {
	expect([more(said), isLast(said)]).toEqual(is);
});

test('a full page is the last one only if total, page count and last all say so, or if nothing was read', () => {
	const end = { totalElements: 25, totalPages: 3, last: true };
	expect(more(end, true)).toBe(false);
	for (const field of ['totalElements', 'totalPages', 'last'])
		expect(more({ ...end, [field]: undefined }, true)).toBe(true);
	expect(expectsMore({ content: [] }, { index: 0, read: 0, full: true })).toBe(false);
});

test('a last page that was wrong before is not trusted, but its other metadata is', () => {
	const said = [
		{ last: true },
		{ totalElements: 25 },
		{ totalPages: 3, last: false },
		{ totalElements: 25, last: true },
	];
	expect(said.map((one) => isLast(one, true))).toEqual([false, true, false, true]);
});
