import { expectsMore, saysItIsLast } from '../../../nodes/DeviceManagement/core/paging/end.ts';
import type { Page } from '../../../nodes/DeviceManagement/core/paging/page.ts';

/** The third page was read, and twenty-five items with it. */
const progress = { index: 2, read: 25 };
const page = (said: Omit<Page<string>, 'content'>): Page<string> => ({ content: [], ...said });

const SAID = [
	{ said: {}, more: false, end: false },
	{ said: { totalElements: 26 }, more: true, end: false },
	{ said: { totalElements: 25 }, more: false, end: true },
	{ said: { totalElements: 24 }, more: false, end: false },
	{ said: { totalPages: 4 }, more: true, end: false },
	{ said: { totalPages: 3 }, more: false, end: true },
	{ said: { totalPages: 2 }, more: false, end: false },
	{ said: { last: false }, more: true, end: false },
	{ said: { last: true }, more: false, end: true },
	{ said: { totalElements: 26, totalPages: 3, last: true }, more: true, end: false },
	{ said: { totalElements: 25, totalPages: 4, last: true }, more: true, end: false },
	{ said: { totalElements: 25, totalPages: 3, last: false }, more: true, end: false },
	{ said: { totalElements: 24, totalPages: 2, last: true }, more: false, end: true },
];

test.each(SAID)(
	'$said after 25 items in three pages, the third a short one: more $more, an end $end',
	({ said, more, end }) => {
		expect(expectsMore(page(said), { ...progress, full: false })).toBe(more);
		expect(saysItIsLast(page(said), progress, false)).toBe(end);
	},
);

test('behind a full page another one is expected unless total, page count and last all say that there is none', () => {
	const end = { totalElements: 25, totalPages: 3, last: true };
	expect(expectsMore(page(end), { ...progress, full: true })).toBe(false);
	for (const field of ['totalElements', 'totalPages', 'last']) {
		expect(expectsMore(page({ ...end, [field]: undefined }), { ...progress, full: true })).toBe(true);
	}
});

test('behind a page of a list of which nothing came, nothing is expected', () => {
	expect(expectsMore(page({}), { index: 0, read: 0, full: true })).toBe(false);
	expect(saysItIsLast(page({}), { index: 0, read: 0 }, false)).toBe(false);
});

test('a last page that was wrong before is not trusted, but its other metadata is', () => {
	expect(saysItIsLast(page({ last: true }), progress, true)).toBe(false);
	expect(saysItIsLast(page({ totalElements: 25 }), progress, true)).toBe(true);
	expect(saysItIsLast(page({ totalPages: 3, last: false }), progress, true)).toBe(false);
	expect(saysItIsLast(page({ totalElements: 25, last: true }), progress, true)).toBe(true);
});
