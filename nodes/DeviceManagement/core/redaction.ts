const REDACTED = '•••';
const LONGEST_TEXT = 300;
/** Longer texts are cut before the search for secrets. */
const LONGEST_INPUT = 2_000;
/** Shorter secrets are not searched for in hex and base64: a few characters may be part of a word. */
const SHORTEST_IN_BYTES = 5;

/** Returns text from outside without secrets and control characters, at most 300 characters long. */
export type Redact = (text: string) => string;

/** Text from outside. It can't join a message as it is: reading it takes a function that removes secrets. */
export type Outside = (redact: Redact) => string;

/** Returns text from outside, after our own words if there is any text. */
export function outside(before: string, text: string): Outside {
	return (redact) => redact(text).replace(/^(?=.)/su, before);
}

/** Most characters that stand for one character of a secret: `\\\u0022` for a quote in JSON within JSON. */
const LONGEST_FORM = 9;
const HTML_NAMES = new Map(Object.entries({ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }));

/**
 * Returns the function that removes secrets from text before it becomes part of an error. It finds a secret that is plain,
 * URL-encoded, JSON-escaped (once and twice), HTML-escaped, in hex or in base64, in upper or lower case. Each character may
 * be escaped or not, because libraries differ. It doesn't find other nested encodings.
 * @param secrets keys, passwords, their digests and tokens
 */
export function redactor(secrets: readonly string[]): Redact {
	let pattern: RegExp | undefined;
	// The longest first: a secret may contain another one.
	const given = secrets.map((secret) => secret.trim()).filter((secret) => secret !== '');
	given.sort((one, other) => other.length - one.length);
	return (text) => {
		let clean: string;
		try {
			pattern ??= new RegExp(given.map(formsOf).join('|') || '(?!)', 'giu');
			clean = text.slice(0, LONGEST_INPUT).replace(pattern, REDACTED);
		} catch {
			// A pattern can be too long. The error would contain the secret.
			return REDACTED;
		}
		// The cut may have left part of a secret at the end, which no pattern finds.
		const longest = LONGEST_FORM * (given[0]?.length ?? 0);
		if (text.length > LONGEST_INPUT) clean = clean.slice(0, -longest || undefined);
		clean = clean.replace(/\p{Cc}+/gu, ' ').trim();
		return clean.length > LONGEST_TEXT ? `${clean.slice(0, LONGEST_TEXT)}…` : clean;
	};
}

function formsOf(secret: string): string {
	const bytes = Buffer.from(secret);
	const inBytes = bytes.length < SHORTEST_IN_BYTES ? [] : (['hex', 'base64', 'base64url'] as const);
	const forms = inBytes.map((form) => literally(bytes.toString(form).replace(/=+$/, '')));
	const text = secret.replace(/(\\+)([^\\]|$)|[^\\\w-]/gu, (all: string, before?: string, character?: string) =>
		formsAfter(before?.length ?? 0, character ?? all),
	);
	return [...new Set([text, ...forms])].join('|');
}

/**
 * Returns the pattern of a character and the backslashes before it. Backslashes of the text then belong to one character
 * only, which keeps the search fast. JSON doubles each backslash, and puts one before some characters.
 */
function formsAfter(backslashes: number, character: string): string {
	if (character === '.' && backslashes === 0) return '\\.';
	const before = `\\\\{${backslashes},${4 * backslashes + 3}}`;
	const encoded = backslashes === 0 ? before : `(?:${before}|(?:%5c|&#0?92;|&#x0?5c;){${backslashes}})`;
	return `${encoded}(?:${[...new Set(characterForms(character))].join('|')})`;
}

/** Returns the patterns of a character: plain, as in JSON without the backslash, in a URL, in a form and in HTML. */
function characterForms(character: string): string[] {
	if (/^\w?$/.test(character)) return [character];
	const units = character.split('').map((unit) => `u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
	const point = character.codePointAt(0) ?? 0;
	return [
		literally(character),
		JSON.stringify(character).slice(1, -1).replace(/^\\/, '').replace(/\W/g, literally),
		units.join('\\\\{1,2}'),
		Buffer.from(character).toString('hex').replace(/../g, '%$&'),
		`&(?:#0?${point}|#x0?${point.toString(16)}|${HTML_NAMES.get(character) ?? '#'});`,
		...(character === ' ' ? ['\\+'] : []),
	];
}

const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, (mark) => `\\${mark}`);
