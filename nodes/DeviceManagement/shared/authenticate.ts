import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';

import { Failure } from '../core/failure';
import { type Credential, currentToken } from './credential';

/**
 * Makes n8n sign in again: its request functions look at this field of what `authenticate` throws, as they would at
 * an answer with HTTP 401.
 */
class SignInNeeded extends Error {
	readonly response = { status: 401 };
}

/** Marks the credential test's request. It never leaves n8n. */
export const TEST_MARK = 'x-credential-test';

/**
 * Puts the key or token into a request (section 5 of the API document). It serves this package's nodes, n8n's HTTP
 * Request node and the credential test alike.
 * @param credential the checked credential
 * @param options the request, in n8n's form or in that of its older request function; changed in place
 * @param justSignedIn whether the token was issued for this very request
 * @throws Failure `input` when the request leads anywhere else than the base URL's origin;
 * an error that makes n8n sign in when there is no token for this login
 */
export function authenticate(
	credential: Credential,
	options: IHttpRequestOptions,
	justSignedIn: boolean,
): IHttpRequestOptions {
	const { stored } = credential;
	checkTarget(credential, options);
	const isTest = options.headers?.[TEST_MARK] !== undefined;
	if (stored.authentication === 'login') {
		const token = currentToken(stored);
		// A test asks whether the password is right, which a token from yesterday does not tell; and one that has
		// died since would fail a test of the right password.
		if (token === '' || (isTest && !justSignedIn)) throw new SignInNeeded('There is no token for this login yet');
		setHeader(options, 'Authorization', `Bearer ${token}`);
	} else {
		const prefix = stored.apiKeyPrefix.trim();
		const key = stored.apiKey.trim();
		const value = prefix === '' ? key : `${prefix} ${key}`;
		const name = stored.apiKeyName.trim();
		if (stored.apiKeyIn === 'query') options.qs = { ...queryOf(options), [name]: value };
		else setHeader(options, name, value);
	}
	delete options.headers?.[TEST_MARK];
	keepAtHome(options, stored.allowUnauthorizedCerts);
	return options;
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
