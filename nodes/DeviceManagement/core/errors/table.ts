/**
 * The one table of what can go wrong with a request: what happened, and what to do. A row belongs to a return code (section 7 of the API
 * document), an HTTP status or a system error; those without a number are used by name. `failureOf` fills in the places in braces by the
 * words for the request. docs/errors.md is generated from the codes. The table doesn't know requests.
 */
import type { CauseClass, FailureDetails } from '../failure';

/** What else a row means for what follows. */
type Mark =
	/** The same request may succeed soon: it is repeated if that is safe. */
	| 'passes'
	/** The key or token was refused. */
	| 'token'
	/** An expired token may be the reason. */
	| 'expiry'
	/** The login or the user was refused: a repetition may lock the account. */
	| 'barred'
	/** The platform may have carried out the request. */
	| 'doubt'
	/** It says too little without the words of the system error. */
	| 'said';

export type Row = readonly [
	key: number | RegExp | string,
	cause: CauseClass,
	message: string,
	remedy: string,
	...marks: Mark[],
];

const LATER = 'Try again later. If it happens again, ask your platform administrator.';
export const CHECK_RECORD = 'Check the serial number or identifier.';
const RIGHTS = 'Ask your platform administrator to give this user (or API key) the right to do this.';

export const CODES: ReadonlyArray<Row & readonly [code: number, ...unknown[]]> = [
	[-1, 'unknown', 'The platform could not say what went wrong', LATER, 'doubt'],
	[0, 'unknown', 'The request succeeded', 'Nothing to do.'],
	[9999, 'unknown', 'The platform did not carry out the request', LATER],
	[10001, 'input', 'The platform did not accept the request body', 'Check the values in {body}, and their types.'],
	[10002, 'platform', 'A service inside the platform did not respond', LATER, 'passes', 'doubt'],
	[10003, 'conflict', 'The record exists already', 'Use another name or serial number, or change the existing record.'],
	[10004, 'platform', 'The platform could not save the change', 'Check that the record exists and the values fit it.'],
	[10005, 'platform', 'The platform could not run the query', 'Check {names}. If correct, try again later.'],
	[10006, 'platform', 'The platform could not delete the record', 'Check that it exists and that nothing uses it.'],
	[10007, 'not found', '{missing}', CHECK_RECORD],
	[10008, 'conflict', 'Two values do not belong together', 'Use values of the same device, model or group.'],
	[10009, 'platform', 'The platform could not reach the resource', `Check that it exists. ${RIGHTS}`],
	[10010, 'input', 'A required value is empty', 'Enter the value that the platform names.'],
	[10011, 'conflict', 'The record may not be edited', 'Lift the restriction on the platform.'],
	[10012, 'conflict', 'The record may not be deleted', 'Remove what depends on it, or lift the restriction.'],
	[10013, 'conflict', 'The value exists already', 'Use another value, or change the record that has it.'],
	[10014, 'input', 'The platform could not read the request body', 'Check that the JSON in {body} is an object.'],
	[10015, 'conflict', 'Another record has this value already', 'Use another value, or change that record.'],
	[10016, 'conflict', 'The value is read only', 'Leave the field out of the request.'],
	[10017, 'input', 'The identifier is not valid', 'Check the identifier. Copy it from a list of the platform.'],
	[10018, 'not found', 'The serial number is not valid', 'Check the serial number. Copy it from a list of devices.'],
	[10019, 'platform', 'A table is missing on the platform', 'Ask your platform administrator.'],
	[14101, 'credential', '{notAccepted}', '{credential}', 'token'],
	[14102, 'credential', '{notRead}', '{credential}', 'token'],
	[14103, 'credential', 'The user may not do this', RIGHTS, 'barred'],
	[
		14201,
		'credential',
		'The login name or the password is not right',
		"Correct 'Login Name' and 'Password' in the credential.",
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
		'The device does not exist or is not valid',
		'Check the serial number and the rights of the user.',
	],
	[14402, 'conflict', 'The relationship may not be changed', 'Lift the restriction on the platform.'],
	[14403, 'conflict', 'A device still depends on the record', 'Detach the devices from the record first.'],
	[14404, 'conflict', 'The models do not agree', 'Use devices and groups of one model.'],
	[14405, 'conflict', 'The group is empty', 'Add devices to the group first, or choose another group.'],
	[14406, 'conflict', 'A group still depends on the record', 'Detach the record from its groups first.'],
	[14407, 'conflict', 'The device is in this group already', 'Choose another group.'],
	[14408, 'not found', 'There is no data for this request', 'Check the values, or use another range.'],
	[14410, 'conflict', 'The group does not fit the model', 'Choose a group of the same model as the device.'],
	[14501, 'conflict', "The device's protocol does not know this instruction", 'Choose one that the device supports.'],
];
const UNDOCUMENTED = [
	'unknown',
	'The platform refused the request with an undocumented code',
	"Look up the code in the platform's own documentation.",
] as const;
/** Some platforms use the status as a code. */
const OTHER_CODES: readonly Row[] = [
	[401, ...UNDOCUMENTED, 'token'],
	[/^-?\d+$/, ...UNDOCUMENTED],
];

const FOLLOW =
	"Set 'Base URL' in the credential to the address it leads to, with https:// if possible. The node does not follow redirects, so that it sends the credential to no other host.";
const ASK_FOR_RIGHTS =
	'Ask your platform administrator for the right to do this, and whether a proxy or firewall blocks the request.';
const CHECK_VARIABLES =
	"Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY in n8n's environment, like http://name:password@proxy.example.com:3128. In the password, write %40 for @, %23 for # and %25 for %.";
const CHECK_REQUEST = "Check {names}, and whether 'Base URL' in the credential needs https:// or another host.";
const TROUBLE = ['platform', 'The platform or a proxy in front of it could not respond'] as const;
const NO_PROXY = " If n8n uses a proxy, NO_PROXY may have to name the platform's host.";
const NOT_ACCEPTED = ['platform', 'The server did not accept the request', CHECK_REQUEST] as const;
const OTHER = [
	'platform',
	"The server did not return the platform's envelope",
	"Check 'Base URL' in the credential. Check whether a proxy in front of the platform responds instead.",
] as const;

/** HTTP statuses without an envelope. The API document has codes for an expired token, but a proxy may respond first. */
const STATUSES: readonly Row[] = [
	[/^HTTP 3..$/, 'unknown', 'The address responds with a redirect', FOLLOW, 'expiry', 'doubt'],
	[/^HTTP (400|405|415|422|426)$/, ...NOT_ACCEPTED],
	// The server may only be unable to write the result as JSON.
	[/^HTTP 406$/, ...NOT_ACCEPTED, 'doubt'],
	[/^HTTP 401$/, 'credential', '{notAccepted}', '{credential}', 'token'],
	[/^HTTP 403$/, 'unknown', 'Access was denied', ASK_FOR_RIGHTS, 'expiry'],
	[/^HTTP 404$/, 'unknown', 'There is nothing at this address', "Check {address}. 'Base URL' is the part before /api."],
	[/^HTTP 407$/, 'unknown', "n8n's proxy requires a valid name and password", CHECK_VARIABLES],
	[/^HTTP (413|414|431)$/, 'input', 'The request is too large for the server', 'Use fewer or shorter values.'],
	[/^HTTP 429$/, 'platform', 'The platform receives too many requests', '{tooMany}', 'passes'],
	[/^HTTP 50[24]$/, ...TROUBLE, `${LATER}{tooLong}${NO_PROXY}`, 'passes', 'doubt'],
	[/^HTTP 503$/, ...TROUBLE, `${LATER}${NO_PROXY}`, 'passes', 'doubt'],
	[/^HTTP [5-9]..$/, ...TROUBLE, LATER, 'doubt'],
	[/^HTTP (419|440|498)$/, ...OTHER, 'expiry'],
	// 4xx refuses the request, except if something stopped waiting.
	[/^HTTP 4(?!08|99)..$/, ...OTHER],
	[/^HTTP \d/, ...OTHER, 'doubt'],
];

const PORT = "Check the port in 'Base URL' in the credential.";
export const CUTS =
	'Run the workflow again. If it happens again, check whether a proxy, with a timeout or a size limit, cuts the responses of the platform.{tooLong}';
/** For a refusal by n8n's own machine. Without IPv6, ::1 is not available. */
export const IN_DOCKER =
	" If n8n runs in Docker, localhost is its own container: enter host.docker.internal, or the name of the platform's container.";

export const UNREADABLE: Row = [
	/^HPE_|^ERR_BAD_RESPONSE$/,
	'platform',
	"The platform's response can't be read",
	`${PORT} Check whether it needs https://, and whether a proxy changes the platform's responses.`,
	'said',
];
export const AT_PROXY: Row = [/^ERR_INVALID_URL$/, 'unknown', "n8n can't connect to its proxy", CHECK_VARIABLES];
/** For TLS with the error's own words in capitals: EPROTO says too little. */
const SYSTEM_ERRORS: readonly Row[] = [
	[
		// Some attempts end with the system's ETIMEDOUT long before the node's own timeout. The last ones are out of resources.
		/^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|E(SOCKET)?TIMEDOUT|ENET(UNREACH|DOWN|RESET)|EHOST(UNREACH|DOWN)|ENOTCONN|ERR_(CANCELED|SOCKET_\w+|STREAM_\w+)|EADDRNOTAVAIL|EADDRINUSE|EMFILE|ENFILE|ENOBUFS|ENOMEM|EAGAIN)$/,
		'platform',
		'The connection to the platform was refused or dropped',
		"Check that the platform is running and that 'Base URL' in the credential has the right port, with https:// if the port needs it.{inDocker}",
		'passes',
	],
	[
		/^(Z_|ZSTD_|ERR__ERROR_|ERR_BROTLI_)/,
		'platform',
		"The platform's compressed response is damaged and can't be unpacked",
		CUTS,
		'passes',
	],
	[
		/^(ENOTFOUND|ENODATA|EAI_\w+|ESERVFAIL|ETIMEOUT|EREFUSED|EBADRESP)$/,
		'unknown',
		'The host in the base URL was not found',
		"Check 'Base URL' in the credential for a typing error. If there is none, run the workflow again, or check n8n's DNS server.",
		'passes',
	],
	UNREADABLE,
	AT_PROXY,
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
		"The platform's TLS certificate has expired or is not valid yet",
		"Check the date and time of n8n's machine. If they are right, ask your platform administrator to replace the certificate.",
	],
	[
		/^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)$/,
		'input',
		"n8n doesn't know who issued the platform's TLS certificate",
		"If browsers trust it, the platform doesn't send its intermediate certificate: ask your platform administrator to add it. Otherwise, add the certificate of the CA that issued it, not the root, to the file in NODE_EXTRA_CA_CERTS. On a network that you control, you can turn on 'Ignore SSL Issues (Insecure)' in the credential.",
	],
	[
		/WRONG_VERSION_NUMBER/,
		'input',
		'The server does not speak TLS',
		`${PORT} Check whether it needs http:// instead of https://.`,
	],
	[
		/^(EPROTO|ERR_SSL)/,
		'unknown',
		'The server does not speak TLS as expected',
		`${PORT} Ask your platform administrator whether the server requires a client certificate, or has an old TLS version or old ciphers.`,
	],
	[
		/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/,
		'input',
		"The platform's TLS certificate is not trusted",
		"Install a certificate that n8n trusts. On a network that you control, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
	],
];
const NOT_SENT: Row = [
	'',
	'input',
	"n8n can't send the request",
	"Check 'Base URL' in the credential. Check whether this n8n may connect to that address.",
	'said',
];

const NO_ENVELOPE = "Expected the platform's JSON envelope with a whole number in 'code', but got {found}";
const CHECK_HOST =
	"Check 'Base URL' in the credential. A proxy's sign-in page, or another service at this address, may have responded.{elsewhere}";
/** What has neither a code nor an error status. */
export const RESPONSES = {
	tooSlow: ['', 'platform', 'The platform did not respond within {limit} ms', '{tooSlow}', 'passes'],
	tooLarge: ['', 'platform', 'The response is larger than {limit}', '{tooLarge}'],
	cutOff: ['', 'platform', 'The response ends after {size} bytes, before its JSON is complete', CUTS, 'passes'],
	otherForm: [
		'',
		'platform',
		'n8n returned a response in a form that this node does not know',
		'Update n8n and the Device Management node to versions that fit together.',
	],
	noEnvelope: ['', 'platform', NO_ENVELOPE, CHECK_HOST],
	page: ['', 'platform', NO_ENVELOPE, CHECK_HOST, 'expiry'],
	noToken: [
		'',
		'credential',
		'The login was accepted, but its response has no token: looked for it {sought}',
		"Check 'Base URL' in the credential, or enter in 'Token Path' where the login response has the token, like data.session.token.",
	],
} as const satisfies Record<string, Row>;

const ROWS = [...CODES, ...OTHER_CODES, ...STATUSES, ...SYSTEM_ERRORS];

/** Returns the first row that fits a return code, an HTTP status like 'HTTP 404', or a system error like 'ECONNRESET'. */
export function rowOf(sought: number | string): Row {
	const fits = (key: Row[0]) => (key instanceof RegExp ? key.test(String(sought)) : key === sought);
	return ROWS.find(([key]) => fits(key)) ?? NOT_SENT;
}

/** Whether the platform has no device with this serial number (section 4.2), by a code or by a success without data. */
export function meansNoDevice({ code, withoutData, signInFailed }: Partial<FailureDetails>): boolean {
	return signInFailed === undefined && (withoutData === true || code === 10007 || code === 14401);
}

/** Whether the device doesn't exist or its serial number is not valid (section 4.2). */
export function meansNotFound(details: Partial<FailureDetails>): boolean {
	return meansNoDevice(details) || (details.code === 10018 && details.signInFailed === undefined);
}
