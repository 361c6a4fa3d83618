import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import type { Page, PageSource } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import { type WalkedPage, walkPages, type WalkOptions } from '../../../nodes/DeviceManagement/core/paging/walk.ts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { PagedServer } from '../../../testbed/pagedServer.mts';

async function walk<T>(source: PageSource<T>, options: WalkOptions, trustsNumbers = true) {
	const steps: Array<WalkedPage<T>> = [];
	for await (const step of walkPages(source, options, trustsNumbers)) steps.push(step);
	return steps;
}

test('a walk that stops after its first page sends no other request', async () => {
	const server = new PagedServer(Fleet.seeded({ size: 100 }), { numbering: 'zero-based', largestSize: 2000 });
	const walked = await walkPages(server.source, { pageSize: 10, parallelRequests: 8 })[Symbol.asyncIterator]().next();
	expect(walked.value?.newItems).toEqual(server.fleet.devices.slice(0, 10));
	for (let turn = 0; turn < 50; turn++) await Promise.resolve();
	expect(server.asked).toEqual([undefined]);
});

describe('a server that answers a page past the end with its last page', () => {
	const clamping = (totals: ReadonlyArray<number | undefined>): PageSource<string> => ({
		fetchPage: async (page = 1) => ({
			content: page === 1 ? ['a', 'b'] : ['c', 'd'],
			number: Math.min(page, 2) - 1,
			totalElements: totals[page - 1],
			last: false,
		}),
		identify: (item) => item,
	});

	test.each([
		{ name: 'and says a total', totals: [4, 4, 4] },
		{ name: 'and says another total there', totals: [4, 4, 3] },
		{ name: 'and says a total there only', totals: [undefined, undefined, 4] },
	])('$name: the walk ends there and tells what that page says', async ({ totals }) => {
		const steps = await walk(clamping(totals), { pageSize: 2, parallelRequests: 1 });
		expect(steps.map(({ newItems, read }) => [newItems, read])).toEqual([
			[['a', 'b'], 2],
			[['c', 'd'], 4],
			[[], 4],
		]);
		expect(steps.at(-1)?.reportedTotal).toBe(totals[2]);
	});
});

test('a total that a page fetched in vain tells late is waited for', async () => {
	const source: PageSource<string> = {
		fetchPage: async (page = 0) => {
			// Page 2 lies past the end, and is the last one to come.
			for (let turn = 0; turn < page * 10; turn++) await Promise.resolve();
			return { content: [['a', 'b'], ['c'], ['c']][page] ?? [], totalElements: page === 2 ? 4 : 3 };
		},
		identify: (item) => item,
	};
	const steps = await walk(source, { pageSize: 2, parallelRequests: 2 });
	expect(steps.map(({ newItems, moved }) => [newItems, moved])).toEqual([
		[['a', 'b'], false],
		[['c'], true],
	]);
});

test('untrusted or missing numbers are ignored, and page 1 is requested', async () => {
	for (const { trustsNumbers, said } of [
		{ trustsNumbers: false, said: {} },
		{ trustsNumbers: true, said: { number: undefined } },
		{ trustsNumbers: true, said: { totalElements: undefined } },
	]) {
		const server = new PagedServer(Fleet.seeded({ size: 25 }), {
			numbering: 'one-based',
			largestSize: 2000,
			falsify: (honest) => ({ ...honest, ...said }),
		});
		await walk(server.source, { pageSize: 10, parallelRequests: 1 }, trustsNumbers);
		expect(server.asked).toEqual([undefined, 1, 2, 3]);
	}
});

test('a total of 0 on a page with devices is a total that moved', async () => {
	const totals = [3, 0];
	const source: PageSource<string> = {
		fetchPage: async (page = 1) => ({ content: [['a', 'b'], ['c']][page - 1] ?? [], totalElements: totals[page - 1] }),
		identify: (item) => item,
	};
	const steps = await walk(source, { pageSize: 2, parallelRequests: 1 });
	expect(steps.map(({ moved }) => moved)).toEqual([false, true]);
});

/** Answers with these pages, the last of them over and over, and says no more than this of each. */
function answering(pages: readonly string[][], said: Omit<Page<string>, 'content'> = {}) {
	const asked: Array<number | undefined> = [];
	const source: PageSource<string> = {
		fetchPage: async (page) => {
			asked.push(page);
			return { content: pages[Math.min((page ?? 1) - 1, pages.length - 1)] ?? [], ...said };
		},
		identify: (item) => item,
	};
	return { source, asked };
}
const one = { pageSize: 2, parallelRequests: 1 } as const;
const givenUpAt = (page: number) => ({
	details: { kind: 'paging', message: `Page ${page} of the list has only items of earlier pages` },
});

describe('a page that brings nothing new', () => {
	const two = [
		['a', 'b'],
		['c', 'd'],
	];

	test.each([
		{ name: 'where a total speaks for more', pages: two, said: { totalElements: 9 }, page: 4 },
		{ name: 'where nothing is said', pages: [['a', 'b']], said: {}, page: 3 },
		{ name: 'in another order', pages: [...two, ['d', 'c']], said: { last: false }, page: 4 },
		{ name: 'between others that do', pages: [...two, ['b', 'a'], ['e'], ['a']], said: { last: false }, page: 5 },
	])('is passed over once and then given up, $name', async ({ pages, said, page }) => {
		await expect(walk(answering(pages, said).source, one)).rejects.toMatchObject(givenUpAt(page));
	});

	test.each([
		{ name: 'everything said so', said: { last: true } },
		{ name: 'the total is reached', said: { totalElements: 2, last: false } },
	])('is past the end where $name', async ({ said }) => {
		const steps = await walk(answering([['a', 'b']], said).source, one);
		expect(steps.map(({ newItems, read }) => [newItems, read])).toEqual([
			[['a', 'b'], 2],
			[[], 2],
		]);
	});

	test('is not repeated if a part of it is new, with any total', async () => {
		const { source } = answering([['a', 'b'], ['b', 'c'], []], { totalElements: 2 });
		const steps = await walk(source, one);
		expect(steps.flatMap(({ newItems }) => newItems)).toEqual(['a', 'b', 'c']);
	});
});

test('a page past the end that is refused is empty', async () => {
	const pastEnd = new Failure({ kind: 'status', cause: 'input', httpStatus: 404, message: 'no such page', remedy: '' });
	const server = new PagedServer(Fleet.seeded({ size: 30 }), {
		numbering: 'one-based',
		largestSize: 2000,
		pastEnd,
		falsify: ({ last }) => ({ last }),
	});
	const steps = await walk(server.source, { pageSize: 10, parallelRequests: 1 });
	expect(steps.map(({ newItems }) => newItems.length)).toEqual([10, 10, 10, 0]);
});

test('a page is handed out while those behind it are on their way', async () => {
	const { source } = answering([['a', 'b'], ['c', 'd'], ['e']], { totalElements: 5 });
	let release = () => {};
	const handedOut = new Promise<void>((resolve) => {
		release = resolve;
	});
	const fetchPage: typeof source.fetchPage = async (page, size) => {
		const answer = await source.fetchPage(page, size);
		if (page === 3) await handedOut;
		return answer;
	};
	const walked: string[][] = [];
	for await (const { newItems } of walkPages({ ...source, fetchPage }, { pageSize: 2, parallelRequests: 3 })) {
		if (walked.push(newItems) === 2) release();
	}
	expect(walked).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});
