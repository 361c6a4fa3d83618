import { digest, keep, recall } from '../../nodes/DeviceManagement/trigger/values.ts';

it('a value is returned as it came, unless it is longer than 100 characters', () => {
	expect(keep({ a: 1, b: [{ c: 2, d: 3 }] })).toEqual(keep({ b: [{ d: 3, c: 2 }], a: 1 }));
	const unlike = [
		'1',
		1,
		'',
		null,
		'null',
		true,
		'true',
		[],
		{},
		{ json: 1 },
		{ digest: 'x' },
		{ id: 1 },
		[{ json: 1 }],
	];
	expect(unlike.map((one) => recall(keep(one)))).toEqual(unlike);
	expect(recall(keep('x'.repeat(101)))).toBeUndefined();
});

it.each([
	['x'.repeat(100), 'x'.repeat(100)],
	['x'.repeat(101), { digest: digest('x'.repeat(101)) }],
	[undefined, null],
	[{ digest: 'x' }, { json: { digest: 'x' } }],
	[['x'.repeat(97)], { digest: digest(`["${'x'.repeat(97)}"]`) }],
])('%p is kept', (one, kept) => {
	expect(keep(one)).toEqual(kept);
});
