/** Texts that people enter, and names that a platform sends. */
import { inputFailure } from './failure';

/** They could change a log or turn text around. */
export const UNSEEN = /[\p{Cc}\p{Bidi_Control}]+/gu;
/** Longer texts are cut before anything else is done with them. */
export const LONGEST_INPUT = 2_000;
const LONGEST_TEXT = 300;

/** Characters that people paste unseen: soft hyphens, zero-width spaces, and marks of the text's direction. Not those of emoji flags. */
const INVISIBLE = '\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff';
// Without the lookbehind, the time would be the square of a long run of spaces.
const AROUND = RegExp(`^[\\s${INVISIBLE}]+|(?<![\\s${INVISIBLE}])[\\s${INVISIBLE}]+$`, 'g');
const INVISIBLES = RegExp(`[${INVISIBLE}]+`, 'g');

/** Returns a text without what people paste around it: spaces, line breaks, and invisible characters. */
export function trimmed(text: string): string {
	return text.replace(AROUND, '');
}

/** Returns the texts between commas, line breaks, or tabs, without empty ones. */
export function textsIn(list: string): string[] {
	return list
		.split(/[,\n\r\t]/)
		.map(trimmed)
		.filter((text) => text !== '');
}

/** Returns the text of a value that is compared, without case, kinds of spaces, and invisible characters; undefined if it has none. */
export function comparable(value: unknown): string | undefined {
	if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined;
	const text = String(value).normalize().replace(INVISIBLES, '').replace(/\s+/g, ' ');
	return text.trim().toLowerCase();
}

/** Returns a text that can be percent-encoded. Throws a Failure `input` for half a character, which is left when text is cut. */
export function checkText(text: string, what: string): string {
	if (text.isWellFormed()) return text;
	const message = `The text of ${what} is cut in the middle of a character`;
	throw inputFailure(message, 'Check the expression that cuts the text.');
}

/** Returns text from outside, such as a name, for a message or a log: without control characters, at most 300 characters long. */
export function cleanText(text: string): string {
	const clean = text.slice(0, LONGEST_INPUT).replace(UNSEEN, ' ').trim();
	return (clean.length > LONGEST_TEXT ? `${clean.slice(0, LONGEST_TEXT)}…` : clean).toWellFormed();
}

/** Returns the different texts and how often each occurs, the most frequent first. */
export function countTexts(texts: Iterable<string>): Array<[text: string, count: number]> {
	const counts = new Map<string, number>();
	for (const text of texts) if (text) counts.set(text, (counts.get(text) ?? 0) + 1);
	return [...counts].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
}
