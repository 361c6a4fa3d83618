/** Deepest nesting that the package accepts; n8n can't store much deeper values. */
export const DEEPEST_NESTING = 200;

/** A value of JSON. Lists and objects are checked where they are used. */
export type JsonValue = string | number | boolean | object | null | undefined;
export type JsonObject = { [key: string]: JsonValue };

/** Whether a number is exact. JavaScript changes whole numbers beyond 2^53, so an ID would be another device's. */
export function keepsDigits(number: number): boolean {
	return !Number.isInteger(number) || Number.isSafeInteger(number);
}

/** Parses JSON. A whole number beyond 2^53, which JavaScript would round, becomes text. */
export function parseExactly(json: string): unknown {
	if (!/[:,[\s-][1-9]\d{15}/.test(json)) return JSON.parse(json);
	let isText = false;
	const exact = json.replace(/\\.|"|-?\d[\d.eE+-]{15,}/g, (found) => {
		if (found === '"') isText = !isText;
		return isText || !/^-?[1-9]\d+$/.test(found) || Number.isSafeInteger(Number(found)) ? found : `"${found}"`;
	});
	return JSON.parse(exact);
}

/** Returns the kind and size of a value for messages, never its content. */
export function describeValue(value: unknown): string {
	if (value === undefined) return 'nothing';
	if (value === null) return 'null';
	if (Array.isArray(value)) return `a list of ${value.length}`;
	if (typeof value === 'string') return `text of ${value.length} characters`;
	if (typeof value === 'object') return `an object with ${Object.keys(value).length} fields`;
	return `a ${typeof value}`;
}

/** Whether a value is an object with fields: not null, not a list. */
export function isRecord(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is an object with fields, and not a date or a map. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
	// The prototype may differ: n8n's expressions may run in another realm.
	return isRecord(value) && Object.prototype.toString.call(value) === '[object Object]';
}

/** Returns the value of JSON text, if it is valid; anything but text as it is. */
export const parseJson = (value: unknown) =>
	attempt<unknown>(() => (typeof value === 'string' ? JSON.parse(value) : value));

/** Returns what a function returns; undefined if it throws. */
export function attempt<T>(run: () => T): { value: T } | undefined {
	try {
		return { value: run() };
	} catch {
		return undefined;
	}
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = [0x5b, 0x7b];
const CLOSING = [0x5d, 0x7d];
/** A comma and opening brackets. Each value has about one of them. */
const MARKS = [0x2c, ...OPENING];

/** Whether JSON has more values than `limit`. Each value takes memory, and a text counts as one. */
export function hasMoreValuesThan(json: Uint8Array, limit: number): boolean {
	let marks = 0;
	// `indexOf` is several times as fast as a loop over the bytes, but also counts what is inside texts.
	for (const mark of MARKS) {
		for (let at = json.indexOf(mark); at >= 0 && marks <= limit; at = json.indexOf(mark, at + 1)) marks++;
	}
	if (marks <= limit) return false;
	return sumOutsideTexts(json, (byte) => (MARKS.includes(byte) ? 1 : 0), limit) > limit;
}

/** Whether a body begins as a JSON object and closes fewer brackets than it opens: its end is missing. */
export function isCutOff(json: Uint8Array): boolean {
	// It may begin with a byte order mark.
	const beginning = Buffer.from(json.subarray(0, 99)).toString('latin1');
	if (!/^(\xef\xbb\xbf)?\s*\{\s*("|$)/.test(beginning)) return false;
	return sumOutsideTexts(json, (byte) => (OPENING.includes(byte) ? 1 : CLOSING.includes(byte) ? -1 : 0)) > 0;
}

/** Returns the sum of what the bytes outside of texts count for. It stops at the first sum above `limit`. */
function sumOutsideTexts(json: Uint8Array, countOf: (byte: number) => number, limit = Infinity): number {
	let [sum, isText] = [0, false];
	for (let at = 0; at < json.length && sum <= limit; at++) {
		const byte = json[at] ?? QUOTE;
		if (byte === QUOTE) isText = !isText;
		else if (isText) at += byte === BACKSLASH ? 1 : 0;
		else sum += countOf(byte);
	}
	return sum;
}

/** Whether a value nests deeper than `limit`. It stops there, so it can't overflow the stack. */
export function nestsDeeperThan(value: unknown, limit: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (limit <= 0) return true;
	if (Array.isArray(value)) {
		for (const element of value) {
			if (typeof element === 'object' && nestsDeeperThan(element, limit - 1)) return true;
		}
	} else if (isRecord(value)) {
		// Object.values would double the time, and this runs over every object of every response.
		for (const key in value) {
			const field = value[key];
			if (typeof field === 'object' && nestsDeeperThan(field, limit - 1)) return true;
		}
	}
	return false;
}
