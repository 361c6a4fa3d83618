const REDACTED = '•••';
const LONGEST_TEXT = 300;
/** Far more than is shown, so that a cut never leaves half a secret in what is shown. */
const LONGEST_INPUT = 100_000;

/** Makes text that came from outside fit to be shown: no secret, no control characters, bounded. */
export type Redact = (text: string) => string;

/**
 * Builds the function that every text from outside passes before it reaches an error.
 * @param secrets keys, passwords, their digests and tokens; empty ones are left out
 * @returns text of at most 300 characters in which each secret, also percent-encoded or in JSON, is replaced
 */
export function redactor(secrets: readonly string[]): Redact {
	const forms = new Set<string>();
	for (const secret of secrets) {
		const trimmed = secret.trim();
		if (trimmed === '') continue;
		for (const form of [secret, trimmed]) {
			forms.add(form);
			forms.add(encodeURIComponent(form.toWellFormed()));
			forms.add(JSON.stringify(form).slice(1, -1));
		}
	}
	// Longest first: a secret that contains another one leaves no rest behind.
	const ordered = [...forms].sort((a, b) => b.length - a.length);
	return (text) => {
		let clean = text.slice(0, LONGEST_INPUT);
		for (const form of ordered) clean = replaceIgnoringCase(clean, form);
		clean = clean.replace(/\p{Cc}+/gu, ' ').trim();
		return clean.length > LONGEST_TEXT ? `${clean.slice(0, LONGEST_TEXT)}…` : clean;
	};
}

/** Digests and percent-encodings come back in either case. */
function replaceIgnoringCase(text: string, secret: string): string {
	return text.replace(new RegExp(secret.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi'), REDACTED);
}
