import { Draft } from '../failure';
import { outside } from '../redaction';
import type { Row } from './codes';
import { CHECK_VARIABLES } from './statuses';

const PORT = "Check the port in 'Base URL' in the credential.";
/** Some attempts end with the system's ETIMEDOUT long before the node's own timeout. */
const DROPPED: Row = [
	/^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|E(SOCKET)?TIMEDOUT|ENET(UNREACH|DOWN|RESET)|EHOST(UNREACH|DOWN)|ENOTCONN|ERR_(CANCELED|SOCKET_\w+|STREAM_\w+))$/,
	'platform',
	'The connection to the platform was refused or dropped',
	"Check that the platform is running and that 'Base URL' in the credential has the right port.",
];
/** The remedy for a response that lost its end, too. */
export const CHECK_CUTS =
	'Run the workflow again. If it happens again, check whether a proxy, with a timeout or a size limit, cuts the responses of the platform.';
const DAMAGED: Row = [
	/^(Z_|ZSTD_|ERR__ERROR_|ERR_BROTLI_)/,
	'platform',
	"The platform's compressed response is damaged and can't be unpacked",
	CHECK_CUTS,
];
const NO_HOST: Row = [
	/^(ENOTFOUND|ENODATA|EAI_\w+|ESERVFAIL|ETIMEOUT|EREFUSED|EBADRESP)$/,
	'unknown',
	'The host in the base URL was not found',
	"Check 'Base URL' in the credential for a typing error. If there is none, run the workflow again, or check n8n's DNS server.",
];
const EXHAUSTED: Row = [
	/^(EADDRNOTAVAIL|EADDRINUSE|EMFILE|ENFILE|ENOBUFS|ENOMEM|EAGAIN)$/,
	'unknown',
	"n8n's machine can't open another connection",
	"{tooMany} If it happens again, raise the limit of open files on n8n's machine.",
];
/** The node retries these. */
const PASSING: readonly Row[] = [DROPPED, DAMAGED, NO_HOST, EXHAUSTED];
const UNREADABLE: Row = [
	/^HPE_|^ERR_BAD_RESPONSE$/,
	'platform',
	"The platform's response can't be read",
	`${PORT} Check whether a proxy changes the platform's responses.`,
];
const NOT_SENT: Row = [
	/^/,
	'input',
	"n8n can't send the request",
	"Check 'Base URL' in the credential. Check whether this n8n may connect to that address.",
];
const AT_PROXY: Row = [/^ERR_INVALID_URL$/, 'unknown', "n8n can't connect to its proxy", CHECK_VARIABLES];
const OTHER_HOST: Row = [
	/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
	'input',
	"The platform's TLS certificate is for another host",
	"Enter a host that the certificate names in 'Base URL', or ask your platform administrator for another certificate.",
];
const CHECK_DATES =
	"Check the date and time of n8n's machine. If they are right, ask your platform administrator to replace the certificate.";
const TLS_CODE = /^(EPROTO|ERR_SSL)/;
/** The first row that fits the system's code applies, for TLS with the error's own words: EPROTO says too little. */
const SYSTEM_ERRORS: readonly Row[] = [
	...PASSING,
	UNREADABLE,
	AT_PROXY,
	OTHER_HOST,
	[/^CERT_HAS_EXPIRED$/, 'platform', "The platform's TLS certificate has expired", CHECK_DATES],
	[/^CERT_NOT_YET_VALID$/, 'platform', "The platform's TLS certificate is not valid yet", CHECK_DATES],
	[
		/ALERT_((NO|BAD|UNSUPPORTED)_)?CERTIFICATE|ALERT_UNKNOWN_CA/,
		'input',
		'The platform requires a client certificate',
		"The nodes can't present a client certificate. Ask your platform administrator for an address that requires none.",
	],
	[
		/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW/,
		'platform',
		'The platform does not support a TLS version that n8n accepts',
		'Ask your platform administrator to turn on TLS 1.2 or later.',
	],
	[
		/WRONG_VERSION_NUMBER/,
		'input',
		'The server does not speak TLS',
		`${PORT} Check whether it needs http:// instead of https://.`,
	],
	[
		TLS_CODE,
		'unknown',
		'The server does not speak TLS as expected',
		`${PORT} Ask your platform administrator whether the server requires a client certificate, or old ciphers.`,
	],
	[
		/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/,
		'input',
		"The platform's TLS certificate is not trusted",
		"Install a certificate that n8n trusts. On a network that you control, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
	],
];

/**
 * Returns a Draft `unreachable` for a request that was not sent, or a response that was not read.
 * @param systemCode like ECONNRESET; '' if there was none
 * @param ownText the error's own words; the error itself contains the request with its headers
 */
export function explainUnsent(systemCode: string, ownText: string, hasBegun: boolean, atProxy = false): Draft {
	const isAborted = /socket hang up|aborted|premature|proxy connection ended/i.test(ownText);
	const own = TLS_CODE.test(systemCode) ? ` ${ownText}`.toUpperCase().replace(/\W+/g, '_') : '';
	const code = isAborted ? 'ECONNRESET' : systemCode + own;
	const listed = SYSTEM_ERRORS.find(([systemCodes]) => systemCodes.test(code)) ?? NOT_SENT;
	const temporary = PASSING.includes(listed);
	const isProxy = (atProxy && /^(?!ERR_CANCELED)./.test(code)) || /^(proxy connection|URI malformed)/i.test(ownText);
	const row = hasBegun && !temporary ? UNREADABLE : isProxy && listed !== EXHAUSTED ? AT_PROXY : listed;
	const [, cause, what, remedy] = row;
	const shownCode = systemCode === '' && isAborted ? 'aborted' : systemCode;
	// These rows say too little without the error's own words.
	const place = [UNREADABLE, NOT_SENT, OTHER_HOST].includes(row) ? '{outside}' : '';
	const message = `${what}${shownCode === '' ? '' : ` (${shownCode})`}${place}`;
	const words = { cause, message, remedy, outside: outside(': ', ownText) };
	return new Draft({ kind: 'unreachable', ...words, inDoubt: true, temporary });
}

export function timedOut(timeoutMs: number): Draft {
	const words = { message: `The platform did not respond within ${timeoutMs} ms`, remedy: '{tooSlow}' };
	return new Draft({ kind: 'timeout', cause: 'platform', ...words, inDoubt: true, temporary: true });
}
