import { expectsMore, saysItIsLast } from '../../../nodes/DeviceManagement/core/paging/end.ts';
import type { Page } from '../../../nodes/DeviceManagement/core/paging/page.ts';

/** What a page means: more follows, more follows if the page is full, it is the last one, it is even after a wrong `last`. */
type Means = 'more' | 'more if full' | 'last' | 'surely last';

test.each<[means: Means[], said: Omit<Page<string>, 'content'>]>([
	[['more if full'], {}],
	[['more if full', 'last', 'surely last'], { totalElements: 25 }],
	[['more if full', 'last', 'surely last'], { totalPages: 3 }],
	[['more if full', 'last'], { last: true }],
	[['more', 'more if full'], { totalElements: 26, totalPages: 3, last: true }],
	[['more', 'more if full'], { totalElements: 25, totalPages: 4, last: true }],
	[['more', 'more if full'], { totalElements: 25, totalPages: 3, last: false }],
	[['more if full', 'last', 'surely last'], { totalElements: 25, last: true }],
	[['more if full', 'last'], { totalElements: 24, totalPages: 2, last: true }],
	[['last', 'surely last'], { totalElements: 25, totalPages: 3, last: true }],
])('%j: the third page, with 25 items read, that says %j', (means, said) => {
	const [page, progress] = [
		{ content: [], ...said },
		{ index: 2, read: 25 },
	];
	const is: Record<Means, boolean> = {
		more: expectsMore(page, { ...progress, full: false }),
		'more if full': expectsMore(page, { ...progress, full: true }),
		last: saysItIsLast(page, progress, false),
		'surely last': saysItIsLast(page, progress, true),
	};
	expect(Object.entries(is).flatMap(([name, holds]) => (holds ? [name] : []))).toEqual(means);
});

test('a full page of nothing is the last one', () => {
	expect(expectsMore({ content: [] }, { index: 0, read: 0, full: true })).toBe(false);
});
