/**
 * Sends the requests of one execution to the platform and returns their payloads. Each attempt waits for a token, for one of
 * the execution's parallel requests and for the account's rate limit. It knows no endpoints and no lists.
 */
import type {
	IAllExecuteFunctions,
	IExecuteFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';
import pLimit from 'p-limit';
import type { z } from 'zod/v4';

import { checkPayload, unwrap } from '../core/envelope';
import { type Failure, inputFailure } from '../core/failure';
import { inWords, type Purpose } from '../core/errors/purpose';
import type { Query } from '../core/query';
import { outcomeOf, withRetries } from './waiting/retry';
import { accountOf } from './auth/account';
import { type Clock, currentClock } from './waiting/clock';
import { type Credential, CREDENTIAL_TYPE, credentialOf } from './auth/credential';
import { exchange, unsent } from './exchange';
import { LONGEST_PAUSE_MS } from './waiting/rateLimit';
import { Session } from './auth/session';

/** A running node, a dropdown, or a trigger's poll. */
export type PlatformContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** The time after which all requests must have ended, in milliseconds, and the error if they have not. */
export interface Deadline {
	ms: number;
	failure(): Failure;
}

export interface OpenOptions {
	/** Most requests at the same time. */
	parallelRequests: number;
	clock?: Clock;
	deadline?: Deadline | undefined;
	/** The credential, if it was loaded already; for polls. */
	credential?: Credential;
}

export interface RequestSettings {
	/** Longest time for one attempt, in milliseconds. */
	timeoutMs: number;
	/** How often to retry a read. */
	maxRetries: number;
	/** Whether to fail if the token is refused: the platform has just accepted it for another request. */
	keepsToken?: boolean;
}

/** A request in the terms of the API document (section 4). */
export interface PlatformRequest<T> {
	method: IHttpRequestMethods;
	/** Path below the base URL, already percent-encoded; begins with /api. */
	path: string;
	query?: Query;
	/** JSON text. */
	body?: string | undefined;
	/** What the request is for. A write is sent again only after a refused sign-in. */
	purpose: Purpose;
	/** The schema of the payload, and the same in words. */
	schema: z.ZodType<T>;
	expected: string;
	settings: RequestSettings;
}

/** The platform for one execution: one sign-in, one limit of parallel requests, and an end with the execution. */
export interface Platform {
	/**
	 * Sends a request and returns its payload.
	 * @throws Failure with words for the user
	 */
	request<T>(request: PlatformRequest<T>): Promise<T>;
	/** Stops all requests of the execution. None starts afterwards. */
	stop(): void;
}

/** The platforms of one execution: if the credential contains expressions, it may differ for each item. */
export interface Platforms {
	/**
	 * Returns the platform for one item. It reads the credential from n8n, and again only to renew a token.
	 * @param itemIndex undefined in a dropdown or a poll, which have no items
	 * @throws Failure `input` for an invalid credential, and n8n's error if n8n can't resolve the credential
	 */
	at(itemIndex?: number): Promise<Platform>;
	stop: Platform['stop'];
}

/** Opens the platform of a dropdown or a poll. */
export async function openPlatform(context: PlatformContext, options: OpenOptions): Promise<Platform> {
	return await openPlatforms(context, options).at();
}

/** Opens the platforms of one execution. Items of the same account share a session. */
export function openPlatforms(
	context: PlatformContext,
	{ parallelRequests, clock = currentClock(), deadline, credential: loaded }: OpenOptions,
): Platforms {
	const slots = pLimit(parallelRequests);
	const halt = new AbortController();
	const stop = () => halt.abort();
	const dependencies = { context, clock, end: endOf(context, halt, clock, deadline), slots };
	const open = new Map<string, Platform>();
	return {
		async at(itemIndex) {
			const credential = loaded ?? (await loadCredential(context, itemIndex));
			const { accountName } = credential;
			const platform = open.get(accountName) ?? { request: requestFunction(dependencies, credential, itemIndex), stop };
			open.set(accountName, platform);
			return platform;
		},
		stop,
	};
}

interface Dependencies {
	context: PlatformContext;
	clock: Clock;
	end: AbortSignal;
	slots: ReturnType<typeof pLimit>;
}

function requestFunction(dependencies: Dependencies, loaded: Credential, itemIndex?: number): Platform['request'] {
	const { context, clock, end, slots } = dependencies;
	const session = new Session(loaded, {
		load: async () => await loadCredential(context, itemIndex),
		renewToken: async (credential) => await renewTokenByN8n(context, credential),
		clock,
		end,
	});
	return async ({ schema, expected, ...request }) => {
		let attempts = 0;
		const send = async (credential: Credential) => {
			const { rateLimit } = accountOf(credential);
			const sendNow = async () => await sendOnce(dependencies, request, credential);
			return await slots(async () => await rateLimit.pass(sendNow, clock, end, attempts++));
		};
		const maxRetries = request.purpose === 'write' ? 0 : request.settings.maxRetries;
		const limits = { maxRetries, maxWaitMs: LONGEST_PAUSE_MS };
		const run = async () => await session.run(send, request.settings.keepsToken);
		const payload = await withRetries(run, limits, clock, end);
		return checkPayload(payload, schema, expected);
	};
}

/** Sends a request once and returns its unchecked payload. */
async function sendOnce(
	{ context, clock, end }: Dependencies,
	{ path, settings, ...request }: Omit<PlatformRequest<unknown>, 'schema' | 'expected'>,
	{ baseUrl, stored, data, redact }: Credential,
): Promise<unknown> {
	const { authentication, apiKeyIn, apiKeyName: name } = stored;
	if (authentication === 'apiKey' && apiKeyIn === 'query' && Object.hasOwn(request.query ?? {}, name)) {
		const remedy = "Remove the parameter, or change 'Key Name' in the credential.";
		throw inputFailure(`The query parameter "${name}" has the name of the key in the credential`, remedy);
	}
	const send = async (options: IHttpRequestOptions): Promise<unknown> => {
		const caller = cancelledBy(context, options.abortSignal);
		return await context.helpers.httpRequestWithAuthentication.call(caller, CREDENTIAL_TYPE, options, decrypted(data));
	};
	try {
		const response = await exchange(send, {
			...request,
			url: `${baseUrl.href}${path}`,
			skipCertificateCheck: stored.allowUnauthorizedCerts,
			timeoutMs: settings.timeoutMs,
			clock,
			cancel: end,
		});
		return unwrap(response, request.purpose === 'write');
	} catch (error) {
		throw inWords(error, request.purpose, redact);
	}
}

/** Has n8n sign in and store the token. No request follows, because `authenticate` throws once there is a token. */
async function renewTokenByN8n(context: PlatformContext, credential: Credential): Promise<void> {
	const request = { url: credential.baseUrl.href };
	const { httpRequestWithAuthentication } = context.helpers;
	const call = httpRequestWithAuthentication.call(context, CREDENTIAL_TYPE, request, decrypted(credential.data));
	const outcome = await outcomeOf(call);
	if (credential.token !== '') return;
	throw inWords(unsent('failure' in outcome ? outcome.failure : undefined), 'login', credential.redact);
}

/**
 * Loads the credential from n8n's store.
 * @throws Failure `input` for an invalid credential, and n8n's error if n8n can't resolve the credential
 */
export async function loadCredential(context: PlatformContext, itemIndex = 0): Promise<Credential> {
	// Only executions have items. Dropdowns and polls accept no index.
	const data =
		'getInputData' in context
			? await context.getCredentials(CREDENTIAL_TYPE, itemIndex)
			: await context.getCredentials(CREDENTIAL_TYPE);
	return credentialOf({ ...data });
}

/** Makes n8n use this data, so that it doesn't read and decrypt the credential for each request. */
function decrypted(data: Credential['data']) {
	return { credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data } };
}

/** Returns a context with the request's own signal. Otherwise n8n replaces that signal with the execution's. */
function cancelledBy(context: PlatformContext, signal: IHttpRequestOptions['abortSignal']): IAllExecuteFunctions {
	return Object.create(context, { getExecutionCancelSignal: { value: () => signal } });
}

/** Returns a signal that is aborted when n8n stops the execution, at the deadline, or by `stop`. */
function endOf(context: PlatformContext, halt: AbortController, clock: Clock, deadline?: Deadline): AbortSignal {
	const ends = [halt.signal];
	const execution = 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
	if (execution !== undefined) ends.push(execution);
	if (deadline !== undefined) {
		const timeUp = clock.timeout(deadline.ms);
		timeUp.addEventListener('abort', () => halt.abort(deadline.failure()), { once: true });
		if (timeUp.aborted) halt.abort(deadline.failure());
	}
	return AbortSignal.any(ends);
}
