import type { Listing } from '../../nodes/DeviceManagement/core/paging/list.ts';
import { listOptionFields, remarkOn } from '../../nodes/DeviceManagement/resources/list.ts';

const steady = { items: ['a', 'b'], settled: true, reportedTotal: 2 };
const unsettled = { ...steady, items: ['a', 'b', 'c'], settled: false };

const TEN_THOUSAND = Array.from({ length: 10_000 }, String);
const CAPPED = 'The list ends at exactly 10,000 items. If the platform has more, list fewer at a time with filters.';

const total = (words: string) => `The platform reports ${words}. The output has the items it lists.`;
const CHANGED = 'The list kept changing, so some items may be missing. Run the node again for an exact list.';

test.each<[what: string, Listing<string>, part: [skip: number, limit?: number], hint?: string]>([
	['a whole list', steady, [0]],
	['a list without a total', { ...steady, reportedTotal: undefined }, [0]],
	['a list up to the limit', { ...steady, reportedTotal: 100 }, [0, 2]],
	['a list after skipped items', { ...steady, reportedTotal: 102 }, [100]],
	['an empty list behind the last item', { ...steady, items: [], reportedTotal: 60 }, [100]],
	['a larger total', { ...steady, reportedTotal: 3 }, [0], total('3 items but lists 2')],
	['a smaller total', { ...steady, reportedTotal: 1 }, [0, 3], total('1 items but lists 2')],
	[
		'a larger total after 100',
		{ ...steady, reportedTotal: 250 },
		[100],
		total('150 items after the first 100 but lists 2'),
	],
	['a list of exactly 10,000 items', { ...steady, items: TEN_THOUSAND, reportedTotal: 10_000 }, [0], CAPPED],
	['its last part', { ...steady, reportedTotal: 10_000 }, [9998, 50], CAPPED],
	['a part behind it', { ...steady, items: [], reportedTotal: 10_000 }, [10_000, 50], CAPPED],
	['an earlier part', { ...steady, reportedTotal: 10_000 }, [9997, 2]],
	['a list of 10,000 items of more', { ...steady, items: TEN_THOUSAND, reportedTotal: 10_001 }, [0, 10_000]],
	['a changing list', unsettled, [0], CHANGED],
	['a changing list after skipped items', unsettled, [100], CHANGED],
])('the hint for %s', (_what, listing, part, hint = undefined) => {
	expect(remarkOn(listing, ...part)).toBe(hint);
});

test('a list without Sort has no words about its order', () => {
	const [, , skip] = listOptionFields({});
	expect(skip?.description).toBe('How many items to skip, to read a long list in parts');
});
