import { hasMoreValuesThan, isCutOff, nestsDeeperThan, parseExactly } from '../../nodes/DeviceManagement/core/json.ts';

test.each([
	['[1,2,3]', 3],
	['{"a":[],"b":{"c":1}}', 4],
	['"a, b [1, {2"', 0],
	['["\\",\\\\",[],"\\"","," ]', 5],
])('%s has %i commas and opening brackets outside of texts', (json, marks) => {
	const bytes = new TextEncoder().encode(json);
	for (let limit = 0; limit < 6; limit++) expect(hasMoreValuesThan(bytes, limit)).toBe(marks > limit);
});

test('an envelope is cut off wherever its end is missing, also within a character or a text', () => {
	const bytes = new TextEncoder().encode('\ufeff {"code":0,"msg":"]}\\"設","data":[{"a":"[\\\\"},{}]}');
	const cuts = Array.from(bytes, (_, length) => isCutOff(bytes.subarray(0, length)));
	expect(cuts).toEqual(cuts.map((_, length) => length > 4));
	for (const other of ['[1,', '<a {"', '{x', '{"a":NaN}', '{"a":"{["}', '{"a":1}}', '"{'])
		expect([other, isCutOff(new TextEncoder().encode(other))]).toEqual([other, false]);
	expect(isCutOff(bytes)).toBe(false);
});

test('a whole number beyond 2^53 becomes text, wherever it is', () => {
	const long = '1741900010000000719';
	const stays = `"x":[9007199254740991,-9007199254740991,0.${long},${long}.5,1e21,"${long}","\\",\\"a\\":-${long},"]`;
	const texts = [long, `-${long}`, '9007199254740992', '-9007199254740992', '1'.repeat(400)];
	const json = (quote: string) => `{${stays},"y":[ ${texts.map((text) => quote + text + quote).join(',')}]}`;
	expect(parseExactly(json(''))).toEqual(JSON.parse(json('"')));
	for (const invalid of [`{"a":0${long}}`, `{"a":${long}-}`, `{"a":"\n${long}`])
		expect(() => parseExactly(invalid)).toThrow(SyntaxError);
});

test.each([
	{ depth: 0, values: [1, null, undefined, 'text'] },
	{ depth: 1, values: [[], {}, [1, null, 'x'], { a: null, b: 1 }] },
	{ depth: 2, values: [[1, []], { a: 1, b: {} }, { a: [] }, [{}]] },
	{ depth: 3, values: [[[1], [[2]]], { a: {}, b: { c: [] } }] },
])('$values nest $depth deep', ({ depth, values }) => {
	for (const value of values) {
		for (let limit = 0; limit < 5; limit++) expect(nestsDeeperThan(value, limit)).toBe(depth > limit);
	}
});
