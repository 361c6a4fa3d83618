const REDACTED = '•••';
const LONGEST_TEXT = 300;
/** Longer texts are cut before the search for secrets. */
const LONGEST_INPUT = 100_000;
/** Shorter secrets are not searched for in hex and base64: a few characters may be part of a word. */
const SHORTEST_IN_BYTES = 5;

/** Returns text from outside without secrets and control characters, at most 300 characters long. */
export type Redact = (text: string) => string;

/**
 * Returns the function that removes secrets from text before it becomes part of an error. It finds a secret that is plain,
 * URL-encoded, JSON-escaped (once and twice), HTML-escaped, in hex or in base64, in upper or lower case. It doesn't find
 * other nested encodings.
 * @param secrets keys, passwords, their digests and tokens
 */
export function redactor(secrets: readonly string[]): Redact {
	let forms: string[] | undefined;
	return (text) => {
		forms ??= formsOf(secrets);
		let clean = text.slice(0, LONGEST_INPUT);
		if (forms.length > 0) clean = clean.replace(new RegExp(forms.map(literally).join('|'), 'giu'), REDACTED);
		// The cut may have left part of a secret at the end, which no pattern finds.
		if (text.length > LONGEST_INPUT) clean = clean.slice(0, -(forms[0]?.length ?? 0) || undefined);
		clean = clean.replace(/\p{Cc}+/gu, ' ').trim();
		return clean.length > LONGEST_TEXT ? `${clean.slice(0, LONGEST_TEXT)}…` : clean;
	};
}

/** Returns all forms of the secrets, the longest first: a secret may contain another one. */
function formsOf(secrets: readonly string[]): string[] {
	const given = secrets.map((secret) => secret.trim()).filter((secret) => secret !== '');
	return [...new Set(given.flatMap(encodings))].sort((one, other) => other.length - one.length);
}

function encodings(secret: string): string[] {
	const url = encodeURIComponent(secret.toWellFormed());
	const inUrls = [url, url.replace(/[!'()*]/g, percentEncoded), url.replaceAll('%20', '+')];
	const json = inJson(secret);
	// Some libraries escape more than they have to.
	const jsons = [
		json,
		json.replaceAll('/', '\\/'),
		json.replace(/[^ -~]/g, escaped),
		json.replace(/[<>&='+]/g, escaped),
	];
	const bytes = Buffer.from(secret);
	const inBytes = ['hex', 'base64', 'base64url'] as const;
	return [
		secret,
		...inUrls,
		...jsons,
		...jsons.map(inJson),
		...["'", '&#39;', '&#x27;', '&apos;'].map((apostrophe) => inHtml(secret, apostrophe)),
		...(bytes.length < SHORTEST_IN_BYTES ? [] : inBytes.map((form) => bytes.toString(form).replace(/=+$/, ''))),
	];
}

function inJson(text: string): string {
	return JSON.stringify(text).slice(1, -1);
}

function escaped(unit: string): string {
	return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function inHtml(text: string, apostrophe: string): string {
	const marks = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": apostrophe };
	return Object.entries(marks).reduce((escaped, [mark, name]) => escaped.replaceAll(mark, name), text);
}

function percentEncoded(character: string): string {
	return `%${character.charCodeAt(0).toString(16)}`;
}

function literally(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\/]/g, (mark) => `\\${mark}`);
}
