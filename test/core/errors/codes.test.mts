import {
	CODE_TABLE,
	explainCode as explainFacts,
	meansLoginRefused,
	meansNoDevice,
	meansNotFound,
	meansTokenRefused,
	meansUserRefused,
} from '../../../nodes/DeviceManagement/core/errors/codes.ts';
import { fillIn, type Purpose } from '../../../nodes/DeviceManagement/core/errors/purpose.ts';
import { codes } from '../../../testbed/platform/codes.mts';

const explainCode = (code: number, msg: string, purpose: Purpose) =>
	fillIn(explainFacts(code), purpose, msg === '' ? '' : `: ${msg}`);

const every = [...codes.map(([code]) => code), 20815];

test('the table and testbed/platform/codes.mts have the same codes in the same order, each once', () => {
	expect(CODE_TABLE.map(({ code }) => code)).toEqual([...new Set(codes.map(([code]) => code))]);
});

test.each(CODE_TABLE)('code $code has a message in the style of n8n', ({ message, remedy }) => {
	expect(`${message} ${remedy}`).not.toMatch(/\b(error|problem|failure|mistake)\b|[{}]/i);
	expect(message).toMatch(/^[A-Z].{9,78}[^.!]$/);
	expect(remedy).toMatch(/^(n8n|[A-Z]).{9,}\.$/);
});

test.each([
	['nothing found', (code: number) => meansNotFound({ code }), [10007, 10018, 14401]],
	['no such device', (code: number) => meansNoDevice({ code }), [10007, 14401]],
	['a refused token', meansTokenRefused, [14101, 14102]],
	['a refused login', meansLoginRefused, [14201, 14202, 14203]],
	['a temporary state', (code: number) => explainFacts(code).temporary, []],
	['an unknown outcome', (code: number) => explainFacts(code).inDoubt, [-1, 10002]],
	['a refused user', meansUserRefused, [14103, 14201, 14202, 14203]],
] as const)('%s is meant by these codes and no other', (_name, means, expected) => {
	expect(every.filter((code) => means(code))).toEqual(expected);
});

test('no code means nothing; a success without data means that the device does not exist', () => {
	expect(meansNotFound({})).toBe(false);
	expect(meansNoDevice({ withoutData: false })).toBe(false);
	expect(meansLoginRefused(undefined)).toBe(false);
	expect(meansNoDevice({ withoutData: true })).toBe(true);
	expect(meansNotFound({ withoutData: true })).toBe(true);
});

test.each([
	[10001, 'list', "Check the values in 'Filters', and their types."],
	[10001, 'write', "Check the values in 'Body', and their types."],
	[10001, 'device', 'Check the values in the request, and their types.'],
	[10005, 'list', "Check the names under 'Filters' and in the sort rules. If correct, try again later."],
	[10005, 'count', "Check the names under 'Filters'. If correct, try again later."],
	[10005, 'device', 'Check the serial number. If correct, try again later.'],
	[10005, 'read', "Check 'Path' and 'Query Parameters'. If correct, try again later."],
	[10005, 'dropdown', 'Check the request. If correct, try again later.'],
	[10014, 'count', "Check that the JSON in 'Filters' is an object."],
	[10014, 'write', "Check that the JSON in 'Body' is an object."],
] as const)('code %i for the purpose %s: %s', (code, purpose, remedy) => {
	expect(explainCode(code, '', purpose).remedy).toBe(remedy);
});

test.each([
	[10018, 'invalid sn X-1', 'The serial number is not valid (code 10018: invalid sn X-1)'],
	[10003, '', 'The record exists already (code 10003)'],
	[20815, 'quota', 'The platform refused the request with an undocumented code (code 20815: quota)'],
	[20815, '', 'The platform refused the request with an undocumented code (code 20815)'],
])('the message for code %i and %j ends with both', (code, msg, message) => {
	expect(explainCode(code, msg, 'list').message).toBe(message);
});

test('a code keeps its cause, and an undocumented one has no cause', () => {
	expect(explainCode(10003, '', 'list').cause).toBe('conflict');
	expect(explainCode(20815, '', 'list')).toMatchObject({ cause: 'unknown', remedy: expect.stringMatching(/^Look up/) });
});
