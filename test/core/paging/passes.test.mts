import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { fetchList } from '../../../nodes/DeviceManagement/core/paging/passes.ts';
import type { Page, PageSource } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import { walkPages } from '../../../nodes/DeviceManagement/core/paging/walk.ts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';

const ONE_BASED: ServerScript = { numbering: 'one-based', largestSize: 2000 };
const ZERO_BASED: ServerScript = { numbering: 'zero-based', largestSize: 2000 };

function serve(size: number, script: ServerScript): PagedServer {
	return new PagedServer(Fleet.seeded({ size }), script);
}

const sns = (devices: readonly Device[]) => devices.map(({ sn }) => sn);

describe('requests', () => {
	test('the first page is requested without a page number', async () => {
		const server = serve(5, ONE_BASED);
		await fetchList(server.source, { pageSize: 10, parallelRequests: 4 });
		expect(server.asked).toEqual([undefined]);
	});

	test('a server that counts from 1 gets no extra request', async () => {
		const server = serve(35, ONE_BASED);
		await fetchList(server.source, { pageSize: 10, parallelRequests: 1 });
		expect(server.asked).toEqual([undefined, 2, 3, 4]);
	});

	test('a server that counts from 0 gets at most one extra request', async () => {
		const server = serve(35, ZERO_BASED);
		const { items } = await fetchList(server.source, { pageSize: 10, parallelRequests: 1 });
		expect(server.asked).toEqual([undefined, 2, 1, 3]);
		expect(sns(items)).toEqual(sns(server.fleet.devices));
	});

	test('as many are under way as allowed, and no more', async () => {
		const server = serve(100, { ...ONE_BASED, turns: [5] });
		await fetchList(server.source, { pageSize: 10, parallelRequests: 3 });
		expect(server.peakInFlight).toBe(3);
	});

	test('one slow page does not keep the others waiting', async () => {
		const server = serve(100, ONE_BASED);
		const { source } = server;
		let release = () => {};
		const slow = new Promise<void>((resolve) => {
			release = resolve;
		});
		const fetchPage: PageSource<Device>['fetchPage'] = async (page, size) => {
			const answer = await source.fetchPage(page, size);
			if (page === 2) await slow;
			if (page === 10) release();
			return answer;
		};
		const { items } = await fetchList({ ...source, fetchPage }, { pageSize: 10, parallelRequests: 2 });
		expect(sns(items)).toEqual(sns(server.fleet.devices));
	});

	test('none starts after the caller stopped', async () => {
		const server = serve(100, ONE_BASED);
		const { source } = server;
		for await (const { newItems } of walkPages(source, { pageSize: 10, parallelRequests: 2 })) {
			if (newItems[0] === server.fleet.at(20)) break;
		}
		const started = server.requests;
		for (let turn = 0; turn < 50; turn++) await Promise.resolve();
		expect(server.requests).toBe(started);
	});

	test('none starts after one failed for good', async () => {
		const failure = new Failure({ kind: 'timeout', cause: 'platform', message: 'late', remedy: '' });
		const server = serve(1000, { ...ONE_BASED, failing: new Map([[5, failure]]) });
		await expect(fetchList(server.source, { pageSize: 10, parallelRequests: 2 })).rejects.toBe(failure);
		expect(server.requests).toBeLessThanOrEqual(7);
	});
});

describe('page size', () => {
	const refusal = new Failure({ kind: 'refused', cause: 'input', code: 10001, message: 'size', remedy: '' });

	function refusing(largest: number) {
		const server = serve(120, ONE_BASED);
		const { source } = server;
		const sizes: number[] = [];
		return {
			sizes,
			source: {
				...source,
				fetchPage: async (page: number | undefined, size: number) => {
					sizes.push(size);
					if (size > largest) throw refusal;
					return await source.fetchPage(page, size);
				},
			},
		};
	}

	const options = { pageSize: 1000, parallelRequests: 2 } as const;

	test('a refused size is replaced by a smaller one', async () => {
		const { source, sizes } = refusing(60);
		expect((await fetchList(source, options)).items).toHaveLength(120);
		expect(sizes).toEqual([1000, 200, 50, 50, 50]);
	});

	test('a refusal that is not about the size comes back as it was', async () => {
		const { source, sizes } = refusing(0);
		await expect(fetchList(source, options)).rejects.toBe(refusal);
		expect(sizes).toEqual([1000, 200, 50]);
	});

	test('a failure that has nothing to do with the size is not tried with other sizes', async () => {
		const failure = new Failure({ kind: 'timeout', cause: 'platform', message: 'late', remedy: '' });
		const server = serve(10, { ...ONE_BASED, failing: new Map([[1, failure]]) });
		await expect(fetchList(server.source, options)).rejects.toBe(failure);
		expect(server.requests).toBe(1);
		const refusing = serve(10, {
			...ONE_BASED,
			failing: new Map([
				[1, refusal],
				[2, failure],
			]),
		});
		await expect(fetchList(refusing.source, options)).rejects.toBe(failure);
		expect(refusing.requests).toBe(2);
	});
});

describe('a list that moved', () => {
	test('is read again, and the pass that stood still is returned', async () => {
		const server = serve(30, { ...ONE_BASED, changes: new Map([[3, (fleet) => void fleet.remove(fleet.at(0).sn)]]) });
		const listing = await fetchList(server.source, { pageSize: 10, parallelRequests: 1 });
		expect(listing).toMatchObject({ settled: true, passes: 2 });
		expect(sns(listing.items)).toEqual(sns(server.fleet.devices));
	});

	test('and never holds still is returned as the union of three passes, marked', async () => {
		const changes = new Map(Array.from({ length: 60 }, (_, n) => [n + 1, (fleet: Fleet) => void fleet.add()] as const));
		const server = serve(30, { ...ONE_BASED, changes });
		const before = sns(server.fleet.devices);
		const listing = await fetchList(server.source, { pageSize: 10, parallelRequests: 1 });
		expect(listing).toMatchObject({ settled: false, passes: 3 });
		expect(sns(listing.items)).toEqual(expect.arrayContaining(before));
	});

	test('begins with the devices of the last pass, and those that only another pass met follow', async () => {
		// Each request takes the first device away: with the first of the third pass, the first eight are gone.
		const changes = new Map(
			Array.from({ length: 60 }, (_, n) => [n + 1, (fleet: Fleet) => void fleet.remove(fleet.at(0).sn)] as const),
		);
		const { source } = serve(30, { ...ONE_BASED, changes });
		const passes: string[][] = [];
		const fetchPage: typeof source.fetchPage = async (page, size) => {
			const answer = await source.fetchPage(page, size);
			if (page === undefined) passes.unshift([]);
			passes[0]?.push(...sns(answer.content));
			return answer;
		};
		const listing = await fetchList({ ...source, fetchPage }, { pageSize: 10, parallelRequests: 1 });
		expect(listing).toMatchObject({ settled: false, passes: 3 });
		expect(sns(listing.items)).toEqual([...new Set(passes.flat())]);
		expect(passes[0]).not.toContain(sns(listing.items).at(-1));
	});

	test('with a limit, returns exactly that many', async () => {
		const changes = new Map(Array.from({ length: 60 }, (_, n) => [n + 1, (fleet: Fleet) => void fleet.add()] as const));
		const server = serve(100, { ...ONE_BASED, changes });
		const listing = await fetchList(server.source, { pageSize: 10, parallelRequests: 1, limit: 25 });
		expect(listing.items).toHaveLength(25);
	});
});

describe('passes', () => {
	/** Twelve items on three pages, each with a total that goes by the number of the request, from 1, and the page. */
	function saying(
		totalOf: (request: number, page: number | undefined) => number | undefined,
		pages = [five(1), five(2), ['3-0', '3-1']],
	) {
		const asked: Array<number | undefined> = [];
		let underWay = 0;
		/** Most requests at once since each request for the first page. */
		const peaks: number[] = [];
		const source: PageSource<string> = {
			fetchPage: async (page) => {
				const totalElements = totalOf(asked.push(page), page);
				if (page === undefined) peaks.push(0);
				peaks.push(Math.max(peaks.pop() ?? 0, ++underWay));
				for (let turn = 0; turn < 3; turn++) await Promise.resolve();
				underWay--;
				return { content: pages[(page ?? 1) - 1] ?? [], number: (page ?? 1) - 1, totalElements };
			},
			identify: (item) => item,
		};
		return { asked, source, peaks };
	}
	const five = (page: number) => Array.from({ length: 5 }, (_, n) => `${page}-${n}`);
	const items = [...five(1), ...five(2), '3-0', '3-1'];
	const one = { pageSize: 5, parallelRequests: 1 } as const;

	/** A total that differs in every response. */
	const restless = (request: number) => request;

	test('a list that never stands still is read three times, and its numbers are believed the first time only', async () => {
		const { source, asked } = saying(restless);
		await expect(fetchList(source, one)).resolves.toMatchObject({
			items,
			settled: false,
			reportedTotal: 11,
			passes: 3,
		});
		const again = [undefined, 1, 2, 3];
		expect(asked).toEqual([undefined, 2, 3, ...again, ...again]);
	});

	test('the first two passes fetch ahead, the third goes page by page', async () => {
		const { source, peaks } = saying((_, page) => (page === undefined ? 26 : 25), [1, 2, 3, 4, 5].map(five));
		await expect(fetchList(source, { ...one, parallelRequests: 4 })).resolves.toMatchObject({ settled: false });
		expect(peaks).toEqual([4, 4, 1]);
	});

	test.each([
		{ totals: 'wrong twice alike', totalOf: () => 9, passes: 2, settled: true },
		{
			totals: 'wrong in one way, then twice in another',
			totalOf: (pass: number) => (pass === 1 ? 9 : 8),
			passes: 3,
			settled: true,
		},
		{ totals: 'wrong in three ways', totalOf: (pass: number) => 10 - pass, passes: 3, settled: false },
		{
			totals: 'wrong alike at last, after the first moved',
			totalOf: (pass: number, page: number) => (pass === 1 && page === 1 ? 9 : 8),
			passes: 3,
			settled: true,
		},
		{
			totals: 'wrong alike at last, and the second moved',
			totalOf: (pass: number, page: number) => (pass === 2 && page === 1 ? 9 : 8),
			passes: 3,
			settled: false,
		},
		{
			totals: 'not said, then wrong',
			totalOf: (pass: number) => (pass === 1 ? undefined : 8),
			passes: 3,
			settled: true,
		},
		{ totals: 'never said', totalOf: () => undefined, passes: 2, settled: true },
	])('totals that are $totals: settled $settled after $passes', async ({ totalOf, passes, settled }) => {
		let pass = 0;
		const { source } = saying((_, page) => {
			if (page === undefined) pass++;
			return totalOf(pass, page ?? 1);
		});
		await expect(fetchList(source, one)).resolves.toMatchObject({ items, passes, settled });
	});

	test('the total is that of the last page with items, or of the last page with a total', async () => {
		const reportedBy = async (totals: Array<number | undefined>, pages?: string[][]) => {
			const { source } = saying((_, page) => totals[(page ?? 1) - 1], pages);
			return (await fetchList(source, one)).reportedTotal;
		};
		expect(await reportedBy([0], [[]])).toBe(0);
		expect(await reportedBy([12, undefined, undefined])).toBe(12);
		expect(await reportedBy([12, 12, 13])).toBe(13);
		// The list ends with a full page, and an empty one follows.
		expect(await reportedBy([11, 11, 10], [five(1), five(2), []])).toBe(11);
		expect(await reportedBy([undefined, undefined, 10], [five(1), five(2), []])).toBeUndefined();
	});

	test('one that is limited and comes short of its total and of the limit is read again', async () => {
		const { source } = saying(() => 20);
		await expect(fetchList(source, { ...one, limit: 15 })).resolves.toMatchObject({ items, passes: 2, settled: true });
	});

	test('a page past the end that repeats the last one is no item that came twice', async () => {
		const { source } = saying(() => 10, [five(1), five(2), five(2)]);
		await expect(fetchList(source, one)).resolves.toMatchObject({
			items: [...five(1), ...five(2)],
			passes: 1,
			settled: true,
		});
	});

	describe('with pages without new items', () => {
		/** Each pass a list of pages, the last of them over and over; the total of each says that there is more. */
		const repeating = (...passes: string[][][]): PageSource<string> => {
			let pass = -1;
			return {
				fetchPage: async (page) => {
					if (page === undefined) pass++;
					const pages = passes[pass] ?? [];
					return { content: pages[Math.min((page ?? 1) - 1, pages.length - 1)] ?? [], totalElements: 12, last: false };
				},
				identify: (item) => item,
			};
		};
		const whole = [five(1), five(2), ['3-0', '3-1'], []];
		const stuck = [five(1), five(2), five(1)];

		test('the list fails with a message if all three passes are like this', async () => {
			await expect(fetchList(repeating(stuck, stuck, stuck), one)).rejects.toMatchObject({
				details: {
					kind: 'paging',
					message: expect.stringContaining('Page 4 of the list has only items of earlier pages'),
				},
			});
		});

		test('another pass alone counts if it is steady', async () => {
			await expect(fetchList(repeating(stuck, whole), one)).resolves.toMatchObject({ items, settled: true, passes: 2 });
		});

		test('they agree with nothing, and what they met counts', async () => {
			const other = [five(4), ['1-0'], []];
			await expect(fetchList(repeating(stuck, stuck, other), one)).resolves.toMatchObject({
				items: [...five(4), '1-0', '1-1', '1-2', '1-3', '1-4', ...five(2)],
				settled: false,
				reportedTotal: 12,
				passes: 3,
			});
		});
	});

	test('an item is returned as it was read last', async () => {
		let request = 0;
		const source: PageSource<{ id: string; met: number }> = {
			fetchPage: async (page = 1) => ({
				content: ([['a', 'b'], ['c']][page - 1] ?? []).map((id) => ({ id, met: ++request })),
				number: page - 1,
				totalElements: request,
			}),
			identify: ({ id }) => id,
		};
		const { items: given, settled } = await fetchList(source, one);
		expect(settled).toBe(false);
		// Page 1 came between the first page and page 2.
		expect(given.map(({ id, met }) => [id, request - met])).toEqual([
			['a', 4],
			['b', 3],
			['c', 0],
		]);
	});
});

describe('without a total, a device that is removed between two pages hides no other', () => {
	test.each([
		// The eleventh device moves to the first page, and page 2 is empty.
		{ size: 11, said: [], at: 3 },
		{ size: 30, said: ['last', 'totalPages'], at: 2 },
	] as const)('of $size devices, on a server that reports $said', async ({ size, said, at }) => {
		const server = serve(size, {
			...ONE_BASED,
			changes: new Map([[at, (fleet) => void fleet.remove(fleet.at(0).sn)]]),
			falsify: (honest) => Object.fromEntries(said.map((name) => [name, honest[name]])),
		});
		const listing = await fetchList(server.source, { pageSize: 10, parallelRequests: 1 });
		expect(sns(listing.items)).toEqual(expect.arrayContaining(sns(server.fleet.devices)));
	});

	test.each([
		{ size: 9, said: ['last'], asked: [undefined, 1, 2] },
		{ size: 9, said: ['totalPages'], asked: [undefined, 1, 2] },
		{ size: 0, said: [], asked: [undefined] },
	] as const)(
		'a list of one page that says so ($said, $size devices) is not read again',
		async ({ size, said, asked }) => {
			const server = serve(size, {
				...ONE_BASED,
				falsify: (honest) => Object.fromEntries(said.map((name) => [name, honest[name]])),
			});
			await expect(fetchList(server.source, { pageSize: 10, parallelRequests: 1 })).resolves.toMatchObject({
				passes: 1,
			});
			expect(server.asked).toEqual(asked);
		},
	);
});

describe('found by random tests', () => {
	test('a total that is always wrong counts as wrong after two equal passes', async () => {
		const server = serve(30, { ...ONE_BASED, falsify: (honest) => ({ ...honest, totalElements: 2_000_000_000 }) });
		const listing = await fetchList(server.source, { pageSize: 10, parallelRequests: 2 });
		expect(listing).toMatchObject({ settled: true, passes: 2, reportedTotal: 2_000_000_000 });
		expect(listing.items).toHaveLength(30);
	});

	test('a page number too large to count with does not decide how the server counts', async () => {
		const server = serve(2, {
			...ZERO_BASED,
			falsify: ({ last }) => ({ last, number: Number.MAX_SAFE_INTEGER, totalPages: 0 }),
		});
		const { items } = await fetchList(server.source, { pageSize: 1, parallelRequests: 1 });
		expect(items).toHaveLength(2);
	});

	test('a page that came before an earlier one was read again is not taken for a repetition', async () => {
		const changes = new Map([[3, (fleet: Fleet) => void fleet.remove(fleet.at(0).sn)]]);
		const server = serve(4, { ...ZERO_BASED, changes });
		const listing = await fetchList(server.source, { pageSize: 1, parallelRequests: 1 });
		expect(sns(listing.items)).toEqual(sns(server.fleet.devices));
	});

	test('pages that became empty during the read are not taken for a repetition', async () => {
		const changes = new Map([3, 4, 5].map((request) => [request, (fleet: Fleet) => void fleet.remove(fleet.at(0).sn)]));
		const server = serve(4, { ...ZERO_BASED, changes });
		const listing = await fetchList(server.source, { pageSize: 1, parallelRequests: 1 });
		expect(sns(listing.items)).toEqual(expect.arrayContaining(sns(server.fleet.devices)));
	});

	test('a total that only a page fetched in vain saw moving counts, too', async () => {
		const changes = new Map([
			[1, (fleet: Fleet) => void fleet.add(fleet.make(), 0)],
			[3, (fleet: Fleet) => void fleet.add(fleet.make(), 9)],
			[4, (fleet: Fleet) => void fleet.remove(fleet.at(0).sn)],
		]);
		const server = serve(21, { ...ZERO_BASED, changes });
		const listing = await fetchList(server.source, { pageSize: 8, parallelRequests: 2 });
		expect(sns(listing.items)).toEqual(expect.arrayContaining(sns(server.fleet.devices)));
	});

	test('two passes that missed the same device are not taken for a list that stands still', async () => {
		const changes = new Map([
			[1, (fleet: Fleet) => void fleet.add(fleet.make(), 0)],
			[3, (fleet: Fleet) => void fleet.add(fleet.make(), 2)],
			[6, (fleet: Fleet) => void fleet.remove(fleet.at(0).sn)],
		]);
		const server = serve(3, { ...ZERO_BASED, changes });
		const listing = await fetchList(server.source, { pageSize: 2, parallelRequests: 1 });
		expect(sns(listing.items)).toEqual(expect.arrayContaining(sns(server.fleet.devices)));
	});
});

describe('lists that were read wrong once', () => {
	const source = (pages: (page: number) => { content: string[] } & Partial<Page<string>>) => {
		const asked: number[] = [];
		return {
			asked,
			source: {
				fetchPage: async (page: number | undefined) => {
					asked.push(page ?? 1);
					return { number: (page ?? 1) - 1, ...pages(page ?? 1) };
				},
				identify: (item: string) => item,
			},
		};
	};
	const options = { pageSize: 5, parallelRequests: 4 } as const;
	const five = (page: number) => Array.from({ length: 5 }, (_, n) => `${page}-${n}`);

	test('an empty page among full ones is a hole, not the end', async () => {
		const { source: holed } = source((page) => ({
			content: page === 2 || page > 4 ? [] : five(page),
			totalElements: 20,
		}));
		const { items } = await fetchList(holed, options);
		expect(items).toEqual([...five(1), ...five(3), ...five(4)]);
	});

	test('50 empty pages are a hole if total, page count and last all say that more follows; 100 are the end', async () => {
		for (const { hole, said = {}, found, requests } of [
			{ hole: 50, found: 5, requests: 52 },
			{ hole: 100, found: 0, requests: 2 * 101 },
			...[{ totalElements: undefined }, { totalPages: undefined }, { last: undefined }].map((said) => ({
				...{ hole: 50, said, found: 0, requests: 6 },
			})),
		]) {
			const { source: holed, asked } = source((page) => ({
				content: page === hole + 1 ? five(page) : [],
				...{ totalElements: 5, totalPages: hole + 1, last: page > hole, ...said },
			}));
			const listing = await fetchList(holed, { ...options, parallelRequests: 1 });
			expect(listing).toMatchObject({ settled: true, passes: found === 0 ? 2 : 1 });
			expect(listing.items).toHaveLength(found);
			expect(asked.length).toBe(requests);
		}
	});

	test('a total on the first page only is no total that moved', async () => {
		const { source: shy, asked } = source((page) => ({
			content: page > 3 ? [] : five(page),
			...(page === 1 ? { totalElements: 15 } : {}),
		}));
		await expect(fetchList(shy, options)).resolves.toMatchObject({ settled: true, passes: 1 });
		expect(asked.length).toBeLessThanOrEqual(5);
	});

	test('a total of 0 on a page beyond the end is no total that moved', async () => {
		const { source: odd } = source((page) => ({
			content: page > 2 ? [] : five(page),
			totalElements: page > 2 ? 0 : 10,
			totalPages: 4,
		}));
		await expect(fetchList(odd, options)).resolves.toMatchObject({ settled: true, passes: 1, reportedTotal: 10 });
	});

	test('a server that reduces the size but reports the requested one is read completely', async () => {
		const server = serve(35, {
			numbering: 'one-based',
			largestSize: 10,
			falsify: ({ number }) => ({ number, size: 20 }),
		});
		const { items } = await fetchList(server.source, { pageSize: 20, parallelRequests: 1 });
		expect(items).toHaveLength(35);
	});

	/** A list of the numbers from 1 to `total`, in pages of at most 100. */
	function countingByRequestedSize(total: number, sizes: number[]): PageSource<number> {
		return {
			async fetchPage(page = 1, size) {
				sizes.push(size);
				const [offset, rows] = [(page - 1) * size, Math.min(size, 100)];
				const content = Array.from({ length: Math.min(rows, total - offset) }, (_, row) => offset + row + 1);
				const totalPages = Math.ceil(total / rows);
				return { content, number: page - 1, size: rows, totalElements: total, totalPages, last: page >= totalPages };
			},
			identify: String,
		};
	}

	test.each([{ limit: 300 }, { limit: undefined }])(
		'a server that reduces the size, but counts its offset by the requested one, is read completely (limit $limit)',
		async ({ limit }) => {
			const sizes: number[] = [];
			const source = countingByRequestedSize(2550, sizes);
			const listing = await fetchList(source, { pageSize: 1000, parallelRequests: 4, limit });
			expect(listing).toMatchObject({ settled: true, passes: 1 });
			expect(listing.items).toEqual(Array.from({ length: limit ?? 2550 }, (_, row) => row + 1));
			expect(new Set(sizes.slice(1))).toEqual(new Set([100]));
		},
	);

	test('a server that says the rows of a page as its size is asked for pages of one size', async () => {
		const { source } = serve(2490, { ...ONE_BASED, largestSize: 500 });
		const sizes: number[] = [];
		const hiding: PageSource<Device> = {
			...source,
			async fetchPage(page, size) {
				sizes.push(size);
				const { content, ...said } = await source.fetchPage(page, size);
				const shown = page === undefined || page === 1 ? content.slice(10) : content;
				return { ...said, content: shown, size: shown.length, totalElements: 2480 };
			},
		};
		const listing = await fetchList(hiding, { pageSize: 500, parallelRequests: 2 });
		expect(listing).toMatchObject({ settled: true, passes: 1 });
		expect(new Set(sizes)).toEqual(new Set([500]));
	});

	test('a platform that always lists one device twice counts as unchanged, with its own total', async () => {
		const { source: double } = source((page) => ({
			content: page > 3 ? [] : page === 3 ? ['1-0', '3-1'] : five(page),
			totalElements: 12,
		}));
		const listing = await fetchList(double, options);
		expect(listing).toMatchObject({ settled: true, passes: 3, reportedTotal: 12 });
		expect(listing.items).toHaveLength(11);
	});

	test.each([1, 8])(
		'a list that is turned round once while it is read is no repetition, read %i at a time',
		async (parallelRequests) => {
			const changes = new Map([[30, (fleet: Fleet) => void fleet.reorder((devices) => devices.reverse())]]);
			const server = serve(600, { ...ONE_BASED, changes });
			const listing = await fetchList(server.source, { pageSize: 10, parallelRequests });
			expect(listing).toMatchObject({ settled: true, passes: 2 });
			expect(sns(listing.items)).toEqual(sns(server.fleet.devices));
		},
	);

	test('behind a page that hangs, only so many pages are fetched ahead', async () => {
		const asked: number[] = [];
		const reading = fetchList(
			{
				fetchPage: async (page: number | undefined) => {
					asked.push(page ?? 1);
					if (page === 2) await new Promise(() => {});
					return { content: five(page ?? 1), number: (page ?? 1) - 1, totalPages: 200_000_000 };
				},
				identify: (item: string) => item,
			},
			options,
		);
		reading.catch(() => {});
		for (let turn = 0; turn < 5000; turn++) await Promise.resolve();
		// The first page, page 1 and page 2, and 64 behind it.
		expect(asked.length).toBe(3 + 64);
	});

	test('an endless server with large pages is stopped at a million devices', async () => {
		let made = 0;
		const reading = fetchList(
			{
				fetchPage: async (page: number | undefined) => ({
					content: Array.from({ length: 50_000 }, () => made++),
					number: (page ?? 1) - 1,
					last: false,
				}),
				identify: String,
			},
			{ pageSize: 50_000, parallelRequests: 1 },
		);
		await expect(reading).rejects.toMatchObject({ details: { kind: 'paging' } });
		expect(made).toBeLessThanOrEqual(1_050_000);
	});
});

test('a server without any metadata that ends in a short page is read whole', async () => {
	const server = serve(25, { ...ONE_BASED, falsify: () => ({}) });
	const listing = await fetchList(server.source, { pageSize: 10, parallelRequests: 4 });
	expect(sns(listing.items)).toEqual(sns(server.fleet.devices));
});

test('an endless server with new devices is stopped', async () => {
	let made = 0;
	const endless: PageSource<{ id: string }> = {
		fetchPage: async (page) => ({ content: [{ id: `made up ${made++}` }], number: (page ?? 1) - 1, last: false }),
		identify: ({ id }) => id,
	};
	await expect(fetchList(endless, { pageSize: 1, parallelRequests: 1 })).rejects.toMatchObject({
		details: { kind: 'paging' },
	});
	expect(made).toBeLessThan(100_010);
});
