/**
 * Unwraps the platform's responses: it returns the payload, or throws a Failure with words for the user. It checks the HTTP
 * status, the JSON, the envelope and the payload's schema. It doesn't send requests, and it doesn't decide about retries.
 */
import { z } from 'zod/v4';

import { explainCode, isOutcomeUnknown, meansTokenRefused, meansUserRefused, SUCCESS } from './errors/codes';
import { Failure } from './failure';
import { DEEPEST_NESTING, describeValue, hasMoreValuesThan, isRecord, nestsDeeperThan } from './json';
import type { Purpose } from './errors/purpose';
import type { Redact } from './redaction';
import { isRetryableStatus } from './retry';
import { explainStatus, mayHaveBeenCarriedOut } from './errors/statuses';
import { inDoubtIfWrite, tooLarge } from './errors/unsent';

/** Six pages of 2000 devices. A small packed response could hold so many values that n8n's memory ends. */
const MOST_VALUES = 500_000;
const LARGE_BODY = 1024 * 1024;

/** An HTTP response, with the values of the headers that matter. */
export interface RawResponse {
	status: number;
	/** From `Retry-After`. */
	retryAfterMs: number | undefined;
	/** The origin that a redirect leads to. */
	redirectOrigin: string | undefined;
	body: Uint8Array;
}

/** The envelope of section 1.1. {@link checkPayload} checks its `data`. */
const envelopeSchema = z.object({
	code: z.number().int(),
	msg: z.unknown().optional(),
	data: z.unknown().optional(),
});

/** A body that was read: an envelope, or a description of anything else. */
type Reading = { envelope: z.infer<typeof envelopeSchema> } | { unexpected: string };

/**
 * Returns the payload of a response (sections 1.1 and 7 of the API document).
 * @param redact removes secrets from the platform's own words
 * @returns the envelope's `data`; undefined if it has none, and for an empty 2xx response to a write
 * @throws Failure `refused` for a code other than 0, `status` for an error status without an envelope, `response` for any
 * other body without an envelope, and for too many values
 */
export function unwrap(response: RawResponse, redact: Redact, purpose: Purpose): unknown {
	const ok = response.status >= 200 && response.status <= 299;
	if (ok && purpose === 'write' && response.body.byteLength === 0) return undefined;
	if (response.body.byteLength > LARGE_BODY && hasMoreValuesThan(response.body, MOST_VALUES)) {
		throw tooLarge('500,000 values', purpose);
	}
	const reading = readEnvelope(response.body);
	if ('envelope' in reading && reading.envelope.code !== SUCCESS) {
		throw refusal(response, reading.envelope.code, reading.envelope.msg, redact, purpose);
	}
	if (!ok) throw statusFailure(response, purpose);
	if ('unexpected' in reading) throw unreadable(response.status, reading.unexpected, purpose);
	return reading.envelope.data;
}

/**
 * Checks a payload against the operation's schema and returns it.
 * @param expected the schema in words, for the message: 'a device (an object)'
 * @throws Failure `response` that names the place and describes its value by kind and size only
 */
export function checkPayload<T>(data: unknown, schema: z.ZodType<T>, expected: string): T {
	const parsed = schema.safeParse(data);
	if (parsed.success) return parsed.data;
	const path = parsed.error.issues[0]?.path ?? [];
	const found = path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), data);
	const place = ['data', ...path.map(String)].join('.');
	throw new Failure({
		kind: 'response',
		cause: 'platform',
		message: `The platform did not return ${expected}: '${place}' is ${describeValue(found)}`,
		remedy:
			"Check that 'Base URL' in the credential is the address of the platform. Check whether a proxy changes its responses.",
		withoutData: data === undefined || data === null,
	});
}

function readEnvelope(body: Uint8Array): Reading {
	if (body.byteLength === 0) return { unexpected: 'an empty body' };
	const size = `${body.byteLength} bytes`;
	let text: string;
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(body);
	} catch {
		return { unexpected: `${size} that are not UTF-8 text` };
	}
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return { unexpected: /^\s*</.test(text) ? `an HTML or XML page of ${size}` : `${size} that are not JSON` };
	}
	if (nestsDeeperThan(value, DEEPEST_NESTING)) {
		return { unexpected: `JSON of ${size} nested deeper than ${DEEPEST_NESTING} levels` };
	}
	const parsed = envelopeSchema.safeParse(value);
	if (parsed.success) return { envelope: parsed.data };
	if (!isRecord(value)) return { unexpected: `${describeValue(value)} without an envelope around it` };
	const code: unknown = Object.hasOwn(value, 'code') ? value['code'] : undefined;
	return { unexpected: `${describeValue(value)} whose 'code' is ${describeValue(code)}` };
}

function refusal(response: RawResponse, code: number, msg: unknown, redact: Redact, purpose: Purpose): Failure {
	const words = explainCode(code, typeof msg === 'string' ? redact(msg) : '', purpose);
	return new Failure({
		kind: 'refused',
		...(isOutcomeUnknown(code) ? inDoubtIfWrite(words, purpose) : words),
		code,
		httpStatus: response.status,
		tokenRefused: meansTokenRefused(code) || (response.status === 401 && !meansUserRefused(code)),
		retryable: isRetryableStatus(response.status) && !meansUserRefused(code),
		retryAfterMs: response.retryAfterMs,
	});
}

function statusFailure(response: RawResponse, purpose: Purpose): Failure {
	const { status } = response;
	const words = explainStatus(status, purpose, response.redirectOrigin);
	return new Failure({
		kind: 'status',
		...(mayHaveBeenCarriedOut(status) ? inDoubtIfWrite(words, purpose) : words),
		httpStatus: status,
		tokenRefused: status === 401,
		retryable: isRetryableStatus(status),
		retryAfterMs: response.retryAfterMs,
	});
}

function unreadable(status: number, unexpected: string, purpose: Purpose): Failure {
	const words = {
		message: `Expected the platform's JSON envelope with a whole number in 'code', but got ${unexpected} (HTTP ${status})`,
		remedy:
			"Check 'Base URL' in the credential. A proxy's sign-in page, or another service at this address, may have responded.",
	};
	return new Failure({ kind: 'response', cause: 'platform', ...inDoubtIfWrite(words, purpose), httpStatus: status });
}
