/**
 * The credential's part of a request: it adds the key or token, and makes n8n sign in if there is no token. It refuses other hosts
 * and forbids redirects.
 */
import type { ICredentialDataDecryptedObject as CredentialData, IHttpRequestOptions } from 'n8n-workflow';

import { inputFailure } from '../../core/failure';
import { accountOf } from '../account';
import type { Send } from '../exchange';
import { currentClock } from '../waiting/clock';
import { type Credential, credentialOf, type SessionFields } from './credential';
import { signIn } from './signIn';

/** Makes n8n sign in: its request functions treat this error of `authenticate` like HTTP 401. */
class SignInNeeded extends Error {
	readonly response = { status: 401 };
}

/** Ends a request that is only for its sign-in, after n8n has stored the token. */
export class SignedIn extends Error {}

/** A platform may need a second to know a new token, and n8n sends a connection test at once. */
const MOMENT_MS = 1000;

/** Mark the connection test's request, and one that is only for its sign-in. They never leave n8n. */
export const TEST_MARK = 'x-credential-test';
export const SIGN_IN_MARK = 'x-sign-in-only';

/**
 * Adds the key or token to a request of a node, n8n's HTTP Request node or the connection test (section 5 of the API document).
 * @param options the request, for n8n's current or older request function; changed in place
 * @throws Failure for another origin than the base URL's, and for a sign-in that was refused recently; SignInNeeded; SignedIn
 */
export async function authenticate(data: CredentialData, options: IHttpRequestOptions): Promise<IHttpRequestOptions> {
	const credential = credentialOf(data);
	checkTarget(credential, options);
	const { [TEST_MARK]: testMark, [SIGN_IN_MARK]: signInMark, ...given } = options.headers ?? {};
	if (credential.signsIn) {
		const account = accountOf(credential);
		const refusal = account.recentRefusal();
		if (testMark !== undefined && refusal !== undefined) {
			account.forgetRefusal();
			throw new SignInNeeded('A connection test asks again');
		}
		if (credential.token === '') throw refusal ?? new SignInNeeded('There is no token for this login yet');
		if (signInMark !== undefined) throw new SignedIn();
		if (testMark !== undefined) await currentClock().sleep(MOMENT_MS, new AbortController().signal);
	}
	const { headers = {}, query } = credential.additions();
	const replaced = Object.keys(headers).map((name) => name.toLowerCase());
	const others = Object.entries(given).filter(([name]) => !replaced.includes(name.toLowerCase()));
	options.headers = { ...Object.fromEntries(others), ...headers };
	// n8n's older request function also accepts text.
	const qs: unknown = options.qs;
	const givenQuery = typeof qs === 'string' ? Object.fromEntries(new URLSearchParams(qs)) : options.qs;
	if (query !== undefined) options.qs = { ...givenQuery, ...query };
	// Keeps the credential on the platform's host. n8n's older request function has other names for these options.
	Object.assign(options, { disableFollowRedirect: true, followRedirect: false, followAllRedirects: false });
	const insecure = { skipSslCertificateValidation: true, rejectUnauthorized: false };
	return credential.stored.allowUnauthorizedCerts ? Object.assign(options, insecure) : options;
}

/**
 * Returns a token for a login that has none, or whose token was refused, or for a connection test, which has to prove the password: one
 * that another request has just got, or a new one.
 * @param data n8n passes the same object to {@link authenticate} next
 * @returns the fields that n8n stores with the credential; none for an API key, or after a sign-in that was refused recently
 * @throws Failure with the reason why there is no token
 */
export async function preAuthenticate(data: CredentialData, send: Send): Promise<Partial<SessionFields>> {
	const credential = credentialOf(data);
	if (!credential.signsIn) return {};
	const account = accountOf(credential);
	const { token } = account;
	if (token !== undefined && token.value !== data['sessionToken'] && account.isJustIssued(token)) {
		return credential.sessionWith(token.value);
	}
	if (account.recentRefusal() !== undefined) return {};
	await account.once('sign-in', async () => {
		account.checkSignIns();
		account.takeIssued(await signIn(credential, send));
	});
	return credential.sessionWith(account.token?.value ?? '');
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
			? 'Nothing was sent. Enter a valid address.'
			: `Nothing was sent to ${target.origin}. Use an address of the platform, or another credential.`;
	throw inputFailure(`This credential is for ${baseUrl.origin} only`, remedy);
}
