import { fetchList } from '../../../nodes/DeviceManagement/core/paging/passes.ts';
import type { Metadata, ServerScript } from '../../../testbed/pagedServer.mts';
import type { Fleet } from '../../../testbed/platform/fleet.mts';
import { addFirst, always, only, pages, removeFirst, say, serve } from './pages.mts';

const one = { pageSize: 2, parallelRequests: 1 } as const;
const five = { pageSize: 5, parallelRequests: 1 } as const;
const ten = { pageSize: 10, parallelRequests: 1 } as const;

describe('a list that changes', () => {
	test('is read again, and the pass without a change is returned', async () => {
		const server = serve(30, { changes: new Map([[3, removeFirst]]) });
		const listing = await fetchList(server.source, ten);
		const { devices: items } = server.fleet;
		expect(listing).toEqual({ items, settled: true, reportedTotal: 29, repeated: 0, passes: 2 });
	});

	test.each([1, 8])('its order once is no list that repeats itself, read %i at a time', async (parallelRequests) => {
		const changes = new Map([[30, (fleet: Fleet) => void fleet.reorder((devices) => devices.reverse())]]);
		const server = serve(600, { changes });
		const listing = await fetchList(server.source, { ...ten, parallelRequests });
		expect(listing).toMatchObject({ items: server.fleet.devices, settled: true, passes: 2 });
	});

	test('all the time is not settled: the items of the last pass, then those of earlier passes', async () => {
		const passes = ['ab cd', 'cd e', 'ea'];
		const list = pages(
			({ pass }) => passes[pass - 1] ?? '',
			({ isFirst }) => ({ totalElements: isFirst ? 9 : 8 }),
		);
		expect(await fetchList(list.source, one)).toMatchObject({ items: [...'eacdb'], settled: false, passes: 3 });
	});

	test('all the time has every device that stays, and no more than a limit', async () => {
		const server = serve(30, { changes: always(addFirst) });
		const before = [...server.fleet.devices];
		const { items, settled } = await fetchList(server.source, ten);
		expect(settled).toBe(false);
		expect(items).toEqual(expect.arrayContaining(before));
		const limited = serve(100, { changes: always(addFirst) });
		expect((await fetchList(limited.source, { ...ten, limit: 25 })).items).toHaveLength(25);
	});

	test('has each item as it was read last', async () => {
		let request = 0;
		const source = {
			fetchPage: async (page = 1) => ({
				content: ([['a', 'b'], ['c']][page - 1] ?? []).map((id) => ({ id, met: ++request })),
				number: page - 1,
				totalElements: request,
			}),
			identify: ({ id }: { id: string }) => id,
		};
		const { items } = await fetchList(source, one);
		// Page 1 came between the first page and page 2.
		expect(items.map(({ id, met }) => `${id} ${request - met}`)).toEqual(['a 4', 'b 3', 'c 0']);
	});
});

describe('passes', () => {
	test('are at most three, and only the first one trusts page numbers', async () => {
		const { source, asked } = pages('abcde fghij kl', ({ request }) => ({ totalElements: request }));
		const items = [...'abcdefghijkl'];
		expect(await fetchList(source, five)).toEqual({ items, settled: false, reportedTotal: 11, repeated: 0, passes: 3 });
		const again = [undefined, 1, 2, 3];
		expect(asked).toEqual([undefined, 2, 3, ...again, ...again]);
	});

	test('fetch ahead, except the third one', async () => {
		const list = pages('ab cd ef gh i', ({ isFirst }) => ({ totalElements: isFirst ? 10 : 9 }));
		await fetchList(list.source, { ...one, parallelRequests: 4 });
		expect(list.peaks).toEqual([4, 4, 1]);
	});

	/** The total on the first page of each pass, and on its other pages. */
	test.each([
		{ totals: 'right', first: [5], passes: 1 },
		{ totals: 'right on the first page only', first: [5], others: [], passes: 1 },
		{ totals: 'wrong twice alike', first: [9, 9], passes: 2 },
		{ totals: 'wrong, then twice in another way', first: [9, 8, 8], passes: 3 },
		{ totals: 'wrong in three ways', first: [9, 8, 7], passes: 3, settled: false },
		{ totals: 'wrong, and changed in the first', first: [9, 8, 8], others: [8, 8, 8], passes: 3 },
		{ totals: 'wrong, and changed in the second', first: [8, 9, 8], others: [8, 8, 8], passes: 3, settled: false },
		{ totals: 'missing, then wrong', first: [undefined, 8, 8], passes: 3 },
		{ totals: 'missing', first: [], passes: 2 },
		{ totals: 'beyond the limit', first: [20], limit: 4, passes: 1 },
		{ totals: 'wrong, and both short of the limit', first: [20, 20], limit: 15, passes: 2 },
	])('with totals that are $totals: $passes', async ({ first, others = first, limit, passes, settled = true }) => {
		const list = pages('ab cd e', ({ pass, isFirst }) => ({ totalElements: (isFirst ? first : others)[pass - 1] }));
		const listing = await fetchList(list.source, { ...one, limit });
		expect(listing).toMatchObject({ items: [...'abcde'].slice(0, limit), passes, settled });
	});

	test.each([
		{ totals: [0], list: '', reported: 0 },
		{ totals: [5], list: 'ab cd e', reported: 5 },
		{ totals: [5, 5, 6], list: 'ab cd e', reported: 6 },
		{ totals: [5, 5, 4], list: 'ab cd -', reported: 5 },
		{ totals: [undefined, undefined, 4], list: 'ab cd -', reported: undefined },
	])('report the last total of a page with items: $totals of "$list"', async ({ totals, list, reported }) => {
		const { source } = pages(list, ({ page }) => ({ totalElements: totals[page - 1] }));
		expect((await fetchList(source, one)).reportedTotal).toBe(reported);
	});

	const [stuck, double] = ['ab cd ab…', 'ab cd ea'];
	test.each([
		{ name: 'agree if three have an item twice', passes: [double, double, double], total: 6, items: 'abcde' },
		{ name: 'ignore a repeated page past the end', passes: ['ab cd…'], total: 4, items: 'abcd' },
		{ name: 'that repeat a page do not hide a good one', passes: [stuck, 'ab cd e'], total: 5, items: 'abcde' },
		{
			name: 'that repeat a page agree with none',
			passes: [stuck, stuck, 'fg a'],
			total: 5,
			items: 'fgabcd',
			settled: false,
		},
	])('$name', async ({ passes, total, items, settled = true }) => {
		const list = pages(({ pass }) => passes[pass - 1] ?? '', { totalElements: total, last: false });
		const expected = { items: [...items], settled, reportedTotal: total, passes: passes.length };
		expect(await fetchList(list.source, one)).toMatchObject(expected);
	});

	test('that all repeat a page fail', async () => {
		const message = expect.stringContaining('Page 4 of the list has only items of earlier pages');
		const reading = fetchList(pages(stuck, { totalElements: 5, last: false }).source, one);
		await expect(reading).rejects.toMatchObject({ details: { kind: 'paging', message } });
	});

	test.each([
		{ said: 'last', size: 20, asked: [undefined, 1, 2, 3, undefined, 1, 2, 3] },
		{ said: 'last', size: 9, asked: [undefined, 1, 2] },
		{ said: 'totalPages', size: 9, asked: [undefined, 1, 2] },
		{ said: 'number', size: 0, asked: [undefined] },
	] as const)('of $size devices on a server that says only $said', async ({ said, size, asked }) => {
		const server = serve(size, { falsify: only(said) });
		expect(await fetchList(server.source, ten)).toMatchObject({ passes: size > 10 ? 2 : 1 });
		expect(server.asked).toEqual(asked);
	});
});

describe('found by random tests: no device is missing', () => {
	interface Found {
		name: string;
		size: number;
		page?: number;
		parallel?: number;
		script: Partial<ServerScript>;
	}
	const zero = { numbering: 'zero-based' } as const;
	const add = (position: number) => (fleet: Fleet) => void fleet.add(fleet.make(), position);
	const at = (...changes: ReadonlyArray<readonly [request: number, (fleet: Fleet) => void]>) => new Map(changes);
	const [empty, missed] = [at([3, removeFirst]), at([3, removeFirst], [4, removeFirst], [5, removeFirst])];
	const early = at([2, removeFirst]);
	const late = at([1, add(0)], [3, add(9)], [4, removeFirst]);
	const twice = at([1, add(0)], [3, add(2)], [6, removeFirst]);
	const huge = ({ last }: Metadata) => ({ last, number: Number.MAX_SAFE_INTEGER, totalPages: 0 });

	test.each<Found>([
		{ name: 'without metadata, before a short page', size: 25, script: { falsify: only() } },
		{ name: 'without a total, if page 2 becomes empty', size: 11, script: { falsify: only(), changes: empty } },
		{ name: 'without a total', size: 30, script: { falsify: only('last', 'totalPages'), changes: early } },
		{ name: 'with a wrong size', size: 35, page: 20, script: { largestSize: 10, falsify: () => ({ size: 20 }) } },
		{
			name: 'with a total that is always wrong',
			size: 30,
			parallel: 2,
			script: { falsify: say({ totalElements: 2e9 }) },
		},
		{ name: 'with page numbers too large to count', size: 2, page: 1, script: { ...zero, falsify: huge } },
		{ name: 'if page 2 came before page 1', size: 4, page: 1, script: { ...zero, changes: empty } },
		{ name: 'if pages became empty', size: 4, page: 1, script: { ...zero, changes: missed } },
		{ name: 'if a page past the end was late', size: 21, page: 8, parallel: 2, script: { ...zero, changes: late } },
		{ name: 'if two passes miss the same one', size: 3, page: 2, script: { ...zero, changes: twice } },
	])('$name', async ({ size, page: pageSize = 10, parallel: parallelRequests = 1, script }) => {
		const server = serve(size, script);
		const { items } = await fetchList(server.source, { pageSize, parallelRequests });
		expect(items).toEqual(expect.arrayContaining([...server.fleet.devices]));
	});
});
