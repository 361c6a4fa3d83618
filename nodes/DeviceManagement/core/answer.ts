/**
 * Judges a response once: it returns the payload, or throws the Failure. It checks the HTTP status, the JSON, the envelope and the payload's
 * schema, and finds the row of the table. It doesn't send requests, and it doesn't decide about repetitions.
 */
import { z } from 'zod/v4';

import { type Asked, failureOf } from './errors/failureOf';
import { RESPONSES, type Row, rowOf } from './errors/table';
import { Failure } from './failure';
import {
	DEEPEST_NESTING,
	describeValue,
	hasMoreValuesThan,
	isCutOff,
	isRecord,
	nestsDeeperThan,
	parseExactly,
} from './json';

/** Six pages of 2000 devices without attributes. A small packed response could hold so many values that n8n's memory ends. */
const MOST_VALUES = 500_000;
const LARGE_BODY = 1024 * 1024;
/** Longest body without an envelope that is searched for the server's own words. */
const LARGEST_WORDS = 20_000;

/** An HTTP response, with the values of the headers that matter. */
export interface RawResponse {
	status: number;
	retryAfterMs?: number | undefined;
	/** The origin that a redirect leads to. */
	redirectOrigin?: string | undefined;
	charset?: string | undefined;
	body: Uint8Array;
}

/** The envelope of section 1.1. {@link checkPayload} checks its `data`. */
const envelopeSchema = z.looseObject({
	code: z.number().int(),
	msg: z.string().catch(''),
	data: z.unknown().optional(),
});

/**
 * Returns the payload of a response (sections 1.1 and 7 of the API document).
 * @param isLogin whether to return the whole response, which may have no `code`
 * @returns the envelope's `data`; undefined for a response without a body to a request that may change something, and for HTTP 204
 * @throws Failure `refused` for a code other than 0, `status` for an error status without an envelope, `response` for anything else
 */
export function judge(response: RawResponse, asked: Asked, isLogin = false): unknown {
	const { status, body, retryAfterMs } = response;
	const isOk = status >= 200 && status <= 299;
	if (isOk && body.byteLength === 0 && (asked.mayChange || status === 204)) return undefined;
	const { mostValues = MOST_VALUES } = asked;
	if (body.byteLength > LARGE_BODY && hasMoreValuesThan(body, mostValues)) {
		const places = { limit: `${mostValues.toLocaleString('en-US')} values` };
		throw failureOf({ kind: 'response', row: RESPONSES.tooLarge, places }, asked);
	}
	const { value, found = whatElse(value), row = RESPONSES.noEnvelope } = decode(response);
	const given = isLogin && isRecord(value) ? { code: 0, ...value } : value;
	const { data: envelope } = envelopeSchema.safeParse(given);
	const facts = { httpStatus: status, retryAfterMs };
	if (envelope !== undefined && envelope.code !== 0) {
		const { code, msg: said } = envelope;
		throw failureOf({ kind: 'refused', row: rowOf(code), code, said, ...facts }, asked);
	}
	if (!isOk) {
		const said = response.redirectOrigin ?? ownWords(response, value);
		throw failureOf({ kind: 'status', row: rowOf(`HTTP ${status}`), said, ...facts }, asked);
	}
	if (envelope !== undefined) return isLogin ? given : envelope.data;
	const places = { found, size: body.byteLength };
	throw failureOf({ kind: 'response', row: isCutOff(body) ? RESPONSES.cutOff : row, places, ...facts }, asked);
}

/**
 * Checks a payload against the operation's schema and returns it.
 * @param schema its description or its own message completes the message: 'a device (an object)'
 * @throws Failure `response` that names the place and describes its value by kind and size only
 */
export function checkPayload<T>(data: unknown, schema: z.ZodType<T>): T {
	const parsed = schema.safeParse(data);
	if (parsed.success) return parsed.data;
	const { path = [], message: expected } = parsed.error.issues[0] ?? {};
	const found = path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), data);
	const place = ['data', ...path.map(String)].join('.');
	throw new Failure({
		kind: 'response',
		cause: 'platform',
		message: `The platform did not return ${schema.description ?? expected}: '${place}' is ${describeValue(found)}`,
		remedy:
			"Check that 'Base URL' in the credential is the address of the platform. Check whether a proxy changes its responses.",
		mayRefusePage: true,
		withoutData: data === undefined || data === null,
	});
}

/** Returns the value of a body; of one that is no JSON or nests too deep, its kind and size, and its row. */
function decode({ body, charset }: RawResponse): { value?: unknown; found?: string; row?: Row } {
	if (body.byteLength === 0) return { found: 'an empty body' };
	const size = `${body.byteLength} bytes`;
	const unreadable = (what: string, at: number) =>
		at < 0
			? { found: `${size} ${what}` }
			: { found: `${size} ${what}, from byte ${at + 1} on`, row: RESPONSES.badRecord };
	// Some platforms declare a charset and send UTF-8.
	const text = textIn(body, 'utf-8') ?? textIn(body, charset);
	if (text === undefined) return unreadable('that are not UTF-8 text', placeIn(body, false));
	try {
		const value = parseExactly(text);
		if (!nestsDeeperThan(value, DEEPEST_NESTING)) return { value };
		return { found: `JSON of ${size} nested deeper than ${DEEPEST_NESTING} levels` };
	} catch {
		// It may be a page to sign in.
		if (/^\s*</.test(text)) return { found: `an HTML or XML page of ${size}`, row: RESPONSES.page };
		return unreadable('that are not JSON', placeIn(body, true));
	}
}

/** Returns the text of a body; undefined if the charset is unknown or doesn't fit. */
function textIn(body: Uint8Array, charset?: string): string | undefined {
	try {
		return new TextDecoder(charset, { fatal: true }).decode(body);
	} catch {
		return undefined;
	}
}

/** Returns the position of the first byte that a JSON object can't have; -1 for anything else. */
function placeIn(body: Uint8Array, isText: boolean): number {
	const json = Buffer.from(body).toString('latin1');
	if (!/^(\xef\xbb\xbf)?\s*\{/.test(json)) return -1;
	const utf8 = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(body));
	if (!isText) return body.findIndex((byte, index) => byte !== utf8[index]);
	const withoutTexts = json.replace(/\\./g, '  ').replace(/"[ !#-\xff]*"/g, ({ length }) => ' '.repeat(length));
	// NaN, Infinity, None, True, False, undefined, or a text with a control character.
	return withoutTexts.search(/[NITF"]|\bu/);
}

/** Describes a value that is no envelope, by kind and size only. */
function whatElse(value: unknown): string {
	if (!isRecord(value)) return `${describeValue(value)} without an envelope around it`;
	const code: unknown = Object.hasOwn(value, 'code') ? value['code'] : undefined;
	return `${describeValue(value)} whose 'code' is ${describeValue(code)}`;
}

/** Where servers put what they say of an error, the more telling ones first: Spring, problem+json, OAuth, FastAPI. */
const SAID = ['message', 'detail', 'error_description', 'defaultMessage', 'msg', 'errors', 'error', 'title'];

/** Returns what a server says in an error status without the envelope: in JSON, as the title of a page, or as plain text. */
function ownWords({ body }: RawResponse, value: unknown): string | undefined {
	if (body.byteLength > LARGEST_WORDS) return undefined;
	if (value !== undefined) return wordsIn(value);
	const [, title, plain] = /<title>([^<]+)|^\s*([^<{[\s][^]*)/i.exec(textIn(body) ?? '') ?? [];
	return title ?? plain;
}

function wordsIn(value: unknown): string {
	if (typeof value === 'string') return value.trim();
	if (Array.isArray(value)) return value.map(wordsIn).filter(Boolean).join('; ');
	return isRecord(value) ? (SAID.map((name) => wordsIn(value[name])).find(Boolean) ?? '') : '';
}
