import { failureOf, type Wording } from '../../../nodes/DeviceManagement/core/errors/failureOf.ts';
import { RESPONSES, type Row, rowOf } from '../../../nodes/DeviceManagement/core/errors/table.ts';
import { whyNoResponse } from '../../../nodes/DeviceManagement/transport/exchange.ts';

const redact = (text: string) => text.replaceAll('secret', '•••');
const READ = { words: 'apiRequest', mayChange: false, redact } as const;
const WRITE = { words: 'apiRequestWithBody', mayChange: true, redact } as const;
const explain = (code: string, said = '', asked: typeof READ | typeof WRITE = READ, hasBegun = false) =>
	whyNoResponse(Object.assign(new Error(said), code === '' ? {} : { code }), asked, { hasBegun }).details;

const DROPPED = 'The connection to the platform was refused or dropped';
const DAMAGED = "The platform's compressed response is damaged";
const NO_HOST = "The host in 'Base URL' wasn't found";
const UNREADABLE = "The platform's response can't be read";
const UNTRUSTED = "The platform's TLS certificate isn't trusted";
const NO_ISSUER = "n8n doesn't know who issued the platform's TLS certificate";
const EXPIRED = "The platform's TLS certificate has expired or isn't valid yet";
const OTHER_HOST = "The platform's TLS certificate is for another host";
const PROXY = "n8n can't connect to its proxy";
const PLAIN = "The server doesn't use HTTPS on this port";
const NO_TLS = "n8n and the server couldn't agree on a TLS connection";
const NOT_SENT = "n8n can't send the request";
const IN_DOUBT = '. The change may have been made';

test.each([
	[
		// The node's own timeout is another failure.
		DROPPED,
		'platform',
		'is running.',
		`ECONNREFUSED ECONNRESET EPIPE ENOTCONN ENETUNREACH EHOSTUNREACH ENETDOWN ENETRESET ERR_STREAM_PREMATURE_CLOSE EHOSTDOWN
		ERR_CANCELED ETIMEDOUT ESOCKETTIMEDOUT ECONNABORTED ERR_SOCKET_CONNECTION_TIMEOUT ERR_SOCKET_CLOSED EADDRNOTAVAIL
		EADDRINUSE EMFILE ENFILE ENOBUFS ENOMEM EAGAIN`,
	],
	[NO_HOST, 'unknown', 'DNS', 'EAI_AGAIN EAI_FAIL ESERVFAIL ETIMEOUT EREFUSED ENOTFOUND ENODATA'],
	[UNREADABLE, 'platform', 'a proxy may', 'HPE_INVALID ERR_BAD_RESPONSE'],
	[DAMAGED, 'platform', 'A proxy', 'Z_DATA_ERROR ERR__ERROR_FORMAT_PADDING_2 ZSTD_X'],
	[EXPIRED, 'platform', "time of n8n's server", 'CERT_HAS_EXPIRED CERT_NOT_YET_VALID'],
	[OTHER_HOST, 'input', 'names', 'ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH'],
	[PROXY, 'unknown', 'HTTPS_PROXY', 'ERR_INVALID_URL'],
	[UNTRUSTED, 'input', 'turn on', 'CERT_SIGNATURE_FAILURE DEPTH_ZERO_SELF_SIGNED UNABLE_TO_VERIFY_LEAF'],
	[
		NO_ISSUER,
		'input',
		"issuing CA's certificate to NODE_EXTRA_CA_CERTS",
		'UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	],
	[PLAIN, 'input', 'http:// instead of https://', 'ERR_SSL_WRONG_VERSION_NUMBER'],
	[
		// Node.js 24 has codes with a slash.
		NO_TLS,
		'unknown',
		'need a client certificate, or have old TLS versions or ciphers',
		`EPROTO ERR_SSL_DH_KEY_TOO_SMALL ERR_SSL_CERTIFICATE_VERIFY_FAILED ERR_SSL_NO_CERTIFICATE
		ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE ERR_SSL_UNSUPPORTED_PROTOCOL`,
	],
	[NOT_SENT, 'input', 'whether n8n is allowed', ''],
	[NOT_SENT, 'input', 'whether', 'EACCES XECONNRESET ECONNRESETX ENOTFOUNDX'],
])('%s: the cause is %s, and the remedy has “%s”', (what, cause, remedy, codes) => {
	for (const code of codes.split(/\s+/)) {
		const said = [UNREADABLE, NOT_SENT, OTHER_HOST].includes(what) ? 'a •••' : '';
		const shown = [code, said].filter((part) => part !== '').join(': ');
		const message = `${what} (${shown})`;
		const temporary = [DROPPED, DAMAGED, NO_HOST].includes(what);
		const details = { kind: 'unreachable', cause, remedy: expect.stringContaining(remedy), temporary };
		expect(explain(code, 'a secret')).toEqual({ ...details, message });
		expect(explain(code, 'a secret', WRITE)).toEqual({ ...details, inDoubt: true, message: `${message}${IN_DOUBT}` });
		expect(explain(code, '', WRITE).remedy).toBe(`Check the platform first. ${explain(code).remedy}`);
		if (what !== UNTRUSTED && what !== NO_ISSUER) expect(explain(code).remedy).not.toContain('Ignore SSL');
	}
});

test.each(['socket hang up', 'The request was ABORTED', 'Premature close'])('a connection was dropped: %s', (said) => {
	expect(explain('', said)).toMatchObject({ message: `${DROPPED} (aborted)`, temporary: true });
});

test('a response that ends early is unreadable, unless the connection was dropped', () => {
	for (const code of ['', 'ERR_PADDING', 'CERT_HAS_EXPIRED', 'EPROTO']) {
		expect(explain(code, 'odd', READ, true).message).toMatch(/^The platform's response can't be read \((.*: )?odd\)$/);
	}
	expect(explain('ECONNRESET', 'odd', READ, true).message).toBe(`${DROPPED} (ECONNRESET)`);
	expect(explain('Z_DATA_ERROR', 'odd', READ, true).message).toBe(`${DAMAGED} (Z_DATA_ERROR)`);
});

test.each([
	['Docker', 'http://localhost:8080/api ECONNREFUSED, https://127.0.0.1 ECONNREFUSED, http://127.1.2.3 ECONNREFUSED'],
	['Docker', 'https://[::1]:8443 ECONNREFUSED, http://[::1] EADDRNOTAVAIL, http://LOCALHOST ECONNREFUSED'],
	['other', 'http://10.0.0.7 ECONNREFUSED, http://localhost.example ECONNREFUSED, http://localhost ECONNRESET'],
])('a connection to this machine that is refused names %s: %s', (named, attempts) => {
	for (const attempt of attempts.split(', ')) {
		const [url, code = ''] = attempt.split(' ');
		const { message, remedy } = whyNoResponse(Object.assign(new Error(), { code }), READ, { url }).details;
		expect([attempt, message, remedy.includes('host.docker.internal')]).toEqual([
			attempt,
			`${DROPPED} (${code})`,
			named === 'Docker',
		]);
	}
});

const [SLOW, ELSEWHERE] = ["Raise 'Timeout (Milliseconds)' under 'Options'.", "Check 'Base URL'"];
const LESS = "Lower 'Page Size' under 'Options', or request less with 'Query Parameters' or another 'Path'";
test.each<[Wording, slow: string, large: string, broken?: string]>([
	[
		'list',
		"'Options', or lower 'Page Size' there",
		"'Page Size' under 'Options', or list fewer devices with 'Filters'",
		"lower 'Page Size' under 'Options'",
	],
	['count', SLOW, "Count fewer devices with 'Filters'", "'Filters'"],
	['device', SLOW, ELSEWHERE],
	['apiRequest', SLOW, LESS, "'Page Size'"],
	['apiRequestWithBody', SLOW, LESS, "'Page Size'"],
	['dropdown', "'From List'", "'From List'", "'From List'"],
	['test', SLOW, ELSEWHERE],
	['login', "'Login Path'", ELSEWHERE],
])('the words for %s say what helps if a response is too slow, too large or breaks off', (...row) => {
	const [words, slow, large, broken = 'Run the workflow again.'] = row;
	const asked = { ...READ, words };
	const remedyOf = (one: Row) => failureOf({ kind: 'response', row: one }, asked).details.remedy;
	expect(remedyOf(RESPONSES.tooSlow)).toContain(slow);
	expect(remedyOf(RESPONSES.tooLarge)).toContain(large);
	expect(remedyOf(RESPONSES.cutOff)).toContain(broken);
	// A proxy may end what takes too long.
	if (row.length === 4) for (const status of [502, 504]) expect(remedyOf(rowOf(`HTTP ${status}`))).toContain(broken);
	for (const code of ['ECONNRESET', 'Z_BUF_ERROR']) {
		const failure = whyNoResponse(Object.assign(new Error(), { code }), asked, { hasBegun: true });
		expect(failure.details.remedy).toContain(broken);
	}
});
