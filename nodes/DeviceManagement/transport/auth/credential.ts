/**
 * Checks the credential before anything is sent, once for each of n8n's objects. A Credential has typed fields, the account that they
 * belong to, the token and the function that removes secrets from text. It doesn't sign in and doesn't remember tokens.
 */
import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject as CredentialData, INodeProperties as Field } from 'n8n-workflow';
import { z } from 'zod/v4';

import { parseBaseUrl } from '../../core/baseUrl';
import { inputFailure } from '../../core/failure';
import { keepsDigits } from '../../core/json';
import { redactor } from '../../core/redaction';
import {
	AUTHENTICATION,
	type FieldName,
	fields,
	fieldsOf,
	KEY_PLACES,
	type Kind,
	PASSWORD_FORMATS,
	SECRETS,
} from './credentialForm';

/** Name of the credential type, as workflows store it. */
export const CREDENTIAL_TYPE = 'deviceManagementApi';

/** Text, or a number from an expression. */
const text = z.union([z.string(), z.number().refine(keepsDigits)]).transform(String);
/** People paste these with spaces and line breaks around them. */
const trimmed = text.transform((value) => value.trim());
/** A copied key may also contain invisible characters, like U+200B. */
const visible = text.transform((value) => value.replace(/\p{Cf}/gu, '').trim());
const valueOf = <T extends string>(choices: readonly { value: T }[]) => z.enum(choices.map(({ value }) => value));

/** The types of the credential's fields, those that only unusual platforms need first. */
const storedSchema = z.object({
	apiKeyIn: valueOf(KEY_PLACES),
	apiKeyName: trimmed,
	apiKeyPrefix: trimmed,
	passwordFormat: valueOf(PASSWORD_FORMATS),
	loginPath: trimmed,
	tokenPath: trimmed,
	baseUrl: text,
	authentication: valueOf(AUTHENTICATION),
	apiKey: visible,
	loginName: trimmed,
	password: text,
	customSignIn: z.boolean(),
	allowUnauthorizedCerts: z.boolean(),
} satisfies Record<Exclude<FieldName, keyof SessionFields>, unknown>);

/** The fields that a sign-in adds. n8n writes them into the object that was read. */
const sessionSchema = z.object({ sessionToken: z.string().catch(''), sessionOwner: z.string().catch('') });
export type SessionFields = z.infer<typeof sessionSchema>;

/** The credential's fields (section 5 of the API document), of the right types but otherwise unchecked. */
export type StoredCredential = z.infer<typeof storedSchema>;

export interface Credential extends Readonly<ReturnType<typeof credentialWith>> {
	/** n8n's object. n8n writes a new token into it. */
	readonly data: CredentialData;
}

/** The owner in the data, and its copies, of a request that is only for its sign-in. No word, because messages lose password fields. */
const FOR_SIGN_IN = '(sign-in only)';

/** Credentials by n8n's object, so that each is parsed once. */
const known = new WeakMap<CredentialData, Credential>();

/** Returns the credential in n8n's decrypted data. Throws a Failure `input` that names the wrong field. */
export function credentialOf(data: CredentialData): Credential {
	return known.get(data) ?? credentialWith(data, checkFields(data));
}

function credentialWith(data: CredentialData, checked: ReturnType<typeof checkFields>) {
	const { stored, owner, digest } = checked;
	const credential = {
		...checked,
		data,
		/** The token that the data has now; '' unless it belongs to this login. */
		get token(): string {
			const { sessionToken, sessionOwner } = sessionSchema.parse(data);
			return owner !== '' && sessionOwner === owner ? sessionToken : '';
		},
		/** Removes the credential's secrets and the token that the data has now from text. */
		redact: (text: string): string => redactor([...textsIn(data, SECRETS), stored.apiKey, digest])(text),
		/** Returns the credential with another token, over a copy of the data. */
		withToken: (token: string): Credential =>
			credentialWith({ ...data, sessionToken: token, sessionOwner: owner }, checked),
		/** Whether requests with it are only for their sign-in, and are never sent. Read now: n8n replaces the owner then. */
		isForSignIn: data['sessionOwner'] === FOR_SIGN_IN,
		/** Returns the credential without a token, for a request that is only for its sign-in. */
		forSignIn: (): Credential => credentialWith({ ...data, sessionToken: '', sessionOwner: FOR_SIGN_IN }, checked),
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
export function additionsOf({
	stored,
	token,
	digest,
}: Record<'token' | 'digest', string> & { stored: StoredCredential }): Additions {
	switch (stored.authentication) {
		case 'apiKey': {
			const { apiKey, apiKeyIn, apiKeyName, apiKeyPrefix } = stored;
			const key = { [apiKeyName]: apiKeyPrefix === '' ? apiKey : `${apiKeyPrefix} ${apiKey}` };
			return apiKeyIn === 'query' ? { query: key } : { headers: key };
		}
		case 'login': {
			const signIn = { loginName: stored.loginName, password: digest };
			return { headers: { Authorization: `Bearer ${token}` }, signIn };
		}
	}
}

/** Returns what is the same for all tokens of a credential. */
function checkFields(data: CredentialData) {
	const parsed = storedSchema.safeParse(Object.fromEntries(fields.map((field) => [field.name, valueIn(data, field)])));
	if (!parsed.success) {
		const label = labelOf(parsed.error.issues[0]?.path[0]);
		const remedy = 'Check the expression in this field and its result. Enter a long number as text.';
		throw refusal(label, 'has a value of the wrong type', remedy);
	}
	const stored = { ...parsed.data, apiKey: withoutNames(parsed.data) };
	const baseUrl = parseBaseUrl(stored.baseUrl);
	checkWay(stored);
	const { authentication: way, password, passwordFormat } = stored;
	const md5 = () => createHash('md5').update(password, 'utf8').digest('hex');
	const digest = password === '' ? '' : passwordFormat === 'md5' ? password.trim().toLowerCase() : md5();
	const values: Record<string, unknown> = { ...stored, baseUrl: baseUrl.href, password: digest };
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
		owner: additionsOf({ stored, token: '', digest }).signIn ? sha256(valuesOf('address', 'user', 'secret')) : '',
		/** The password as it is sent (section 5): the MD5 of its UTF-8 bytes in lowercase hex; '' without one. */
		digest,
	};
}

/** Returns the key without the name and the prefix before it, which people copy with it. */
function withoutNames({ apiKey, apiKeyName, apiKeyPrefix }: StoredCredential): string {
	return [`${apiKeyName}:`, `${apiKeyPrefix} `].reduce(
		(key, before) => (key.toLowerCase().startsWith(before.toLowerCase()) ? key.slice(before.length).trim() : key),
		apiKey,
	);
}

/**
 * Returns the value of a field: the form's default for one that an older n8n or an import left out, and while the switch
 * 'My Platform Signs In Differently' hides the field.
 */
function valueIn(data: CredentialData, { name, displayOptions, default: byDefault }: Field): unknown {
	const isHidden = displayOptions?.show?.['customSignIn'] !== undefined && data['customSignIn'] !== true;
	const value = isHidden ? undefined : data[name];
	return value === undefined ? byDefault : value;
}

const labelOf = (name: unknown) => `'${fields.find((field) => field.name === name)?.displayName}'`;

const refusal = (label: string, what: string, remedy: string) =>
	inputFailure(`${label} in the Device Management API credential ${what}`, remedy);

/** What to enter in a field that must not be empty. */
const REQUIRED = {
	apiKey: "Create a key in the platform's user interface and enter it there, or set 'Authentication' to 'Login'.",
	apiKeyName: 'Enter the name of the header or query parameter for the key, usually Authorization.',
	loginName: 'Enter the name that you sign in to the platform with.',
	password: "Enter the password, or its MD5 value if 'Password Format' is 'MD5'.",
};

/** Checks the fields of the way to sign in. Throws a Failure `input` that names the first wrong one. */
function checkWay(stored: StoredCredential): void {
	const { authentication: way, apiKeyIn, apiKeyName, apiKeyPrefix, apiKey, passwordFormat } = stored;
	const shown = fieldsOf(way, 'user', 'secret', 'way');
	for (const [name, remedy] of Object.entries(REQUIRED)) {
		if (shown.includes(name) && Reflect.get(stored, name) === '') throw refusal(labelOf(name), 'is empty', remedy);
	}
	if (way === 'apiKey' && apiKeyIn === 'header') {
		if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(apiKeyName)) {
			const remedy = 'Use letters, digits and hyphens only, like X-API-Key.';
			throw refusal("'Key Name'", "can't be the name of a header", remedy);
		}
		if (/[^\x20-\x7e]/.test(apiKeyPrefix + apiKey)) {
			const remedy = 'Copy the key again, without line breaks or other invisible characters.';
			throw refusal("'API Key' or 'Key Prefix'", "has a character that a header can't contain", remedy);
		}
	}
	if (way === 'login') {
		if (passwordFormat === 'md5' && !/^[0-9a-f]{32}$/i.test(stored.password.trim())) {
			const remedy = "Enter 32 hexadecimal digits, or set 'Password Format' to 'Plain Text'.";
			throw refusal("'Password'", 'is not an MD5 value', remedy);
		}
		if (!/^\/[^/\\?#\s][^\\?#\s]*$/.test(stored.loginPath)) {
			const remedy = 'Enter a path on the platform that begins with a slash, usually /api/user/login.';
			throw refusal("'Login Path'", 'is not a path', remedy);
		}
	}
}

/** Returns the texts and numbers in these fields of the data, at any depth. */
function textsIn(data: unknown, names: readonly string[], isText = false): string[] {
	if (typeof data !== 'object' || data === null) return isText ? [String(data ?? '')] : [];
	return Object.entries(data).flatMap(([name, value]) => textsIn(value, names, isText || names.includes(name)));
}
