import { setImmediate as afterMicrotasks } from 'node:timers/promises';

import type { PageSource } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import { type Walked, walkPages, type WalkOptions } from '../../../nodes/DeviceManagement/core/paging/walk.ts';
import type { Metadata } from '../../../testbed/pagedServer.mts';
import { failure, late, noSuchPage, pages, say, serve } from './pages.mts';

const one = { pageSize: 2, parallelRequests: 1 } as const;
const ten = { pageSize: 10, parallelRequests: 1 } as const;

async function walk<T>(source: PageSource<T>, options: WalkOptions = one) {
	const steps: Array<Walked<T>> = [];
	for await (const step of walkPages(source, options)) steps.push(step);
	return steps;
}
const words = async (...[list, said]: Parameters<typeof pages>) =>
	(await walk(pages(list, said).source)).map(({ fresh }) => fresh.join(''));

describe('the requests', () => {
	const refusesThird = { numbering: 'zero-based', pastEnd: noSuchPage } as const;
	test.each([
		{ of: 'a list of one page', size: 5, asked: [undefined] },
		{ of: 'a server that counts from 1', asked: [undefined, 2, 3, 4] },
		{ of: 'a server that counts from 0', script: { numbering: 'zero-based' }, asked: [undefined, 2, 1, 3] },
		{ of: 'a server that refuses page 2 of 0 and 1', size: 20, script: refusesThird, asked: [undefined, 2, 1] },
		{ of: 'a server without numbers', said: { number: undefined }, asked: [undefined, 2, 1, 3, 4] },
		{ of: 'a server without totals', said: { totalElements: undefined }, asked: [undefined, 2, 1, 3, 4] },
	] as const)('of $of', async ({ size = 35, script, said = {}, asked }) => {
		const server = serve(size, { ...script, falsify: say(said) });
		const steps = await walk(server.source, ten);
		expect(steps.flatMap(({ fresh }) => fresh)).toEqual(server.fleet.devices);
		expect(server.asked).toEqual(asked);
	});

	test('behind a page that hangs are 32', async () => {
		const { source, asked } = pages('ab…', async ({ page }) => {
			if (page === 2) await new Promise(() => {});
			return { totalElements: 200_000_000 };
		});
		void walk(source, { ...one, parallelRequests: 4 });
		for (let turn = 0; turn < 9; turn++) await afterMicrotasks();
		expect(asked).toEqual([undefined, ...Array.from({ length: 33 }, (_, n) => n + 2)]);
	});

	test('end with the walk, also those that wait', async () => {
		const { source, asked } = pages('ab…', ({ page }) => (page === 2 ? late : { totalElements: 100 }));
		await expect(walk(source, { ...one, parallelRequests: 2 })).rejects.toBe(late);
		for (let turn = 0; turn < 9; turn++) await afterMicrotasks();
		expect(asked.length).toBeLessThan(12);
	});
});

describe('the size of a page', () => {
	const tooLarge = failure({ httpStatus: 413 });
	test.each([
		{ name: 'falls where it is refused', accepted: [0, 120], sizes: [1000, 200, 100, 100] },
		{ name: 'is the platform’s own where 50 is refused, too', accepted: [0, 20], sizes: [1000, 200, 100, 50, 10, 10] },
		{ name: 'is the platform’s own where a small one is refused', accepted: [10, 60], pageSize: 3, sizes: [3, 10, 10] },
		{ name: 'is not the reason if all fail', accepted: [0, 0], thrown: [noSuchPage], sizes: [1000, 200, 100, 50, 10] },
		{ name: 'is no matter of a later timeout', accepted: [0, 0], thrown: [tooLarge, late], sizes: [1000, 200] },
	])('$name', async ({ accepted: [least = 0, most = 0], pageSize = 1000, thrown = [], sizes }) => {
		const list = pages('ab cd', ({ size, request }) => {
			if (size < least || size > most) return thrown[request - 1] ?? tooLarge;
			return { totalElements: 4, last: request > sizes.length - 1 };
		});
		const walked = walk(list.source, { pageSize, parallelRequests: 2 });
		if (thrown.length > 0) await expect(walked).rejects.toBe(thrown.at(-1));
		else await walked;
		expect(list.sizes).toEqual(sizes);
	});
});

test.each([
	{ where: 'a server reduces it', said: { size: 2, totalElements: 5 }, next: 2 },
	{ where: 'none is said', said: { totalElements: 5 }, next: 4 },
	{ where: 'it is the larger one', said: { size: 5, totalElements: 5 }, next: 4 },
])('the size of 4 is $next for the next pages where $where', async ({ said, next }) => {
	const { source, sizes } = pages('ab cd e', said);
	await walk(source, { ...one, pageSize: 4 });
	expect(new Set(sizes.slice(1))).toEqual(new Set([next]));
});

describe('the end of a list', () => {
	test.each<{ is: string; list: string; said: Metadata | ((page: number) => Metadata); found: string[] }>([
		{ is: 'a short page that says so', list: 'ab c', said: (page) => ({ last: page === 2 }), found: ['ab', 'c'] },
		{ is: 'a short page that counts to the total', list: 'ab c', said: { totalElements: 3 }, found: ['ab', 'c'] },
		{ is: 'a full page only if both say so', list: 'ab cd', said: { totalElements: 4 }, found: ['ab', 'cd', ''] },
		{ is: 'a full page that says both', list: 'ab', said: { last: true, totalElements: 2 }, found: ['ab'] },
		{ is: 'an empty page', list: 'ab c d', said: {}, found: ['ab', 'c', 'd', ''] },
		{
			is: 'no short page before the total',
			list: 'ab c d',
			said: { totalElements: 6, last: true },
			found: ['ab', 'c', 'd'],
		},
		{ is: 'not the total alone', list: 'ab cd', said: { totalElements: 2 }, found: ['ab', 'cd', ''] },
	])('is $is', async ({ list, said, found }) => {
		expect(await words(list, ({ page }) => (typeof said === 'function' ? said(page) : said))).toEqual(found);
	});

	test.each(['ab…', 'ab cd ab…'])('is not an earlier page that comes before it: %s', async (list) => {
		await expect(words(list, { totalElements: 9 })).rejects.toMatchObject({ details: { kind: 'paging' } });
	});

	test.each([{ after: 'two million items', size: 50_000, most: 41 }])('fails after $after', async ({ size, most }) => {
		let [made, asked] = [0, 0];
		const fetchPage = async () => {
			if (++asked > most) throw new Error('The walk does not end');
			const content = Array.from({ length: size }, () => made++);
			return { content, last: false, totalElements: 10 ** 9, number: asked - 1 };
		};
		const walked = walk({ fetchPage, identify: String }, { pageSize: 1000, parallelRequests: 1 });
		await expect(walked).rejects.toMatchObject({ details: { kind: 'paging' } });
	});
});

test.each<{ list: string; said: Metadata; isWhole: boolean[]; skip?: number; limit?: number }>([
	{ list: 'ab cd e', said: { totalElements: 5 }, isWhole: [false, false, true] },
	{ list: 'ab cd ea', said: { totalElements: 6, last: true }, isWhole: [false, false, false] },
	{ list: 'ab cc', said: { totalElements: 4, last: true }, isWhole: [false, true] },
	{ list: 'ab cd ef', said: { totalElements: 6 }, skip: 1, limit: 3, isWhole: [false, true] },
	{ list: 'ab cd', said: { totalElements: 3 }, isWhole: [false, false, false] },
	{ list: 'ab -', said: { totalElements: 2 }, isWhole: [true, true] },
	{ list: 'ab cd', said: {}, isWhole: [true, false, false] },
])(
	'after each page of $list with $said, the list may be whole: $isWhole',
	async ({ list, said, isWhole, ...needs }) => {
		const steps = await walk(pages(list, said).source, { ...one, ...needs });
		expect(steps.map((step) => step.isWhole)).toEqual(isWhole);
	},
);
