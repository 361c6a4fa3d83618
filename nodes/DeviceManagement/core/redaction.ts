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
 * @returns text of at most 300 characters in which each secret, however it is encoded, is replaced; one of less than 5 bytes
 * is not looked for in base64
 */
export function redactor(secrets: readonly string[]): Redact {
	const given = new Set(secrets.map((secret) => secret.trim()).filter((secret) => secret !== ''));
	// Longest first: a secret that contains another one leaves no rest behind.
	const ordered = [...given].sort((a, b) => b.length - a.length);
	const longestForm = LONGEST_FORM * (ordered[0]?.length ?? 0);
	let patterns: RegExp[] | undefined;
	return (text) => {
		patterns ??= ordered.flatMap((secret) => [inAnyForm(secret), ...inBase64(secret)]);
		let clean = text.slice(0, LONGEST_INPUT);
		for (const pattern of patterns) clean = clean.replace(pattern, REDACTED);
		// The cut may have left the first part of a secret at the end, which no pattern finds.
		if (text.length > LONGEST_INPUT) clean = clean.slice(0, -longestForm || undefined);
		clean = clean.replace(/\p{Cc}+/gu, ' ').trim();
		return clean.length > LONGEST_TEXT ? `${clean.slice(0, LONGEST_TEXT)}…` : clean;
	};
}

/** Patterns for the names that HTML has for characters, and for the plus that forms have for a space. */
const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
	['&', ['&(?:amp;)+']],
	['<', ['&(?:amp;)*lt;']],
	['>', ['&(?:amp;)*gt;']],
	['"', ['&(?:amp;)*quot;']],
	["'", ['&(?:amp;)*apos;']],
	[' ', [String.raw`\+`]],
]);

/**
 * Finds a secret in plain text, in a URL, in JSON and in HTML, each within itself as often as may be; every encoder leaves
 * other characters as they are. Digests and percent-encodings come back in either case.
 */
function inAnyForm(secret: string): RegExp {
	const parts = secret.match(/\\+|[^\\]/gu) ?? [];
	const patterns = parts.map((part, index) => {
		if (part.startsWith('\\')) return BACKSLASHES;
		return formsOf(part, parts[index - 1]?.startsWith('\\') === true ? '' : BACKSLASHES);
	});
	return new RegExp(patterns.join(''), 'gi');
}

const BACKSLASH = String.raw`(?:\\u005c|\\|%(?:25)*5c|&(?:amp;)*#(?:0*92|x0*5c);)`;

/**
 * Any number of backslashes stands for any number of them: JSON within JSON doubles them. A run is taken whole; if there were
 * two ways to match one, a text of many would keep the search busy for ever.
 */
const BACKSLASHES = `(?<!${BACKSLASH})${BACKSLASH}+(?!${BACKSLASH})`;

/**
 * The forms of one character. No two of them match the same text, for the same reason.
 * @param escape what stands before an escape; nothing where the secret's own backslashes end here
 */
function formsOf(character: string, escape: string): string {
	const bytes = [...new TextEncoder().encode(character)].map((byte) => byte.toString(16).padStart(2, '0'));
	const codePoint = character.codePointAt(0) ?? 0;
	const json = JSON.stringify(character).slice(1, -1);
	const plain = [
		literally(character),
		bytes.map((byte) => `%(?:25)*${byte}`).join(''),
		`&(?:amp;)*#(?:0*${codePoint}|x0*${codePoint.toString(16)});`,
		...(NAMED.get(character) ?? []),
	].join('|');
	const escaped = [
		...(json.endsWith(character) ? [] : [literally(json.slice(1))]),
		character.replace(/[^]/g, (unit, index) => {
			const code = `u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
			return index === 0 ? code : BACKSLASHES + code;
		}),
	].join('|');
	// JSON may put a backslash before these.
	const before = /["'/]/.test(character) && escape !== '' ? `(?:${escape})?` : '';
	return `(?:${before}(?:${plain})|${escape}(?:${escaped}))`;
}

/** Shorter secrets are not looked for in base64, where a few characters could as well be a word. */
const SHORTEST_IN_BASE64 = 5;

/**
 * Finds a secret in base64, standard or url-safe. What its bytes become depends on how many stand before them, by threes; the
 * characters at either end may hold bits of a neighbour, too, and go with it.
 */
function inBase64(secret: string): RegExp[] {
	const texts = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]);
	return [...texts].flatMap((text) => {
		const bytes = new TextEncoder().encode(text);
		if (bytes.length < SHORTEST_IN_BASE64) return [];
		return [0, 1, 2].map((before) => {
			const end = ((before + bytes.length) * 8) / 6;
			const encoded = Buffer.concat([new Uint8Array(before), bytes]).toString('base64');
			const whole = [...encoded.slice(Math.ceil((before * 8) / 6), Math.floor(end))].map(inBase64Alphabets).join('');
			return new RegExp(`${before === 0 ? '' : `${ANY_BASE64}?`}${whole}${Number.isInteger(end) ? '' : `${ANY_BASE64}?`}`, 'g');
		});
	});
}

const ANY_BASE64 = '(?:[A-Za-z0-9+/_-]|%(?:25)*2[BbFf])';

function inBase64Alphabets(character: string): string {
	if (character === '+') return '(?:[+-]|%(?:25)*2[Bb])';
	return character === '/' ? String.raw`(?:\\?/|_|%(?:25)*2[Ff])` : character;
}

function literally(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
