const REDACTED = '•••';
const LONGEST_TEXT = 300;
/** Far more than is shown. */
const LONGEST_INPUT = 100_000;
/** Characters that one character of a secret can take up when it is encoded. */
const LONGEST_FORM = 12;

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

const MARKUP: ReadonlyMap<string, readonly string[]> = new Map([
	['&', ['&amp;']],
	['<', ['&lt;']],
	['>', ['&gt;']],
	['"', ['&quot;', '&#34;']],
	["'", ['&apos;', '&#39;', '&#x27;']],
	[' ', ['+']],
]);

/**
 * Finds a secret in plain text, in a URL, in JSON and in HTML, where each encoder leaves other characters as they are.
 * Digests and percent-encodings come back in either case.
 */
function inAnyForm(secret: string): RegExp {
	const characters = [...secret].map((character) => {
		const bytes = [...new TextEncoder().encode(character)];
		const forms = [
			character,
			bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
			JSON.stringify(character).slice(1, -1),
			character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
			...(MARKUP.get(character) ?? []),
		];
		return `(?:${[...new Set(forms)].map(literally).join('|')})`;
	});
	return new RegExp(characters.join(''), 'gi');
}

function literally(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
