import type { CauseClass } from '../failure';
import { CREDENTIAL, type Explanation } from './codes';

type Row = readonly [cause: CauseClass, message: string, remedy: string];

const TOO_LARGE: Row = ['input', 'The request is too large for the server', 'Use fewer or shorter values.'];

const BY_STATUS: Readonly<Record<number, Row>> = {
	401: ['credential', 'The platform did not accept the sign-in', CREDENTIAL],
	403: [
		'unknown',
		'Access was denied',
		'Ask your platform administrator for the right to do this, and whether a proxy or firewall blocks the request.',
	],
	404: [
		'unknown',
		'There is nothing at this address',
		"Check {address}. 'Base URL' is the part before /api, without /api itself.",
	],
	413: TOO_LARGE,
	414: TOO_LARGE,
	429: ['platform', 'The platform receives too many requests', '{tooMany}'],
	431: TOO_LARGE,
};

const REDIRECT: Row = [
	'input',
	'The address responds with a redirect{outside}',
	"Set 'Base URL' in the credential to the address it leads to, with https:// if possible. The node does not follow redirects, so that it sends the credential to no other host.",
];
const SERVER: Row = [
	'platform',
	'The platform or a proxy in front of it could not respond',
	'Try again later. If it happens again, ask your platform administrator.',
];
const OTHER: Row = [
	'platform',
	"The server did not return the platform's envelope",
	"Check 'Base URL' in the credential. Check whether a proxy in front of the platform responds instead.",
];

const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns the words for an HTTP status other than 2xx, without an envelope. A redirect's message has a place for its target. */
export function explainStatus(status: number): Explanation {
	const isRedirect = status >= 300 && status <= 399;
	const [cause, message, remedy] = BY_STATUS[status] ?? (isRedirect ? REDIRECT : status >= 500 ? SERVER : OTHER);
	// A 4xx refuses the request, except 406 (the server can't write the result as JSON), 408 and 499 (something stopped waiting).
	const inDoubt = status < 400 || status > 499 || status === 406 || status === 408 || status === 499;
	return { kind: 'status', cause, message: `${message} (HTTP ${status})`, remedy, inDoubt };
}

/** Whether a request that failed with this HTTP status may succeed later. */
export function isRetryableStatus(status: number): boolean {
	return RETRYABLE.has(status);
}
