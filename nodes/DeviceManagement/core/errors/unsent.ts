/**
 * Explains why a request could not be sent, or its response could not be read. Each kind of system error has one row, found by
 * the error's code. It doesn't use the errors themselves, which contain the request with its headers.
 */
import type { CauseClass } from './codes';
import { Failure } from '../failure';
import type { Redact } from '../redaction';
import { type Purpose, WORDING } from './purpose';

/** How far a request got: `receiving` means that the response had begun. */
export type Progress = 'unknown' | 'receiving';

type SystemError = readonly [codes: RegExp, cause: CauseClass, message: string, remedy: string];

/** The only kind that the node retries. */
const DROPPED: SystemError = [
	/^(ECONNREFUSED|ECONNRESET|EPIPE|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ENETDOWN|ERR_STREAM_PREMATURE_CLOSE)$/,
	'platform',
	'The connection to the platform was refused or dropped',
	"Check that the platform is running and that 'Base URL' in the credential has the right port.",
];
const UNREADABLE: SystemError = [
	/^(HPE|Z)_|^ERR_BAD_RESPONSE$/,
	'platform',
	"The platform's response can't be read",
	"Check the port in 'Base URL' in the credential. Check whether a proxy changes the platform's responses.",
];
const NOT_SENT: SystemError = [
	/^/,
	'input',
	"n8n can't send the request",
	"Check 'Base URL' in the credential. Check whether this n8n may connect to that address.",
];
/** The first row that fits the code applies. */
const SYSTEM_ERRORS: readonly SystemError[] = [
	DROPPED,
	UNREADABLE,
	[
		/^ENOTFOUND$/,
		'unknown',
		'The host in the base URL is not known',
		"Check 'Base URL' in the credential for a typing error.",
	],
	[
		/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/,
		'input',
		"The platform's TLS certificate is not trusted",
		"Install a certificate that n8n trusts. On a network that you control, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
	],
	[
		/^(EPROTO|ERR_SSL)/,
		'input',
		'The server does not speak TLS as expected',
		"Check the port in 'Base URL' in the credential. Check whether it needs http:// instead of https://.",
	],
];

/** Whether a system error code means a timeout. */
export function meansTimedOut(code: string): boolean {
	return /^(ERR_CANCELED|ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/.test(code);
}

/**
 * Returns a Failure `unreachable` for a request that was not sent, or a response that was not read.
 * @param code the system's, like ECONNRESET; '' if there was none
 * @param ownText the error's own words
 * @param redact removes secrets from `ownText`
 */
export function explainUnsent(
	code: string,
	ownText: string,
	purpose: Purpose,
	redact: Redact,
	progress: Progress = 'unknown',
): Failure {
	const isDropped = DROPPED[0].test(code) || /socket hang up|aborted|premature/i.test(ownText);
	const byCode = SYSTEM_ERRORS.find(([codes]) => codes.test(code)) ?? NOT_SENT;
	const row = isDropped ? DROPPED : progress === 'receiving' ? UNREADABLE : byCode;
	const [, cause, what, remedy] = row;
	const shownCode = code === '' && isDropped ? 'aborted' : code;
	// These two rows say too little without the error's own words.
	const ownWords = row === UNREADABLE || row === NOT_SENT ? `: ${redact(ownText)}` : '';
	const message = `${what}${shownCode === '' ? '' : ` (${shownCode})`}${ownWords}`;
	return new Failure({
		kind: 'unreachable',
		cause,
		...inDoubtIfWrite({ message, remedy }, purpose),
		retryable: isDropped,
	});
}

/** Returns the error for a response that did not arrive in time. */
export function timedOut(timeoutMs: number, purpose: Purpose): Failure {
	const words = { message: `The platform did not respond within ${timeoutMs} ms`, remedy: WORDING[purpose].tooSlow };
	return new Failure({ kind: 'timeout', cause: 'platform', ...inDoubtIfWrite(words, purpose), retryable: true });
}

/** Returns the error for a response that is too large to read. */
export function tooLarge(limit: string, purpose: Purpose): Failure {
	const words = { message: `The response is larger than ${limit}`, remedy: WORDING[purpose].tooLarge };
	return new Failure({ kind: 'response', cause: 'platform', ...inDoubtIfWrite(words, purpose) });
}

/** Adds to the words for a failed write that the platform may have carried it out. Leaves other words unchanged. */
export function inDoubtIfWrite<W extends { message: string; remedy: string }>(words: W, purpose: Purpose): W {
	if (purpose !== 'write') return words;
	return {
		...words,
		message: `${words.message}; the platform may still have carried out the request`,
		remedy: `Check on the platform whether the change was made before you send the request again. If not: ${words.remedy}`,
	};
}
