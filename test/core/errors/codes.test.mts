import {
	CODE_TABLE,
	explainCode as explainFacts,
	meansNoDevice,
	meansNotFound,
	refusedBy,
} from '../../../nodes/DeviceManagement/core/errors/codes.ts';
import { Draft } from '../../../nodes/DeviceManagement/core/failure.ts';
import { fillIn, inWords, type Purpose } from '../../../nodes/DeviceManagement/core/errors/purpose.ts';
import { codes } from '../../../testbed/platform/codes.mts';

const explainCode = (code: number, purpose: Purpose, msg = '') =>
	fillIn(explainFacts(code), purpose, msg === '' ? '' : `: ${msg}`);

const documented = [...new Set(codes.map(([code]) => code))];

test('the table and testbed/platform/codes.mts have the same codes in the same order, each once', () => {
	expect(CODE_TABLE.map(({ code }) => code)).toEqual(documented);
});

test.each(CODE_TABLE)('code $code has a message in the style of n8n', ({ message, remedy }) => {
	expect(`${message} ${remedy}`).not.toMatch(/\b(error|problem|failure|mistake)\b|[{}]/i);
	expect(message).toMatch(/^[A-Z].{9,78}[^.!]$/);
	expect(remedy).toMatch(/^(n8n|[A-Z]).{9,}\.$/);
});

test.each([
	['nothing found', (code: number) => meansNotFound({ code }), [10007, 10018, 14401]],
	['no such device', (code: number) => meansNoDevice({ code }), [10007, 14401]],
	['a refused token', (code: number) => refusedBy(code) === 'token', [14101, 14102]],
	['a refused login', (code: number) => refusedBy(code) === 'login', [14201, 14202, 14203]],
	['a lack of rights', (code: number) => refusedBy(code) === 'rights', [14103]],
	['an unknown outcome', (code: number) => explainFacts(code).inDoubt, [-1, 10002]],
] as const)('%s is meant by these codes and no other', (_name, means, expected) => {
	expect([...documented, 20815].filter((code) => means(code))).toEqual(expected);
});

test.each([
	[10001, 'list', "Check the values in 'Filters', and their types."],
	[10001, 'write', "Check the values in 'Body', and their types."],
	[10005, 'list', "Check the names under 'Filters' and in the sort rules. If correct, try again later."],
	[10005, 'count', "Check the names under 'Filters'. If correct, try again later."],
	[10005, 'device', 'Check the serial number. If correct, try again later.'],
	[10005, 'read', "Check 'Path' and 'Query Parameters'. If correct, try again later."],
	[10005, 'write', "Check 'Path', 'Query Parameters' and 'Body'. If correct, try again later."],
	[10007, 'read', 'Check the serial number or identifier.'],
] as const)('code %i for the purpose %s: %s', (code, purpose, remedy) => {
	expect(explainCode(code, purpose).remedy).toBe(remedy);
});

const UNDOCUMENTED = 'The platform refused the request with an undocumented code';
test.each([
	[10018, 'not found', 'invalid sn X-1', 'The serial number is not valid (code 10018: invalid sn X-1)'],
	[10007, 'not found', '', 'No device has this serial number (code 10007)'],
	[14101, 'credential', '', 'The platform did not accept the sign-in (code 14101)'],
	[20815, 'unknown', 'quota', `${UNDOCUMENTED} (code 20815: quota)`],
	[20815, 'unknown', '', `${UNDOCUMENTED} (code 20815)`],
])('code %i has the cause %s, and its message ends with the code and %j', (code, cause, msg, message) => {
	const remedy = code === 20815 ? expect.stringMatching(/^Look up/) : expect.any(String);
	expect(explainCode(code, 'device', msg)).toMatchObject({ cause, message, remedy });
});

test('a refused sign-in is about the key where the credential has one', () => {
	const details = [14101, 14102, 14103].map(
		(code) => inWords(new Draft(explainFacts(code)), 'list', String, true).details,
	);
	expect(details.map(({ message, remedy }) => [message, remedy.startsWith("Check 'API Key' in")])).toEqual([
		['The platform refused the API key (code 14101)', true],
		['The platform refused the API key (code 14102)', true],
		['The user may not do this (code 14103)', false],
	]);
});
