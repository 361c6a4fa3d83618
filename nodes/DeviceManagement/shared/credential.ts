import { createHash } from 'crypto';
import { z } from 'zod/v4';

import { type BaseUrl, parseBaseUrl } from '../core/baseUrl';
import { inputFailure } from '../core/failure';
import { type Redact, redactor } from '../core/redaction';

/** Name of the credential type, as workflows store it. */
export const CREDENTIAL_TYPE = 'deviceManagementApi';

const text = z.string().default('');

/** What n8n stores for the credential; what an older n8n or an import left out gets the form's default. */
const storedSchema = z.object({
	baseUrl: text,
	authentication: z.enum(['apiKey', 'login']).default('apiKey'),
	apiKey: text,
	apiKeyIn: z.enum(['header', 'query']).default('header'),
	apiKeyName: z.string().default('Authorization'),
	apiKeyPrefix: z.string().default('ApiKey'),
	loginName: text,
	password: text,
	passwordFormat: z.enum(['plain', 'md5']).default('plain'),
	loginPath: z.string().default('/api/user/login'),
	tokenPath: text,
	allowUnauthorizedCerts: z.boolean().default(false),
	sessionToken: text,
	sessionOwner: text,
});

/** The credential's fields (section 5 of the API document), not yet checked for sense. */
export type StoredCredential = z.infer<typeof storedSchema>;

/** A credential that is fit to be used, and where it leads. */
export interface Credential {
	readonly baseUrl: BaseUrl;
	readonly stored: StoredCredential;
	/** Removes this credential's secrets from text that comes from outside. */
	readonly redact: Redact;
}

/**
 * Reads and checks a credential before anything is sent with it.
 * @param data the decrypted credential as n8n hands it out
 * @throws Failure `input` naming the field that has to change
 */
export function readCredential(data: unknown): Credential {
	const parsed = storedSchema.safeParse(data);
	if (!parsed.success) {
		const field = String(parsed.error.issues[0]?.path[0] ?? '');
		throw inputFailure(
			`The field "${field}" of the Device Management API credential holds a value of the wrong kind`,
			'Open the credential, enter the value again and save it.',
		);
	}
	const stored = parsed.data;
	const baseUrl = parseBaseUrl(stored.baseUrl);
	if (stored.authentication === 'apiKey') checkApiKey(stored);
	else checkLogin(stored);
	return { baseUrl, stored, redact: redactor(secretsOf(stored)) };
}

/** The form of the password that the login takes (section 5): lowercase MD5 of its UTF-8 bytes. */
export function passwordDigest(stored: StoredCredential): string {
	if (stored.passwordFormat === 'md5') return stored.password.trim().toLowerCase();
	return createHash('md5').update(stored.password, 'utf8').digest('hex');
}

/**
 * Tells which login a token belongs to, so that a token is not used after the address, the user or the password
 * in the credential was changed. It is stored beside the password, in the same encrypted credential.
 */
export function sessionOwner(stored: StoredCredential): string {
	const login = [
		stored.baseUrl.trim(),
		stored.loginPath.trim(),
		stored.tokenPath.trim(),
		stored.loginName,
		passwordDigest(stored),
	];
	return createHash('sha256').update(JSON.stringify(login)).digest('hex');
}

/** The stored token where it belongs to this login; '' where there is none or the login was changed since. */
export function currentToken(stored: StoredCredential): string {
	// A token without an owner was put there by other means than this package's login: it is given a try.
	const ours = stored.sessionOwner === '' || stored.sessionOwner === sessionOwner(stored);
	return ours ? stored.sessionToken : '';
}

function checkApiKey(stored: StoredCredential): void {
	if (stored.apiKey.trim() === '') {
		throw inputFailure(
			"'API Key' in the Device Management API credential is empty",
			"Create a key in the platform's user interface and enter it there, or set 'Authentication' to 'Login'.",
		);
	}
	if (stored.apiKeyName.trim() === '') {
		throw inputFailure(
			"'Name' of the API key in the Device Management API credential is empty",
			'Enter the name of the header or query parameter that carries the key, usually Authorization.',
		);
	}
	if (stored.apiKeyIn === 'query') return;
	if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(stored.apiKeyName.trim())) {
		throw inputFailure(
			"'Name' of the API key in the Device Management API credential can't be the name of a header",
			'Use letters, digits and hyphens only, like X-API-Key.',
		);
	}
	if (/[^\x20-\x7e]/.test(`${stored.apiKeyPrefix}${stored.apiKey.trim()}`)) {
		throw inputFailure(
			"'API Key' or 'Prefix' in the Device Management API credential holds a character that a header can't carry",
			'Copy the key again, without line breaks or other invisible characters.',
		);
	}
}

function checkLogin(stored: StoredCredential): void {
	if (stored.loginName.trim() === '') {
		throw inputFailure(
			"'Login Name' in the Device Management API credential is empty",
			'Enter the name that you sign in to the platform with.',
		);
	}
	if (stored.password === '') {
		throw inputFailure(
			"'Password' in the Device Management API credential is empty",
			'Enter the password, or its MD5 value if you set the format to that.',
		);
	}
	if (stored.passwordFormat === 'md5' && !/^[0-9a-f]{32}$/i.test(stored.password.trim())) {
		throw inputFailure(
			"'Password' in the Device Management API credential is not an MD5 value",
			"Enter 32 hexadecimal digits, or set 'Password Format' to 'Plain Text'.",
		);
	}
	if (!/^\/[^/\\?#\s][^\\?#\s]*$/.test(stored.loginPath.trim())) {
		throw inputFailure(
			"'Login Path' in the Device Management API credential is not a path",
			'Enter a path on the platform that begins with a slash, usually /api/user/login.',
		);
	}
}

function secretsOf(stored: StoredCredential): string[] {
	return [
		stored.apiKey,
		stored.password,
		stored.password === '' ? '' : passwordDigest(stored),
		stored.sessionToken,
	];
}
