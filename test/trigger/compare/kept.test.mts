import { digest, keep, recall, shortIdentity } from '../../../nodes/DeviceManagement/trigger/compare/kept.ts';

it('a value has the text of the same value alone, and is returned unless it is longer than 100 characters', () => {
	expect(keep({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(keep({ b: [{ d: 3, c: 2 }], a: 1 }));
	const unlike = ['1', 1, '', null, 'null', true, 'true', [], {}, { json: 1 }, { digest: 'x' }, [{ json: 1 }]];
	expect(new Set(unlike.map(keep)).size).toBe(unlike.length);
	expect(unlike.map((one) => recall(keep(one)))).toEqual(unlike);
	expect(recall(keep('x'.repeat(101)))).toBeUndefined();
});

it.each([
	['x'.repeat(100), `"${'x'.repeat(100)}"`],
	['x'.repeat(101), `{"digest":"${digest(`"${'x'.repeat(101)}"`)}"}`],
	// Counts the characters as entered, not as JSON.
	['"'.repeat(100), JSON.stringify('"'.repeat(100))],
	[undefined, 'null'],
	[7, '7'],
	[{ digest: 'x' }, '{"json":{"digest":"x"}}'],
	[['x'.repeat(96)], `{"json":["${'x'.repeat(96)}"]}`],
	[['x'.repeat(97)], `{"digest":"${digest(`["${'x'.repeat(97)}"]`)}"}`],
])('%p is kept as written in the states of earlier versions', (one, kept) => {
	expect(keep(one)).toBe(kept);
});

it('a long identity is shortened to its digest', () => {
	expect(shortIdentity('x'.repeat(100))).toBe('x'.repeat(100));
	expect(shortIdentity('x'.repeat(101))).toBe(digest('x'.repeat(101)));
	expect(digest('')).toBe('47DEQpj8HBSa-_TImW-5JC');
});
