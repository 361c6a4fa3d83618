import {
	CODE_TABLE,
	explainCode,
	leavesOpen,
	meansLoginRefused,
	meansNoDevice,
	meansNotFound,
	meansTokenRefused,
	meansUserRefused,
} from '../../nodes/DeviceManagement/core/codes.ts';
import { codes } from '../../testbed/platform/codes.mts';

describe('the code table', () => {
	test('has the codes and texts of the API document, each once', () => {
		expect(CODE_TABLE.map(({ code, text }) => [code, text])).toEqual(codes);
	});

	test.each(CODE_TABLE.map((row) => [row.code, row] as const))('code %i has words in the style of n8n', (_, row) => {
		for (const words of [row.message, row.remedy, ...Object.values(row.remedies ?? {})]) {
			expect(words).not.toMatch(/\b(error|problem|failure|mistake)\b/i);
			expect(words.length).toBeGreaterThan(10);
		}
		expect(row.message).not.toMatch(/[.!]$/);
		for (const remedy of [row.remedy, ...Object.values(row.remedies ?? {})]) expect(remedy).toMatch(/\.$/);
	});

	test.each(codes.filter(([code, text]) => code !== 0 && text.includes('%s')))(
		'the detail in code %i is kept',
		(code, text) => {
			let detail = 0;
			const said = text.replace(/%s/g, () => `detail${++detail}`);
			const explained = explainCode(code, said, 'list');
			for (let n = 1; n <= detail; n++) expect(explained.message).toContain(`detail${n}`);
			expect(explained.remedy).toContain(`The platform answered code ${code}: ${said}`);
		},
	);

	test('a code that is not documented keeps its number and its text', () => {
		expect(explainCode(77777, 'flux low', 'list').message).toContain('(code 77777: flux low)');
		expect(explainCode(77777, '', 'list').message).toContain('(code 77777)');
	});

	test('a text that does not follow the table is shown whole', () => {
		expect(explainCode(10018, 'no such thing', 'list').remedy).toContain('code 10018: no such thing');
	});

	test('three codes mean that a read found nothing', () => {
		expect(codes.map(([code]) => code).filter((code) => meansNotFound({ code }))).toEqual([10007, 10018, 14401]);
	});
});

const every = [...codes.map(([code]) => code), 20815];

test.each([
	['nothing found', (code: number) => meansNotFound({ code }), [10007, 10018, 14401]],
	['no such device', (code: number) => meansNoDevice({ code }), [10007, 14401]],
	['a refused token', meansTokenRefused, [14101, 14102]],
	['a refused login', meansLoginRefused, [14201, 14202, 14203]],
	['an outcome that is not known', leavesOpen, [-1, 10002]],
	['a refused user', meansUserRefused, [14103, 14201, 14202, 14203]],
] as const)('%s is said by these codes and no other', (_name, means, expected) => {
	expect(every.filter((code) => means(code))).toEqual(expected);
});

test.each([
	[10001, 'list', "Check the values under 'Filters', and their types."],
	[10001, 'write', "Check the values in 'Body', and their types."],
	[10001, 'device', 'Check the values that the request was given, and their types.'],
	[10005, 'list', /^Check the names under 'Filters' and those of the fields to sort by/],
	[10005, 'count', /^Check the names under 'Filters'\. /],
	[10005, 'device', /^Check the serial number/],
	[10005, 'read', /^Check 'Path' and 'Query Parameters'\. /],
	[10005, 'dropdown', /^Check what was asked for\. /],
	[10014, 'count', /^Check that 'Search Criteria \(JSON\)' under 'Filters' is/],
	[10014, 'write', /^Check that 'Body' is/],
] as const)('code %i names fields of a %s', (code, purpose, remedy) => {
	expect(explainCode(code, '', purpose).remedy).toMatch(remedy);
});

test('the table itself names no field of a node, for those who have none', () => {
	for (const { remedy } of CODE_TABLE) expect(remedy).not.toMatch(/'(Filters|Search Criteria \(JSON\)|Body|Path|Query Parameters|Page Size)'/);
});

test('no code says nothing', () => {
	expect(meansNotFound({})).toBe(false);
	expect(meansNoDevice({ withoutData: false })).toBe(false);
	expect(meansLoginRefused(undefined)).toBe(false);
});

test('a success without data says that there is no such device', () => {
	expect(meansNoDevice({ withoutData: true })).toBe(true);
	expect(meansNotFound({ withoutData: true })).toBe(true);
});

describe('the detail', () => {
	test.each([
		[10018, 'invalid sn X-1', 'The serial number is not valid: X-1'],
		[10018, ' invalid sn  X-1  ', 'The serial number is not valid: X-1'],
		[10018, 'invalid sn X-1\nX-2', 'The serial number is not valid: X-1\nX-2'],
		[10018, 'invalid sn ', 'The serial number is not valid'],
		[10018, 'invalid sn', 'The serial number is not valid'],
		[10018, 'an invalid sn X-1', 'The serial number is not valid'],
		[10018, '', 'The serial number is not valid'],
		[10007, 'group 7 non-existent', 'The record does not exist: group 7'],
		[10007, 'group 7 non-existent here', 'The record does not exist'],
		[10008, 'name sn do not match', 'Two values do not belong together: name sn'],
		[14402, '[a/b] relationship is not allowed to be modified', 'The relationship may not be changed: a/b'],
		[14403, '[a.*] and device are related', 'A device still depends on the record: a.*'],
		[14403, 'xa.*] and device are related', 'A device still depends on the record'],
		[14408, 'no data available for 2024-01-02', 'There is no data for this request: 2024-01-02'],
		[14410, 'groupId:[7] does not match model:[R200]', 'The group does not fit the model: 7, R200'],
		[14410, 'groupId:[] does not match model:[R200]', 'The group does not fit the model: R200'],
		[10003, 'duplicate record', 'The record exists already'],
		[10003, 'duplicate record X-1', 'The record exists already'],
	])('of code %i in %j: %s', (code, msg, message) => {
		expect(explainCode(code, msg, 'list').message).toBe(message);
	});
});

test('the remedy ends with what the platform said', () => {
	expect(explainCode(10003, 'duplicate record', 'list').remedy).toMatch(/ The platform answered code 10003: duplicate record$/);
	expect(explainCode(10003, '', 'list').remedy).toMatch(/ The platform answered code 10003$/);
	expect(explainCode(10003, '', 'list').cause).toBe('conflict');
});

test('a code that is not documented is shown as it came', () => {
	expect(explainCode(20815, 'quota used up', 'list')).toEqual({
		cause: 'unknown',
		message: 'The platform refused the request with a code that is not documented (code 20815: quota used up)',
		remedy: "Look the code up in the platform's own documentation.",
	});
	expect(explainCode(20815, '', 'list').message).toMatch(/\(code 20815\)$/);
});
