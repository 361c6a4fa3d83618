import { z } from 'zod/v4';

import { explainCode, leavesOpen, meansTokenRefused, meansUserRefused, SUCCESS } from './codes';
import { Failure } from './failure';
import { DEEPEST_NESTING, describeValue, isRecord, nestsDeeperThan } from './json';
import type { Purpose } from './purpose';
import type { Redact } from './redaction';
import { isWorthRepeating } from './retry';
import { explainStatus, mayHaveBeenCarriedOut } from './statuses';
import { inDoubtIfWrite } from './unsent';

/** An HTTP answer as it came: status, the few headers that matter, and the whole body. */
export interface RawAnswer {
	status: number;
	/** Milliseconds that the answer asks to wait, from `Retry-After`. */
	retryAfterMs: number | undefined;
	/** The origin that a redirect points at; undefined where there is none or it can't be read. */
	redirectOrigin: string | undefined;
	body: Uint8Array;
}

/** The envelope of section 1.1. `data` is checked by whoever asked for it. */
const envelopeSchema = z.object({
	code: z.number().int(),
	msg: z.unknown().optional(),
	data: z.unknown().optional(),
});

/** What a body turned out to be. */
type Reading =
	| { envelope: z.infer<typeof envelopeSchema> }
	/** Not an envelope: what came, in words. */
	| { came: string };

/**
 * Takes the payload out of an answer (sections 1.1 and 7 of the API document).
 * @param answer the whole HTTP answer
 * @param redact removes secrets from the platform's own words before they are shown
 * @param purpose what the request was for
 * @returns the envelope's `data`; undefined where the envelope has none, and for an empty 2xx answer to a write
 * @throws Failure `refused` for a code other than 0, `status` for an HTTP status that no envelope explains,
 * `answer` for a body that is no envelope
 */
export function unwrap(answer: RawAnswer, redact: Redact, purpose: Purpose): unknown {
	const ok = answer.status >= 200 && answer.status <= 299;
	if (ok && purpose === 'write' && answer.body.byteLength === 0) return undefined;
	const reading = readEnvelope(answer.body);
	if ('envelope' in reading && reading.envelope.code !== SUCCESS) {
		throw refusal(answer, reading.envelope.code, reading.envelope.msg, redact, purpose);
	}
	if (!ok) throw statusFailure(answer, purpose);
	if ('came' in reading) throw unreadable(answer.status, reading.came, purpose);
	return reading.envelope.data;
}

/**
 * Checks a payload against what the operation needs.
 * @param data the envelope's `data`
 * @param schema what the operation needs of it
 * @param expected the same in words, for the message: 'a device (an object)'
 * @returns the parsed payload
 * @throws Failure `answer` that names the place, what was expected there and what came (kind and size only)
 */
export function checkPayload<T>(data: unknown, schema: z.ZodType<T>, expected: string): T {
	const parsed = schema.safeParse(data);
	if (parsed.success) return parsed.data;
	const path = parsed.error.issues[0]?.path ?? [];
	let found: unknown = data;
	for (const key of path) {
		found = isRecord(found) || Array.isArray(found) ? Reflect.get(found, key) : undefined;
	}
	const place = ['data', ...path.map(String)].join('.');
	throw new Failure({
		kind: 'answer',
		cause: 'platform',
		message: `The platform's answer does not hold ${expected}: '${place}' is ${describeValue(found)}`,
		remedy:
			"Check that 'Base URL' in the credential is the address of the device-management platform and that nothing in between changes its answers.",
		withoutData: data === undefined || data === null,
	});
}

function readEnvelope(body: Uint8Array): Reading {
	if (body.byteLength === 0) return { came: 'an empty body' };
	const size = `${body.byteLength} bytes`;
	let text: string;
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(body);
	} catch {
		return { came: `${size} that are not UTF-8 text` };
	}
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return { came: /^\s*</.test(text) ? `an HTML or XML page of ${size}` : `${size} that are not JSON` };
	}
	if (nestsDeeperThan(value, DEEPEST_NESTING)) {
		return { came: `JSON of ${size} nested deeper than ${DEEPEST_NESTING} levels` };
	}
	const parsed = envelopeSchema.safeParse(value);
	if (parsed.success) return { envelope: parsed.data };
	if (!isRecord(value)) return { came: `${describeValue(value)} without an envelope around it` };
	const code: unknown = Object.hasOwn(value, 'code') ? value['code'] : undefined;
	return { came: `${describeValue(value)} whose 'code' is ${describeValue(code)}` };
}

function refusal(
	answer: RawAnswer,
	code: number,
	msg: unknown,
	redact: Redact,
	purpose: Purpose,
): Failure {
	const words = explainCode(code, typeof msg === 'string' ? redact(msg) : '', purpose);
	return new Failure({
		kind: 'refused',
		...(leavesOpen(code) ? inDoubtIfWrite(words, purpose) : words),
		code,
		httpStatus: answer.status,
		tokenRefused: meansTokenRefused(code) || (answer.status === 401 && !meansUserRefused(code)),
		retryable: isWorthRepeating(answer.status) && !meansUserRefused(code),
		...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
	});
}

function statusFailure(answer: RawAnswer, purpose: Purpose): Failure {
	const { status } = answer;
	const words = explainStatus(status, purpose, answer.redirectOrigin);
	return new Failure({
		kind: 'status',
		...(mayHaveBeenCarriedOut(status) ? inDoubtIfWrite(words, purpose) : words),
		httpStatus: status,
		tokenRefused: status === 401,
		retryable: isWorthRepeating(status),
		...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
	});
}

function unreadable(status: number, came: string, purpose: Purpose): Failure {
	const words = {
		message: `Expected the platform's JSON envelope with a whole number in 'code', but got ${came} (HTTP ${status})`,
		remedy:
			"Check 'Base URL' in the credential. A sign-in page of a proxy, or another service at this address, answers like this.",
	};
	return new Failure({
		kind: 'answer',
		cause: 'platform',
		...inDoubtIfWrite(words, purpose),
		httpStatus: status,
	});
}
