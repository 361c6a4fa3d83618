import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import type { PageSource } from '../../../nodes/DeviceManagement/core/paging/page.ts';
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
