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
import { cancelledFailure, Failure } from '../core/failure';
import type { Purpose } from '../core/purpose';
import type { Query } from '../core/query';
import { type Clock, withRetries } from '../core/retry';
import { accountOf } from './account';
import { SIGN_IN_MARK } from './authenticate';
import { currentClock } from './clock';
import { CREDENTIAL_TYPE, readCredential, redactorFor, tokenIn } from './credential';
import { exchange, unsent } from './exchange';
import { type CredentialData, Session } from './session';

/** Where a request can be made from: a running node, a dropdown, or a trigger's poll. */
export type PlatformContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** A time by which everything has to be done. */
export interface Deadline {
	/** Milliseconds since the epoch. */
	at: number;
	/** What whoever is still asking then is told. */
	failure(): Failure;
}

export interface OpenOptions {
	/** Most requests under way at once. */
	parallelRequests: number;
	clock?: Clock;
	deadline?: Deadline | undefined;
}

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
	/** What it is for. A write changes something on the platform, so that it is not sent again after a time-out or a 503. */
	purpose: Purpose;
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
	/** Stops all requests of the execution: none starts afterwards. */
	stop(): void;
}

/** Longest time spent waiting between the attempts of one request, in milliseconds. */
const LONGEST_WAIT_MS = 120_000;

/** The platforms of one execution: a credential with expressions may lead each item to another one. */
export interface Platforms {
	/**
	 * The platform for one item, opened by its first item. It reads the credential from n8n; requests are then sent with it, and
	 * it is read again only when a token has to be renewed.
	 * @param itemIndex left out where there are no items
	 * @throws Failure `input` for a credential that can't be used, and what n8n throws for one that it can't resolve
	 */
	at(itemIndex?: number): Promise<Platform>;
	/** Stops all requests: none starts afterwards. */
	stop(): void;
}

/** Opens the one platform of a dropdown or a poll. */
export async function openPlatform(context: PlatformContext, options: OpenOptions): Promise<Platform> {
	return await openPlatforms(context, options).at();
}

/**
 * Makes ready for the platforms of one execution. Items whose credential leads to the same account share a session.
 */
export function openPlatforms(
	context: PlatformContext,
	{ parallelRequests, clock = currentClock(), deadline }: OpenOptions,
): Platforms {
	const slots = pLimit(parallelRequests);
	const halt = new AbortController();
	const surroundings = { context, clock, end: endOf(context, halt, clock, deadline), slots };
	const open = new Map<string, Platform>();
	return {
		async at(itemIndex) {
			const data = await readStored(context, itemIndex);
			const { account } = readCredential(data);
			const platform = open.get(account) ?? platformOf(surroundings, data, itemIndex, () => halt.abort());
			open.set(account, platform);
			return platform;
		},
		stop: () => halt.abort(),
	};
}

interface Surroundings {
	context: PlatformContext;
	clock: Clock;
	end: AbortSignal;
	slots: ReturnType<typeof pLimit>;
}

function platformOf(
	{ context, clock, end, slots }: Surroundings,
	stored: CredentialData,
	itemIndex: number | undefined,
	stop: () => void,
): Platform {
	const session = new Session(stored, {
		read: async () => await readStored(context, itemIndex),
		signIn: async (data, drop) =>
			// Before everything else: others wait for its token.
			await throughGate(data, clock, { end: drop, before: Infinity }, async () => {
				if (drop.aborted) throw cancelledFailure();
				return await signInByN8n(context, data);
			}),
		clock,
		end,
	});
	const sendOnce = async (request: WithoutPayload, data: CredentialData): Promise<unknown> => {
		const { baseUrl, stored: { allowUnauthorizedCerts } } = readCredential(data);
		const redact = redactorFor(data);
		const answer = await exchange(
			async (options) =>
				await context.helpers.httpRequestWithAuthentication.call(
					cancelledBy(context, options.abortSignal),
					CREDENTIAL_TYPE,
					options,
					decrypted(data),
				),
			{
				method: request.method,
				url: `${baseUrl.href}${request.path}`,
				...(request.query === undefined ? {} : { query: request.query }),
				body: request.body,
				purpose: request.purpose,
				skipCertificateCheck: allowUnauthorizedCerts,
			},
			{ timeoutMs: request.settings.timeoutMs, clock, cancel: end, redact },
		);
		return unwrap(answer, redact, request.purpose);
	};
	return {
		async request({ schema, expected, ...request }) {
			const name = JSON.stringify([request.method, request.path, request.query, request.body]);
			const attempt = async (before: number) =>
				await session.run(
					name,
					async (data) =>
						await slots(
							async () => await throughGate(data, clock, { end, before }, async () => await sendOnce(request, data)),
						),
				);
			const limits = {
				maxRetries: request.purpose === 'write' ? 0 : request.settings.maxRetries,
				maxWaitMs: LONGEST_WAIT_MS,
			};
			return checkPayload(await withRetries(attempt, limits, clock, end), schema, expected);
		},
		stop,
	};
}

/** Lets a request pass when its account may ask, and holds everyone else back when its answer asks to wait. */
async function throughGate<T>(
	data: CredentialData,
	clock: Clock,
	{ end, before }: { end: AbortSignal; before: number },
	run: () => Promise<T>,
): Promise<T> {
	const { gate } = accountOf(readCredential(data));
	return await gate.pass(run, clock, end, before).catch((thrown: unknown) => {
		if (thrown instanceof Failure && thrown.details.retryable === true) {
			gate.hold(thrown.details.retryAfterMs ?? 0, thrown.details.httpStatus, clock.now());
		}
		throw thrown;
	});
}

/**
 * Has n8n sign in and store the token, without a request behind it: `authenticate` throws instead when the token is there. A
 * login so has its own time, and whoever waits for the token waits for nothing else.
 */
async function signInByN8n(context: PlatformContext, data: CredentialData): Promise<string> {
	const { baseUrl } = readCredential(data);
	const request = { url: baseUrl.href, headers: { [SIGN_IN_MARK]: 'true' } };
	try {
		await context.helpers.httpRequestWithAuthentication.call(context, CREDENTIAL_TYPE, request, decrypted(data));
	} catch (error) {
		if (tokenIn(data) === '') {
			throw unsent(error, 'login', { cancel: undefined, redact: redactorFor(data), timeoutMs: 0 });
		}
	}
	return tokenIn(data);
}

async function readStored(context: PlatformContext, itemIndex: number | undefined): Promise<CredentialData> {
	const index = itemIndex ?? 0;
	// Only executions have items; the others take no index.
	const data =
		'getInputData' in context
			? await context.getCredentials(CREDENTIAL_TYPE, index)
			: await context.getCredentials(CREDENTIAL_TYPE);
	return { ...data };
}

/** Makes n8n use this data instead of reading and decrypting the credential for each request. */
function decrypted(data: CredentialData) {
	return { credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_TYPE, data } };
}

type WithoutPayload = Omit<PlatformRequest<unknown>, 'schema' | 'expected'>;

/** n8n replaces a request's own signal by the execution's. So that each request can be ended alone, it is told another. */
function cancelledBy(
	context: PlatformContext,
	signal: IHttpRequestOptions['abortSignal'],
): IAllExecuteFunctions {
	return Object.create(context, { getExecutionCancelSignal: { value: () => signal } });
}

/** Aborted when n8n stops the execution, when time is up, or when the node itself has no more use for answers. */
function endOf(
	context: PlatformContext,
	halt: AbortController,
	clock: Clock,
	deadline: Deadline | undefined,
): AbortSignal {
	const ends = [halt.signal];
	const execution =
		'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
	if (execution !== undefined) ends.push(execution);
	if (deadline !== undefined) {
		const timeUp = clock.timeout(Math.max(0, deadline.at - clock.now()));
		timeUp.addEventListener('abort', () => halt.abort(deadline.failure()), { once: true });
		if (timeUp.aborted) halt.abort(deadline.failure());
	}
	return AbortSignal.any(ends);
}
