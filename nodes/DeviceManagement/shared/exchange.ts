import type { IDataObject, IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import type { RawAnswer } from '../core/envelope';
import { cancelledFailure, Failure } from '../core/failure';
import { isRecord, type JsonObject } from '../core/json';
import type { Query } from '../core/query';
import type { Redact } from '../core/redaction';
import { readRetryAfter } from '../core/retry';

/** Largest body that is read, in bytes: far more than a page of 2000 devices, far less than a worker's memory. */
const LARGEST_BODY = 64 * 1024 * 1024;

/** A request in the platform's terms. */
export interface WireRequest {
	method: IHttpRequestMethods;
	url: string;
	query?: Query;
	/** JSON text. */
	body?: string | undefined;
	skipCertificateCheck: boolean;
}

export interface ExchangeLimits {
	/** Longest time from the first byte sent to the last one read, in milliseconds. */
	timeoutMs: number;
	/** Milliseconds since the epoch. */
	now: number;
	cancel: AbortSignal | undefined;
	redact: Redact;
}

/** How n8n answers when it is asked for the whole response with its body as a stream. */
const responseSchema = z.object({
	statusCode: z.number(),
	// n8n hands over an instance of axios' own class.
	headers: z.custom<JsonObject>(isRecord),
	body: z.custom<AsyncIterable<unknown> & { on(event: 'error', listener: () => void): unknown }>(
		(body) =>
			isRecord(body) && Symbol.asyncIterator in body && typeof body['on'] === 'function',
	),
});

/**
 * Sends one request through n8n and reads the whole answer, whatever its status.
 *
 * The body is read as a stream, because that is the only way to stop at a size, and to have the time-out cover the
 * body too. Redirects are not followed: a credential must not travel, and a POST that becomes a GET lists nothing.
 * @param send n8n's request function, with or without authentication
 * @returns the answer as it came
 * @throws Failure `unreachable`, `timeout` or `cancelled`; `answer` for a body that is too large. What n8n threw is
 * never passed on: it holds the request with its headers.
 */
export async function exchange(
	send: (options: IHttpRequestOptions) => Promise<unknown>,
	request: WireRequest,
	limits: ExchangeLimits,
): Promise<RawAnswer> {
	if (limits.cancel?.aborted === true) throw cancelledFailure();
	const drop = new AbortController();
	const ends = [AbortSignal.timeout(limits.timeoutMs), drop.signal];
	if (limits.cancel !== undefined) ends.push(limits.cancel);
	const end = AbortSignal.any(ends);
	try {
		const sent = send(requestOptions(request, limits.timeoutMs, end)).then(
			(response) => ({ response }),
			(error: unknown) => ({ failure: explainUnsent(error, limits) }),
		);
		const outcome = (await before(end, sent)) ?? { failure: stopped(limits) };
		if ('failure' in outcome) throw outcome.failure;
		const response = responseSchema.safeParse(outcome.response);
		if (!response.success) throw unknownForm();
		const { statusCode, headers, body } = response.data;
		return {
			status: statusCode,
			retryAfterMs: readRetryAfter(headers['retry-after'], limits.now),
			redirectOrigin: originOf(headers['location'], request.url, limits.redact),
			body: await readBody(body, headers['content-length'], end, limits),
		};
	} finally {
		// Closes the connection of an answer that was not read to its end. Destroying the body does not: under n8n it is
		// a copy of what the connection brings. After a complete answer this does nothing.
		drop.abort();
	}
}

function requestOptions(
	request: WireRequest,
	timeoutMs: number,
	abortSignal: AbortSignal,
): IHttpRequestOptions {
	const headers: IDataObject = { Accept: 'application/json' };
	if (request.body !== undefined) headers['Content-Type'] = 'application/json';
	return {
		method: request.method,
		url: request.url,
		headers,
		...(request.query === undefined ? {} : { qs: request.query, arrayFormat: 'repeat' }),
		...(request.body === undefined ? {} : { body: request.body }),
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
		skipSslCertificateValidation: request.skipCertificateCheck,
		timeout: timeoutMs,
		abortSignal,
	};
}

/** The promise's value, or undefined when the end comes first. */
async function before<T>(end: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
	let stop = () => {};
	const ended = new Promise<undefined>((resolve) => {
		stop = () => resolve(undefined);
		if (end.aborted) stop();
		else end.addEventListener('abort', stop, { once: true });
	});
	try {
		return await Promise.race([promise, ended]);
	} finally {
		end.removeEventListener('abort', stop);
	}
}

async function readBody(
	body: z.infer<typeof responseSchema>['body'],
	contentLength: unknown,
	end: AbortSignal,
	limits: ExchangeLimits,
): Promise<Uint8Array> {
	// An answer that is cut off says so by an event, too, which would end n8n if nobody listened.
	body.on('error', () => {});
	if (Number(contentLength) > LARGEST_BODY) throw tooLarge();
	const outcome = (await before(end, collect(body))) ?? { failure: stopped(limits) };
	if ('bytes' in outcome) return outcome.bytes;
	throw 'failure' in outcome ? outcome.failure : explainUnsent(outcome.error, limits);
}

async function collect(
	body: AsyncIterable<unknown>,
): Promise<{ bytes: Uint8Array } | { failure: Failure } | { error: unknown }> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		for await (const chunk of body) {
			if (!(chunk instanceof Uint8Array)) return { failure: unknownForm() };
			size += chunk.byteLength;
			if (size > LARGEST_BODY) return { failure: tooLarge() };
			chunks.push(chunk);
		}
	} catch (error) {
		return { error };
	}
	return { bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks) };
}

function tooLarge(): Failure {
	return new Failure({
		kind: 'answer',
		cause: 'platform',
		message: `The answer is larger than ${LARGEST_BODY / 1024 / 1024} MB`,
		remedy: "Lower 'Page Size' under 'Options', or use 'Filters' to ask for less.",
	});
}

function unknownForm(): Failure {
	return new Failure({
		kind: 'answer',
		cause: 'platform',
		message: 'n8n handed over an answer in a form that this node does not know',
		remedy: 'Update n8n and the Device Management node to versions that fit together.',
	});
}

function stopped({ cancel, timeoutMs }: ExchangeLimits): Failure {
	return cancel?.aborted === true ? cancelledFailure() : timedOut(timeoutMs);
}

function timedOut(timeoutMs: number): Failure {
	return new Failure({
		kind: 'timeout',
		cause: 'platform',
		message: `The platform did not answer within ${timeoutMs} ms`,
		remedy: "Raise 'Timeout' under 'Options', or lower 'Page Size' there so that each answer is smaller.",
		retryable: true,
	});
}

/** The origin a redirect leads to; never its path or query, which may hold anything. */
function originOf(location: unknown, from: string, redact: Redact): string | undefined {
	if (typeof location !== 'string' || !URL.canParse(location, from)) return undefined;
	return redact(new URL(location, from).origin);
}

const TIMED_OUT = new Set(['ERR_CANCELED', 'ECONNABORTED', 'ETIMEDOUT', 'ESOCKETTIMEDOUT']);
const DROPPED = new Set([
	'ECONNREFUSED',
	'ECONNRESET',
	'EPIPE',
	'EAI_AGAIN',
	'ENETUNREACH',
	'EHOSTUNREACH',
	'ENETDOWN',
	'ERR_STREAM_PREMATURE_CLOSE',
]);
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/;

/**
 * Says why n8n could not send a request, from the codes alone: the errors themselves hold the request, headers and
 * all. A Failure that our own code threw inside n8n's request function comes back as it was.
 */
function explainUnsent(error: unknown, limits: ExchangeLimits): Failure {
	let code = '';
	let words = '';
	let link: unknown = error;
	for (let depth = 0; depth < 5 && link instanceof Error; depth++) {
		if (link instanceof Failure) return link;
		const own: unknown = Reflect.get(link, 'code');
		if (code === '' && typeof own === 'string' && /^[A-Z][A-Z0-9_]*$/.test(own)) code = own;
		words = link.message;
		link = link.cause;
	}
	if (limits.cancel?.aborted === true) return cancelledFailure();
	if (TIMED_OUT.has(code)) return timedOut(limits.timeoutMs);
	const unreachable = (message: string, remedy: string, retryable: boolean) =>
		new Failure({
			kind: 'unreachable',
			// What another try can't change, somebody has to: the address, the certificate, n8n's own limits.
			cause: retryable ? 'platform' : 'input',
			message,
			remedy,
			retryable,
		});
	if (DROPPED.has(code) || /socket hang up|aborted|premature/i.test(words)) {
		return unreachable(
			`The connection to the platform was refused or dropped (${code === '' ? 'aborted' : code})`,
			"Check that the platform is running and that 'Base URL' in the credential has the right port.",
			true,
		);
	}
	if (code === 'ENOTFOUND') {
		return unreachable(
			'The host in the base URL is not known (ENOTFOUND)',
			"Check 'Base URL' in the credential for a typing slip.",
			false,
		);
	}
	if (CERTIFICATE.test(code)) {
		return unreachable(
			`The platform's TLS certificate is not trusted (${code})`,
			"Have a certificate installed that n8n trusts. On a network you control, 'Ignore SSL Issues (Insecure)' in the credential skips the check.",
			false,
		);
	}
	if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
		return unreachable(
			`The server does not speak TLS as expected (${code})`,
			"Check whether 'Base URL' in the credential needs http:// instead of https://, and its port.",
			false,
		);
	}
	return unreachable(
		`n8n could not send the request${code === '' ? '' : ` (${code})`}: ${limits.redact(words)}`,
		"Check 'Base URL' in the credential, and whether this n8n may reach that address.",
		false,
	);
}
