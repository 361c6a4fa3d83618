import { cleanText, LONGEST_INPUT, UNSEEN } from './text';

const REDACTED = '•••';
/** Shorter secrets aren't searched for in hex and base64: a few characters may be part of a word. */
const SHORTEST_IN_BYTES = 5;
/** Most characters that stand for one character of a secret at the end of a cut text: `%E2%82%AC` for € in a URL. */
const LONGEST_FORM = 9;
/** Most ways to decode a text, by one encoding after another. */
const MOST_VIEWS = 60;

/** Returns text as {@link cleanText} does, and without secrets. */
export type Redact = (text: string) => string;

const BYTES = ['hex', 'base64', 'base64url'] as const;
const inBytes = (encoding: BufferEncoding) => (written: string) => Buffer.from(written, encoding).toString();
const fromJson = (written: string): string =>
	/\\(u.|[bfnrt])/i.test(written) ? JSON.parse(`"${written.toLowerCase()}"`) : written.slice(1);
const HTML_NAMES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
/** Others may be names, like <planId>. */
const TAGS = /<\/?(?:a|b|br|code|div|em|h\d|i|li|p|pre|span|strong|ul)(?:\s[^<>]*)?\/?>/gi;
const OF_HTML = /&(?:#0*\d{1,6}|#x0*[0-9a-f]{1,5}|amp|lt|gt|quot|apos|nbsp);/i;
const fromHtml = (written: string) =>
	HTML_NAMES[written.slice(1, -1).toLowerCase()] ?? String.fromCodePoint(Number(`0${written.slice(2, -1)}`));
/** How JSON, URLs, forms, HTML, hex and base64 write characters, and what that means. Bytes may be words by chance. */
const ENCODINGS: ReadonlyArray<readonly [written: RegExp, meaning: (written: string) => string, ofBytes?: true]> = [
	[/\\(?:u[0-9a-f]{4}|[^])/i, fromJson],
	[/%[c-f][0-9a-f](?:%[89ab][0-9a-f])+|%[0-9a-f]{2}/i, (written) => inBytes('hex')(written.replaceAll('%', ''))],
	[/\+/, () => ' '],
	[OF_HTML, fromHtml],
	[/(?:[0-9a-f]{2}){5,}/i, inBytes('hex'), true],
	[/[\w+/-]{7,}/, inBytes('base64'), true],
];

/** Returns text in lower case, without a change of its length. */
const folded = (text: string) => text.replace(/[^]/gu, (mark) => mark.toLowerCase().slice(0, mark.length));

/** Returns for each character whether it belongs to a secret. It looks at the text as it is and decoded, also several times. */
function findSecrets(input: string, secrets: readonly string[], long: readonly string[]): boolean[] {
	const hidden = new Array<boolean>(input.length).fill(false);
	const views = [{ text: input, begins: [...hidden.keys()], ends: hidden.map((_, at) => at + 1), sought: secrets }];
	for (const { text, begins, ends, sought } of views) {
		const searched = folded(text);
		for (const secret of sought) {
			for (let at = -1; (at = searched.indexOf(secret, at + 1)) >= 0; ) {
				hidden.fill(true, begins[at], ends[at + secret.length - 1]);
			}
		}
		for (const [written, meaning, ofBytes] of ENCODINGS) {
			if (views.length >= MOST_VIEWS || !written.test(text)) continue;
			const next = { text: '', begins: Array<number>(), ends: Array<number>(), sought: ofBytes ? long : sought };
			for (const { 0: found, 1: escape, index } of text.matchAll(RegExp(`(${written.source})|[^]`, 'gi'))) {
				const meant = escape === undefined ? found : meaning(escape);
				next.text += meant;
				next.begins.push(...Array<number>(meant.length).fill(begins[index] ?? 0));
				next.ends.push(...Array<number>(meant.length).fill(ends[index + found.length - 1] ?? 0));
			}
			if (views.every((view) => view.text !== next.text)) views.push(next);
		}
	}
	return hidden;
}

/**
 * Returns the function that removes secrets from text before it becomes part of an error: in upper or lower case and in these encodings,
 * also in one within another. Each character may be escaped or not, because libraries differ.
 * @param secrets keys, passwords, their digests and tokens
 */
export function redactor(secrets: readonly string[]): Redact {
	const given = secrets.map((secret) => secret.trim()).filter((secret) => secret !== '');
	const long = given.filter((secret) => Buffer.byteLength(secret) >= SHORTEST_IN_BYTES);
	// Hex or base64 may follow other letters, and upper case ends base64.
	const encoded = long.flatMap((secret) => BYTES.map((form) => Buffer.from(secret).toString(form).replace(/=+$/, '')));
	const longest = Math.max(0, ...given.map(({ length }) => length));
	return (text) => {
		const input = text.slice(0, LONGEST_INPUT);
		const hidden = findSecrets(input, [...given, ...encoded].map(folded), long.map(folded));
		let clean = input.replace(/[^]/g, (mark, at: number) => (!hidden[at] ? mark : hidden[at - 1] ? '' : REDACTED));
		// The cut may have left part of a secret at the end, which isn't found.
		if (text.length > LONGEST_INPUT) clean = clean.slice(0, -LONGEST_FORM * longest || undefined);
		return cleanText(clean);
	};
}

/** Returns HTML as plain text. Secrets are removed first, because this changes them. */
export function withoutHtml(html: string): string {
	const text = html.replace(TAGS, ' ').replace(RegExp(OF_HTML, 'gi'), fromHtml);
	return text.replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim();
}
