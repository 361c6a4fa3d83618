/**
 * Signs in with login name and password. It sends one request, and looks for the token in the response. The account remembers a refused
 * login. It doesn't retry, write to n8n's store or decide when to sign in.
 */
import { payloadOf } from '../../core/response';
import { type Asked, failureOf } from '../../core/errors/failureOf';
import { hasMark, RESPONSES, rowOf } from '../../core/errors/table';
import { Failure, type FailureDetails, outcomeOf } from '../../core/failure';
import { describeValue, isRecord } from '../../core/json';
import type { Redact } from '../../core/redaction';
import { accountOf } from '../account';
import { exchange, type Send } from '../exchange';
import type { Credential } from './credential';

const SIGN_IN_TIMEOUT_MS = 30_000;

const KNOWN_PLACES = ['token', 'accessToken', 'access_token'] as const;

export const askedBy = ({ redact }: Credential): Asked => ({ words: 'login', mayChange: false, redact });

/** Signs in and returns the token (section 5 of the API document). Throws a Failure with `signInFailed`. */
export async function signIn(credential: Credential, send: Send): Promise<string> {
	const { baseUrl, stored, sentPassword } = credential;
	const asked = askedBy(credential);
	const login = {
		method: 'POST',
		url: `${baseUrl.href}${stored.loginPath}`,
		body: JSON.stringify({ loginName: stored.loginName, password: sentPassword }),
		skipCertificateCheck: stored.allowUnauthorizedCerts,
		timeoutMs: SIGN_IN_TIMEOUT_MS,
	} as const;
	const ask = async () => tokenIn(payloadOf(await exchange(send, login, asked), asked, true), stored.tokenPath, asked);
	const outcome = await outcomeOf(ask());
	if ('value' in outcome) return outcome.value;
	const { failure, details } = outcome;
	if (details === undefined) throw failure;
	const signInFailure = asSignInFailure(details);
	if (!isRefusal(details)) throw signInFailure;
	const account = accountOf(credential);
	const mayPass = details.code === undefined && signInFailure.details.cause !== 'credential';
	account.noteRefusedLogin(signInFailure.details, mayPass);
	throw account.recentRefusal();
}

/**
 * Returns the token in the response. Without `tokenPath`, it is the payload (`data`) itself, or at the first known place in the
 * payload or beside it: the API document doesn't say whether the login uses the envelope.
 * @throws Failure that names the keys of the payload or response, never their values
 */
function tokenIn(response: unknown, tokenPath: string, asked: Asked): string {
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
	const where = tokenPath === '' ? '' : ` under "${tokenPath}"`;
	const places = { sought: `${where}: ${keysOf(response, asked.redact)}` };
	throw failureOf({ kind: 'response', row: RESPONSES.noToken, httpStatus: 200, places }, asked);
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
	const ofCode = (mark: 'barred' | 'doubt') => code !== undefined && hasMark(rowOf(code), mark);
	return temporary !== true && (ofCode('barred') || (httpStatus < 500 && !ofCode('doubt')));
}

/** Only a limit or an unreachable platform is tried again. After any other failure, another sign-in may lock the account. */
function asSignInFailure(details: FailureDetails): Failure {
	const { temporary, kind, cause, httpStatus, remedy, message } = details;
	const isFinal = temporary !== true;
	// The words for other codes speak of records.
	const isOfRecord = kind === 'refused' && !/^(credential|unknown)$/.test(cause);
	const check = isOfRecord ? "Check 'Login Name' and 'Password' in the credential." : remedy;
	const orElse = check.includes('Custom') ? '' : " You may need 'Custom Sign-In'.";
	return new Failure({
		...details,
		message: `The sign-in failed. ${message}`,
		remedy: isFinal ? `${check}${orElse}` : remedy,
		// For other requests, HTTP 403 and 423 (locked) may have another cause.
		...(isFinal && (httpStatus === 403 || httpStatus === 423) ? { cause: 'credential' } : {}),
		signInFailed: isFinal ? 'for good' : 'for now',
	});
}
