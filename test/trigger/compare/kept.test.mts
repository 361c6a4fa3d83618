import {
	keepValues,
	digest,
	joinKept,
	keep,
	recall,
	shortIdentity,
	splitKept,
} from '../../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { watchedFields } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';

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

it('the values of a device are one list in the order of the watched fields, and come apart again', () => {
	const fields = watchedFields(new Set(['statusChanged', 'onlineStatusChanged', 'attributeChanged']), ['a', 'b']);
	expect(keepValues({ status: 2, onlineStatus: 1, attributes: { b: 'x' } }, fields)).toBe('[1,2,null,"x"]');
	expect(keepValues({}, [])).toBe('[]');
	const parts = ['"a, [\\"b\\"]"', '{"json":[1,{"a":2}]}', 'null', '7'];
	expect(splitKept(joinKept(parts))).toEqual(parts);
	for (const other of ['', '{}', '7', '[1', 'null']) expect(() => splitKept(other)).toThrow(SyntaxError);
});
