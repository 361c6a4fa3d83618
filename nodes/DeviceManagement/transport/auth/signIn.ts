/**
 * Signs in with login name and password. It sends one request, and looks for the token in the response. The account remembers a refused
 * login. It doesn't retry, write to n8n's store or decide when to sign in.
 */
import type { IHttpRequestOptions } from 'n8n-workflow';

import { unwrap } from '../../core/envelope';
import { refusedBy } from '../../core/errors/codes';
import { inWords } from '../../core/errors/purpose';
import { Draft, Failure, type FailureDetails } from '../../core/failure';
import { describeValue, isRecord } from '../../core/json';
import type { Redact } from '../../core/redaction';
import { accountOf } from '../account';
import { exchange } from '../exchange';
import type { Credential } from './credential';

/** n8n's request function without authentication. */
export type PlainRequest = (options: IHttpRequestOptions) => Promise<unknown>;

const SIGN_IN_TIMEOUT_MS = 30_000;

/** Where platforms put the token, in the order of the search. */
const KNOWN_PLACES = ['token', 'accessToken', 'access_token'] as const;

/** Signs in and returns the token (section 5 of the API document). Throws a Failure with `signInFailed`. */
export async function signIn(credential: Credential, send: PlainRequest): Promise<string> {
	const { baseUrl, stored, digest, redact } = credential;
	const response = await exchange(send, {
		method: 'POST',
		url: `${baseUrl.href}${stored.loginPath}`,
		body: JSON.stringify({ loginName: stored.loginName, password: digest }),
		skipCertificateCheck: stored.allowUnauthorizedCerts,
		timeoutMs: SIGN_IN_TIMEOUT_MS,
	});
	const unwrapped = unwrap(response, 'login');
	const token = unwrapped instanceof Error ? unwrapped : tokenIn(unwrapped.payload, stored.tokenPath);
	if (typeof token === 'string') return token;
	const { details } = inWords(token, 'login', redact);
	const failure = asSignInFailure(details);
	if (!isRefusal(details)) throw failure;
	const account = accountOf(credential);
	account.noteRefusedLogin(failure.details, details.code === undefined && failure.details.cause !== 'credential');
	throw account.recentRefusal();
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
	const texts = found.filter((candidate) => typeof candidate === 'string');
	const tokens = texts.map((candidate) => candidate.trim().replace(/^bearer\s+/i, ''));
	// A header can carry it.
	const token = tokens.find((candidate) => /^[\x21-\x7e]+$/.test(candidate));
	if (token !== undefined) return token;
	const places = tokenPath === '' ? `as 'data', or under ${KNOWN_PLACES.join(', ')}` : `under "${tokenPath}"`;
	return new Draft({
		kind: 'response',
		cause: 'credential',
		httpStatus: 200,
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

/** Whether a response refuses the login. Not if there is none, or if the platform has trouble. */
function isRefusal({ code, httpStatus = 500, temporary }: FailureDetails): boolean {
	const hasTrouble = httpStatus >= 500 || code === -1 || code === 10002;
	return temporary !== true && (refusedBy(code) === 'login' || !hasTrouble);
}

/** Only a limit or an unreachable platform is tried again. After any other failure, another sign-in may lock the account. */
function asSignInFailure(details: FailureDetails): Failure {
	const { temporary, kind, cause, httpStatus, remedy, message } = details;
	const isFinal = temporary !== true;
	// The words for other codes speak of records.
	const isOfRecord = kind === 'refused' && !/^(credential|unknown)$/.test(cause);
	const check = isOfRecord ? "Check 'Login Name', 'Password' and 'Login Path' in the credential." : remedy;
	const orElse =
		"If the platform expects another form of sign-in, use 'My Platform Signs In Differently' in the credential.";
	return new Failure({
		...details,
		message: `The sign-in failed. ${message}`,
		remedy: isFinal ? `${check} ${orElse}` : remedy,
		// For other requests, HTTP 403 and 423 (locked) may have another cause.
		...(isFinal && (httpStatus === 403 || httpStatus === 423) ? { cause: 'credential' } : {}),
		signInFailed: isFinal ? 'for good' : 'for now',
	});
}
