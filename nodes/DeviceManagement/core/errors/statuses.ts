import type { FailureDetails } from '../failure';
import { CREDENTIAL, type Meaning } from './codes';

const TOO_LARGE: Meaning = ['input', 'The request is too large for the server', 'Use fewer or shorter values.'];
const SERVER = [
	'platform',
	'The platform or a proxy in front of it could not respond',
	'Try again later. If it happens again, ask your platform administrator.',
] as const;

/** The same request may succeed later: the node retries a read. */
const TEMPORARY = [429, 502, 503, 504];

const BY_STATUS: Readonly<Record<number, Meaning>> = {
	401: ['credential', 'The platform did not accept the sign-in', CREDENTIAL],
	403: [
		'unknown',
		'Access was denied',
		'Ask your platform administrator for the right to do this, and whether a proxy or firewall blocks the request.',
	],
	404: ['unknown', 'There is nothing at this address', "Check {address}. 'Base URL' is the part before /api."],
	413: TOO_LARGE,
	414: TOO_LARGE,
	429: ['platform', 'The platform receives too many requests', '{tooMany}'],
	431: TOO_LARGE,
};

const REDIRECT: Meaning = [
	'input',
	'The address responds with a redirect{outside}',
	"Set 'Base URL' in the credential to the address it leads to, with https:// if possible. The node does not follow redirects, so that it sends the credential to no other host.",
];
const OTHER: Meaning = [
	'platform',
	"The server did not return the platform's envelope",
	"Check 'Base URL' in the credential. Check whether a proxy in front of the platform responds instead.",
];

/** Returns the words for an HTTP status other than 2xx, without an envelope. A redirect's message has a place for its target. */
export function explainStatus(status: number): FailureDetails {
	const isRedirect = status >= 300 && status <= 399;
	const general: Meaning = isRedirect ? REDIRECT : status >= 500 ? SERVER : OTHER;
	const [cause, message, remedy] = BY_STATUS[status] ?? general;
	// A 4xx refuses the request, except 406 (the server can't write the result as JSON), 408 and 499 (something stopped waiting).
	const inDoubt = status < 400 || status > 499 || status === 406 || status === 408 || status === 499;
	const temporary = TEMPORARY.includes(status);
	return { kind: 'status', cause, message: `${message} (HTTP ${status})`, remedy, temporary, inDoubt };
}
