import { fetchList } from '../../../nodes/DeviceManagement/core/paging/passes.ts';
import { PageSizes } from '../../../nodes/DeviceManagement/core/paging/sizes.ts';
import { noSuchPage, pages, removeFirst, serve } from './pages.mts';

const one = { pageSize: 2, parallelRequests: 1 } as const;
const five = { pageSize: 5, parallelRequests: 1 } as const;
const ten = { pageSize: 10, parallelRequests: 1 } as const;

describe('a list that changes', () => {
	test('is read again, and the pass without a change is returned', async () => {
		const server = serve(30, { changes: new Map([[3, removeFirst]]) });
		const listing = await fetchList(server.source, ten);
		const { devices: items } = server.fleet;
		expect(listing).toMatchObject({ items, settled: true, reportedTotal: 29, passes: 2 });
	});

	test('is read no third time because its items share an ID', async () => {
		const server = serve(30, { changes: new Map([[3, (fleet) => void fleet.remove(fleet.at(29).sn)]]) });
		const listing = await fetchList({ ...server.source, idOf: () => 'shared' }, ten);
		expect(listing).toMatchObject({ items: server.fleet.devices, settled: true, passes: 2 });
	});

	test('all the time is not settled: the items of the last pass, then those of earlier passes', async () => {
		const passes = ['ab cd', 'cD e', 'Ea'];
		const { source } = pages(
			({ pass }) => passes[pass - 1] ?? '',
			({ isFirst }) => ({ totalElements: isFirst ? 9 : 8 }),
		);
		// Each item as it was read last.
		const listing = await fetchList({ ...source, identify: (letter) => letter.toLowerCase() }, one);
		expect(listing).toMatchObject({ items: [...'EacDb'], settled: false, passes: 3 });
	});

	test('all the time has no more items than the limit', async () => {
		const { source } = pages('ab cd ef gh', ({ request }) => ({ totalElements: request + 10 }));
		expect((await fetchList(source, { ...one, limit: 5 })).items).toEqual([...'abcde']);
	});
});

describe('passes', () => {
	test('are at most three, and only the first one trusts page numbers', async () => {
		const { source, asked } = pages('abcde fghij kl', ({ request }) => ({ totalElements: request }));
		const items = [...'abcdefghijkl'];
		const expected = { items, settled: false, tied: false, reportedTotal: 13, passes: 3 };
		expect(await fetchList(source, five)).toEqual(expected);
		const again = [undefined, 1, 2, 3, 4];
		expect(asked).toEqual([undefined, 2, 3, 4, ...again, ...again, 5]);
	});

	test('fetch ahead, except the third one', async () => {
		const list = pages('ab cd ef gh i', ({ isFirst }) => ({ totalElements: isFirst ? 10 : 9 }));
		await fetchList(list.source, { ...one, parallelRequests: 4 });
		expect(list.peaks).toEqual([4, 4, 1]);
	});

	/** The total on the first page of each pass, and on its other pages. */
	test.each([
		{ totals: 'right', first: [5], passes: 1 },
		{ totals: 'wrong, then twice in another way', first: [9, 8, 8], passes: 3 },
		{ totals: 'wrong in three ways', first: [9, 8, 7], passes: 3, settled: false },
		{ totals: 'wrong, and changed in the second', first: [8, 9, 8], others: [8, 8, 8], passes: 3, settled: false },
		{ totals: 'missing', first: [], passes: 2 },
		{ totals: 'beyond the limit', first: [20], limit: 4, passes: 1 },
		{ totals: 'wrong, and both short of the limit', first: [20, 20], limit: 15, passes: 2 },
	])('with totals that are $totals: $passes', async ({ first, others = first, limit, passes, settled = true }) => {
		const list = pages('ab cd e', ({ pass, isFirst }) => ({ totalElements: (isFirst ? first : others)[pass - 1] }));
		const listing = await fetchList(list.source, { ...one, limit });
		expect(listing).toMatchObject({ items: [...'abcde'].slice(0, limit), passes, settled });
	});

	test.each([
		{ totals: [5, 5, 4], list: 'ab cd -', reported: 5 },
		{ totals: [undefined, undefined, 4], list: 'ab cd -', reported: undefined },
	])('report the last total of a page with items: $totals of "$list"', async ({ totals, list, reported }) => {
		const { source } = pages(list, ({ page }) => ({ totalElements: totals[page - 1] }));
		expect((await fetchList(source, one)).reportedTotal).toBe(reported);
	});

	const [stuck, double] = ['ab cd ab…', 'ab cd ea'];
	test.each<[promise: string, passes: string[], total: number, items: string, settled: boolean, part?: object]>([
		['of one page length never agree if they have an item twice', [double, double, double], 6, 'abcde', false],
		['that repeat a page do not hide a good one', [stuck, 'ab cd e'], 5, 'abcde', true],
		['that repeat a page agree with none', [stuck, stuck, 'fg a'], 5, 'fgabcd', false],
		['do not agree if only one has an item twice', ['ab cd a', 'ab cd', 'ab cd'], 5, 'cd', true, { skip: 2, limit: 3 }],
	])('%s', async (_, passes, total, items, settled, part = {}) => {
		const list = pages(({ pass }) => passes[pass - 1] ?? '', { totalElements: total, last: false });
		const expected = { items: [...items], settled, reportedTotal: total, passes: passes.length };
		expect(await fetchList(list.source, { ...one, ...part })).toMatchObject(expected);
	});

	const many = 'abcdefghijklmnopqrstua';
	test.each([
		{ list: 'abcdefa', pageSize: 5, third: [4, 4, 4] },
		{ list: 'aba', pageSize: 1, third: [1, 1, 1, 1], settled: false },
		{ list: 'abcadef', pageSize: 2, limit: 4, third: [1, 1, 1, 1, 1, 1] },
		{ list: many, pageSize: 20, accepted: [10, 20], third: [19, 10, 10, 10, 10] },
		{ list: many, pageSize: 20, accepted: [20], third: [19, 10, 20, 20, 20], settled: false },
	])('agree if they have an item twice in pages of different length: %j', async (row) => {
		const { list, pageSize, limit, accepted, third, settled = true } = row;
		const { source, sizes } = pages(
			({ size }) => list.replace(RegExp(`.{${size}}`, 'g'), '$& '),
			({ size }) => (accepted?.includes(size) === false ? noSuchPage : { totalElements: list.length }),
		);
		const items = [...new Set(list)].slice(0, limit);
		expect(await fetchList(source, { ...one, pageSize, limit })).toMatchObject({ items, settled, passes: 3 });
		expect(sizes.slice(-third.length)).toEqual(third);
	});

	test('of one full page with an item twice do not agree: another one may be missing', async () => {
		const { source } = pages('aab b', { totalElements: 3 });
		expect(await fetchList(source, { ...one, pageSize: 3 })).toMatchObject({ items: ['a', 'b'], settled: false });
	});

	test('of one page agree if it has an item twice', async () => {
		const list = pages('abca', { totalElements: 4 });
		const expected = { items: [...'abc'], settled: true, tied: false, passes: 2 };
		expect(await fetchList(list.source, five)).toMatchObject(expected);
	});

	test('that all repeat a page are not settled if the ID is refused, which would give equal values an order', async () => {
		const { source } = pages('ab cd ab…', { totalElements: 5, last: false });
		const idOrder = { isOnly: true, isRefused: () => true, noteRefusal: () => undefined };
		const expected = { items: [...'abcd'], settled: false, tied: true, passes: 3 };
		expect(await fetchList({ ...source, idOrder }, one)).toMatchObject(expected);
		const stuckAtFirst = { ...pages('ab…', { totalElements: 5, last: false }).source, idOrder };
		await expect(fetchList(stuckAtFirst, one)).rejects.toMatchObject({ details: { kind: 'paging' } });
	});

	test.each([
		{ refusals: 1, noted: false },
		{ refusals: 2, noted: true },
	])('add the ID, also the next one, although it was refused once: $refusals', async ({ refusals, noted }) => {
		const { source } = pages('ab c', ({ pass }) => ({ totalElements: pass === 1 ? 4 : 3 }));
		let [left, isNoted, without] = [refusals, false, 0];
		const idOrder = { isOnly: true, isRefused: () => false, noteRefusal: () => void (isNoted = true) };
		const fetchPage: typeof source.fetchPage = async (page, size, byId) => {
			if (byId !== true) without++;
			else if (left-- > 0) throw noSuchPage;
			return await source.fetchPage(page, size);
		};
		await fetchList({ ...source, fetchPage, idOrder }, { ...one, sizes: new PageSizes(2, 2, []), byId: true });
		expect([isNoted, without > 0]).toEqual([noted, noted]);
	});
});
