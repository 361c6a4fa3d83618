import { explain, failureOf, type Wording } from '../../../nodes/DeviceManagement/core/errors/failureOf.ts';
import {
	CODES,
	hasMark,
	meansNoDevice,
	meansNotFound,
	rowOf,
} from '../../../nodes/DeviceManagement/core/errors/table.ts';
import { CODE_TABLE } from '../../../scripts/errorsPage.mts';
import { codes } from '../../../testbed/platform/codes.mts';

const explainCode = (code: number, words: Wording, said = '') => explain(code, words, { kind: 'refused', code, said });

const documented = [...new Set(codes.map(([code]) => code))];

test('the table and testbed/platform/codes.mts have the same codes in the same order, each once', () => {
	expect(CODES.map(([code]) => code)).toEqual(documented);
});

test.each(CODE_TABLE)('code $code has a message in the style of n8n', ({ message, remedy }) => {
	expect(`${message} ${remedy}`).not.toMatch(/\b(error|problem|failure|mistake)\b|[{}]/i);
	expect(message).toMatch(/^[A-Z].{9,78}[^.!]$/);
	expect(remedy).toMatch(/^(n8n|[A-Z]).{9,}\.$/);
});

test.each([
	['nothing found', (code: number) => meansNotFound({ code }), [10007, 10018, 14401]],
	['no such device', (code: number) => meansNoDevice({ code }), [10007, 14401]],
	['a refused token', (code: number) => hasMark(rowOf(code), 'token'), [14101, 14102]],
	['a refused login or user', (code: number) => hasMark(rowOf(code), 'barred'), [14103, 14201, 14202, 14203]],
	['an unknown outcome', (code: number) => hasMark(rowOf(code), 'doubt'), [-1, 10002]],
	['a trouble that passes', (code: number) => hasMark(rowOf(code), 'passes'), [10002]],
] as const)('%s is meant by these codes and no other', (_name, means, expected) => {
	expect([...documented, 20815].filter((code) => means(code))).toEqual(expected);
});

test.each([
	[10001, 'list', "Check the values in 'Filters', and their types."],
	[10001, 'apiRequestWithBody', "Check the values in 'Body', and their types."],
	[10005, 'list', "Check the names in 'Filters' and sort rules, or try again later."],
	[10005, 'count', "Check the names in 'Filters', or try again later."],
	[10005, 'device', 'Check the serial number, or try again later.'],
	[10005, 'apiRequest', "Check 'Method', 'Path', and 'Query Parameters', or try again later."],
	[10005, 'apiRequestWithBody', "Check 'Method', 'Path', 'Query Parameters', and 'Body', or try again later."],
	[10007, 'apiRequest', 'Check the serial number or ID.'],
] as const)('code %i with the words for %s: %s', (code, words, remedy) => {
	expect(explainCode(code, words).remedy).toBe(remedy);
});

const UNDOCUMENTED = 'The platform rejected the request';
test.each([
	[10018, 'not found', 'invalid sn X-1', "The serial number isn't valid (code 10018: invalid sn X-1)"],
	[10007, 'not found', '', 'No device has this serial number (code 10007)'],
	[14101, 'credential', '', 'The platform rejected the sign-in (code 14101)'],
	[20815, 'unknown', 'quota', `${UNDOCUMENTED} (code 20815: quota)`],
	[20815, 'unknown', '', `${UNDOCUMENTED} (code 20815)`],
])('code %i has the cause %s, and its message ends with the code and %j', (code, cause, msg, message) => {
	const remedy = code === 20815 ? expect.stringMatching(/^Look up/) : expect.any(String);
	expect(explainCode(code, 'device', msg)).toMatchObject({ cause, message, remedy });
});

test('a refused sign-in is about the key where the credential has one', () => {
	const asked = { words: 'list', mayChange: false, redact: String, hasKey: true } as const;
	const details = [14101, 14102, 14103].map(
		(code) => failureOf({ kind: 'refused', row: rowOf(code), code }, asked).details,
	);
	expect(details.map(({ message, remedy }) => [message, remedy.startsWith("Check 'API Key' in")])).toEqual([
		['The platform rejected the API key (code 14101)', true],
		['The platform rejected the API key (code 14102)', true],
		["This user doesn't have permission (code 14103)", false],
	]);
});
