import { identifyRecord, pageSchema } from '../../nodes/DeviceManagement/core/record.ts';

test('a record is identified by its id, otherwise by its content', () => {
	expect(identifyRecord({ id: '1', name: 'a' })).toBe(identifyRecord({ id: '1', name: 'b' }));
	expect(identifyRecord({ id: 7 })).toBe('7');
	for (const id of ['', null, undefined, 2 ** 53, 1.5, {}]) {
		expect(identifyRecord({ id, name: 'a' })).not.toBe(identifyRecord({ id, name: 'b' }));
	}
});

describe('a page', () => {
	const read = (page: object) => pageSchema.parse({ content: [], ...page });

	test.each(['number', 'size', 'totalElements', 'totalPages'])(
		'has a %s that is a whole number from 0, or none',
		(name) => {
			for (const value of [0, 7, Number.MAX_SAFE_INTEGER])
				expect(read({ [name]: value })).toMatchObject({ [name]: value });
			for (const value of [-1, 0.5, 2 ** 53, NaN, '7', null, undefined, {}]) {
				expect(Object(read({ [name]: value }))[name]).toBeUndefined();
			}
		},
	);

	test('says whether it is the last, or nothing', () => {
		for (const last of [true, false]) expect(read({ last }).last).toBe(last);
		for (const last of ['true', 1, null]) expect(read({ last }).last).toBeUndefined();
	});

	test('is refused by the place of the first item that is no object', () => {
		for (const item of [null, 1, 'x', [], undefined]) {
			const { error } = pageSchema.safeParse({ content: [{}, {}, item, item] });
			expect(error?.issues).toEqual([expect.objectContaining({ path: ['content', 2], message: 'not an object' })]);
		}
		expect(pageSchema.safeParse({ content: [{}, {}] }).success).toBe(true);
	});

	test('is refused when its very first item is no object', () => {
		expect(pageSchema.safeParse({ content: [null, {}] }).error?.issues).toMatchObject([{ path: ['content', 0] }]);
	});

	test('has an offset that is a whole number from 0, or none', () => {
		expect(read({ pageable: { offset: 40 } }).pageable).toEqual({ offset: 40 });
		for (const pageable of [{ offset: -1 }, { offset: '40' }, {}])
			expect(read({ pageable }).pageable?.offset).toBeUndefined();
		for (const pageable of [null, 'x', 7]) expect(read({ pageable }).pageable).toBeUndefined();
	});

	test('without a list of items is refused once', () => {
		for (const content of [undefined, null, {}, 'x', 5]) {
			expect(pageSchema.safeParse({ content }).error?.issues).toEqual([expect.objectContaining({ path: ['content'] })]);
		}
	});
});
