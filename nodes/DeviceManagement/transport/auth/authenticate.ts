/**
 * The credential's part of a request: it adds the key or token, and makes n8n sign in if there is no token. It refuses other hosts
 * and forbids redirects. It sends no other request than sign-ins, and it doesn't load or store the credential: n8n does.
 */
import type { ICredentialDataDecryptedObject as CredentialData, IHttpRequestOptions } from 'n8n-workflow';

import { inputFailure } from '../../core/failure';
import { accountOf } from '../account';
import { currentClock } from '../waiting/clock';
import { additionsOf, type Credential, credentialOf, type SessionFields } from './credential';
import { type PlainRequest, signIn } from './signIn';

/** Makes n8n sign in: its request functions treat this error of `authenticate` like HTTP 401. */
class SignInNeeded extends Error {
	readonly response = { status: 401 };
}

/** Ends a request that is only for its sign-in, after n8n has stored the token. */
export class SignedIn extends Error {}

/** n8n's other nodes don't wait for a pause that the platform asks for, but the account learns of it. */
const NO_WAIT = AbortSignal.abort();

/** A platform may not know a new token at once. n8n sends a connection test once. */
const MOMENT_MS = 500;

/** Marks the connection test's request. It never leaves n8n. */
export const TEST_MARK = 'x-credential-test';

/**
 * Adds the key or token to a request of a node, n8n's HTTP Request node or the connection test (section 5 of the API document).
 * @param options the request, for n8n's current or older request function; changed in place
 * @throws Failure `input` for another origin than the base URL's; Failure for a sign-in that was refused recently; SignInNeeded
 * without a token; SignedIn for a request that is only for its sign-in
 */
export async function authenticate(data: CredentialData, options: IHttpRequestOptions): Promise<IHttpRequestOptions> {
	const credential = credentialOf(data);
	checkTarget(credential, options);
	if (credential.owner !== '') {
		checkToken(credential, options);
		if (options.headers?.[TEST_MARK] !== undefined) await currentClock().sleep(MOMENT_MS, new AbortController().signal);
	}
	const { headers, query } = additionsOf(credential);
	// n8n's older request function also accepts text.
	const given: unknown = options.qs;
	const qs = typeof given === 'string' ? Object.fromEntries(new URLSearchParams(given)) : options.qs;
	if (query !== undefined) options.qs = { ...qs, ...query };
	delete options.headers?.[TEST_MARK];
	const replaced = Object.keys(headers ?? {}).map((name) => name.toLowerCase());
	const others = Object.entries(options.headers ?? {}).filter(([name]) => !replaced.includes(name.toLowerCase()));
	if (headers !== undefined) options.headers = { ...Object.fromEntries(others), ...headers };
	// Keeps the credential on the platform's host. n8n's older request function has other names for these options.
	Object.assign(options, { disableFollowRedirect: true, followRedirect: false, followAllRedirects: false });
	const insecure = { skipSslCertificateValidation: true, rejectUnauthorized: false };
	return credential.stored.allowUnauthorizedCerts ? Object.assign(options, insecure) : options;
}

function checkToken(credential: Credential, options: IHttpRequestOptions): void {
	// An older token doesn't prove the password, and an expired one would fail the test despite a correct password.
	if (options.headers?.[TEST_MARK] !== undefined && !justSignedIn.has(credential)) {
		beingTested.add(credential);
		throw new SignInNeeded('A connection test signs in');
	}
	const { token } = credential;
	if (token === '') {
		throw accountOf(credential).tokens.recentLoginRefusal() ?? new SignInNeeded('There is no token for this login yet');
	}
	if (credential.isForSignIn) throw new SignedIn();
}

/** Logins of a connection test, which always signs in. */
const beingTested = new WeakSet<Credential>();
/** Credentials with a new token. n8n passes the same data to both functions. */
const justSignedIn = new WeakSet<Credential>();
/** Calls in progress or failed: n8n's older request function asks twice after any error. */
const attempts = new WeakMap<Credential, Promise<Partial<SessionFields>>>();

/**
 * Returns a token for a login that has none, or whose token was refused: a very recent one of this process, or a new one.
 * @param data n8n passes the same object to {@link authenticate} next
 * @returns the fields that n8n stores with the credential; none for an API key, or after a sign-in that was refused recently
 * @throws Failure with the reason why there is no token
 */
export async function preAuthenticate(data: CredentialData, send: PlainRequest): Promise<Partial<SessionFields>> {
	const credential = credentialOf(data);
	if (credential.owner === '') return {};
	const attempt = attempts.get(credential) ?? findFields(credential, send);
	attempts.set(credential, attempt);
	const fields = await attempt;
	attempts.delete(credential);
	return fields;
}

/**
 * Finds a token in the account's one search, which sessions share. A session that is searching has n8n call this function, and a
 * connection test proves the password: both sign in at once. Another caller's login during the search proves it, too.
 */
async function findFields(credential: Credential, send: PlainRequest): Promise<Partial<SessionFields>> {
	const { tokens, rateLimit } = accountOf(credential);
	const began = currentClock().now();
	let own: SessionFields | undefined;
	const ask = async () => {
		own = await signIn(credential, send);
		justSignedIn.add(credential);
	};
	if (credential.isForSignIn || beingTested.has(credential)) await ask();
	const known = credential.data['sessionToken'];
	for (let isNew = false; own === undefined; isNew = true) {
		if (tokens.recentLoginRefusal() !== undefined) return {};
		const token = isNew ? tokens.current?.value : tokens.newToken(known);
		if (token !== undefined && token !== known) {
			if (isNew && (tokens.current?.issuedAt ?? -Infinity) >= began) justSignedIn.add(credential);
			return { sessionToken: token, sessionOwner: credential.owner };
		}
		await tokens.findOnce(async () => await rateLimit.afterPause(ask, NO_WAIT));
	}
	return own;
}

function checkTarget({ baseUrl }: Credential, options: IHttpRequestOptions): void {
	// The HTTP Request node uses n8n's older request function, which calls the address `uri`.
	const address: unknown = options.url ?? Reflect.get(options, 'uri');
	// "http:other" is a path with a base, and a host without one.
	const base = typeof options.baseURL === 'string' && options.baseURL !== '' ? options.baseURL : undefined;
	const target = typeof address === 'string' && URL.canParse(address, base) ? new URL(address, base) : undefined;
	if (target?.origin === baseUrl.origin) return;
	const remedy =
		target === undefined
			? 'The request has no valid address. Nothing was sent.'
			: `The request leads to ${target.origin}. Nothing was sent. Use an address of the platform, or another credential.`;
	throw inputFailure(`This credential is for ${baseUrl.origin} only`, remedy);
}
