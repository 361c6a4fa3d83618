import fc from 'fast-check';

import {
	canonicalJson,
	keepValues,
	digest,
	joinKept,
	keep,
	recall,
	shortIdentity,
	splitKept,
} from '../../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { watchedFields } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { runs } from '../../../testbed/runs.mts';
import { value } from './values.mts';

describe('a remembered value', () => {
	it('is returned, unless it is longer than 100 characters', () => {
		fc.assert(
			fc.property(value, (one) => {
				const known = recall(keep(one));
				if ((typeof one === 'string' ? one : canonicalJson(one)).length > 100) expect(known).toBeUndefined();
				else expect(canonicalJson(known)).toBe(canonicalJson(one));
			}),
			runs(1000),
		);
	});

	it('has the text of the same value alone', () => {
		fc.assert(
			fc.property(value, value, (one, other) => {
				expect(keep(one) === keep(other)).toBe(canonicalJson(one) === canonicalJson(other));
			}),
			runs(1000),
		);
		expect(keep({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(keep({ b: [{ d: 3, c: 2 }], a: 1 }));
		const unlike = ['1', 1, '', null, 'null', true, 'true', [], {}, { json: 1 }, { digest: 'x' }, [{ json: 1 }]];
		expect(new Set(unlike.map(keep)).size).toBe(unlike.length);
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
	])('%p', (one, kept) => {
		expect(keep(one)).toBe(kept);
	});
});

describe('the values of a device', () => {
	it('are one list, and come apart again', () => {
		fc.assert(
			fc.property(fc.array(value), (values) => {
				const parts = values.map(keep);
				expect(splitKept(joinKept(parts))).toEqual(parts);
			}),
			runs(1000),
		);
	});

	it('are in the order of the watched fields, null where a device has none', () => {
		const fields = watchedFields(new Set(['statusChanged', 'onlineStatusChanged', 'attributeChanged']), ['a', 'b']);
		expect(keepValues({ status: 2, onlineStatus: 1, attributes: { b: 'x' } }, fields)).toBe('[1,2,null,"x"]');
		expect(keepValues({}, [])).toBe('[]');
	});

	it.each(['', '{}', '7', '[1', 'null'])('are not %p', (other) => {
		expect(() => splitKept(other)).toThrow(SyntaxError);
	});
});

it('a long identity is shortened to its digest', () => {
	expect(shortIdentity('x'.repeat(100))).toBe('x'.repeat(100));
	expect(shortIdentity('x'.repeat(101))).toBe(digest('x'.repeat(101)));
	expect(digest('')).toBe('47DEQpj8HBSa-_TImW-5JC');
});
