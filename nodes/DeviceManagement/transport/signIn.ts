import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import { meansLoginRefused } from '../core/codes';
import { unwrap } from '../core/envelope';
import { Failure } from '../core/failure';
import { isRecord } from '../core/json';
import type { Redact } from '../core/redaction';
import type { SessionFields } from './account';
import { currentClock } from './clock';
import { passwordDigest, readCredential, redactorFor } from './credential';
import { exchange } from './exchange';

/** Longest time for a login, in milliseconds. */
const SIGN_IN_TIMEOUT_MS = 30_000;

/** Where a login answer is known to carry its token, in the order they are tried. */
const KNOWN_PLACES = ['token', 'accessToken', 'access_token'] as const;

/**
 * Signs in with login name and password (section 5 of the API document).
 * @param data the decrypted credential
 * @param send n8n's plain request function
 * @param drop ends the login when it is aborted
 * @returns the bearer token and whose it is
 * @throws Failure `final` when the platform refused the login, so that nobody asks again; not `final` when it could
 * not be asked
 */
export async function signIn(
	data: ICredentialDataDecryptedObject,
	send: (options: IHttpRequestOptions) => Promise<unknown>,
	drop: AbortSignal | undefined,
): Promise<SessionFields> {
	const { baseUrl, stored, owner } = readCredential(data);
	const redact = redactorFor(data);
	try {
		const answer = await exchange(
			send,
			{
				method: 'POST',
				url: `${baseUrl.href}${stored.loginPath}`,
				purpose: 'login',
				body: JSON.stringify({ loginName: stored.loginName, password: passwordDigest(stored) }),
				skipCertificateCheck: stored.allowUnauthorizedCerts,
			},
			{ timeoutMs: SIGN_IN_TIMEOUT_MS, clock: currentClock(), cancel: drop, redact },
		);
		const token = findToken(unwrap(answer, redact, 'login'), stored.tokenPath, redact);
		return { sessionToken: token, sessionOwner: owner };
	} catch (error) {
		throw asSignInFailure(error);
	}
}

/**
 * Takes the token out of a login answer's payload: where `tokenPath` says, else the payload itself if it is text,
 * else the first known place.
 * @param redact removes secrets from the names of the keys
 * @throws Failure that says what was looked for and which keys came, never their values
 */
function findToken(payload: unknown, tokenPath: string, redact: Redact): string {
	const found =
		tokenPath === ''
			? [payload, ...KNOWN_PLACES.map((place) => fieldOf(payload, place))]
			: [followPath(payload, tokenPath)];
	for (const candidate of found) {
		const token = typeof candidate === 'string' ? candidate.trim().replace(/^bearer\s+/i, '') : '';
		if (token !== '') return checkToken(token);
	}
	const places =
		tokenPath === '' ? `text, or under ${KNOWN_PLACES.join(', ')}` : `under "${tokenPath}"`;
	throw new Failure({
		kind: 'answer',
		cause: 'credential',
		message: `The login was accepted, but its answer holds no token: looked for 'data' as ${places}; ${keysOf(payload, redact)}`,
		remedy: "Enter in 'Token Path' of the credential where the login answer has the token, like data.session.token.",
	});
}

/** A path may start at the answer (`data.token`) or at its payload (`token`). */
function followPath(payload: unknown, tokenPath: string): unknown {
	const follow = (start: unknown) =>
		tokenPath.split('.').reduce<unknown>((value, key) => fieldOf(value, key), start);
	return follow({ data: payload }) ?? follow(payload);
}

function fieldOf(value: unknown, key: string): unknown {
	return (isRecord(value) || Array.isArray(value)) && Object.hasOwn(value, key)
		? Reflect.get(value, key)
		: undefined;
}

/** A token goes into a header; anything else would make the request itself impossible. */
function checkToken(token: string): string {
	if (/^[\x21-\x7e]+$/.test(token)) return token;
	throw new Failure({
		kind: 'answer',
		cause: 'credential',
		message: "The login answer's token holds characters that a header can't carry",
		remedy: "Check 'Token Path' in the credential: it seems to point at something else than the token.",
	});
}

function keysOf(payload: unknown, redact: Redact): string {
	if (!isRecord(payload)) return `'data' is ${payload === null ? 'null' : Array.isArray(payload) ? 'a list' : typeof payload}`;
	const keys = Object.keys(payload).slice(0, 20).map((key) => redact(key).slice(0, 40));
	return keys.length === 0 ? "'data' is empty" : `'data' has the keys ${keys.join(', ')}`;
}

/** Unless the platform was only out of reach, asking again would not mend it, and may lock the account. */
function asSignInFailure(error: unknown): unknown {
	if (!(error instanceof Failure)) return error;
	const { details } = error;
	return new Failure({
		...details,
		message: `Signing in did not work. ${details.message}`,
		// What a 403 leaves open elsewhere, it does not here: the login was refused.
		...(details.httpStatus === 403 ? { cause: 'credential' } : {}),
		tokenRefused: false,
		final: details.retryable !== true,
		loginRefused: meansLoginRefused(details.code) || details.httpStatus === 401 || details.httpStatus === 403,
	});
}
