import { fetchList, noSuchPage, pages, serve } from '../../../testbed/pageScripts.mts';

const one = { pageSize: 2, parallelRequests: 1 } as const;
const ten = { pageSize: 10, parallelRequests: 1 } as const;

describe('a list that changes', () => {
	test('is read no third time because its items share an ID', async () => {
		const server = serve(30, { changes: new Map([[3, (fleet) => void fleet.remove(fleet.at(29).sn)]]) });
		const listing = await fetchList({ ...server.source, idOf: () => 'shared' }, ten);
		expect(listing).toMatchObject({ items: server.fleet.devices, settled: true, readings: 3 });
	});

	test('all the time is not settled: the items of the last reading, up to the limit', async () => {
		const readings = ['ab cd', 'cd e', 'ea f'];
		const { source } = pages(
			({ pass }) => readings[pass - 1] ?? '',
			({ isFirst }) => ({ totalElements: isFirst ? 9 : 8 }),
		);
		expect(await fetchList(source, one)).toMatchObject({ items: [...'eaf'], settled: false, readings: 3 });
		const limited = pages('ab cd ef gh', ({ request }) => ({ totalElements: request + 10 }));
		expect((await fetchList(limited.source, { ...one, limit: 5 })).items).toEqual([...'abcde']);
	});
});

describe('readings', () => {
	/** The total on the first page of each reading, and on its other pages. */
	test.each([
		{ totals: 'right', first: [5], readings: 1 },
		{ totals: 'wrong, then twice in another way', first: [4, 3, 3], readings: 3 },
		{ totals: 'too large by more than a page', first: [9, 9], readings: 2 },
		{ totals: 'wrong, then twice in another way, by more than a page', first: [9, 8, 8], readings: 3 },
		{ totals: 'wrong in three ways', first: [9, 8, 7], readings: 3, settled: false },
		{ totals: 'wrong, and changed in the second', first: [8, 9, 8], others: [8, 8, 8], readings: 3, settled: false },
		{ totals: 'missing', first: [], readings: 2 },
		{ totals: 'beyond the limit', first: [20], limit: 4, readings: 1 },
		{ totals: 'wrong, and both short of the limit', first: [6, 6], limit: 15, readings: 2 },
	])('with totals that are $totals: $readings', async ({ first, others = first, limit, readings, settled = true }) => {
		const list = pages('ab cd e', ({ pass, isFirst }) => ({ totalElements: (isFirst ? first : others)[pass - 1] }));
		const listing = await fetchList(list.source, { ...one, limit });
		expect(listing).toMatchObject({ items: [...'abcde'].slice(0, limit), readings, settled });
	});

	test('report the last total of a page with items', async () => {
		const { source } = pages('ab cd -', ({ page }) => ({ totalElements: [4, 5, 3][page - 1] }));
		expect((await fetchList(source, one)).reportedTotal).toBe(5);
	});

	const [stuck, double] = ['ab cd ab…', 'ab cd ea'];
	test.each<[promise: string, readings: string[], total: number, items: string, settled: boolean, part?: object]>([
		['of one page length never agree if they have an item twice', [double, double, double], 6, 'abcde', false],
		['that repeat a page do not hide a good one', [stuck, 'ab cd e'], 5, 'abcde', true],
		['that repeat a page agree with none', [stuck, stuck, 'fg a'], 5, 'fga', false],
		['do not agree if only one has an item twice', ['ab cd a', 'ab cd', 'ab cd'], 5, 'cd', true, { skip: 2, limit: 3 }],
	])('%s', async (_, readings, total, items, settled, part = {}) => {
		let reading = 0;
		const said = { totalElements: total, last: false };
		const list = pages(({ isFirst, size }) => readings[(reading += isFirst && size === 2 ? 1 : 0) - 1] ?? '', said);
		const { fetchPage } = list.source;
		// No other size is accepted.
		const source: typeof list.source = {
			...list.source,
			fetchPage: async (page, size) => await (size === 2 ? fetchPage(page, size) : Promise.reject(noSuchPage)),
		};
		const expected = { items: [...items], settled, reportedTotal: total, readings: readings.length };
		expect(await fetchList(source, { ...one, ...part })).toMatchObject(expected);
	});

	const many = 'abcdefghijklmnopqrstua';
	const hundred = String.fromCharCode(...Array.from({ length: 101 }, (_, at) => 0x4e00 + (at % 100)));
	test.each([
		{ list: 'abcdefa', pageSize: 5, third: [4, 4] },
		{ list: 'abcadef', pageSize: 2, limit: 4, third: [1, 1, 1, 1, 1] },
		{ list: many, pageSize: 20, accepted: [10, 20], third: [19, 10, 10, 10] },
		{ list: many, pageSize: 20, accepted: [20], third: [19, 10, 20, 20], settled: false },
		{
			list: hundred,
			pageSize: 1000,
			accepted: [100],
			third: [99, 500, 200, 100, 50, 25, 20, 10, 1000, 100, 100],
			settled: false,
		},
	])('agree if they have an item twice in pages of different length: %j', async (row) => {
		const { list, pageSize, limit, accepted, third, settled = true } = row;
		const { source, sizes } = pages(
			({ size }) => list.replace(RegExp(`.{${size}}`, 'g'), '$& '),
			({ size }) => (accepted?.includes(size) === false ? noSuchPage : { totalElements: list.length }),
		);
		const items = [...new Set(list)].slice(0, limit);
		expect(await fetchList(source, { ...one, pageSize, limit })).toMatchObject({ items, settled, readings: 3 });
		expect(sizes.slice(-third.length)).toEqual(third);
	});
});

test.each([
	['always', 3, [true, true]],
	['if unsteady', 2, [false, true]],
	['if unsteady and uncut', 3, [false, true]],
	['if unsteady and uncut', 2, [false, false]],
	[undefined, 3, [false, false]],
] as const)('the ID comes in the sort order %s, where a reading up to %d of 3 repeats an item: %j', async (...row) => {
	const [byId, limit, asked] = row;
	const { source } = pages(({ pass }) => (pass === 1 ? 'a a' : 'a b'), { totalElements: 3 });
	const orders: boolean[] = [];
	const fetchPage: typeof source.fetchPage = async (page, size, isById = false) => {
		if (page === undefined) orders.push(isById);
		return await source.fetchPage(page, size);
	};
	await fetchList({ ...source, fetchPage }, { pageSize: 1, parallelRequests: 1, byId, limit });
	expect(orders.slice(0, 2)).toEqual(asked);
});
