import type { IDataObject, IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import type { RawAnswer } from '../core/envelope';
import { Failure } from '../core/failure';
import { isRecord, type JsonObject } from '../core/json';
import type { Purpose } from '../core/purpose';
import type { Query } from '../core/query';
import type { Redact } from '../core/redaction';
import { type Clock, readRetryAfter } from '../core/retry';
import { explainUnsent, inDoubtIfWrite, meansTimedOut, type Progress, timedOut, tooLarge } from '../core/unsent';
import { beforeEnd, whyEnded } from './clock';

/** Largest body that is read: far more than a page of 2000 devices, far less than a worker's memory. */
const MOST_MEGABYTES = 64;
const LARGEST_BODY = MOST_MEGABYTES * 1024 * 1024;

/** A request in the platform's terms. */
export interface WireRequest {
	method: IHttpRequestMethods;
	url: string;
	query?: Query;
	/** JSON text. */
	body?: string | undefined;
	purpose: Purpose;
	skipCertificateCheck: boolean;
}

export interface ExchangeLimits {
	/** Longest time from the first byte sent to the last one read, in milliseconds. */
	timeoutMs: number;
	clock: Pick<Clock, 'now' | 'timeout'>;
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
	if (limits.cancel?.aborted === true) throw stopped(request.purpose, limits);
	const drop = new AbortController();
	const end = AbortSignal.any(limits.cancel === undefined ? [drop.signal] : [drop.signal, limits.cancel]);
	// Listened to, and not one of those above: of a signal made over a time-out Node.js 24 keeps something for ever.
	const timeUp = limits.clock.timeout(limits.timeoutMs);
	const giveUp = () => drop.abort();
	timeUp.addEventListener('abort', giveUp, { once: true });
	if (timeUp.aborted) giveUp();
	try {
		const sent = send(requestOptions(request, limits.timeoutMs, end)).then(
			(response) => ({ response }),
			(error: unknown) => ({ failure: unsent(error, request.purpose, limits) }),
		);
		const outcome = (await beforeEnd(end, sent)) ?? { failure: stopped(request.purpose, limits) };
		if ('failure' in outcome) throw outcome.failure;
		const response = responseSchema.safeParse(outcome.response);
		if (!response.success) throw unknownForm(request.purpose);
		const { statusCode, headers, body } = response.data;
		return {
			status: statusCode,
			retryAfterMs: readRetryAfter(headers['retry-after'], limits.clock.now()),
			redirectOrigin: originOf(headers['location'], request.url, limits.redact),
			body: await readBody(body, headers['content-length'], end, request.purpose, limits),
		};
	} finally {
		timeUp.removeEventListener('abort', giveUp);
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

async function readBody(
	body: z.infer<typeof responseSchema>['body'],
	contentLength: unknown,
	end: AbortSignal,
	purpose: Purpose,
	limits: ExchangeLimits,
): Promise<Uint8Array> {
	// An answer that is cut off says so by an event, too, which would end n8n if nobody listened.
	body.on('error', () => {});
	if (Number(contentLength) > LARGEST_BODY) throw tooLarge(MOST_MEGABYTES, purpose);
	const outcome = (await beforeEnd(end, collect(body, purpose))) ?? { failure: stopped(purpose, limits) };
	if ('bytes' in outcome) return outcome.bytes;
	throw 'failure' in outcome ? outcome.failure : unsent(outcome.error, purpose, limits, 'answered');
}

async function collect(
	body: AsyncIterable<unknown>,
	purpose: Purpose,
): Promise<{ bytes: Uint8Array } | { failure: Failure } | { error: unknown }> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		for await (const chunk of body) {
			if (!(chunk instanceof Uint8Array)) return { failure: unknownForm(purpose) };
			size += chunk.byteLength;
			if (size > LARGEST_BODY) return { failure: tooLarge(MOST_MEGABYTES, purpose) };
			chunks.push(chunk);
		}
	} catch (error) {
		return { error };
	}
	return { bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks) };
}

function unknownForm(purpose: Purpose): Failure {
	const words = {
		message: 'n8n handed over an answer in a form that this node does not know',
		remedy: 'Update n8n and the Device Management node to versions that fit together.',
	};
	return new Failure({ kind: 'answer', cause: 'platform', ...inDoubtIfWrite(words, purpose) });
}

function stopped(purpose: Purpose, { cancel, timeoutMs }: Pick<ExchangeLimits, 'cancel' | 'timeoutMs'>): Failure {
	return cancel?.aborted === true ? whyEnded(cancel) : timedOut(timeoutMs, purpose);
}

/** The origin a redirect leads to; never its path or query, which may hold anything. */
function originOf(location: unknown, from: string, redact: Redact): string | undefined {
	if (typeof location !== 'string' || !URL.canParse(location, from)) return undefined;
	return redact(new URL(location, from).origin);
}

/**
 * Says why n8n could not send a request, or not read its answer, from the codes alone: the errors themselves hold the
 * request, headers and all. A Failure that our own code threw inside n8n's request function comes back as it was.
 */
export function unsent(
	error: unknown,
	purpose: Purpose,
	limits: Pick<ExchangeLimits, 'cancel' | 'redact' | 'timeoutMs'>,
	progress: Progress = 'unknown',
): Failure {
	let code = '';
	let words = '';
	let reached = progress;
	let link: unknown = error;
	for (let depth = 0; depth < 5 && link instanceof Error; depth++) {
		if (link instanceof Failure) return link;
		const own: unknown = Reflect.get(link, 'code');
		if (code === '' && typeof own === 'string' && /^[A-Z][A-Z0-9_]*$/.test(own)) code = own;
		if (Reflect.get(link, 'syscall') === 'connect' || /before secure TLS connection/.test(link.message)) reached = 'not connected';
		words = link.message;
		link = link.cause;
	}
	if (limits.cancel?.aborted === true || meansTimedOut(code)) return stopped(purpose, limits);
	return explainUnsent(code, words, purpose, limits.redact, reached);
}
