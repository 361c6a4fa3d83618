import { type CauseClass, CREDENTIAL, type Explanation } from './codes';
import { type Purpose, WORDING } from './purpose';

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
	'The address responds with a redirect',
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

/**
 * Returns an HTTP status in words, for a response without an envelope.
 * @param status any but 2xx
 * @param redirectOrigin where a redirect leads; undefined if unknown
 */
export function explainStatus(status: number, purpose: Purpose, redirectOrigin?: string): Explanation {
	const isRedirect = status >= 300 && status <= 399;
	const [cause, message, remedy] = BY_STATUS[status] ?? (isRedirect ? REDIRECT : status >= 500 ? SERVER : OTHER);
	const target = isRedirect && redirectOrigin !== undefined ? ` to ${redirectOrigin}` : '';
	const { address, tooMany } = WORDING[purpose];
	return {
		cause,
		message: `${message}${target} (HTTP ${status})`,
		remedy: remedy.replace('{address}', address).replace('{tooMany}', tooMany),
	};
}

/**
 * Whether the platform may have carried out the request despite this HTTP status. It refuses the request with a 4xx, except
 * 406 (it can't write the result as JSON), 408 and 499 (a proxy or a client stopped waiting).
 * @param status any but 2xx
 */
export function mayHaveBeenCarriedOut(status: number): boolean {
	return status < 400 || status > 499 || status === 406 || status === 408 || status === 499;
}
