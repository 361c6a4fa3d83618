import type { Listing } from '../../nodes/DeviceManagement/core/paging/passes.ts';
import { fetchItems, listOptionFields, remarkOn } from '../../nodes/DeviceManagement/resources/getMany.ts';
import type { PagedEndpoint } from '../../nodes/DeviceManagement/transport/pagedList.ts';
import { itemWith } from '../fields/refusal.mts';

const steady = { items: ['a', 'b'], settled: true, reportedTotal: 2, repeated: 0, passes: 1 };
const unsettled = { ...steady, items: ['a', 'b', 'c'], settled: false, passes: 3 };

type Part = [skip: number, limit?: number];

test.each<[Listing<string>, Part]>([
	[steady, [0]],
	[{ ...steady, reportedTotal: undefined }, [0]],
	[{ ...steady, reportedTotal: 100 }, [0, 2]],
	[{ ...steady, reportedTotal: 2 }, [0, 3]],
	[{ ...steady, reportedTotal: 102 }, [100]],
	[{ ...steady, reportedTotal: 102 }, [100, 200]],
	[{ ...steady, items: [], reportedTotal: 60 }, [100]],
])(
	'a settled list of as many items as the platform reports, or the limit, needs no words: %j of %j',
	(listing, part) => {
		expect(remarkOn(listing, ...part)).toBeUndefined();
	},
);

test.each<[number, Part, string]>([
	[3, [0], 'a total of 3 items but lists 2'],
	[3, [0, 3], 'a total of 3 items but lists 2'],
	[1, [0, 3], 'a total of 1 items but lists 2'],
	[250, [100, 200], 'a total of 150 items after the first 100 but lists 2'],
])('a reported total of %i for %j is quoted with both numbers', (reportedTotal, part, words) => {
	expect(remarkOn({ ...steady, reportedTotal, passes: 2 }, ...part)).toBe(
		`The platform reports ${words} in each of 2 readings. The output has the items it lists.`,
	);
});

test.each<[Part, string]>([
	[[0], '3 items, from all readings.'],
	[[0, 3], '3 items, from all readings.'],
	[[100], '3 items after the first 100, from all readings.'],
])('an unsettled list %j says how many items it holds, and does not claim to be complete', (part, words) => {
	expect(remarkOn(unsettled, ...part)).toBe(
		`The list changed during each of 3 readings. The output has ${words} Some items may be missing, and some may no longer exist. Run the node again for an exact list.`,
	);
});

test('the words for a list are in its options and its messages', async () => {
	const words = { ifChanges: 'If the Group List Keeps Changing' };
	const [ifChanges, , skip] = listOptionFields(words);
	expect([ifChanges?.displayName, skip?.description]).toEqual([
		'If the Group List Keeps Changing',
		'How many items to skip at the start, to read a long list in parts',
	]);
	let id = 0;
	// Each pass finds another item on the first page, and no other page.
	const item = itemWith({ returnAll: true }, async ({ schema, query }) =>
		schema.parse({ content: query?.['page'] === undefined ? [{ id: ++id }] : [] }),
	);
	const endpoint: PagedEndpoint = { method: 'GET', path: '/api/group/list', purpose: 'list' };
	await expect(fetchItems(item, endpoint, words)).rejects.toMatchObject({
		details: { remedy: expect.stringContaining("set 'If the Group List Keeps Changing' under 'Options'") },
	});
});

test('items are identified as they were sent, not as they are shaped', async () => {
	const content = [{ only: 1 }, { only: 2 }];
	const item = itemWith({ returnAll: true }, async ({ schema }) =>
		schema.parse({ content, totalElements: 2, last: true }),
	);
	const endpoint: PagedEndpoint = { method: 'GET', path: '/api/group/list', purpose: 'list' };
	expect(await fetchItems(item, endpoint, { ifChanges: '' }, () => ({}))).toEqual([{}, {}]);
});
