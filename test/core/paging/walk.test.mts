import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import type { Page, PageSource } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import { type WalkedPage, walkPages, type WalkOptions } from '../../../nodes/DeviceManagement/core/paging/walk.ts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { PagedServer } from '../../../testbed/pagedServer.mts';

async function walk<T>(source: PageSource<T>, options: WalkOptions): Promise<Array<WalkedPage<T>>> {
	const steps: Array<WalkedPage<T>> = [];
	for await (const step of walkPages(source, options)) steps.push(step);
	return steps;
}

test('a walk that is left after its first page has asked for nothing else', async () => {
	const server = new PagedServer(Fleet.seeded({ size: 100 }), { numbering: 'zero-based', largestSize: 2000 });
	for await (const { fresh } of walkPages(server.source, { sizes: [10], parallelRequests: 8 })) {
		expect(fresh).toEqual(server.fleet.devices.slice(0, 10));
		break;
	}
	for (let turn = 0; turn < 50; turn++) await Promise.resolve();
	expect(server.asked).toEqual([undefined]);
});

test('a walk falls back to a smaller size, says which one it was, and keeps to it', async () => {
	const server = new PagedServer(Fleet.seeded({ size: 120 }), { numbering: 'one-based', largestSize: 2000 });
	const sizes: number[] = [];
	const source: typeof server.source = {
		...server.source,
		fetchPage: async (page, size) => {
			sizes.push(size);
			if (size > 60) throw new Failure({ kind: 'status', cause: 'platform', httpStatus: 413, message: '', remedy: '' });
			return await server.source.fetchPage(page, size);
		},
	};
	const steps = await walk(source, { sizes: [1000, 200, 50], parallelRequests: 1 });
	expect(steps.map(({ size }) => size)).toEqual([50, 50, 50]);
	expect(sizes).toEqual([1000, 200, 50, 50, 50]);
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
		{ name: 'and says no total', totals: [] },
	])('$name: the walk ends there and tells what that page says', async ({ totals }) => {
		const steps = await walk(clamping(totals), { sizes: [2], parallelRequests: 1 });
		expect(steps.map(({ fresh, pastEnd }) => [fresh, pastEnd])).toEqual([
			[['a', 'b'], false],
			[['c', 'd'], false],
			[[], true],
		]);
		expect(steps.at(-1)?.page.totalElements).toBe(totals[2]);
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
	const steps = await walk(source, { sizes: [2], parallelRequests: 2 });
	expect(steps.map(({ fresh, totalMoved }) => [fresh, totalMoved])).toEqual([
		[['a', 'b'], false],
		[['c'], true],
	]);
});

test('numbers that are not trusted, or not said, are not looked at: page 1 is asked for instead', async () => {
	for (const { distrustNumbers, said } of [
		{ distrustNumbers: true, said: {} },
		{ distrustNumbers: false, said: { number: undefined } },
		{ distrustNumbers: false, said: { totalElements: undefined } },
	]) {
		const server = new PagedServer(Fleet.seeded({ size: 25 }), {
			numbering: 'one-based',
			largestSize: 2000,
			falsify: (honest) => ({ ...honest, ...said }),
		});
		await walk(server.source, { sizes: [10], parallelRequests: 1, distrustNumbers });
		expect(server.asked).toEqual([undefined, 1, 2, 3]);
	}
});

test('a first page that comes again is compared with the first page as it was asked for', async () => {
	const server = new PagedServer(Fleet.seeded({ size: 25 }), { numbering: 'one-based', largestSize: 2000, ignoresPage: true });
	await expect(walk(server.source, { sizes: [10], parallelRequests: 1 })).rejects.toMatchObject({ details: { kind: 'paging' } });
	expect(server.asked).toEqual([undefined, 2, 1, 2, undefined, 2]);
});

test('a total of 0 on a page with devices is a total that moved', async () => {
	const totals = [3, 0];
	const source: PageSource<string> = {
		fetchPage: async (page = 1) => ({ content: [['a', 'b'], ['c']][page - 1] ?? [], totalElements: totals[page - 1] }),
		identify: (item) => item,
	};
	const steps = await walk(source, { sizes: [2], parallelRequests: 1 });
	expect(steps.map(({ totalMoved }) => totalMoved)).toEqual([false, true]);
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
const one = { sizes: [2], parallelRequests: 1 } as const;
const repeats = (page: number, of: number) => ({
	details: { kind: 'paging', message: `The platform answers page ${page} of the list with the devices of page ${of}` },
});

describe('a repetition', () => {
	test('of the page before is refused where a total speaks for more, after both pages were looked at again', async () => {
		const { source, asked } = answering([['a', 'b'], ['c', 'd']], { totalElements: 9 });
		await expect(walk(source, one)).rejects.toMatchObject(repeats(3, 2));
		expect(asked).toEqual([undefined, 1, 2, 3, 3, 2, 3]);
	});

	test('of the first page is refused where nothing is said', async () => {
		await expect(walk(answering([['a', 'b']]).source, one)).rejects.toMatchObject(repeats(2, 1));
	});

	test('of the first page is the end where it called itself the last one', async () => {
		const steps = await walk(answering([['a', 'b']], { last: true }).source, one);
		expect(steps.map(({ fresh, pastEnd }) => [fresh, pastEnd])).toEqual([[['a', 'b'], false], [[], true]]);
	});

	test('in another order is refused after ten more pages of it', async () => {
		const { source } = answering([['a', 'b'], ['c', 'd'], ...Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? ['d', 'c'] : ['c', 'd']))], {
			last: false,
		});
		await expect(walk(source, one)).rejects.toMatchObject(repeats(13, 12));
	});

	test('in another order is no repetition for as long as it may be a list that was re-ordered behind the walk', async () => {
		const pages = Array.from({ length: 30 }, (_, n) => [`${n}-a`, `${n}-b`]);
		const turned = [...pages].reverse().slice(1, -1);
		const { source } = answering([...pages, ...turned, ...pages.slice(2)], { last: false });
		// Twice the sixty devices came.
		await expect(walk(source, one)).rejects.toMatchObject(repeats(62, 61));
	});

	test('in part is none: what is new on the page counts, whatever the total', async () => {
		const { source } = answering([['a', 'b'], ['b', 'c'], []], { totalElements: 2 });
		const steps = await walk(source, one);
		expect(steps.flatMap(({ fresh }) => fresh)).toEqual(['a', 'b', 'c']);
	});
});

test('a page past the end that is refused is empty, and marked', async () => {
	const pastEnd = new Failure({ kind: 'status', cause: 'input', httpStatus: 404, message: 'no such page', remedy: '' });
	const server = new PagedServer(Fleet.seeded({ size: 30 }), {
		numbering: 'one-based',
		largestSize: 2000,
		pastEnd,
		falsify: ({ last }) => ({ last }),
	});
	const steps = await walk(server.source, { sizes: [10], parallelRequests: 1 });
	expect(steps.map(({ ids, pastEnd }) => [ids.length, pastEnd])).toEqual([[10, false], [10, false], [10, false], [0, true]]);
	expect(steps.at(-1)?.page).toEqual({ content: [] });
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
	for await (const { index } of walkPages({ ...source, fetchPage }, { sizes: [2], parallelRequests: 3 })) {
		if (index === 1) release();
	}
});
