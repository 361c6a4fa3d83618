/**
 * Signs in with login name and password. It sends one request, and looks for the token in the response. The account remembers the token
 * or the refusal. It doesn't retry, write to n8n's store or decide when to sign in.
 */
import type { IHttpRequestOptions } from 'n8n-workflow';

import { refusedBy } from '../../core/errors/codes';
import { unwrap } from '../../core/envelope';
import { inWords } from '../../core/errors/purpose';
import { Draft, Failure, type FailureDetails } from '../../core/failure';
import { describeValue, isRecord } from '../../core/json';
import type { Redact } from '../../core/redaction';
import { accountOf } from '../account';
import { additionsOf, type Credential, type SessionFields } from './credential';
import { exchange } from '../exchange';
import { currentClock } from '../waiting/clock';

/** n8n's request function without authentication. */
export type PlainRequest = (options: IHttpRequestOptions) => Promise<unknown>;

const SIGN_IN_TIMEOUT_MS = 30_000;

/** Where platforms put the token, in the order of the search. */
const KNOWN_PLACES = ['token', 'accessToken', 'access_token'] as const;

/** Signs in with login name and password (section 5 of the API document). Throws a Failure with `signInFailed`. */
export async function signIn(credential: Credential, send: PlainRequest): Promise<SessionFields> {
	const { baseUrl, stored, owner, redact } = credential;
	const { tokens } = accountOf(credential);
	const response = await exchange(send, {
		method: 'POST',
		url: `${baseUrl.href}${stored.loginPath}`,
		body: JSON.stringify(additionsOf(credential).signIn),
		skipCertificateCheck: stored.allowUnauthorizedCerts,
		timeoutMs: SIGN_IN_TIMEOUT_MS,
	});
	const unwrapped = unwrap(response, 'login');
	const token = unwrapped instanceof Error ? unwrapped : tokenIn(unwrapped.payload, stored.tokenPath);
	if (typeof token === 'string') {
		tokens.use(token, currentClock().now());
		return { sessionToken: token, sessionOwner: owner };
	}
	const { details } = inWords(token, 'login', redact);
	const refusal = refusalIn(details);
	const failure = asSignInFailure(details, refusal);
	if (refusal === undefined) throw failure;
	tokens.noteLoginRefusal(failure.details, refusal === 'may pass');
	throw tokens.recentLoginRefusal();
}

/**
 * Returns the token in the response. Without `tokenPath`, it is the payload (`data`) itself, or at the first known place in the
 * payload or beside it: the API document doesn't say whether the login uses the envelope.
 * Else a Draft that names the keys of the payload or response, never their values.
 */
function tokenIn(response: unknown, tokenPath: string): string | Draft {
	const payload = fieldOf(response, 'data');
	const starts = [payload, response];
	const found =
		tokenPath === ''
			? [payload, ...starts.flatMap((start) => KNOWN_PLACES.map((place) => fieldOf(start, place)))]
			: starts.map((start) => tokenPath.split('.').reduce(fieldOf, start));
	for (const candidate of found) {
		const token = typeof candidate === 'string' ? candidate.trim().replace(/^bearer\s+/i, '') : '';
		if (/^[\x21-\x7e]+$/.test(token)) return token;
		if (token === '') continue;
		const message = "The token in the login response has characters that a header can't contain";
		const remedy = "Check 'Token Path' in the credential. It may point at something else than the token.";
		return new Draft({ kind: 'response', cause: 'credential', message, remedy });
	}
	const places = tokenPath === '' ? `as 'data', or under ${KNOWN_PLACES.join(', ')}` : `under "${tokenPath}"`;
	return new Draft({
		kind: 'response',
		cause: 'credential',
		message: 'The login was accepted, but its response has no token{outside}',
		outside: (redact) => `: looked for it ${places}; ${keysOf(response, redact)}`,
		remedy:
			"Check 'Base URL' in the credential, or enter in 'Token Path' where the login response has the token, like data.session.token.",
	});
}

function fieldOf(value: unknown, key: string): unknown {
	return (isRecord(value) || Array.isArray(value)) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function keysOf(response: unknown, redact: Redact): string {
	const payload = fieldOf(response, 'data');
	const [name, value] = payload === undefined ? ['the response', response] : ["'data'", payload];
	if (!isRecord(value)) return `${name} is ${describeValue(value)}`;
	const keys = Object.keys(value)
		.filter((key) => value === payload || !['code', 'msg'].includes(key))
		.slice(0, 20)
		.map((key) => redact(key).slice(0, 40));
	return keys.length === 0 ? `${name} is empty` : `${name} has the keys ${keys.join(', ')}`;
}

/** Whether a response refuses the login: clearly, or so that it may pass. Not if there is none, or if the platform has trouble. */
function refusalIn({ kind, cause, code, httpStatus, temporary }: FailureDetails): 'clear' | 'may pass' | undefined {
	if (temporary === true) return undefined;
	// A login that was accepted without a token may lack a second factor.
	const lacksToken = kind === 'response' && cause === 'credential';
	if (refusedBy(code) === 'login' || [401, 403, 423].includes(httpStatus ?? 0) || lacksToken) return 'clear';
	return httpStatus === undefined || httpStatus >= 500 || code === -1 || code === 10002 ? undefined : 'may pass';
}

/** Only a limit or an unreachable platform is tried again. After any other failure, another sign-in may lock the account. */
function asSignInFailure(details: FailureDetails, refusal: ReturnType<typeof refusalIn>): Failure {
	const isFinal = details.temporary !== true;
	// The words for other codes speak of records.
	const isCode = refusal === 'may pass' && details.kind === 'refused' && !/^(credential|unknown)$/.test(details.cause);
	const remedy = isCode ? "Check 'Login Name', 'Password' and 'Login Path' in the credential." : details.remedy;
	const orElse =
		"If the platform expects another form of sign-in, use 'My Platform Signs In Differently' in the credential.";
	return new Failure({
		...details,
		remedy: isFinal ? `${remedy} ${orElse}` : remedy,
		message: `The sign-in failed. ${details.message}`,
		// For other requests, HTTP 403 may have another cause.
		...(isFinal && details.httpStatus === 403 ? { cause: 'credential' } : {}),
		tokenRefused: false,
		signInFailed: isFinal ? 'for good' : 'for now',
	});
}
