import type { DraftDetails } from '../failure';
import { LATER, type Row } from './codes';

const FOLLOW =
	"Set 'Base URL' in the credential to the address it leads to, with https:// if possible. The node does not follow redirects, so that it sends the credential to no other host.";
const ASK_FOR_RIGHTS =
	'Ask your platform administrator for the right to do this, and whether a proxy or firewall blocks the request.';
const CHECK_PROXY =
	"Check 'Base URL' in the credential. Check whether a proxy in front of the platform responds instead.";
export const CHECK_VARIABLES =
	"Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY in n8n's environment, like http://name:password@proxy.example.com:3128. In the password, write %40 for @, %23 for # and %25 for %.";

/** The first row that fits the status applies. */
const ROWS: readonly Row[] = [
	[/^3..$/, 'unknown', 'The address responds with a redirect{outside}', FOLLOW],
	[/^401$/, 'credential', '{notAccepted}', '{credential}'],
	[/^403$/, 'unknown', 'Access was denied', ASK_FOR_RIGHTS],
	[/^404$/, 'unknown', 'There is nothing at this address', "Check {address}. 'Base URL' is the part before /api."],
	[/^407$/, 'unknown', "n8n's proxy requires a valid name and password", CHECK_VARIABLES],
	[/^(413|414|431)$/, 'input', 'The request is too large for the server', 'Use fewer or shorter values.'],
	[/^429$/, 'platform', 'The platform receives too many requests', '{tooMany}'],
	[/^[5-9]..$/, 'platform', 'The platform or a proxy in front of it could not respond', LATER],
];
const OTHER: Row = [/^/, 'platform', "The server did not return the platform's envelope", CHECK_PROXY];

/** Returns the words for an HTTP status other than 2xx, without an envelope. A redirect's message has a place for its target. */
export function explainStatus(status: number): DraftDetails {
	const [, cause, message, remedy] = ROWS.find(([statuses]) => statuses.test(String(status))) ?? OTHER;
	// The same request may succeed later: the node retries a read.
	const temporary = [429, 502, 503, 504].includes(status);
	// A 4xx refuses the request, except 406 (the server can't write the result as JSON), 408 and 499 (something stopped waiting).
	const inDoubt = status < 400 || status > 499 || [406, 408, 499].includes(status);
	// The API document has codes for an expired token, but a proxy may respond first.
	const isDoubt = (status >= 300 && status <= 399) || [403, 419, 440, 498].includes(status);
	const token = status === 401 ? 'refused' : isDoubt ? 'doubted' : undefined;
	return { kind: 'status', cause, message: `${message} (HTTP ${status})`, remedy, temporary, inDoubt, token };
}
