import { describeValue, hasMoreValuesThan, isRecord, nestsDeeperThan } from '../../nodes/DeviceManagement/core/json.ts';

test('values are described by kind and size only', () => {
	expect([undefined, null, [1], 'secret', { a: 1 }, 5, true].map(describeValue)).toEqual([
		'nothing',
		'null',
		'a list of 1',
		'text of 6 characters',
		'an object with 1 fields',
		'a number',
		'a boolean',
	]);
});

test('nesting is measured no deeper than asked', () => {
	const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: [nested(depth - 1)] });
	expect(nestsDeeperThan(nested(2), 4)).toBe(false);
	expect(nestsDeeperThan(nested(2), 3)).toBe(true);
});

test.each([
	['[1,2,3]', 3],
	['{"a":[],"b":{"c":1}}', 4],
	['"a, b [1, {2"', 0],
	['["\\",\\\\",[],"\\"","," ]', 5],
])('%s has %i commas and opening brackets outside of texts', (json, marks) => {
	const bytes = new TextEncoder().encode(json);
	for (let limit = 0; limit < 6; limit++) expect(hasMoreValuesThan(bytes, limit)).toBe(marks > limit);
});

test.each<[unknown, number]>([
	[1, 0],
	[null, 0],
	[undefined, 0],
	['text', 0],
	[[], 1],
	[{}, 1],
	[[1, null, 'x'], 1],
	[{ a: null, b: 1 }, 1],
	[[1, []], 2],
	[{ a: 1, b: {} }, 2],
	[{ a: [] }, 2],
	[[{}], 2],
	[[[1], [[2]]], 3],
	[{ a: {}, b: { c: [] } }, 3],
])('%j nests %i deep', (value, depth) => {
	for (let limit = 0; limit < 5; limit++) expect(nestsDeeperThan(value, limit)).toBe(depth > limit);
});

test('an object with fields is neither null nor a list', () => {
	expect([{}, { a: 1 }, Object.create(null)].map(isRecord)).toEqual([true, true, true]);
	expect([null, [], undefined, 'x', 5, () => {}].map(isRecord)).toEqual([false, false, false, false, false, false]);
});
