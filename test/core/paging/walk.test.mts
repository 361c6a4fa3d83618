import { setImmediate as afterMicrotasks } from 'node:timers/promises';

import type { PageSource } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import { type Walked, walkPages, type WalkOptions } from '../../../nodes/DeviceManagement/core/paging/walk.ts';
import type { Metadata } from '../../../testbed/pagedServer.mts';
import { failure, late, noSuchPage, pages, say, serve } from '../../../testbed/pageScripts.mts';

const one = { pageSize: 2, parallelRequests: 1 } as const;
const ten = { pageSize: 10, parallelRequests: 1 } as const;

async function walk<T>(source: PageSource<T>, options: WalkOptions = one) {
	const steps: Array<Walked<T>> = [];
	for await (const step of walkPages(source, options)) steps.push(step);
	return steps;
}
/** Returns the items of each step, as a word. */
const words = async (...[list, said, pageSize = 2]: [...Parameters<typeof pages>, pageSize?: number]) =>
	(await walk(pages(list, said).source, { ...one, pageSize })).map(({ fresh }) => fresh.join(''));

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
		const steps = await walk(server.source, { ...ten, trustsNumbers });
		expect(steps.flatMap(({ fresh }) => fresh)).toEqual(server.fleet.devices);
		expect(server.asked).toEqual(asked);
	});

	test.each([
		{ are: '64', list: 'ab…', last: 66 },
		{ are: 'none after an empty one', list: 'ab cd ef gh -…', last: 5 },
		{ are: 'none after one that fails', list: 'ab…', fails: 5, last: 5 },
	])('behind a page that hangs are $are', async ({ list, fails, last }) => {
		const { source, asked } = pages(list, async ({ page }) => {
			if (page === 2) await new Promise(() => {});
			return page === fails ? late : { totalElements: 400_000_000 };
		});
		void walk(source, { ...one, parallelRequests: 4 });
		await afterMicrotasks();
		expect(asked).toEqual([undefined, ...Array.from({ length: last - 1 }, (_, n) => n + 2)]);
	});
});

describe('the size of a page', () => {
	const tooLarge = failure({ httpStatus: 413 });
	test.each([
		{ name: 'falls where it is refused', accepted: [0, 120], sizes: [1000, 200, 100, 100] },
		{ name: 'grows to 50 where a small one is refused', accepted: [50, 60], pageSize: 3, most: 90, sizes: [3, 50, 50] },
		{ name: 'does not exceed Page Size', accepted: [0, 20], pageSize: 30, most: 40, sizes: [30, 40, 10, 10] },
		{ name: 'is not the reason if all fail', accepted: [0, 0], thrown: [noSuchPage], sizes: [1000, 200, 100, 50, 10] },
		{ name: 'is no matter of a later timeout', accepted: [0, 0], thrown: [tooLarge, late], sizes: [1000, 200] },
	])('$name', async ({ accepted: [least = 0, largest = 0], pageSize = 1000, most, thrown = [], sizes }) => {
		const list = pages('ab cd', ({ size, request }) => {
			if (size < least || size > largest) return thrown[request - 1] ?? tooLarge;
			return { totalElements: 4, last: request > sizes.length - 1 };
		});
		const walked = walk(list.source, { pageSize, most: most ?? pageSize, parallelRequests: 2 });
		if (thrown.length > 0) await expect(walked).rejects.toBe(thrown.at(-1));
		else await walked;
		expect(list.sizes).toEqual(sizes);
	});
});

describe('the end of a list', () => {
	test('is not an earlier page, of which the second one fails', async () => {
		const message = 'Page 4 of the list only repeats earlier items';
		await expect(words('ab cd…', { totalElements: 9 })).rejects.toThrow(message);
	});

	test('is a page of one row that comes again past the end by the total, although its number rises', async () => {
		const source = { ...pages('ab c…', { totalElements: 3, last: false }).source, areRows: true };
		expect((await walk(source)).map(({ fresh }) => fresh.join(''))).toEqual(['ab', 'c', '']);
	});

	const more = { totalElements: 400, totalPages: 200, last: false };
	test.each([
		{ hole: 99, said: more, found: 'aba' },
		{ hole: 100, said: more, found: 'ab' },
		{ hole: 99, said: { ...more, totalElements: undefined }, found: 'aba' },
		{ hole: 2, said: { ...more, totalElements: 2 }, found: 'ab' },
		{ hole: 2, said: ({ page = 1 }) => ({ ...more, totalElements: undefined, totalPages: page + 2 }), found: 'ab' },
		{ hole: 2, said: { ...more, last: undefined }, found: 'ab' },
	])(
		'does not hide items: behind $hole empty pages that say $said, the walk finds $found',
		async ({ hole, said, found }) => {
			const list = `ab ${'- '.repeat(hole)}a`;
			const source = { ...pages(list, said).source, areRows: true };
			expect((await walk(source)).flatMap(({ fresh }) => fresh).join('')).toBe(found);
		},
	);

	test.each([
		{ name: 'says that more follows', pastEnd: noSuchPage, falsify: say({ totalPages: 9 }) },
		{ name: 'said the end wrongly before', pastEnd: noSuchPage, falsify: () => ({ last: true }) },
	])('is no refusal by a server that $name', async ({ pastEnd, falsify }) => {
		const server = serve(30, { numbering: 'zero-based', pastEnd, falsify });
		await expect(walk(server.source, ten)).rejects.toBe(pastEnd);
	});

	test.each([
		{ after: 'two million items', size: 50_000, every: 1, most: 41 },
		{ after: '200,000 pages, most of them empty', size: 1, every: 50, most: 200_001 },
	])('fails after $after', async ({ size, every, most }) => {
		let [made, asked] = [0, 0];
		const fetchPage = async () => {
			if (++asked > most) throw new Error('The walk does not end');
			const content = Array.from({ length: asked % every === 0 ? size : 0 }, () => made++);
			return { content, last: false, totalElements: 10 ** 9, totalPages: 10 ** 9 };
		};
		const walked = walk({ fetchPage, identify: String }, { pageSize: size, parallelRequests: 1 });
		await expect(walked).rejects.toMatchObject({ details: { kind: 'paging' } });
	});
});

test.each<{ says: string; said: (page: number) => Metadata }>([
	{ says: 'nothing', said: () => ({}) },
	{ says: 'only its own length as the total', said: (page) => ({ totalElements: page === 2 ? 2 : 3 }) },
	{ says: 'that it is the last one, as each page does', said: () => ({ last: true }) },
])('a short page in the middle, which lacks hidden items, does not end a walk if it says $says', async ({ said }) => {
	// A page past the end is empty, or repeats the last one.
	for (const end of ['', '…'])
		expect((await words(`abc de fgh i${end}`, ({ page }) => said(page), 3)).join('')).toBe('abcdefghi');
});

test.each<{ list: string; said: Metadata; isWhole: boolean[]; skip?: number; limit?: number }>([
	{ list: 'ab cd e', said: { totalElements: 5 }, isWhole: [false, false, true] },
	{ list: 'ab cc', said: { totalElements: 4 }, isWhole: [false, true, true] },
	{ list: 'ab cd ef', said: { totalElements: 6 }, skip: 1, limit: 3, isWhole: [false, true] },
	{ list: 'ab cd', said: {}, isWhole: [true, false, false] },
])(
	'after each page of $list with $said, the list may be whole: $isWhole',
	async ({ list, said, isWhole, ...needs }) => {
		const steps = await walk(pages(list, said).source, { ...one, ...needs });
		expect(steps.map((step) => step.isWhole)).toEqual(isWhole);
	},
);
