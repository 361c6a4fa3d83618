import { pageSchema } from '../../../nodes/DeviceManagement/core/paging/page.ts';

describe('a page', () => {
	const read = (page: object) => pageSchema.parse({ content: [], ...page });
	const RIGHT = [0, 7, Number.MAX_SAFE_INTEGER];
	const TEXTS = [...RIGHT.map(String), ' 95 ', '007'];
	const TEXTLESS = ['', ' ', '-1', '0.5', '1e3', '0x7', '1,280', `${2 ** 53}`, 'NaN', 'true'];
	const WRONG = [-1, 0.5, 2 ** 53, NaN, true, null, undefined, {}, ['7'], ...TEXTLESS];

	test.each(['number', 'size', 'totalElements', 'totalPages', 'offset'])('has a %s from 0, or none', (name) => {
		const told = (value: unknown) => {
			const { pageable, ...page } = read(name === 'offset' ? { pageable: { offset: value } } : { [name]: value });
			return Object(name === 'offset' ? pageable : page)[name];
		};
		expect(RIGHT.map(told)).toEqual(RIGHT);
		expect(TEXTS.map(told)).toEqual([...RIGHT, 95, 7]);
		expect(WRONG.map(told)).toEqual(WRONG.map(() => undefined));
	});

	test('says whether it is the last one, or nothing', () => {
		const said = (values: unknown[]) => values.map((last) => read({ last }).last);
		expect(said([true, 'true', 'True', ' TRUE '])).toEqual([true, true, true, true]);
		expect(said([false, 'false', 'False', ' FALSE '])).toEqual([false, false, false, false]);
		const nothing = ['yes', '', 'constructor', '1', 1, 0, null, undefined, {}, ['true']];
		expect(said(nothing)).toEqual(nothing.map(() => undefined));
		for (const pageable of [null, 'x', 7]) expect(read({ pageable }).pageable).toBeUndefined();
	});

	test('is refused once: by the place of the first item that is no object, or for a content that is no list', () => {
		const placesOf = (content: unknown) => pageSchema.safeParse({ content }).error?.issues.map(({ path }) => path);
		for (const item of [null, 1, 'x', [], undefined]) {
			expect(placesOf([{}, {}, item, item])).toEqual([['content', 2]]);
			expect(placesOf([item, {}])).toEqual([['content', 0]]);
		}
		for (const content of [undefined, {}, 'x', 5]) expect(placesOf(content)).toEqual([['content']]);
		expect(placesOf([{}, {}])).toBeUndefined();
	});

	test('has null for an empty list, or no list at a total of 0, unless a total says that there are items', () => {
		const none = [{ content: null }, { content: null, totalElements: '-1' }];
		for (const page of [
			...none,
			...[0, '0'].flatMap((totalElements) => [{ content: null, totalElements }, { totalElements }]),
		])
			expect(pageSchema.parse(page).content).toEqual([]);
		const some = [{}, { totalElements: 1 }, { content: null, totalElements: 1 }, { content: null, totalElements: '9' }];
		for (const page of some) expect(pageSchema.safeParse(page).error?.issues).toMatchObject([{ path: ['content'] }]);
	});
});
