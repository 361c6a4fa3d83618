/**
 * Checks the credential before anything is sent, once for each of n8n's objects. A Credential has typed fields, the account that they
 * belong to, the token and the function that removes secrets from text. It doesn't sign in and doesn't remember tokens.
 */
import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject as CredentialData } from 'n8n-workflow';
import { z } from 'zod/v4';

import { parseBaseUrl } from '../../core/baseUrl';
import { inputFailure } from '../../core/failure';
import { keepsDigits } from '../../core/json';
import { type Redact, redactor } from '../../core/redaction';
import {
	AUTHENTICATION,
	type FieldName,
	fieldsOf,
	KEY_PLACES,
	type Kind,
	PASSWORD_FORMATS,
	SECRETS,
} from './credentialForm';

/** Name of the credential type, as workflows store it. */
export const CREDENTIAL_TYPE = 'deviceManagementApi';

/** Text, or a number from an expression. Each schema has the label of its field as its message. */
const text = (label: string, fallback = '') =>
	z
		.union([z.string(), z.number().refine(keepsDigits, label)], label)
		.transform(String)
		.default(fallback);
/** People paste these with spaces and line breaks around them. */
const trimmed = (label: string, fallback?: string) => text(label, fallback).transform((value) => value.trim());
const valuesOf = <T extends string>(choices: readonly { value: T }[]) => choices.map(({ value }) => value);

/** Fields that only unusual platforms need, with the form's defaults. */
const customSignInSchema = z.object({
	apiKeyIn: z.enum(valuesOf(KEY_PLACES), 'Send Key In').default('header'),
	apiKeyName: trimmed('Key Name', 'Authorization'),
	apiKeyPrefix: trimmed('Key Prefix', 'ApiKey'),
	passwordFormat: z.enum(valuesOf(PASSWORD_FORMATS), 'Password Format').default('plain'),
	loginPath: trimmed('Login Path', '/api/user/login'),
	tokenPath: trimmed('Token Path'),
});

/** The credential as n8n stores it. A field that an older n8n or an import left out gets the form's default. */
const storedSchema = customSignInSchema
	.extend({
		baseUrl: text('Base URL'),
		authentication: z.enum(valuesOf(AUTHENTICATION), 'Authentication').default('apiKey'),
		apiKey: trimmed('API Key'),
		loginName: trimmed('Login Name'),
		password: text('Password'),
		customSignIn: z.boolean('My Platform Signs In Differently').default(false),
		allowUnauthorizedCerts: z.boolean('Ignore SSL Issues (Insecure)').default(false),
	})
	// The form hides these fields while the switch is off, so their stored values don't count.
	.transform((stored) => (stored.customSignIn ? stored : { ...stored, ...customSignInSchema.parse({}) }));

/** The fields that a sign-in adds. n8n writes them into the object that was read. */
const sessionSchema = z.object({ sessionToken: z.string().catch(''), sessionOwner: z.string().catch('') });
export type SessionFields = z.infer<typeof sessionSchema>;

/** The credential's fields (section 5 of the API document), of the right types but otherwise unchecked. */
export type StoredCredential = z.infer<typeof storedSchema>;

export interface Credential extends Readonly<ReturnType<typeof checkFields>> {
	/** n8n's object. n8n writes a new token into it. */
	readonly data: CredentialData;
	/** The token that the data has now; '' unless it belongs to this login. */
	readonly token: string;
	/** Removes the credential's secrets and the token that the data has now from text. */
	readonly redact: Redact;
	/** Returns the credential with another token, over a copy of the data. */
	withToken(token: string): Credential;
	/** Whether requests with it are only for their sign-in, and are never sent. */
	readonly isForSignIn: boolean;
	/** Returns the credential without a token, for a request that is only for its sign-in. */
	forSignIn(): Credential;
}

/** The owner in the data, and its copies, of a request that is only for its sign-in. No word, because messages lose password fields. */
const FOR_SIGN_IN = '(sign-in only)';

/** Credentials by n8n's object, so that each is parsed once. */
const known = new WeakMap<CredentialData, Credential>();

/** Returns the credential in n8n's decrypted data. Throws a Failure `input` that names the wrong field. */
export function credentialOf(data: CredentialData): Credential {
	return known.get(data) ?? credentialWith(data, checkFields(data));
}

function credentialWith(data: CredentialData, checked: ReturnType<typeof checkFields>): Credential {
	const { owner, digest } = checked;
	const credential: Credential = {
		...checked,
		data,
		get token() {
			const { sessionToken, sessionOwner } = sessionSchema.parse(data);
			return owner !== '' && sessionOwner === owner ? sessionToken : '';
		},
		redact: (text) => redactor([...textsIn(data, SECRETS), digest])(text),
		withToken: (token) => credentialWith({ ...data, sessionToken: token, sessionOwner: owner }, checked),
		// Read now: after the sign-in, n8n replaces the owner.
		isForSignIn: data['sessionOwner'] === FOR_SIGN_IN,
		forSignIn: () => credentialWith({ ...data, sessionToken: '', sessionOwner: FOR_SIGN_IN }, checked),
	};
	known.set(data, credential);
	return credential;
}

/** Texts by name, by the part of a request that they are added to. */
type Additions = Partial<Record<'headers' | 'query' | 'signIn', Record<string, string>>>;

/**
 * Returns what a credential adds to its requests (section 5 of the API document), and to the body of its sign-in: undefined for a
 * way without tokens. Nothing else sends secrets.
 */
export function additionsOf({ stored, token }: Pick<Credential, 'stored' | 'token'>): Additions {
	switch (stored.authentication) {
		case 'apiKey': {
			const { apiKey, apiKeyIn, apiKeyName, apiKeyPrefix } = stored;
			const key = { [apiKeyName]: apiKeyPrefix === '' ? apiKey : `${apiKeyPrefix} ${apiKey}` };
			return apiKeyIn === 'query' ? { query: key } : { headers: key };
		}
		case 'login': {
			const signIn = { loginName: stored.loginName, password: passwordDigest(stored) };
			return { headers: { Authorization: `Bearer ${token}` }, signIn };
		}
	}
}

/** Returns the password as it is sent (section 5): the MD5 of its UTF-8 bytes in lowercase hex. */
function passwordDigest(stored: StoredCredential): string {
	if (stored.passwordFormat === 'md5') return stored.password.trim().toLowerCase();
	return createHash('md5').update(stored.password, 'utf8').digest('hex');
}

/** Returns what is the same for all tokens of a credential. */
function checkFields(data: CredentialData) {
	const parsed = storedSchema.safeParse(data);
	if (!parsed.success) {
		throw inputFailure(
			`'${parsed.error.issues[0]?.message}' in the Device Management API credential has a value of the wrong type`,
			'Check the expression in this field and its result. Enter a long number as text.',
		);
	}
	const stored = parsed.data;
	const baseUrl = parseBaseUrl(stored.baseUrl);
	for (const [isWrong, message, remedy] of CHECKS[stored.authentication]) {
		if (isWrong(stored)) throw inputFailure(message, remedy);
	}
	const digest = stored.password === '' ? '' : passwordDigest(stored);
	const checked = { ...stored, baseUrl: baseUrl.href, password: digest };
	const values: Record<string, unknown> = checked satisfies Record<Exclude<FieldName, keyof SessionFields>, unknown>;
	const way = stored.authentication;
	const valuesOf = (...kinds: Kind[]) => fieldsOf(way, ...kinds).map((name) => values[name]);
	const sha256 = (all: unknown[]) => createHash('sha256').update(JSON.stringify(all)).digest('hex');
	return {
		baseUrl,
		stored,
		/** Whose devices the platform shows: the way to sign in, then the values that name the user. A key has none. */
		user: [way, ...valuesOf('user')],
		/** A digest of the fields that separate accounts. Credentials with the same one share tokens and waits. */
		accountDigest: sha256(valuesOf('address', 'user', 'secret', 'way')),
		/** A digest of the login that a token belongs to; '' for a way without tokens. n8n stores it encrypted, like the password. */
		owner: additionsOf({ stored, token: '' }).signIn ? sha256(valuesOf('address', 'user', 'secret')) : '',
		/** The password as it is sent; '' without one. */
		digest,
	};
}

/** Returns the texts and numbers in these fields of the data, at any depth. */
function textsIn(data: unknown, names: readonly string[], isText = false): string[] {
	if (typeof data !== 'object' || data === null) return isText ? [String(data ?? '')] : [];
	return Object.entries(data).flatMap(([name, value]) => textsIn(value, names, isText || names.includes(name)));
}

type Check = readonly [isWrong: (stored: StoredCredential) => boolean, message: string, remedy: string];

/** The checks of the fields for each way to sign in. The first one that applies names the wrong field. */
const CHECKS: Record<StoredCredential['authentication'], readonly Check[]> = {
	apiKey: [
		[
			({ apiKey }) => apiKey === '',
			"'API Key' in the Device Management API credential is empty",
			"Create a key in the platform's user interface and enter it there, or set 'Authentication' to 'Login'.",
		],
		[
			({ apiKeyName }) => apiKeyName === '',
			"'Key Name' in the Device Management API credential is empty",
			'Enter the name of the header or query parameter for the key, usually Authorization.',
		],
		[
			({ apiKeyIn, apiKeyName }) => apiKeyIn === 'header' && !/^[!#$%&'*+.^_`|~\w-]+$/.test(apiKeyName),
			"'Key Name' in the Device Management API credential can't be the name of a header",
			'Use letters, digits and hyphens only, like X-API-Key.',
		],
		[
			({ apiKeyIn, apiKeyPrefix, apiKey }) => apiKeyIn === 'header' && /[^\x20-\x7e]/.test(apiKeyPrefix + apiKey),
			"'API Key' or 'Key Prefix' in the Device Management API credential has a character that a header can't contain",
			'Copy the key again, without line breaks or other invisible characters.',
		],
	],
	login: [
		[
			({ loginName }) => loginName === '',
			"'Login Name' in the Device Management API credential is empty",
			'Enter the name that you sign in to the platform with.',
		],
		[
			({ password }) => password === '',
			"'Password' in the Device Management API credential is empty",
			"Enter the password, or its MD5 value if 'Password Format' is 'MD5'.",
		],
		[
			({ passwordFormat, password }) => passwordFormat === 'md5' && !/^[0-9a-f]{32}$/i.test(password.trim()),
			"'Password' in the Device Management API credential is not an MD5 value",
			"Enter 32 hexadecimal digits, or set 'Password Format' to 'Plain Text'.",
		],
		[
			({ loginPath }) => !/^\/[^/\\?#\s][^\\?#\s]*$/.test(loginPath),
			"'Login Path' in the Device Management API credential is not a path",
			'Enter a path on the platform that begins with a slash, usually /api/user/login.',
		],
	],
};
