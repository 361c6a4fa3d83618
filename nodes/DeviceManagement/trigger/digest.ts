import { createHash } from 'crypto';

/** Characters of a digest: eleven of six bits hold 64. */
export const DIGEST_LENGTH = 11;

/** A short digest of a text, as base64url: the same for the same text everywhere and always. */
export function digest(text: string, length = DIGEST_LENGTH): string {
	return createHash('sha256').update(text, 'utf8').digest('base64url').slice(0, length);
}

/** JSON text in which the fields of every object stand in alphabetical order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
	return JSON.stringify(value, (_, field: unknown) => {
		if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
		return Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)));
	}) ?? 'null';
}
