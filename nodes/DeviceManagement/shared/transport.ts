import {
	type IAllExecuteFunctions,
	type IExecuteFunctions,
	type IHttpRequestMethods,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	sleep,
} from 'n8n-workflow';
import pLimit from 'p-limit';
import type { z } from 'zod/v4';

import { checkPayload, unwrap } from '../core/envelope';
import type { Query } from '../core/query';
import { type Clock, withRetries } from '../core/retry';
import { CREDENTIAL_TYPE, readCredential } from './credential';
import { exchange } from './exchange';
import { Session, type SessionData } from './session';
import { SIGN_IN_TIMEOUT_MS } from './signIn';

/** Where a request can be made from: a running node, or a dropdown. */
export type PlatformContext = IExecuteFunctions | ILoadOptionsFunctions;

export interface RequestSettings {
	/** Longest time for one attempt, in milliseconds. */
	timeoutMs: number;
	/** How often a request that only reads is sent again. */
	maxRetries: number;
}

/** A request in the terms of the API document (section 4). */
export interface PlatformRequest<T> {
	method: IHttpRequestMethods;
	/** Path below the base URL, already percent-encoded; begins with /api. */
	path: string;
	query?: Query;
	/** JSON text. */
	body?: string | undefined;
	/** Whether it changes nothing on the platform, so that it may be sent again after a time-out or a 503. */
	onlyReads: boolean;
	/** What the payload must be. */
	schema: z.ZodType<T>;
	/** The same in words. */
	expected: string;
	settings: RequestSettings;
}

/** The platform as one execution sees it: signed in once, bounded, stopped with the execution. */
export interface Platform {
	/**
	 * Sends a request and returns its typed payload; nobody else sees an envelope.
	 * @throws Failure with words for whoever runs the workflow
	 */
	request<T>(request: PlatformRequest<T>): Promise<T>;
	/** Stops all requests: none starts afterwards. */
	stop(): void;
}

/** Longest time spent waiting between the attempts of one request, in milliseconds. */
const LONGEST_WAIT_MS = 120_000;
/** Waiting is done in steps, so that a stopped execution does not linger. */
const WAIT_STEP_MS = 250;

/**
 * Opens the platform for one execution. It reads the credential from n8n once; requests are then sent with it, and
 * it is read again only when a token has to be renewed.
 * @param parallelRequests most requests under way at once
 * @throws Failure `input` for a credential that can't be used
 */
export async function connect(
	context: PlatformContext,
	parallelRequests: number,
): Promise<Platform> {
	const read = async (): Promise<SessionData> => ({ ...(await context.getCredentials(CREDENTIAL_TYPE)) });
	const session = new Session(await read(), read);
	const inTurn = pLimit(parallelRequests);
	const halt = new AbortController();
	const cancel = cancelSignal(context, halt);
	const clock = clockStoppedBy(cancel);

	const sendOnce = async (request: WithoutPayload, data: SessionData): Promise<unknown> => {
		const { baseUrl, stored } = readCredential(data);
		// Read again for each text: n8n may have written a new token into `data` meanwhile.
		const redact = (text: string) => readCredential(data).redact(text);
		const signsInFirst = stored.authentication === 'login' && stored.sessionToken === '';
		const answer = await exchange(
			async (options) =>
				await context.helpers.httpRequestWithAuthentication.call(
					cancelledBy(context, options.abortSignal),
					CREDENTIAL_TYPE,
					options,
					{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data } },
				),
			{
				method: request.method,
				url: `${baseUrl.href}${request.path}`,
				...(request.query === undefined ? {} : { query: request.query }),
				body: request.body,
				skipCertificateCheck: stored.allowUnauthorizedCerts,
			},
			{
				timeoutMs: request.settings.timeoutMs + (signsInFirst ? SIGN_IN_TIMEOUT_MS : 0),
				now: clock.now(),
				cancel,
				redact,
			},
		);
		return unwrap(answer, redact);
	};

	return {
		async request({ schema, expected, ...request }) {
			const attempt = async () =>
				await session.run(async (data) => await inTurn(async () => await sendOnce(request, data)));
			const limits = {
				maxRetries: request.onlyReads ? request.settings.maxRetries : 0,
				maxWaitMs: LONGEST_WAIT_MS,
			};
			return checkPayload(await withRetries(attempt, limits, clock), schema, expected);
		},
		stop: () => halt.abort(),
	};
}

type WithoutPayload = Omit<PlatformRequest<unknown>, 'schema' | 'expected'>;

/** n8n replaces a request's own signal by the execution's. So that each request can be ended alone, it is told another. */
function cancelledBy(
	context: PlatformContext,
	signal: IHttpRequestOptions['abortSignal'],
): IAllExecuteFunctions {
	return Object.create(context, { getExecutionCancelSignal: { value: () => signal } });
}

/** Aborted when n8n stops the execution, or when the node itself has no more use for answers. */
function cancelSignal(context: PlatformContext, halt: AbortController): AbortSignal {
	const execution =
		'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
	return execution === undefined ? halt.signal : AbortSignal.any([execution, halt.signal]);
}

function clockStoppedBy(cancel: AbortSignal): Clock {
	return {
		now: () => Date.now(),
		random: () => Math.random(),
		async sleep(ms) {
			for (let left = ms; left > 0 && !cancel.aborted; left -= WAIT_STEP_MS) {
				await sleep(Math.min(left, WAIT_STEP_MS));
			}
		},
	};
}
