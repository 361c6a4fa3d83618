/**
 * The one table of what can go wrong with a request: what happened, and what to do. `rowOf` finds rows by a return code (section 7 of the
 * API document), an HTTP status or a system error; others are used by name. `failureOf` fills in the places in braces by the words for
 * the request. docs/errors.md is generated from the codes. The table doesn't know requests.
 */
import type { CauseClass, FailureDetails } from '../failure';

/** What else follows from a row. */
type Mark =
	/** The same request may succeed soon: it is retried if that is safe. */
	| 'passes'
	/** The key or token was refused. */
	| 'token'
	/** An expired token may be the reason. */
	| 'expiry'
	/** The login or the user was refused: a retry may lock the account. */
	| 'barred'
	/** The platform may have carried out the request. */
	| 'doubt'
	/** It says too little without the words of the system error. */
	| 'said';

export type Row = readonly [cause: CauseClass, message: string, remedy: string, ...marks: Mark[]];
/** A row, after its key: a return code, or a pattern of statuses or system errors. */
type Keyed<Key> = readonly [key: Key, ...row: Row];

const LATER = 'Try again later, or ask your platform administrator.';
export const CHECK_RECORD = 'Check the serial number or ID.';
const RIGHTS = 'Ask your platform administrator for permission.';
const NOT_ACCEPTED = ['credential', '{notAccepted}', '{credential}', 'token'] as const;

export const CODES: ReadonlyArray<Keyed<number>> = [
	[-1, 'unknown', "The platform couldn't say what went wrong", LATER, 'doubt'],
	[0, 'unknown', 'The request succeeded', 'Nothing to do.'],
	[9999, 'unknown', 'The platform rejected the request', LATER],
	[10001, 'input', 'The platform rejected the request body', 'Check the values in {body}, and their types.'],
	[10002, 'platform', "A service inside the platform didn't respond", LATER, 'passes', 'doubt'],
	[10003, 'conflict', 'The record already exists', 'Use another name or serial number, or change the existing record.'],
	[10004, 'platform', "The platform couldn't save the change", 'Check that the record exists and the values fit it.'],
	[10005, 'platform', "The platform couldn't run the query", 'Check {names}, or try again later.'],
	[10006, 'platform', "The platform couldn't delete the record", 'Check that it exists and that nothing uses it.'],
	[10007, 'not found', '{missing}', CHECK_RECORD],
	[10008, 'conflict', "Two values don't belong together", 'Use values of the same device, model, or group.'],
	[10009, 'platform', "The platform couldn't reach the resource", `Check that it exists. ${RIGHTS}`],
	[10010, 'input', 'A required value is empty', 'Enter the value that the platform names.'],
	[10011, 'conflict', "The record can't be edited", 'Allow it on the platform.'],
	[10012, 'conflict', "The record can't be deleted", 'Remove what depends on it, or allow it on the platform.'],
	[10013, 'conflict', 'This value is already in use', 'Use another value, or change the record that has it.'],
	[10014, 'input', "The platform couldn't read the request body", 'Check that the JSON in {body} is an object.'],
	[10015, 'conflict', 'Another record already has this value', 'Use another value, or change that record.'],
	[10016, 'conflict', 'The value is read-only', 'Leave the field out of the request.'],
	[10017, 'input', "The ID isn't valid", 'Check the ID, or copy it from the platform.'],
	[10018, 'not found', "The serial number isn't valid", 'Check the serial number, or copy it from a list of devices.'],
	[10019, 'platform', 'A table is missing on the platform', 'Ask your platform administrator.'],
	[14101, ...NOT_ACCEPTED],
	[14102, ...NOT_ACCEPTED],
	[14103, 'credential', "This user doesn't have permission", RIGHTS, 'barred'],
	[
		14201,
		'credential',
		'Incorrect login name or password',
		"Check 'Login Name' and 'Password' in the credential.",
		'barred',
	],
	[
		14202,
		'credential',
		'The user is blocked on the platform',
		'Ask your platform administrator to unblock the user.',
		'barred',
	],
	[
		14203,
		'credential',
		'The company is blocked on the platform',
		"Ask the platform's operator to unblock it.",
		'barred',
	],
	[
		14401,
		'not found',
		"The device doesn't exist or isn't valid",
		'Check the serial number, and whether this user can see the device.',
	],
	[14402, 'conflict', "The relationship can't be changed", 'Allow it on the platform.'],
	[14403, 'conflict', 'A device still depends on the record', 'Detach the devices from the record first.'],
	[14404, 'conflict', "The models don't match", 'Use devices and groups of one model.'],
	[14405, 'conflict', 'The group is empty', 'Add devices to the group first, or choose another group.'],
	[14406, 'conflict', 'A group still depends on the record', 'Detach the record from its groups first.'],
	[14407, 'conflict', 'The device is already in this group', 'Choose another group.'],
	[14408, 'not found', 'There is no data for this request', 'Check the values, or use another range.'],
	[14410, 'conflict', "The group doesn't fit the model", 'Choose a group of the same model as the device.'],
	[14501, 'conflict', "The device doesn't support this command", 'Choose another command.'],
];
const UNDOCUMENTED = [
	'unknown',
	'The platform rejected the request',
	"Look up this code in your platform's documentation.",
] as const;
/** Some platforms use the status as a code. */
const OTHER_CODES: ReadonlyArray<Keyed<number | RegExp>> = [
	[401, ...UNDOCUMENTED, 'token'],
	[/^-?\d+$/, ...UNDOCUMENTED],
];

const FOLLOW = "Set 'Base URL' in the credential to the new address. For security, the node doesn't follow redirects.";
const CHECK_VARIABLES =
	"Check HTTPS_PROXY, HTTP_PROXY, and ALL_PROXY in n8n's environment, like http://name:password@proxy.example.com:3128. In the password, write @ as %40.";
const CHECK_REQUEST = "Check {names}. 'Base URL' in the credential may need https://.";
const UNAVAILABLE = ['platform', 'The platform is unavailable'] as const;
const NO_PROXY = ' If n8n uses a proxy, check NO_PROXY.';
const REJECTED = ['platform', 'The server rejected the request', CHECK_REQUEST] as const;
const CHECK_SENDER = "Check 'Base URL' in the credential. A proxy may have responded.";
const OTHER = ['platform', 'Unexpected response', CHECK_SENDER] as const;

/** HTTP statuses without an envelope. The API document has codes for an expired token, but a proxy may respond first. */
const STATUSES: ReadonlyArray<Keyed<RegExp>> = [
	[/^HTTP 3..$/, 'unknown', 'The address redirects', FOLLOW, 'expiry', 'doubt'],
	[/^HTTP (400|405|415|422|426)$/, ...REJECTED],
	// The server may only be unable to write the result as JSON.
	[/^HTTP 406$/, ...REJECTED, 'doubt'],
	[/^HTTP 401$/, ...NOT_ACCEPTED],
	[/^HTTP 403$/, 'unknown', 'Access denied', `${RIGHTS} A proxy or firewall may also block the request.`, 'expiry'],
	[/^HTTP 404$/, 'unknown', 'Nothing found at this address', "Check {address}. 'Base URL' is the part before /api."],
	[/^HTTP 407$/, 'unknown', "n8n's proxy requires a user name and password", CHECK_VARIABLES],
	[/^HTTP (413|414|431)$/, 'input', 'The request is too large for the server', 'Use fewer or shorter values.'],
	[/^HTTP 429$/, 'platform', 'Too many requests', '{tooMany}', 'passes'],
	[/^HTTP 50[24]$/, ...UNAVAILABLE, `Try again later.{tooLong}${NO_PROXY}`, 'passes', 'doubt'],
	[/^HTTP 503$/, ...UNAVAILABLE, `${LATER}${NO_PROXY}`, 'passes', 'doubt'],
	[/^HTTP [5-9]..$/, 'platform', "The platform couldn't handle the request", LATER, 'doubt'],
	[/^HTTP (419|440|498)$/, ...OTHER, 'expiry'],
	// 4xx refuses the request, except if something stopped waiting.
	[/^HTTP 4(?!08|99)..$/, ...OTHER],
	[/^HTTP \d/, ...OTHER, 'doubt'],
];

const PORT = "Check the port in 'Base URL'.";
const CUTS = 'Run the workflow again.{tooLong} A proxy may be cutting off long responses.';
/** For a connection that n8n's own machine refuses. */
export const IN_DOCKER = ' In Docker, enter host.docker.internal, not localhost.';

const UNREADABLE: Row = [
	'platform',
	"The platform's response can't be read",
	`${PORT} It may need https://, or a proxy may change the responses.`,
	'said',
];
const AT_PROXY: Row = ['unknown', "n8n can't connect to its proxy", CHECK_VARIABLES];
/** The code of a TLS error comes with its own words, in capitals. */
const SYSTEM_ERRORS: ReadonlyArray<Keyed<RegExp>> = [
	[
		// Timeouts are the system's; the node's own is `tooSlow`. The last ones are out of resources.
		/^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|E(SOCKET)?TIMEDOUT|ENET(UNREACH|DOWN|RESET)|EHOST(UNREACH|DOWN)|ENOTCONN|ERR_(CANCELED|SOCKET_\w+|STREAM_\w+)|EADDRNOTAVAIL|EADDRINUSE|EMFILE|ENFILE|ENOBUFS|ENOMEM|EAGAIN)$/,
		'platform',
		'The connection to the platform was refused or dropped',
		"Check 'Base URL' in the credential (port, https://), and that the platform is running.{inDocker}",
		'passes',
	],
	[/^(Z_|ZSTD_|ERR__ERROR_|ERR_BROTLI_)/, 'platform', "The platform's compressed response is damaged", CUTS, 'passes'],
	[
		/^(ENOTFOUND|ENODATA|EAI_\w+|ESERVFAIL|ETIMEOUT|EREFUSED|EBADRESP)$/,
		'unknown',
		"The host in 'Base URL' wasn't found",
		"Check 'Base URL' in the credential for typos. If it's correct, try again, or check n8n's DNS.",
		'passes',
	],
	[/^HPE_|^ERR_BAD_RESPONSE$/, ...UNREADABLE],
	[/^ERR_INVALID_URL$/, ...AT_PROXY],
	[
		/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
		'input',
		"The platform's TLS certificate is for another host",
		"Enter a host that the certificate names in 'Base URL', or ask your platform administrator for another certificate.",
		'said',
	],
	[
		/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
		'platform',
		"The platform's TLS certificate has expired or isn't valid yet",
		"Ask your platform administrator to renew it. Also check the date and time of n8n's server.",
	],
	[
		/^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)$/,
		'input',
		"n8n doesn't know who issued the platform's TLS certificate",
		"Add the issuing CA's certificate to NODE_EXTRA_CA_CERTS. If browsers trust the platform, ask its administrator to send the intermediate certificate.",
	],
	[
		/WRONG_VERSION_NUMBER/,
		'input',
		"The server doesn't use HTTPS on this port",
		`${PORT} It may need http:// instead of https://.`,
	],
	[
		/^(EPROTO|ERR_SSL)/,
		'unknown',
		"n8n and the server couldn't agree on a TLS connection",
		`${PORT} The server may need a client certificate, or have old TLS versions or ciphers.`,
	],
	[
		/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/,
		'input',
		"The platform's TLS certificate isn't trusted",
		"Install a certificate that n8n trusts. On your own network, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
	],
];
const NOT_SENT: Row = [
	'input',
	"n8n can't send the request",
	"Check 'Base URL' in the credential, and whether n8n is allowed to connect to that address.",
	'said',
];

const NO_ENVELOPE = ['platform', 'Unexpected response: {found}', `${CHECK_SENDER}{elsewhere}`] as const;
/** What has neither a code nor an error status. */
export const RESPONSES = {
	tooSlow: ['platform', "The platform didn't respond within {limit}", '{tooSlow}', 'passes'],
	tooLarge: ['platform', 'The response is larger than {limit}', '{tooLarge}'],
	cutOff: ['platform', 'The response is incomplete', CUTS, 'passes'],
	otherForm: ['platform', "This node can't read n8n's response", 'Update n8n and the Device Management node.'],
	noEnvelope: NO_ENVELOPE,
	page: [...NO_ENVELOPE, 'expiry'],
	noToken: [
		'credential',
		'The login response has no token{sought}',
		"In the credential, enter 'Token Path' under 'Custom Sign-In', like data.session.token.",
	],
} as const satisfies Record<string, Row>;

const KEYED = [...CODES, ...OTHER_CODES, ...STATUSES, ...SYSTEM_ERRORS];

/** Returns the first row that fits a return code, an HTTP status like 'HTTP 404', or a system error like 'ECONNRESET'. */
export function rowOf(sought: number | string): Row {
	const fits = (key: number | RegExp) => (key instanceof RegExp ? key.test(String(sought)) : key === sought);
	const [, ...row] = KEYED.find(([key]) => fits(key)) ?? [sought, ...NOT_SENT];
	return row;
}

/** Whether this follows from a row. */
export function hasMark(row: Row, mark: Mark): boolean {
	return row.includes(mark);
}

/** Returns the row of a system error, with what it means at a proxy, or after a response has begun. */
export function rowOfError(code: string, isProxy: boolean, hasBegun: boolean): Row {
	const row = rowOf(code);
	const [cause, message, , ...marks] = row;
	const passes = hasMark(row, 'passes');
	if (hasBegun) return passes ? [cause, message, CUTS, ...marks] : UNREADABLE;
	if (isProxy) return passes ? [...AT_PROXY, 'passes'] : AT_PROXY;
	return row;
}

/** Whether the platform has no device with this serial number (section 4.2), by a code or by a success without data. */
export function meansNoDevice({ code, withoutData, signInFailed }: Partial<FailureDetails>): boolean {
	return signInFailed === undefined && (withoutData === true || code === 10007 || code === 14401);
}

/** Whether the device doesn't exist or its serial number isn't valid (section 4.2). */
export function meansNotFound(details: Partial<FailureDetails>): boolean {
	return meansNoDevice(details) || (details.code === 10018 && details.signInFailed === undefined);
}
