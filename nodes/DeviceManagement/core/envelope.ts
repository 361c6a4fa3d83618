import { z } from 'zod/v4';

import { explainCode, meansTokenRefused, meansUserRefused, SUCCESS } from './codes';
import { Failure } from './failure';
import { DEEPEST_NESTING, describeValue, isRecord, nestsDeeperThan } from './json';
import type { Redact } from './redaction';
import { isWorthRepeating } from './retry';

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
 * @returns the envelope's `data`; undefined where the envelope has none
 * @throws Failure `refused` for a code other than 0, `status` for an HTTP status that no envelope explains,
 * `answer` for a body that is no envelope
 */
export function unwrap(answer: RawAnswer, redact: Redact): unknown {
	const reading = readEnvelope(answer.body);
	if ('envelope' in reading && reading.envelope.code !== SUCCESS) {
		throw refusal(answer, reading.envelope.code, reading.envelope.msg, redact);
	}
	if (answer.status < 200 || answer.status > 299) throw statusFailure(answer);
	if ('came' in reading) throw unreadable(answer.status, reading.came);
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

function refusal(answer: RawAnswer, code: number, msg: unknown, redact: Redact): Failure {
	return new Failure({
		kind: 'refused',
		...explainCode(code, typeof msg === 'string' ? redact(msg) : ''),
		code,
		httpStatus: answer.status,
		tokenRefused: meansTokenRefused(code) || (answer.status === 401 && !meansUserRefused(code)),
		retryable: isWorthRepeating(answer.status) && !meansUserRefused(code),
		...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
	});
}

function statusFailure(answer: RawAnswer): Failure {
	const { status } = answer;
	return new Failure({
		kind: 'status',
		...explainStatus(answer),
		httpStatus: status,
		tokenRefused: status === 401,
		retryable: isWorthRepeating(status),
		...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
	});
}

/**
 * Puts an HTTP status into words, for answers without an envelope that would say more.
 * @param answer its status, and where a redirect leads if that is known
 */
export function explainStatus({
	status,
	redirectOrigin,
}: Pick<RawAnswer, 'status'> & Partial<RawAnswer>): {
	cause: 'credential' | 'input' | 'platform';
	message: string;
	remedy: string;
} {
	if (status >= 300 && status <= 399) {
		return {
			cause: 'input',
			message:
				redirectOrigin === undefined
					? `The address answers with a redirect (HTTP ${status})`
					: `The address answers with a redirect to ${redirectOrigin} (HTTP ${status})`,
			remedy:
				"Redirects are not followed, so that the credential goes nowhere else. Set 'Base URL' in the credential to the address where the platform itself answers, with https:// if it has it.",
		};
	}
	if (status === 401) {
		return {
			cause: 'credential',
			message: 'The platform did not accept the sign-in (HTTP 401)',
			remedy: 'Check the Device Management API credential: key or login, and how the key is sent.',
		};
	}
	if (status === 403) {
		return {
			cause: 'credential',
			message: 'Access was denied (HTTP 403)',
			remedy:
				'The user may not do this, or a proxy or firewall in front of the platform blocks the request. Ask who administers them.',
		};
	}
	if (status === 404) {
		return {
			cause: 'input',
			message: 'There is nothing at this address (HTTP 404)',
			remedy:
				"Check 'Base URL' in the credential: it is what stands before /api in the platform's addresses, without /api itself.",
		};
	}
	if (status === 413 || status === 414 || status === 431) {
		return {
			cause: 'input',
			message: `The request is too large for the server (HTTP ${status})`,
			remedy: 'Use fewer or shorter values.',
		};
	}
	if (status === 429) {
		return {
			cause: 'platform',
			message: 'The platform receives too many requests (HTTP 429)',
			remedy: "Lower 'Parallel Requests' under 'Options', or run the workflow less often.",
		};
	}
	if (status >= 500) {
		return {
			cause: 'platform',
			message: `The platform or a proxy in front of it could not answer (HTTP ${status})`,
			remedy: 'Try again later. If it keeps happening, ask who administers the platform.',
		};
	}
	return {
		cause: 'platform',
		message: `The server answered with HTTP ${status} instead of the platform's envelope`,
		remedy:
			"Check 'Base URL' in the credential, and whether a proxy in front of the platform answers in its place.",
	};
}

function unreadable(status: number, came: string): Failure {
	return new Failure({
		kind: 'answer',
		cause: 'platform',
		message: `Expected the platform's JSON envelope with a whole number in 'code', but got ${came} (HTTP ${status})`,
		remedy:
			"Check 'Base URL' in the credential. A sign-in page of a proxy, or another service at this address, answers like this.",
		httpStatus: status,
	});
}
