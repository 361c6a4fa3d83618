import { comparableNumber, learnNumbering } from '../../../nodes/DeviceManagement/core/paging/numbering.ts';

const identify = (item: string) => item;
const first = { content: ['a', 'b'], number: 0, totalElements: 4 };

test.each([
	{ said: {}, number: 0 },
	{ said: { number: 1 }, number: 1 },
	{ said: { number: undefined }, number: undefined },
	{ said: { totalElements: undefined }, number: undefined },
	{ said: { content: [] }, number: undefined },
])('the number of a first page that says $said tells: $number', ({ said, number }) => {
	expect(comparableNumber({ ...first, ...said })).toBe(number);
});

/** Answers with these items as page 1 and this number of page 2, and records what is asked for. */
async function learn(number: number | undefined, pageOne: string[], numberOfTwo?: number | Error) {
	const asked: unknown[] = [];
	const learnt = await learnNumbering(identify, number, async (parameter) => {
		asked.push(parameter);
		if (parameter === undefined) return first;
		if (parameter === 1) return { content: pageOne };
		if (numberOfTwo instanceof Error) throw numberOfTwo;
		return { content: ['c'], number: numberOfTwo };
	});
	return { learnt, asked };
}

test.each([
	{ number: 0, two: 1 },
	{ number: 1, two: 2 },
])('page 2 shows by its number $two that the server counts from 1, with any number of its first page', async (told) => {
	expect(await learn(told.number, [], told.two)).toEqual({ learnt: 1, asked: [2] });
});

test.each([undefined, 0, 2, 7, Number.MAX_SAFE_INTEGER, new Error('no page')])(
	'page 2 tells nothing by %p, and page 1 is asked for',
	async (two) => {
		expect(await learn(0, ['a', 'b'], two)).toEqual({ learnt: 1, asked: [2, 1, undefined] });
		expect(await learn(Number.MAX_SAFE_INTEGER, ['c'], two)).toMatchObject({ learnt: 0 });
	},
);

test.each([
	{ pageOne: ['a', 'b'], learnt: 1 },
	{ pageOne: ['c', 'd'], learnt: 0 },
	{ pageOne: ['b', 'a'], learnt: 0 },
	{ pageOne: ['a'], learnt: 0 },
	{ pageOne: ['a', 'b', 'c'], learnt: 0 },
])('page 1 with $pageOne tells by its items: $learnt', async ({ pageOne, learnt }) => {
	expect(await learn(undefined, pageOne)).toEqual({ learnt, asked: [1, undefined] });
});
