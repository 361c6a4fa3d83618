/**
 * Reads a response: it returns the payload, or throws the Failure. It checks the HTTP status, the JSON, the envelope and the payload's
 * schema. It doesn't send requests or decide about retries.
 */
import { z } from 'zod/v4';

import { type Asked, failureOf } from './errors/failureOf';
import { RESPONSES, rowOf } from './errors/table';
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
const LONGEST_HEAD = 20_000;

/** An HTTP response, with the values of the headers that matter. */
export interface RawResponse {
	status: number;
	retryAfterMs?: number | undefined;
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
 * @returns the envelope's `data`; undefined for a response without a body to a request that may change something
 * @throws Failure `refused` for a code other than 0, `status` for an error status without an envelope, `response` for anything else; with
 * `withoutData` after an empty HTTP 204
 */
export function payloadOf(response: RawResponse, asked: Asked, isLogin = false): unknown {
	const { status, body, retryAfterMs, redirectOrigin } = response;
	const isOk = status >= 200 && status <= 299;
	if (isOk && body.byteLength === 0 && asked.mayChange) return undefined;
	const { mostValues = MOST_VALUES } = asked;
	if (body.byteLength > LARGE_BODY && hasMoreValuesThan(body, mostValues)) {
		const places = { limit: `${mostValues.toLocaleString('en-US')} values` };
		throw failureOf({ kind: 'response', row: RESPONSES.tooLarge, places }, asked);
	}
	const { value, page, found = whatElse(value) } = decode(response);
	const given = isLogin && isRecord(value) ? { code: 0, ...value } : value;
	const { data: envelope } = envelopeSchema.safeParse(given);
	const facts = { httpStatus: status, retryAfterMs };
	if (envelope !== undefined && envelope.code !== 0) {
		const { code, msg } = envelope;
		const said = msg === '' ? wordsIn(value) : msg;
		throw failureOf({ kind: 'refused', row: rowOf(code), code, said, ...facts }, asked);
	}
	if (!isOk) {
		// The title of a page often begins with the status.
		const words = status < 400 ? redirectOrigin && `to ${redirectOrigin}` : (titleOf(page) ?? wordsIn(value));
		const said = words?.replace(RegExp(`^\\s*${status} `), '');
		throw failureOf({ kind: 'status', row: rowOf(`HTTP ${status}`), said, ...facts }, asked);
	}
	if (envelope !== undefined) return isLogin ? given : envelope.data;
	const places = { found };
	const row = isCutOff(body) ? RESPONSES.cutOff : page === undefined ? RESPONSES.noEnvelope : RESPONSES.page;
	const withoutData = status === 204 && body.byteLength === 0;
	throw failureOf({ kind: 'response', row, places, ...facts, ...(withoutData && { withoutData }) }, asked);
}

/**
 * Checks a payload against the operation's schema and returns it.
 * @param schema its description or its own message is part of the Failure's message: 'a page of a list'
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
		message: `The platform didn't return ${schema.description ?? expected}: '${place}' is ${describeValue(found)}`,
		remedy: "Check 'Base URL' in the credential. A proxy may have changed the response.",
		mayRefusePage: true,
		withoutData: data === undefined || data === null,
	});
}

/** Returns the JSON value of a body, or what the body is instead. Of a page, also the text. */
function decode({ body, charset }: RawResponse): { value?: unknown; found?: string; page?: string } {
	if (body.byteLength === 0) return { found: 'an empty body' };
	// Some platforms declare a charset and send UTF-8.
	const text = decoded(body, 'utf-8') ?? decoded(body, charset);
	if (text === undefined) return { found: "text that isn't UTF-8" };
	try {
		const value = parseExactly(text);
		if (!nestsDeeperThan(value, DEEPEST_NESTING)) return { value };
		return { found: `JSON nested deeper than ${DEEPEST_NESTING} levels` };
	} catch {
		// It may be a sign-in page.
		if (/^\s*</.test(text)) return { found: 'an HTML or XML page', page: text };
		return { found: "text that isn't JSON" };
	}
}

/** Returns the text of a body; undefined if the charset is unknown or doesn't fit. */
function decoded(body: Uint8Array, charset?: string): string | undefined {
	try {
		return new TextDecoder(charset, { fatal: true }).decode(body);
	} catch {
		return undefined;
	}
}

/** Says why a value isn't an envelope, without its content. */
function whatElse(value: unknown): string {
	if (!isRecord(value)) return `${describeValue(value)} without a code`;
	const code: unknown = Object.hasOwn(value, 'code') ? value['code'] : undefined;
	return `'code' is ${describeValue(code)}`;
}

function titleOf(page = ''): string | undefined {
	return /<title[^>]*>([^<]*)<\/title/i.exec(page.slice(0, LONGEST_HEAD))?.[1];
}

/** Where servers put what they say of an error, the more telling places first. The rest of a body may hold data of devices. */
const SAID = ['message', 'detail', 'msg', 'error_description', 'errors', 'defaultMessage', 'title'];

/** Returns what a server says of an error in a JSON object, like {"errors": [{"message": "…"}]}; '' if it says nothing. */
function wordsIn(value: unknown): string {
	if (!isRecord(value)) return '';
	return SAID.map((name) => textIn(name, value[name])).find(Boolean) ?? '';
}

/** Some servers put several texts into a list, or into an object by the names of fields. */
function textIn(name: string, said: unknown): string {
	if (typeof said === 'string') return said.trim();
	const all = name === 'errors' && isRecord(said) ? Object.values(said).flat() : said;
	if (!Array.isArray(all) || /^(msg|title)$/.test(name)) return wordsIn(all);
	return all
		.map((one) => textIn('', one))
		.filter(Boolean)
		.join('; ');
}
