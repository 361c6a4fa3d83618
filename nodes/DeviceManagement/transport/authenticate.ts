import type { ICredentialDataDecryptedObject, IDataObject, IHttpRequestOptions } from 'n8n-workflow';

import { Failure } from '../core/failure';
import { accountOf, type SessionFields } from './account';
import { currentClock } from './clock';
import { type Credential, readCredential, tokenIn } from './credential';
import { signIn } from './signIn';

/**
 * Makes n8n sign in again: its request functions look at this field of what `authenticate` throws, as they would at
 * an answer with HTTP 401.
 */
class SignInNeeded extends Error {
	readonly response = { status: 401 };
}

/** Thrown instead of a request that was made for its login alone; n8n has stored the token by then. */
export class SignedIn extends Error {}

/** Marks the connection test's request. It never leaves n8n. */
export const TEST_MARK = 'x-credential-test';

/** Marks a request that is made for its login alone: it is never sent. */
export const SIGN_IN_MARK = 'x-sign-in-only';

/**
 * Puts the key or token into a request (section 5 of the API document). It serves this package's nodes, n8n's HTTP
 * Request node and the connection test alike.
 * @param data the decrypted credential as n8n holds it just now
 * @param options the request, in n8n's form or in that of its older request function; changed in place
 * @throws Failure `input` when the request leads anywhere else than the base URL's origin;
 * SignedIn for a request that was made for its login alone;
 * an error that makes n8n sign in when there is no token for this login, and the reason where nobody may sign in now
 */
export function authenticate(
	data: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions,
): IHttpRequestOptions {
	const credential = readCredential(data);
	const { stored } = credential;
	checkTarget(credential, options);
	if (stored.authentication === 'login') {
		setHeader(options, 'Authorization', `Bearer ${tokenFor(data, credential, options)}`);
	} else {
		const { apiKey, apiKeyIn, apiKeyName: name, apiKeyPrefix: prefix } = stored;
		const value = prefix === '' ? apiKey : `${prefix} ${apiKey}`;
		if (apiKeyIn === 'query') options.qs = { ...queryOf(options), [name]: value };
		else setHeader(options, name, value);
	}
	delete options.headers?.[TEST_MARK];
	keepAtHome(options, stored.allowUnauthorizedCerts);
	return options;
}

/** Credential data that the connection test was asked with: its logins are made whatever happened before. */
const beingTested = new WeakSet<ICredentialDataDecryptedObject>();
/** Credential data that a login was made for a moment ago; n8n hands the same object to both functions. */
const justSignedIn = new WeakSet<ICredentialDataDecryptedObject>();
/** Logins that came to nothing: n8n's older request function asks once more whatever went wrong. */
const attempts = new WeakMap<ICredentialDataDecryptedObject, Promise<SessionFields>>();

/**
 * Finds a token for a login that has none, or whose token was refused: one that this process was issued a moment ago, or
 * that of a login that is under way, or a new one.
 * @param data the decrypted credential; n8n hands the same object to {@link authenticate} next
 * @param send n8n's plain request function
 * @returns what n8n stores with the credential; nothing where there is nothing to sign in to, or where the login was refused
 * so short a while ago that nobody asks again: `authenticate` then tells a connection test, which does, from the rest
 * @throws Failure with the reason why there is no token
 */
export async function preAuthenticate(
	data: ICredentialDataDecryptedObject,
	send: (options: IHttpRequestOptions) => Promise<unknown>,
): Promise<Partial<SessionFields>> {
	const credential = readCredential(data);
	if (credential.stored.authentication !== 'login') return {};
	const clock = currentClock();
	const account = accountOf(credential);
	if (!beingTested.has(data)) {
		if (account.remembersRefusal(clock.now()) !== undefined) return {};
		const newer = account.newerToken(data['sessionToken'], clock.now());
		if (newer !== undefined) return { sessionToken: newer, sessionOwner: credential.owner };
	}
	const attempt =
		attempts.get(data) ??
		account.signIn(data, async (drop) => await signIn(data, send, drop), clock.now);
	attempts.set(data, attempt);
	const fields = await attempt;
	attempts.delete(data);
	justSignedIn.add(data);
	return fields;
}

function tokenFor(
	data: ICredentialDataDecryptedObject,
	credential: Credential,
	options: IHttpRequestOptions,
): string {
	const token = tokenIn(data);
	const isTest = options.headers?.[TEST_MARK] !== undefined;
	// A test asks whether the password is right, which a token from yesterday does not tell; and one that has died since
	// would fail a test of the right password.
	if (isTest && !justSignedIn.has(data)) {
		beingTested.add(data);
		throw new SignInNeeded('A connection test signs in');
	}
	if (token === '') {
		throw accountOf(credential).remembersRefusal(currentClock().now()) ?? new SignInNeeded('There is no token for this login yet');
	}
	if (options.headers?.[SIGN_IN_MARK] !== undefined) throw new SignedIn();
	return token;
}

/** n8n's older request function takes a query as text, too. */
function queryOf({ qs }: IHttpRequestOptions): IDataObject {
	const query: unknown = qs;
	return typeof query === 'string' ? Object.fromEntries(new URLSearchParams(query)) : { ...qs };
}

function setHeader(options: IHttpRequestOptions, name: string, value: string): void {
	const headers: IDataObject = {};
	for (const [present, its] of Object.entries(options.headers ?? {})) {
		if (present.toLowerCase() !== name.toLowerCase()) headers[present] = its;
	}
	headers[name] = value;
	options.headers = headers;
}

function checkTarget({ baseUrl }: Credential, options: IHttpRequestOptions): void {
	// n8n's older request function, which the HTTP Request node uses, calls the address `uri`.
	const address: unknown = options.url ?? Reflect.get(options, 'uri');
	// Without a base of its own an address has to be whole: "http:elsewhere" is a path next to one base, a host without.
	const base = typeof options.baseURL === 'string' && options.baseURL !== '' ? options.baseURL : undefined;
	const target =
		typeof address === 'string' && URL.canParse(address, base) ? new URL(address, base) : undefined;
	if (target?.origin === baseUrl.origin) return;
	throw new Failure({
		kind: 'input',
		cause: 'input',
		message: `This credential is for ${baseUrl.origin} only`,
		remedy:
			target === undefined
				? 'The request has no valid address. Nothing was sent.'
				: `The request leads to ${target.origin}. Nothing was sent. Use an address of the platform, or another credential.`,
	});
}

/** No redirect takes the credential along, and certificates are checked unless the user said otherwise. */
function keepAtHome(options: IHttpRequestOptions, skipCertificateCheck: boolean): void {
	options.disableFollowRedirect = true;
	options.maxRedirects = 0;
	options.sendCredentialsOnCrossOriginRedirect = false;
	// The same two for n8n's older request function.
	Object.assign(options, { followRedirect: false, followAllRedirects: false });
	if (skipCertificateCheck) {
		options.skipSslCertificateValidation = true;
		Object.assign(options, { rejectUnauthorized: false });
	}
}
