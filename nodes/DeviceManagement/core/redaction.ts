const REDACTED = '•••';
const LONGEST_TEXT = 300;
/** Far more than is shown. */
const LONGEST_INPUT = 100_000;
/** Characters that one character of a secret can take up when it is encoded. */
const LONGEST_FORM = 24;

/** Makes text that came from outside fit to be shown: no secret, no control characters, bounded. */
export type Redact = (text: string) => string;

/**
 * Builds the function that every text from outside passes before it reaches an error.
 * @param secrets keys, passwords, their digests and tokens; empty ones are left out
 * @returns text of at most 300 characters in which each secret, however it is encoded, is replaced
 */
export function redactor(secrets: readonly string[]): Redact {
	const given = new Set(secrets.map((secret) => secret.trim()).filter((secret) => secret !== ''));
	// Longest first: a secret that contains another one leaves no rest behind.
	const ordered = [...given].sort((a, b) => b.length - a.length);
	const longestForm = LONGEST_FORM * (ordered[0]?.length ?? 0);
	let patterns: RegExp[] | undefined;
	return (text) => {
		patterns ??= ordered.map(inAnyForm);
		let clean = text.slice(0, LONGEST_INPUT);
		for (const pattern of patterns) clean = clean.replace(pattern, REDACTED);
		// The cut may have left the first part of a secret at the end, which no pattern finds.
		if (text.length > LONGEST_INPUT) clean = clean.slice(0, -longestForm || undefined);
		clean = clean.replace(/\p{Cc}+/gu, ' ').trim();
		return clean.length > LONGEST_TEXT ? `${clean.slice(0, LONGEST_TEXT)}…` : clean;
	};
}

/** Names that HTML has for characters, and the plus that forms have for a space. */
const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
	['&', ['&amp;']],
	['<', ['&lt;']],
	['>', ['&gt;']],
	['"', ['&quot;']],
	["'", ['&apos;']],
	[' ', ['+']],
]);

/**
 * Finds a secret in plain text, in a URL (encoded once or twice), in JSON and in HTML, where each encoder leaves other
 * characters as they are. Digests and percent-encodings come back in either case.
 */
function inAnyForm(secret: string): RegExp {
	const parts = secret.match(/\\+|[^\\]/gu) ?? [];
	return new RegExp(parts.map((part) => (part.startsWith('\\') ? BACKSLASHES : formsOf(part))).join(''), 'gi');
}

/**
 * Any number of backslashes stands for any number of them, and a run is taken whole: if there were two ways to match
 * one, a text of many would keep the search busy for ever.
 */
const BACKSLASHES = String.raw`(?<!\\)(?:\\|%(?:25)?5c|\\u005c|&#(?:92|x5c);)+(?!\\)`;

/** The forms of one character. No two of them match the same text, for the same reason. */
function formsOf(character: string): string {
	const bytes = [...new TextEncoder().encode(character)].map((byte) => byte.toString(16).padStart(2, '0'));
	const codePoint = character.codePointAt(0) ?? 0;
	const json = JSON.stringify(character).slice(1, -1);
	const forms = [
		// JSON may put a backslash before these.
		/["'/]/.test(character) ? String.raw`\\?` + literally(character) : literally(character),
		...(json.endsWith(character) ? [] : [literally(json)]),
		bytes.map((byte) => `%(?:25)?${byte}`).join(''),
		character.replace(/[^]/g, (unit) => String.raw`\\u` + unit.charCodeAt(0).toString(16).padStart(4, '0')),
		`&#0*${codePoint};`,
		`&#x0*${codePoint.toString(16)};`,
		...(NAMED.get(character) ?? []).map(literally),
	];
	return `(?:${[...new Set(forms)].join('|')})`;
}

function literally(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
