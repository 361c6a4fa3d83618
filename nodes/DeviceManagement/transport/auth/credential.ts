/**
 * Reads the credential, once for each of n8n's objects. It only checks what would fail without a clear message, or be sent to another host.
 */
import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject as CredentialData } from 'n8n-workflow';
import { z } from 'zod/v4';

import { parseBaseUrl } from '../../core/baseUrl';
import { inputFailure } from '../../core/failure';
import { keepsDigits } from '../../core/json';
import { redactor } from '../../core/redaction';
import { trimmed } from '../../core/text';
import { AUTHENTICATION, fields, KEY_PLACES, PASSWORD_FORMATS, SECRETS, valueIn } from './credentialForm';

export const CREDENTIAL_TYPE = 'deviceManagementApi';

/** Text, or a number from an expression. */
const text = z.union([z.string(), z.number().refine(keepsDigits)]).transform(String);
/** People paste these with spaces and line breaks around them. */
const plain = text.transform(trimmed);
/** A copied key may also contain invisible characters, like U+200B. */
const visible = text.transform((value) => value.replace(/\p{Cf}/gu, '').trim());
const valueOf = <T extends string>(choices: readonly { value: T }[]) => z.enum(choices.map(({ value }) => value));

const storedSchema = z.object({
	apiKeyIn: valueOf(KEY_PLACES),
	apiKeyName: plain,
	apiKeyPrefix: plain,
	passwordFormat: valueOf(PASSWORD_FORMATS),
	loginPath: plain,
	tokenPath: plain,
	baseUrl: text,
	authentication: valueOf(AUTHENTICATION),
	apiKey: visible,
	loginName: plain,
	password: text,
	customSignIn: z.boolean(),
	allowUnauthorizedCerts: z.boolean(),
});

/** The credential's fields (section 5 of the API document). */
type StoredCredential = z.infer<typeof storedSchema>;

/** The fields that a sign-in adds. n8n writes them into the object that was read. */
export type SessionFields = Record<'sessionToken' | 'sessionOwner', string>;

interface Meaning {
	stored: StoredCredential;
	baseUrl: ReturnType<typeof parseBaseUrl>;
	signsIn: boolean;
	/** The password as it is sent (section 5): the MD5 of its UTF-8 bytes in lowercase hex. */
	sentPassword: string;
	/** A digest of what separates accounts. Credentials with the same one share tokens and pauses. n8n stores it with the token. */
	accountKey: string;
}

export interface Credential extends Readonly<Meaning> {
	/** n8n's object. n8n writes a new token into it. */
	readonly data: CredentialData;
	/** The token that the data has now; '' unless it belongs to this login. */
	readonly token: string;
	/** Removes the credential's secrets and the token that the data has now from text. */
	redact(text: string): string;
	/** Returns the credential with another token, over a copy of the data. */
	withToken(token: string): Credential;
	sessionWith(token: string): SessionFields;
	/** Returns what requests carry (section 5). */
	additions(): Partial<Record<'headers' | 'query', Record<string, string>>>;
}

/** Credentials by n8n's object, so that each is parsed once. */
const known = new WeakMap<CredentialData, Credential>();

/** Returns the credential in n8n's decrypted data. Throws a Failure `input` that names the wrong field. */
export function credentialOf(data: CredentialData): Credential {
	return known.get(data) ?? credentialWith(data, meaningOf(data));
}

function credentialWith(data: CredentialData, meaning: Meaning): Credential {
	const { stored, signsIn, sentPassword, accountKey } = meaning;
	const textOf = (name: string) => (typeof data[name] === 'string' ? data[name] : '');
	const sessionWith = (token: string) => ({ sessionToken: token, sessionOwner: accountKey });
	const credential: Credential = {
		...meaning,
		data,
		get token() {
			return signsIn && textOf('sessionOwner') === accountKey ? textOf('sessionToken') : '';
		},
		redact: (text) => {
			const { apiKey, password } = stored;
			return redactor([...SECRETS.map(textOf), apiKey, password, sentPassword, accountKey])(text);
		},
		withToken: (token) => credentialWith({ ...data, ...sessionWith(token) }, meaning),
		sessionWith,
		additions: () => {
			if (signsIn) return { headers: { Authorization: `Bearer ${credential.token}` } };
			const { apiKey, apiKeyIn, apiKeyName, apiKeyPrefix } = stored;
			const key = { [apiKeyName]: apiKeyPrefix === '' ? apiKey : `${apiKeyPrefix} ${apiKey}` };
			return apiKeyIn === 'query' ? { query: key } : { headers: key };
		},
	};
	known.set(data, credential);
	return credential;
}

function meaningOf(data: CredentialData): Meaning {
	const parsed = storedSchema.safeParse(Object.fromEntries(fields.map((field) => [field.name, valueIn(data, field)])));
	if (!parsed.success) {
		const remedy = 'Check the expression in this field. Enter a long number as text.';
		throw refusal(labelOf(parsed.error.issues[0]?.path[0]), 'has a value of the wrong type', remedy);
	}
	const stored = { ...parsed.data, apiKey: withoutNames(parsed.data) };
	const { authentication: way, loginPath, tokenPath, loginName, password, passwordFormat } = stored;
	const { apiKey, apiKeyIn, apiKeyName, apiKeyPrefix } = stored;
	const baseUrl = parseBaseUrl(stored.baseUrl);
	checkWay(stored);
	const signsIn = way === 'login';
	const md5 = () => createHash('md5').update(password, 'utf8').digest('hex');
	const sentPassword = password === '' ? '' : passwordFormat === 'md5' ? password.trim().toLowerCase() : md5();
	const parts = signsIn
		? [baseUrl.href, loginPath, tokenPath, loginName, sentPassword]
		: [baseUrl.href, apiKey, apiKeyIn, apiKeyName, apiKeyPrefix, way];
	const accountKey = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
	return { stored, baseUrl, signsIn, sentPassword, accountKey };
}

/** Returns the key without the name and the prefix before it, which people copy with it. */
function withoutNames({ apiKey, apiKeyName, apiKeyPrefix }: StoredCredential): string {
	return [`${apiKeyName}:`, `${apiKeyPrefix} `].reduce(
		(key, before) => (key.toLowerCase().startsWith(before.toLowerCase()) ? key.slice(before.length).trim() : key),
		apiKey,
	);
}

const REQUIRED = {
	apiKey: {
		apiKey: "Enter a key from your platform, or set 'Authentication' to 'Login'.",
		apiKeyName: 'Enter the name of the header or query parameter for the key, usually Authorization.',
	},
	login: {
		loginName: 'Enter your user name on the platform.',
		password: "Enter the password, or its MD5 hash if 'Password Format' is 'MD5'.",
	},
};

/** Throws a Failure `input` for the first field of the way to sign in that can't be right. The platform refuses other values itself. */
function checkWay(stored: StoredCredential): void {
	const { authentication: way, apiKeyIn, apiKeyName, apiKeyPrefix, apiKey, passwordFormat } = stored;
	for (const [name, remedy] of Object.entries(REQUIRED[way])) {
		if (Reflect.get(stored, name) === '') throw refusal(labelOf(name), 'is empty', remedy);
	}
	if (way === 'apiKey' && apiKeyIn === 'header') {
		// Node.js would show the name of a header that isn't one: people enter the key there.
		if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(apiKeyName)) {
			const remedy = 'Use only letters, digits, and hyphens, like X-API-Key.';
			throw refusal("'Key Name'", "can't be the name of a header", remedy);
		}
		if (/[^\x20-\x7e]/.test(apiKeyPrefix + apiKey)) {
			const remedy = 'Copy the key again, without line breaks or invisible characters.';
			throw refusal("'API Key' or 'Key Prefix'", "has a character that can't be sent", remedy);
		}
	}
	if (way === 'login') {
		// A password that is called an MD5 value would be sent as it is.
		if (passwordFormat === 'md5' && !/^[0-9a-f]{32}$/i.test(stored.password.trim())) {
			const remedy = "Enter the 32-character hash, or set 'Password Format' to 'Plain Text'.";
			throw refusal("'Password'", "isn't an MD5 hash", remedy);
		}
		// Another path could name another host.
		if (!/^\/[^/\\?#\s][^\\?#\s]*$/.test(stored.loginPath)) {
			const remedy = 'Enter a path that starts with /, usually /api/user/login.';
			throw refusal("'Login Path'", "isn't a path", remedy);
		}
	}
}

const labelOf = (name: unknown) => `'${fields.find((field) => field.name === name)?.displayName}'`;

const refusal = (label: string, what: string, remedy: string) =>
	inputFailure(`${label} in the credential ${what}`, remedy);
