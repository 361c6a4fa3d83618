import { inWords, type Purpose, WORDING } from '../../../nodes/DeviceManagement/core/errors/purpose.ts';
import { badResponse, explainUnsent, timedOut, tooLarge } from '../../../nodes/DeviceManagement/core/errors/unsent.ts';
import type { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';

const worded = (facts: Failure, purpose: Purpose) =>
	inWords(facts, purpose, (text) => text.replaceAll('secret', '•••')).details;
const explain = (code: string, said = '', purpose: Purpose = 'read', hasBegun = false) =>
	worded(explainUnsent(code, said, hasBegun, 1500), purpose);

const DROPPED = 'The connection to the platform was refused or dropped';
const UNTRUSTED = "The platform's TLS certificate is not trusted";
const NO_TLS = 'The server does not speak TLS as expected';
const UNREADABLE = "The platform's response can't be read";
const IN_DOUBT = '; the platform may still have carried out the request';

test('four system errors mean a timeout', () => {
	const codes = [
		'ERR_CANCELED',
		'ECONNABORTED',
		'ETIMEDOUT',
		'ESOCKETTIMEDOUT',
		'',
		'ECONNRESET',
		'XETIMEDOUT',
		'ETIMEDOUTX',
	];
	expect(codes.filter((code) => explain(code).kind === 'timeout')).toEqual(codes.slice(0, 4));
});

test.each([
	['ECONNREFUSED', 'platform', `${DROPPED} (ECONNREFUSED)`, 'is running', true],
	['ECONNRESET', 'platform', `${DROPPED} (ECONNRESET)`, 'is running', true],
	['EPIPE', 'platform', `${DROPPED} (EPIPE)`, 'is running', true],
	['EAI_AGAIN', 'platform', `${DROPPED} (EAI_AGAIN)`, 'is running', true],
	['ENETUNREACH', 'platform', `${DROPPED} (ENETUNREACH)`, 'is running', true],
	['EHOSTUNREACH', 'platform', `${DROPPED} (EHOSTUNREACH)`, 'is running', true],
	['ENETDOWN', 'platform', `${DROPPED} (ENETDOWN)`, 'is running', true],
	['ERR_STREAM_PREMATURE_CLOSE', 'platform', `${DROPPED} (ERR_STREAM_PREMATURE_CLOSE)`, 'is running', true],
	['HPE_INVALID_CONSTANT', 'platform', `${UNREADABLE} (HPE_INVALID_CONSTANT): a •••`, 'whether a proxy', false],
	['Z_DATA_ERROR', 'platform', `${UNREADABLE} (Z_DATA_ERROR): a •••`, 'whether a proxy', false],
	['ERR_BAD_RESPONSE', 'platform', `${UNREADABLE} (ERR_BAD_RESPONSE): a •••`, 'whether a proxy', false],
	['ENOTFOUND', 'unknown', 'The host in the base URL is not known (ENOTFOUND)', 'typing', false],
	['CERT_HAS_EXPIRED', 'input', `${UNTRUSTED} (CERT_HAS_EXPIRED)`, "'Ignore SSL Issues (Insecure)'", false],
	['DEPTH_ZERO_SELF_SIGNED', 'input', `${UNTRUSTED} (DEPTH_ZERO_SELF_SIGNED)`, 'Install a certificate', false],
	['UNABLE_TO_VERIFY_LEAF', 'input', `${UNTRUSTED} (UNABLE_TO_VERIFY_LEAF)`, 'Install a certificate', false],
	['UNABLE_TO_GET_ISSUER', 'input', `${UNTRUSTED} (UNABLE_TO_GET_ISSUER)`, 'Install a certificate', false],
	['EPROTO', 'input', `${NO_TLS} (EPROTO)`, 'http:// instead of https://', false],
	['ERR_SSL_WRONG_VERSION', 'input', `${NO_TLS} (ERR_SSL_WRONG_VERSION)`, 'http:// instead of https://', false],
	['EACCES', 'input', "n8n can't send the request (EACCES): a •••", 'whether this n8n may', false],
	['', 'input', "n8n can't send the request: a •••", 'whether this n8n may', false],
])('the system error %j, also of a write', (code, cause, message, remedy, temporary) => {
	const expected = { kind: 'unreachable', cause, message, remedy: expect.stringContaining(remedy), temporary };
	expect(explain(code, 'a secret')).toEqual(expected);
	expect(explain(code, 'a secret', 'write')).toEqual({ ...expected, message: `${message}${IN_DOUBT}` });
});

test.each([
	'XECONNRESET',
	'ECONNRESETX',
	'XHPE_A',
	'XERR_BAD_RESPONSE',
	'ERR_BAD_RESPONSEX',
	'XENOTFOUND',
	'ENOTFOUNDX',
	'XEPROTO',
])('%s is another code', (code) => {
	expect(explain(code).message).toMatch(/^n8n can't send the request/);
});

test.each(['socket hang up', 'The request was ABORTED', 'Premature close'])(
	'a connection that ended without a code was dropped: %s',
	(said) => {
		expect(explain('', said)).toMatchObject({ message: `${DROPPED} (aborted)`, temporary: true });
	},
);

test('a response that ends early is unreadable, unless the connection was dropped', () => {
	for (const code of ['', 'ERR_PADDING', 'CERT_HAS_EXPIRED', 'EPROTO', 'ENOTFOUND']) {
		expect(explain(code, 'odd', 'read', true).message).toMatch(/^The platform's response can't be read.*: odd$/);
	}
	expect(explain('ECONNRESET', 'odd', 'read', true).message).toBe(`${DROPPED} (ECONNRESET)`);
});

const SLOW_OR_LARGE: Record<Purpose, readonly [slow: RegExp, large: RegExp]> = {
	list: [/'Timeout \(Milliseconds\)'.*'Page Size'/, /'Page Size'.*'Filters'/],
	count: [/^Raise 'Timeout \(Milliseconds\)' under 'Options'\.$/, /^Check 'Base URL'/],
	device: [/^Raise 'Timeout \(Milliseconds\)' under 'Options'\.$/, /^Check 'Base URL'/],
	read: [/^Raise 'Timeout \(Milliseconds\)' under 'Options'\.$/, /'Query Parameters' or another 'Path'/],
	write: [/Raise 'Timeout \(Milliseconds\)' under 'Options'\.$/, /'Query Parameters' or another 'Path'/],
	dropdown: [/'By SN'\.$/, /'By SN'\.$/],
	test: [/^Raise 'Timeout \(Milliseconds\)'/, /^Check 'Base URL'/],
	login: [/'Login Path'/, /^Check 'Base URL'/],
};
const PURPOSES = Object.keys(WORDING) as Purpose[];

test.each(PURPOSES)('a response that is too slow or too large for the purpose %s', (purpose) => {
	const [slow, large] = SLOW_OR_LARGE[purpose];
	const [late, huge] = [worded(timedOut(1500), purpose), worded(tooLarge('64 MB'), purpose)];
	const doubt = purpose === 'write' ? IN_DOUBT : '';
	expect(late).toMatchObject({ kind: 'timeout', cause: 'platform', temporary: true });
	expect(late.message).toBe(`The platform did not respond within 1500 ms${doubt}`);
	expect(late.remedy).toMatch(slow);
	expect(huge).toMatchObject({ kind: 'response', cause: 'platform', remedy: expect.stringMatching(large) });
	expect(huge.message).toBe(`The response is larger than 64 MB${doubt}`);
	expect(huge).not.toHaveProperty('temporary');
});

test('only a write is in doubt, and words are completed once', () => {
	const facts = badResponse('It broke', 'Mend it.');
	for (const purpose of PURPOSES) {
		if (purpose !== 'write') expect(worded(facts, purpose)).toMatchObject({ message: 'It broke', remedy: 'Mend it.' });
	}
	const doubted = inWords(facts, 'write', String);
	expect(doubted.details).toMatchObject({
		message: `It broke${IN_DOUBT}`,
		remedy: 'Check on the platform whether the change was made before you send the request again. If not: Mend it.',
	});
	expect(inWords(doubted, 'write', String)).toBe(doubted);
});
