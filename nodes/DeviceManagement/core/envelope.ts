/**
 * Unwraps the platform's responses: it returns the payload, or a Draft, which `inWords` completes. It checks the
 * HTTP status, the JSON, the envelope and the payload's schema. It doesn't send requests, and it doesn't decide about retries.
 */
import { z } from 'zod/v4';

import { explainCode, refusedBy, SUCCESS } from './errors/codes';
import type { Purpose } from './errors/purpose';
import { Draft, type DraftDetails, Failure, type FailureDetails } from './failure';
import {
	DEEPEST_NESTING,
	describeValue,
	hasMoreValuesThan,
	isCutOff,
	isRecord,
	nestsDeeperThan,
	parseExactly,
} from './json';
import { type Outside, outside } from './redaction';
import { explainStatus } from './errors/statuses';
import { CHECK_CUTS } from './errors/unsent';

/** Six pages of 2000 devices without attributes. A small packed response could hold so many values that n8n's memory ends. */
const MOST_VALUES = [500_000, '500,000'] as const;
/** With a heap of 1 GB, n8n can save the items of so many values. */
const MOST_OF_API_REQUEST = [1_000_000, '1,000,000'] as const;
const LARGE_BODY = 1024 * 1024;
/** It may be a page to sign in. */
const PAGE = 'an HTML or XML page';

const OTHER_NODE = " If this endpoint never sends an envelope, use n8n's HTTP Request node with this credential.";

/** An HTTP response, with the values of the headers that matter. */
export interface RawResponse {
	status: number;
	retryAfterMs: number | undefined;
	/** The origin that a redirect leads to. */
	redirectOrigin: Outside | undefined;
	charset?: string | undefined;
	body: Uint8Array;
}

/** A response, or why there is none. */
export type Received = RawResponse | Draft | Failure;

/** The envelope of section 1.1. {@link checkPayload} checks its `data`. */
const envelopeSchema = z.looseObject({
	code: z.number().int(),
	msg: z.string().catch(''),
	data: z.unknown().optional(),
});
type Envelope = z.infer<typeof envelopeSchema>;

/**
 * Returns the payload of a response (sections 1.1 and 7 of the API document).
 * @param purpose the response to a write may be empty, and HTTP 204 for a device that doesn't exist
 * @returns the envelope's `data`, if any; for a sign-in the whole response, which may have no `code`; or a Draft `refused` for a code other
 * than 0, `status` for an error status without an envelope, `response` for anything else; or why there is no response
 */
export function unwrap(response: Received, purpose: Purpose): { payload: unknown } | Draft | Failure {
	if (response instanceof Error) return response;
	const { status, body } = response;
	const ok = status >= 200 && status <= 299;
	const mayBeEmpty = purpose === 'write' || (purpose === 'device' && status === 204);
	if (ok && mayBeEmpty && body.byteLength === 0) return { payload: undefined };
	const isApiRequest = purpose === 'read' || purpose === 'write';
	const [limit, inWords] = isApiRequest ? MOST_OF_API_REQUEST : MOST_VALUES;
	if (body.byteLength > LARGE_BODY && hasMoreValuesThan(body, limit)) return tooLarge(`${inWords} values`);
	const decoded = decodeEnvelope(response, purpose);
	if (typeof decoded !== 'string' && decoded.code !== SUCCESS) return refusal(response, decoded);
	if (!ok) return refusal(response);
	if (typeof decoded !== 'string') return { payload: purpose === 'login' ? decoded : decoded.data };
	if (isCutOff(body)) {
		const message = `The response ends after ${body.byteLength} bytes, before its JSON is complete (HTTP ${status})`;
		return badResponse(message, CHECK_CUTS, { httpStatus: status, temporary: true });
	}
	const place = placeIn(response);
	const token = decoded.startsWith(PAGE) ? 'doubted' : undefined;
	return badResponse(
		`Expected the platform's JSON envelope with a whole number in 'code', but got ${decoded}${place} (HTTP ${status})`,
		place === ''
			? `Check 'Base URL' in the credential. A proxy's sign-in page, or another service at this address, may have responded.${isApiRequest ? OTHER_NODE : ''}`
			: 'A record of the platform may contain it. Ask your platform administrator to correct it.',
		{ httpStatus: status, token, ...limitIn(response) },
	);
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

/** Returns the envelope, or the kind and size of any other body. */
function decodeEnvelope({ body, charset }: RawResponse, purpose: Purpose): Envelope | string {
	if (body.byteLength === 0) return 'an empty body';
	const size = `${body.byteLength} bytes`;
	// Some platforms declare a charset and send UTF-8.
	const text = decode(body, 'utf-8') ?? decode(body, charset);
	if (text === undefined) return `${size} that are not UTF-8 text`;
	let value: unknown;
	try {
		value = parseExactly(text);
	} catch {
		return /^\s*</.test(text) ? `${PAGE} of ${size}` : `${size} that are not JSON`;
	}
	if (nestsDeeperThan(value, DEEPEST_NESTING)) {
		return `JSON of ${size} nested deeper than ${DEEPEST_NESTING} levels`;
	}
	const parsed = envelopeSchema.safeParse(purpose === 'login' && isRecord(value) ? { code: SUCCESS, ...value } : value);
	if (parsed.success) return parsed.data;
	if (!isRecord(value)) return `${describeValue(value)} without an envelope around it`;
	const code: unknown = Object.hasOwn(value, 'code') ? value['code'] : undefined;
	return `${describeValue(value)} whose 'code' is ${describeValue(code)}`;
}

/** Returns the text of a body; undefined if the charset is unknown or doesn't fit. */
function decode(body: Uint8Array, charset?: string): string | undefined {
	try {
		return new TextDecoder(charset, { fatal: true }).decode(body);
	} catch {
		return undefined;
	}
}

/** Returns from which byte on a JSON object can't be read, in words; '' if it can, or for anything else. */
function placeIn({ body, charset }: RawResponse): string {
	const json = Buffer.from(body).toString('latin1');
	if (!/^(\xef\xbb\xbf)?\s*\{/.test(json)) return '';
	const utf8 = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(body));
	let at = decode(body, charset) === undefined ? body.findIndex((byte, index) => byte !== utf8[index]) : -1;
	const withoutTexts = json.replace(/\\./g, '  ').replace(/"[ !#-\xff]*"/g, ({ length }) => ' '.repeat(length));
	// NaN, Infinity, None, True, False, undefined, or a text with a control character.
	if (at < 0) at = withoutTexts.search(/[NITF"]|\bu/);
	return at < 0 ? '' : `, from byte ${at + 1} on`;
}

export function tooLarge(limit: string): Draft {
	return badResponse(`The response is larger than ${limit}`, '{tooLarge}');
}

/** Returns a Draft `response` for a response that tells nothing about the request. */
export function badResponse(message: string, remedy: string, more: Partial<DraftDetails> = {}): Draft {
	return new Draft({ kind: 'response', cause: 'platform', message, remedy, inDoubt: true, ...more });
}

/** Returns the failure for a code other than 0, or for an error status without an envelope. */
function refusal(response: RawResponse, envelope?: Envelope): Draft {
	const { status, retryAfterMs, redirectOrigin } = response;
	const byStatus = explainStatus(status);
	const refused = refusedBy(envelope?.code) ?? (status === 401 ? 'token' : undefined);
	const words =
		envelope === undefined
			? { ...byStatus, outside: redirectOrigin }
			: { ...explainCode(envelope.code), outside: outside(': ', envelope.msg), code: envelope.code };
	return new Draft({
		...words,
		mayRefusePage: true,
		httpStatus: status,
		...(refused === 'token' && { token: 'refused' }),
		// A retry can't help a refused user, and may lock the account.
		temporary: byStatus.temporary === true && refused !== 'login' && refused !== 'rights',
		retryAfterMs,
		...(refused === undefined && limitIn(response)),
	});
}

/** Returns what a `Retry-After` means: the request was refused for now, and not because of the token. A redirect's is no limit. */
function limitIn({ status, retryAfterMs }: RawResponse): Partial<FailureDetails> {
	if (retryAfterMs === undefined || (status >= 300 && status <= 399)) return {};
	return { retryAfterMs, temporary: true, token: undefined };
}
