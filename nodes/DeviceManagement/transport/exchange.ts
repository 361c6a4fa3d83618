/**
 * One HTTP exchange through n8n: it returns the whole response, whatever its status, or says why there is none. It reads the body as a
 * stream, to limit its size and time. It follows no redirects: the credential must not reach another host.
 */
import type { IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import type { RawResponse } from '../core/response';
import { type Asked, failureOf } from '../core/errors/failureOf';
import { hasMark, IN_DOCKER, RESPONSES, rowOfError } from '../core/errors/table';
import { Failure } from '../core/failure';
import { isRecord, type JsonObject } from '../core/json';
import type { Query } from '../core/address';
import { beforeEnd, currentClock, onEnd, whyEnded } from './waiting/clock';

/** Far more than a page of 2000 devices, far less than a worker's memory. */
const LARGEST_BODY = 64 * 1024 * 1024;

export interface WireRequest {
	method: IHttpRequestMethods;
	url: string;
	query?: Query | undefined;
	body?: string | undefined;
	skipCertificateCheck: boolean;
	/** Longest time from sending to reading the last byte, in milliseconds. */
	timeoutMs: number;
	cancel?: AbortSignal | undefined;
}

/** n8n's request function, with or without authentication. */
export type Send = (options: IHttpRequestOptions) => Promise<unknown>;

const responseSchema = z.object({
	statusCode: z.number(),
	// n8n returns an instance of axios' own class.
	headers: z.custom<JsonObject>(isRecord),
	body: z.custom<AsyncIterable<Uint8Array> & { on(event: 'error', listener: () => void): unknown }>(
		(body) => isRecord(body) && Symbol.asyncIterator in body && typeof body['on'] === 'function',
	),
});

/**
 * Sends one request and reads the whole response.
 * @throws Failure that says why there is no response: `unreachable`, `timeout` or `cancelled`; `response` for a body that is too large. It
 * never throws n8n's error, which contains the request with its headers.
 */
export async function exchange(send: Send, request: WireRequest, asked: Asked): Promise<RawResponse> {
	const { cancel, timeoutMs } = request;
	const controller = new AbortController();
	const end = controller.signal;
	const places = { limit: `${timeoutMs / 1000} s` };
	const tooSlow = () => failureOf({ kind: 'timeout', row: RESPONSES.tooSlow, places }, asked);
	// AbortSignal.any is slow. In Node.js 24, a combined signal with a timeout also leaks memory.
	const forgetTime = onEnd(currentClock().timeout(timeoutMs), () => controller.abort(tooSlow()));
	const forgetCancel = cancel && onEnd(cancel, () => controller.abort(cancel.reason));
	try {
		const response = end.aborted ? undefined : await beforeEnd(end, receive(send, request, asked, end));
		if (response !== undefined) return response;
	} catch (error) {
		if (!end.aborted) throw whyNoResponse(error, asked, { url: request.url });
	} finally {
		forgetTime();
		forgetCancel?.();
		// Closes a connection that wasn't read to its end. n8n passes on only a copy of the body. Null costs no stack trace.
		controller.abort(null);
	}
	throw whyEnded(end);
}

/** Throws n8n's error if there is no response, and a Failure if it can't be read to its end. */
async function receive(send: Send, request: WireRequest, asked: Asked, end: AbortSignal): Promise<RawResponse> {
	const response = responseSchema.safeParse(await send(requestOptions(request, end)));
	if (!response.success) throw failureOf({ kind: 'response', row: RESPONSES.otherForm }, asked);
	const { statusCode, headers, body: stream } = response.data;
	// Without a listener, the error event of a response that breaks off would end n8n.
	stream.on('error', () => {});
	if (end.aborted) throw whyEnded(end);
	const body = await collect(stream, headers['content-length'], asked);
	return {
		status: statusCode,
		retryAfterMs: parseRetryAfter(headers['retry-after'], headers['date'], currentClock().date()),
		redirectOrigin: /^3..$/.test(String(statusCode)) ? originOf(headers['location'], request.url) : undefined,
		charset: /charset="?([\w.:-]+)/i.exec(String(headers['content-type']))?.[1],
		body,
	};
}

function requestOptions(request: WireRequest, abortSignal: AbortSignal): IHttpRequestOptions {
	const { method, url, query, body } = request;
	return {
		method,
		url,
		headers: { Accept: 'application/json', ...(body !== undefined && { 'Content-Type': 'application/json' }) },
		...(query !== undefined && { qs: query, arrayFormat: 'repeat' }),
		...(body !== undefined && { body }),
		encoding: 'stream',
		returnFullResponse: true,
		// Otherwise n8n would sign in after HTTP 401. The session does.
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		skipSslCertificateValidation: request.skipCertificateCheck,
		timeout: request.timeoutMs,
		abortSignal,
	};
}

/** Returns the whole body. Throws a Failure if it is too large or breaks off. */
async function collect(stream: AsyncIterable<Uint8Array>, length: unknown, asked: Asked): Promise<Uint8Array> {
	const tooLarge = () =>
		failureOf({ kind: 'response', row: RESPONSES.tooLarge, places: { limit: `${LARGEST_BODY / 2 ** 20} MB` } }, asked);
	if (Number(length) > LARGEST_BODY) throw tooLarge();
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		for await (const chunk of stream) {
			size += chunk.byteLength;
			if (size > LARGEST_BODY) throw tooLarge();
			chunks.push(chunk);
		}
		return Buffer.concat(chunks);
	} catch (error) {
		throw whyNoResponse(error, asked, { hasBegun: true });
	}
}

/** A smaller number in `Retry-After` is a wait; this one would last 31 years. Unix times are in seconds or milliseconds. */
const FIRST_UNIX_TIME = 1e9;

/** Returns the wait that `Retry-After` (seconds, a date or a Unix time) asks for, in milliseconds; undefined for none. `date` is the `Date` header. */
export function parseRetryAfter(header: unknown, date: unknown, nowMs: number): number | undefined {
	if (typeof header !== 'string') return undefined;
	const text = header.trim();
	const number = /^\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : NaN;
	if (number < FIRST_UNIX_TIME) return Math.round(number * 1000) || undefined;
	const unixMs = number < 100 * FIRST_UNIX_TIME ? number * 1000 : number;
	// The platform's clock may differ from n8n's.
	const waitMs = Math.round((unixMs || timeOf(text)) - (timeOf(date) || nowMs));
	return waitMs > 0 ? waitMs : undefined;
}

function timeOf(header: unknown): number {
	// Date.parse would also accept '-5' as a date.
	return typeof header === 'string' && /^[A-Za-z]{3,9},? /.test(header) ? Date.parse(header) : NaN;
}

/** Returns the origin that a redirect leads to, without path and query, which may contain secrets. */
function originOf(location: unknown, from: string): string | undefined {
	if (typeof location !== 'string' || !URL.canParse(location, from)) return undefined;
	return new URL(location, from).origin;
}

/** n8n's own machine, or its container. */
const LOCAL = /^(localhost|127\..+|\[::1\]|0\.0\.0\.0)$/;

/**
 * Returns the Failure for an error of n8n's request function, by the error's code: the error itself contains the request with its
 * headers. If this package threw a Failure inside that function, it returns that one.
 */
export function whyNoResponse(error: unknown, asked: Asked, { url = '', hasBegun = false } = {}): Failure {
	let [systemCode, said, atProxy] = ['', '', false];
	let link: unknown = error;
	for (let depth = 0; depth < 5 && link instanceof Error; depth++) {
		if (link instanceof Failure) return link;
		const own: unknown = Reflect.get(link, 'code');
		// Node.js 24 has codes like ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE.
		if (systemCode === '' && typeof own === 'string' && /^[A-Z][A-Z0-9_/]*$/.test(own)) systemCode = own;
		said = link.message;
		// A proxy that can't be reached leaves the request without its socket. Without TLS in the base URL, TLS is the proxy's.
		const { socket, protocol } = Object(Reflect.get(link, 'request'));
		atProxy ||= socket === null || (protocol === 'http:' && Object(socket).encrypted === true);
		link = link.cause;
	}
	const isAborted = /socket hang up|aborted|premature|proxy connection ended/i.test(said);
	// The code EPROTO says too little.
	const ownOfTls = /^(EPROTO|ERR_SSL)/.test(systemCode) ? ` ${said}`.toUpperCase().replace(/\W+/g, '_') : '';
	const isLocal = URL.canParse(url) && LOCAL.test(new URL(url).hostname);
	const code = isAborted ? 'ECONNRESET' : systemCode + ownOfTls;
	const isProxy = (atProxy && /^(?!ERR_CANCELED)./.test(code)) || /^(proxy connection|URI malformed)/i.test(said);
	const row = rowOfError(code, isProxy, hasBegun);
	const system = systemCode === '' && isAborted ? 'aborted' : systemCode;
	// Without IPv6, ::1 isn't available.
	const places = { inDocker: isLocal && /^(ECONNREFUSED|EADDRNOTAVAIL)$/.test(code) ? IN_DOCKER : '' };
	return failureOf({ kind: 'unreachable', row, system, places, ...(hasMark(row, 'said') && { said }) }, asked);
}
