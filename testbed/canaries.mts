import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

import { fields, SECRETS } from '../nodes/DeviceManagement/transport/auth/credentialForm.ts';

/** Unique texts; the first three with characters that look different in a URL, in JSON and in HTML. */
export const KEY = `canary-key zqkeyqzwx!'()*~/+=&%41"<é>`;
export const HEADER_KEY = `canary-key-zqkeyqzwx!'()*~/+=&%41"<>`;
export const PASSWORD = `canary-password zqpassqzwx!'()*~/+=&"<密>`;
export const MD5 = createHash('md5').update(PASSWORD, 'utf8').digest('hex');
export const TOKEN = 'canary-token.zqtokenqzwx-._~+/==';
export const RENEWED = 'canary-renewed.zqrenewedqzwx-._~+/==';

const KNOWN: Record<string, string> = { apiKey: HEADER_KEY, password: PASSWORD, sessionToken: TOKEN };
/** A canary in every secret field of the form. */
export const CANARIES: Record<string, string> = Object.fromEntries(
	SECRETS.map((name) => [name, KNOWN[name] ?? `canary-zq${name.toLowerCase()}qzwx`]),
);
const texts = fields.filter(({ required, name }) => required === true && CANARIES[name] === undefined);
/** The canaries, and a text in each other field that is required. */
export const filled: Record<string, string> = {
	...Object.fromEntries(texts.map(({ name }) => [name, 'demo'])),
	...CANARIES,
};

const traceOf = (canary = '') => /zq\w+zwx/.exec(canary)?.[0] ?? canary;
/** What must be found nowhere: the unique part of every canary survives any encoding, the MD5 in either case. */
export const TRACES = [traceOf(RENEWED), MD5, ...Object.values(CANARIES).map(traceOf)];

/** Returns the traces of what requests send with a way to sign in: each of its secrets, a password as its MD5. */
export function tracesOfWay(way: string): string[] {
	return [way === 'login' ? MD5 : traceOf(CANARIES['apiKey'])];
}

/** Everything of a value, at any depth: hidden fields, symbols, causes, stacks, prototypes' getters. */
export function everything(value: unknown): string {
	const all = { depth: null, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null };
	return inspect(value, all).toLowerCase();
}
