import type { Device } from '../core/device';
import { isRecord, type JsonValue } from '../core/json';
import { canonicalJson, digest, DIGEST_LENGTH } from './digest';

/** A field whose changes can be reported; an attribute by the name that a sort has for it (section 1.3). */
export type WatchedField = 'onlineStatus' | 'status' | `attributes.${string}`;

/**
 * The values of a device's watched fields as one text, each of them `=` and the value itself, or `#` and its digest where
 * that is shorter. Equal values have equal codes.
 */
export type Code = string;

const ATTRIBUTES = 'attributes.';

/** The value of a field; null where the device has none. */
export function readField(device: Device, field: WatchedField): JsonValue {
	if (field === 'onlineStatus' || field === 'status') return device[field] ?? null;
	const { attributes } = device;
	const key = field.slice(ATTRIBUTES.length);
	return isRecord(attributes) && Object.hasOwn(attributes, key) ? (attributes[key] ?? null) : null;
}

/** The code of a device's watched fields, in their order. */
export function encodeFields(device: Device, fields: readonly WatchedField[]): Code {
	let code = '';
	for (const field of fields) code += encodeValue(readField(device, field));
	return code;
}

/** The code of each field in a device's code. */
export function partsOf(code: Code): string[] {
	return code.match(/[=#][^=#]*/g) ?? [];
}

/** The code of one value. At most twelve characters, so that a state's size is known beforehand. */
export function encodeValue(value: JsonValue): string {
	// Integers are what most platforms send; nothing in them needs a second look.
	if (typeof value === 'number' && Number.isSafeInteger(value) && value < 1e9 && value > -1e9) return `=${value}`;
	const text = typeof value === 'string' ? `'${value}` : value === null ? '' : canonicalJson(value);
	const escaped = escapeText(text);
	return escaped.length <= DIGEST_LENGTH ? `=${escaped}` : `#${digest(text)}`;
}

/** The value that a code stands for; undefined where only its digest was kept. */
export function decodeValue(part: string): { value: JsonValue } | undefined {
	if (!part.startsWith('=')) return undefined;
	const text = unescapeText(part.slice(1));
	if (text.startsWith("'")) return { value: text.slice(1) };
	if (text === '') return { value: null };
	try {
		const value: JsonValue = JSON.parse(text);
		return { value };
	} catch {
		return undefined;
	}
}

/** A value as rules compare it: what it reads like. */
export function textOf(value: JsonValue): string {
	return typeof value === 'string' ? value : canonicalJson(value);
}

/** Whether a code stands for a value that reads like a text; also where only its digest was kept. */
export function readsLike(part: string, text: string): boolean {
	const decoded = decodeValue(part);
	if (decoded !== undefined) return textOf(decoded.value) === text;
	// A text, or the JSON of anything else.
	return part === `#${digest(`'${text}`)}` || part === `#${digest(text)}`;
}

/**
 * Escapes what has a meaning in a state, and what JSON or a database would not keep: control characters and halves of
 * characters.
 */
export function escapeText(text: string): string {
	if (/^[\w.:/'+-]*$/.test(text)) return text;
	return text.replace(/[\p{Cc}\p{Cs} "\\#%=]/gu, (mark) => `%${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The text that was escaped. */
export function unescapeText(escaped: string): string {
	if (!escaped.includes('%')) return escaped;
	return escaped.replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}
