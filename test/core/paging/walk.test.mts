import { setImmediate as afterMicrotasks } from 'node:timers/promises';

import type { PageSource } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import type { ListOptions } from '../../../nodes/DeviceManagement/core/paging/passes.ts';
import { PageSizes } from '../../../nodes/DeviceManagement/core/paging/sizes.ts';
import { type WalkedPage, walkPages } from '../../../nodes/DeviceManagement/core/paging/walk.ts';
import type { ServerScript } from '../../../testbed/pagedServer.mts';
import { failure, late, noSuchPage, only, pages, say, serve } from './pages.mts';

const one = { pageSize: 2, parallelRequests: 1 } as const;
const ten = { pageSize: 10, parallelRequests: 1 } as const;

async function walk<T>(source: PageSource<T>, options: ListOptions = one) {
	const sizes = new PageSizes(options.limit ?? Infinity, options.pageSize);
	const steps: Array<WalkedPage<T>> = [];
	for await (const step of walkPages(source, { ...options, sizes })) steps.push(step);
	return steps;
}
async function expectWhole(server: ReturnType<typeof serve>, options: ListOptions = ten) {
	const steps = await walk(server.source, options);
	expect(steps.flatMap(({ newItems }) => newItems)).toEqual(server.fleet.devices);
}

describe('the requests', () => {
	const refusesThird = { numbering: 'zero-based', pastEnd: noSuchPage } as const;
	test.each([
		{ of: 'a list of one page', size: 5, asked: [undefined] },
		{ of: 'a server that counts from 1', asked: [undefined, 2, 3, 4] },
		{ of: 'a server that counts from 0', script: { numbering: 'zero-based' }, asked: [undefined, 2, 1, 3] },
		{ of: 'a server that refuses page 2 of 0 and 1', size: 20, script: refusesThird, asked: [undefined, 2, 1] },
		{ of: 'a server without numbers', said: { number: undefined }, asked: [undefined, 1, 2, 3, 4] },
		{ of: 'a server without totals', said: { totalElements: undefined }, asked: [undefined, 1, 2, 3, 4] },
		{ of: 'a walk that trusts no numbers', trustsNumbers: false, asked: [undefined, 1, 2, 3, 4] },
	] as const)('of $of', async ({ size = 35, script, said = {}, trustsNumbers = true, asked }) => {
		const server = serve(size, { ...script, falsify: say(said) });
		await expectWhole(server, { ...ten, trustsNumbers });
		expect(server.asked).toEqual(asked);
	});

	test.each([
		{ are: '64', list: 'ab…', last: 66 },
		{ are: 'none after an empty one', list: 'ab cd ef gh -…', last: 7 },
		{ are: 'none after one that fails', list: 'ab…', fails: 5, last: 7 },
	])('behind a page that hangs are $are', async ({ list, fails, last }) => {
		const { source, asked } = pages(list, async ({ page }) => {
			if (page === 2) await new Promise(() => {});
			return page === fails ? late : { totalPages: 200_000_000 };
		});
		void walk(source, { ...one, parallelRequests: 4 });
		await afterMicrotasks();
		expect(asked).toEqual([undefined, ...Array.from({ length: last }, (_, n) => n + 1)]);
	});
});

describe('a total', () => {
	test.each([
		{ name: 'of 0 on a page with items', list: 'ab c', totals: [3, 0], moved: [false, true, true] },
		{ name: 'of 0 past the end', list: 'ab cd', totals: [4, 4, 0], more: 3, moved: [false, false, false] },
	])('$name: moved $moved', async ({ list, totals, more, moved }) => {
		const { source } = pages(list, ({ page }) => ({ totalElements: totals[page - 1], totalPages: more }));
		expect((await walk(source)).map((step) => step.moved)).toEqual(moved);
	});

	test('of a page past the end that was fetched ahead, and comes last, counts', async () => {
		// It counts from 0: page 1 is the second one.
		const list = pages(
			({ request }) => (request === 1 ? 'ab' : 'c'),
			async ({ page }) => {
				for (let turn = 0; turn < page * 10; turn++) await Promise.resolve();
				return { number: undefined, totalElements: page === 2 ? 4 : 3 };
			},
		);
		const steps = await walk(list.source, { ...one, parallelRequests: 2 });
		expect(steps.map(({ moved }) => moved)).toEqual([false, true]);
	});
});

test('the number of an empty first page is not compared with the next', async () => {
	const list = pages('- a', { totalElements: 1 });
	await walk(list.source);
	expect(list.asked).toEqual([undefined, 1, 2]);
});

describe('the size of a page', () => {
	const tooLarge = failure({ httpStatus: 413 });

	test.each([
		{ name: 'falls where it is refused', accepted: [0, 60], sizes: [1000, 200, 50, 50, 50] },
		{ name: 'grows to 50 where a small one is refused', accepted: [50, 60], limit: 3, sizes: [3, 50, 50] },
		{ name: 'falls to 10 where 50 is refused, too', accepted: [0, 20], limit: 30, sizes: [30, 50, 10, 10, 10] },
		{ name: 'does not exceed Page Size', accepted: [0, 20], limit: 30, pageSize: 40, sizes: [30, 40, 10, 10, 10] },
		{ name: 'is not the reason if all fail', accepted: [0, 0], thrown: [noSuchPage], sizes: [1000, 200, 50, 10] },
		{ name: 'is no matter of a later timeout', accepted: [0, 0], thrown: [tooLarge, late], sizes: [1000, 200] },
	])('$name', async ({ accepted: [least = 0, most = 0], limit, pageSize = 1000, thrown = [], sizes }) => {
		const list = pages('ab cd', ({ size, request }) => {
			return size < least || size > most ? (thrown[request - 1] ?? tooLarge) : { totalElements: 4 };
		});
		const walked = walk(list.source, { pageSize, parallelRequests: 2, limit });
		if (thrown.length > 0) await expect(walked).rejects.toBe(thrown.at(-1));
		else await walked;
		expect(list.sizes).toEqual(sizes);
	});

	// Some servers reduce the size, but count a page's offset by the requested one.
	test.each([
		{ where: 'a server reduces it', list: 'a b c', said: { size: 2, totalElements: 5, totalPages: 3 }, next: 2 },
		{ where: 'a page has that length', list: 'ab cd e', said: { size: 2, totalElements: 5 }, next: 2 },
		{ where: 'a page has the whole list', list: 'ab', said: { size: 2, totalElements: 2, last: false }, next: 4 },
		{ where: 'it is the length of no items', list: '- a', said: { size: 0, totalElements: 1 }, next: 4 },
		{ where: 'a page is longer', list: 'abc de', said: { size: 2, totalElements: 5, totalPages: 3 }, next: 4 },
		{ where: 'none is said', list: 'ab cd e', said: { totalElements: 5, totalPages: 3 }, next: 4 },
		{ where: 'the page count fits both', list: 'a b', said: { size: 2, totalElements: 2, totalPages: 1 }, next: 4 },
		{ where: 'the page count fits none', list: 'a b', said: { size: 2, totalElements: 2, totalPages: 2 }, next: 4 },
		{ where: 'it is the larger one', list: 'ab cd e', said: { size: 5, totalElements: 5, totalPages: 1 }, next: 4 },
	])('of 4 is $next for the next pages where $where', async ({ list, said, next }) => {
		const { source, sizes } = pages(list, said);
		await walk(source, { ...one, pageSize: 4 });
		expect(new Set(sizes.slice(1))).toEqual(new Set([next]));
	});
});

test.each([
	{ name: 'says no end', pastEnd: noSuchPage, falsify: only() },
	{ name: 'says that more follows', pastEnd: noSuchPage, falsify: say({ totalPages: 9 }) },
	{ name: 'says a total that is too small', pastEnd: noSuchPage, falsify: () => ({ totalElements: 5 }) },
	{ name: 'says too few pages', pastEnd: noSuchPage, falsify: () => ({ totalPages: 1 }) },
	{ name: 'said the end wrongly before', pastEnd: noSuchPage, falsify: () => ({ last: true }) },
	{ name: 'does not refuse, but fails', pastEnd: late, falsify: say({ last: undefined }) },
])('a refusal past the end of a server is not believed if it $name', async ({ pastEnd, falsify }) => {
	const server = serve(30, { numbering: 'zero-based', pastEnd, falsify });
	await expect(walk(server.source, ten)).rejects.toBe(pastEnd);
});

test('a server that counts from 0 may refuse a page past its end, although its first page said that it is the last', async () => {
	const falsify: ServerScript['falsify'] = ({ totalElements }, asked) =>
		asked === undefined ? { last: true } : { totalElements };
	await expectWhole(serve(30, { numbering: 'zero-based', pastEnd: noSuchPage, falsify }));
});

test.each([
	{ after: 'two million items', size: 50_000, every: 1, most: 41 },
	{ after: '200,000 pages, most of them empty', size: 1, every: 50, most: 200_001 },
])('an endless list ends after $after', async ({ size, every, most }) => {
	let made = 0;
	let asked = 0;
	const fetchPage = async () => {
		if (++asked > most) throw new Error('The walk does not end');
		const content = Array.from({ length: asked % every === 0 ? size : 0 }, () => made++);
		return { content, last: false, totalElements: 10 ** 9, totalPages: 10 ** 9 };
	};
	const walked = walk({ fetchPage, identify: String }, { pageSize: size, parallelRequests: 1 });
	await expect(walked).rejects.toMatchObject({ details: { kind: 'paging' } });
});
