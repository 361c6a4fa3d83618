import { comparableNumber, learnNumbering } from '../../../nodes/DeviceManagement/core/paging/numbering.ts';

const MAX = Number.MAX_SAFE_INTEGER;
test.each<{
	of: { first?: number; two?: number | Error | undefined; pageOne?: string };
	learnt: 0 | 1;
	asked: unknown[];
}>([
	{ of: { first: 0, two: 1 }, learnt: 1, asked: [2] },
	{ of: { first: 1, two: 2 }, learnt: 1, asked: [2] },
	...[undefined, 0, 2, 7, MAX, new Error('no page')].flatMap((two) => [
		{ of: { first: 0, two, pageOne: 'ab' }, learnt: 1 as const, asked: [2, 1, undefined] },
		{ of: { first: MAX, two, pageOne: 'c' }, learnt: 0 as const, asked: [2, 1, undefined] },
	]),
	{ of: { pageOne: 'ab' }, learnt: 1, asked: [1, undefined] },
	...['cd', 'ba', 'a', 'abc'].map((pageOne) => ({ of: { pageOne }, learnt: 0 as const, asked: [1, undefined] })),
])('$of: the first page is $learnt, by the number of page 2, else by page 1', async ({ of, learnt, asked }) => {
	const requests: unknown[] = [];
	const learning = learnNumbering(String, of.first, async (parameter) => {
		requests.push(parameter);
		if (parameter === 2 && of.two instanceof Error) throw of.two;
		if (parameter === 2) return { content: ['c'], number: Number(of.two) };
		return { content: [...(parameter === 1 ? (of.pageOne ?? '') : 'ab')] };
	});
	expect({ learnt: await learning, asked: requests }).toEqual({ learnt, asked });
});

test('the number of an empty page is not compared', () => {
	expect(comparableNumber({ content: [], number: 0, totalElements: 4 })).toBeUndefined();
});
