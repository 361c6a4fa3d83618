import type { Purpose } from '../../nodes/DeviceManagement/core/purpose.ts';
import { explainUnsent, inDoubtIfWrite, meansTimedOut, timedOut, tooLarge } from '../../nodes/DeviceManagement/core/unsent.ts';

const explain = (code: string, said = '', purpose: Purpose = 'read') =>
	explainUnsent(code, said, purpose, (text) => text.replaceAll('secret', '•••')).details;

const DROPPED = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN', 'ERR_STREAM_PREMATURE_CLOSE'];

test.each(['ERR_CANCELED', 'ECONNABORTED', 'ETIMEDOUT', 'ESOCKETTIMEDOUT'])('%s says that time ran out', (code) => {
	expect(meansTimedOut(code)).toBe(true);
});

test.each(['', 'ECONNRESET', 'ENOTFOUND'])('%j does not say that time ran out', (code) => {
	expect(meansTimedOut(code)).toBe(false);
});

test('a time-out says how long it was waited, and may be tried again', () => {
	expect(timedOut(1500, 'list').details).toEqual({
		kind: 'timeout',
		cause: 'platform',
		message: 'The platform did not answer within 1500 ms',
		remedy: expect.stringMatching(/^Raise 'Timeout'/),
		retryable: true,
	});
});

test.each([
	['list', /'Timeout'.*'Page Size'/, /'Page Size'.*'Filters'/],
	['count', /^Raise 'Timeout' under 'Options'\.$/, /^Check 'Base URL'/],
	['device', /^Raise 'Timeout' under 'Options'\.$/, /^Check 'Base URL'/],
	['read', /^Raise 'Timeout' under 'Options'\.$/, /'Query Parameters' or another 'Path'/],
	['write', /Raise 'Timeout' under 'Options'\.$/, /'Query Parameters' or another 'Path'/],
	['dropdown', /'By SN'\.$/, /'By SN'\.$/],
	['login', /'Login Path'/, /^Check 'Base URL'/],
] as const)('too slow and too large are mended by what a %s has', (purpose, slow, large) => {
	expect(timedOut(1, purpose).details.remedy).toMatch(slow);
	expect(tooLarge(64, purpose).details.remedy).toMatch(large);
});

test('an answer that is too large is not asked for again, and leaves a write in doubt', () => {
	expect(tooLarge(64, 'list').details).toEqual({
		kind: 'answer',
		cause: 'platform',
		message: 'The answer is larger than 64 MB',
		remedy: expect.any(String),
	});
	expect(tooLarge(64, 'write').details.message).toMatch(/^The answer is larger than 64 MB; the request may have been/);
});

test.each(DROPPED)('%s is a connection that another try may get', (code) => {
	expect(explain(code)).toEqual({
		kind: 'unreachable',
		cause: 'platform',
		message: `The connection to the platform was refused or dropped (${code})`,
		remedy: expect.stringMatching(/^Check that the platform is running/),
		retryable: true,
	});
});

test.each(['socket hang up', 'The request was ABORTED', 'Premature close'])('so is what is only said: %s', (said) => {
	expect(explain('', said)).toMatchObject({
		message: 'The connection to the platform was refused or dropped (aborted)',
		retryable: true,
	});
});

test.each([
	['ENOTFOUND', 'unknown', 'The host in the base URL is not known (ENOTFOUND)', 'typing slip'],
	['CERT_HAS_EXPIRED', 'input', "The platform's TLS certificate is not trusted (CERT_HAS_EXPIRED)", "'Ignore SSL Issues (Insecure)'"],
	['DEPTH_ZERO_SELF_SIGNED_CERT', 'input', "The platform's TLS certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)", 'Have a certificate'],
	['SELF_SIGNED_IN_CHAIN', 'input', "The platform's TLS certificate is not trusted (SELF_SIGNED_IN_CHAIN)", 'Have a certificate'],
	['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'input', "The platform's TLS certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)", 'Have a certificate'],
	['UNABLE_TO_GET_ISSUER', 'input', "The platform's TLS certificate is not trusted (UNABLE_TO_GET_ISSUER)", 'Have a certificate'],
	['EPROTO', 'input', 'The server does not speak TLS as expected (EPROTO)', 'http:// instead of https://'],
	['ERR_SSL_WRONG_VERSION_NUMBER', 'input', 'The server does not speak TLS as expected (ERR_SSL_WRONG_VERSION_NUMBER)', 'http:// instead of https://'],
	['EACCES', 'input', 'n8n could not send the request (EACCES): ', 'whether this n8n may reach'],
])('%s is for somebody to mend', (code, cause, message, remedy) => {
	for (const purpose of ['read', 'write'] as const) {
		expect(explain(code, '', purpose)).toEqual({
			kind: 'unreachable',
			cause,
			message,
			remedy: expect.stringContaining(remedy),
			retryable: false,
		});
	}
});

test('anything else is shown as it was said, without secrets', () => {
	expect(explain('', 'the secret host is blocked').message).toBe('n8n could not send the request: the ••• host is blocked');
});

describe('a write', () => {
	const words = { message: 'It broke', remedy: 'Mend it.', more: 1 };

	test('is in doubt in its own words', () => {
		expect(inDoubtIfWrite(words, 'write')).toEqual({
			message: 'It broke; the request may have been carried out all the same',
			remedy: 'Check on the platform whether the change was made before you send the request again. If it was not: Mend it.',
			more: 1,
		});
	});

	test('is the only thing to be in doubt', () => {
		for (const purpose of ['list', 'watch', 'count', 'device', 'dropdown', 'read', 'login', 'test'] as const) expect(inDoubtIfWrite(words, purpose)).toBe(words);
	});

	test.each(['HPE_INVALID_CONSTANT', 'Z_DATA_ERROR', 'ERR_BAD_RESPONSE'])('whose answer is broken (%s) is in doubt', (code) => {
		expect(explain(code, 'a secret came', 'write')).toMatchObject({
			kind: 'unreachable',
			cause: 'platform',
			message: `The answer could not be read (${code}): a ••• came; the request may have been carried out all the same`,
			retryable: false,
		});
		expect(explain(code, 'it broke', 'read').message).toBe(`The answer could not be read (${code}): it broke`);
	});

	test('whose answer had begun is in doubt whatever ended it', () => {
		for (const code of ['', 'ERR_PADDING', 'CERT_HAS_EXPIRED', 'EPROTO', 'ENOTFOUND']) {
			expect(explainUnsent(code, 'odd', 'write', String, 'answered').details.message).toMatch(/^The answer could not be read.*all the same$/);
		}
	});

	test.each(['EHOSTUNREACH', 'ENETUNREACH', 'ECONNRESET'])('that was never connected (%s) was not carried out', (code) => {
		expect(explainUnsent(code, '', 'write', String, 'not connected').details.message).not.toMatch(/carried out/);
		expect(explainUnsent(code, '', 'write', String).details.message).toMatch(/carried out/);
	});

	test('that timed out is in doubt, and the same request otherwise', () => {
		const { message, remedy } = timedOut(5, 'read').details;
		expect(timedOut(5, 'write').details).toEqual({ ...timedOut(5, 'read').details, ...inDoubtIfWrite({ message, remedy }, 'write') });
	});

	test.each(DROPPED)('that ended with %s is in doubt if it may have been sent', (code) => {
		const neverSent = code === 'ECONNREFUSED' || code === 'EAI_AGAIN';
		expect(explain(code, '', 'write').message.endsWith('all the same')).toBe(!neverSent);
		expect(explain(code, '', 'write')).toMatchObject({ cause: 'platform', retryable: true });
	});

	test('that was dropped without a code is in doubt', () => {
		expect(explain('', 'socket hang up', 'write').message).toMatch(/\(aborted\); the request may have been/);
	});
});
