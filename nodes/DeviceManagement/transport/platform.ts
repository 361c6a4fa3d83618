/**
 * Sends the requests of one execution to the platform and returns their payloads. It knows no endpoints and no lists. The steps of a
 * request, each of which runs the next one, again if it has to:
 * 1. Traffic (`Traffic.send`): waits for the account's pauses, and retries what may succeed later.
 * 2. Token (`Session.withToken`): waits for a token, and replaces a refused one.
 * 3. Slot (`pLimit`): waits for one of the execution's parallel requests.
 * 4. Exchange (`exchange`): sends one HTTP request through n8n and reads the response.
 */
import type {
	IAllExecuteFunctions,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';
import pLimit from 'p-limit';
import type { z } from 'zod/v4';

import { checkPayload, payloadOf } from '../core/response';
import type { Asked } from '../core/errors/failureOf';
import { type Failure, type FailureDetails, inputFailure, outcomeOf } from '../core/failure';
import { type Account, accountOf } from './account';
import { SIGN_IN_MARK } from './auth/authenticate';
import { type Credential, CREDENTIAL_TYPE, credentialOf } from './auth/credential';
import { Session } from './auth/session';
import { askedBy } from './auth/signIn';
import { exchange, whyNoResponse, type WireRequest } from './exchange';
import { currentClock, whyEnded } from './waiting/clock';
import { NOT_SENT } from './waiting/traffic';

export type PlatformContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

interface OpenOptions {
	parallelRequests: number;
	/** The time after which all requests must have ended, in milliseconds, and the error then. A rate limit may have delayed them. */
	deadline?: { ms: number; failure(limit: Failure | undefined): Failure };
}

export interface RequestSettings {
	timeoutMs: number;
	/** How often to retry a read, or the sign-in before any request. */
	maxRetries: number;
	/** Whether a retry after HTTP 429 counts, too: a person is waiting. */
	countsLimits?: boolean;
	/** Whether to fail if the token is refused: the platform has just accepted it. */
	keepsToken?: boolean;
}

export interface PlatformRequest<T>
	extends Pick<WireRequest, 'method' | 'query' | 'body'>,
		Pick<Asked, 'words' | 'mostValues'> {
	/** Path below the base URL, already percent-encoded; begins with /api. */
	path: string;
	/** Whether a POST only reads, as a GET does. Anything else is sent again only if its token was refused. */
	onlyReads?: boolean;
	schema: z.ZodType<T>;
	settings: RequestSettings;
}

/** The platform for one execution: one sign-in, one limit of parallel requests, and an end with the execution. */
export interface Platform {
	/** Sends a request and returns its payload. Throws a Failure with words for the user. */
	request<T>(request: PlatformRequest<T>): Promise<T>;
	/** Stops all requests of the execution. None starts afterwards. */
	stop(): void;
}

/** Opens the platform of a dropdown or a poll, which may have loaded the credential. Throws as {@link loadCredential}. */
export async function openPlatform(
	context: PlatformContext,
	options: OpenOptions,
	credential?: Credential,
): Promise<Platform> {
	return new Execution(context, options).open(credential ?? (await loadCredential(context)));
}

/**
 * Loads the credential from n8n's store.
 * @param itemIndex resolves its expressions; only executions have items, and dropdowns and polls accept no index
 * @throws Failure `input` for an invalid credential, and n8n's error if n8n can't resolve the credential
 */
export async function loadCredential(context: PlatformContext, itemIndex = 0): Promise<Credential> {
	const data =
		'getInputData' in context
			? await context.getCredentials(CREDENTIAL_TYPE, itemIndex)
			: await context.getCredentials(CREDENTIAL_TYPE);
	return credentialOf({ ...data });
}

/** What the requests of one execution share: its limit of parallel requests and its end. Each item may have another account. */
export class Execution {
	private readonly halt = new AbortController();
	private readonly end: AbortSignal;
	private readonly slots: ReturnType<typeof pLimit>;
	private readonly platforms = new Map<string, Platform>();
	/** The account that was opened last. An execution with a deadline has only one. */
	private account: Readonly<Account> | undefined;

	constructor(
		private readonly context: PlatformContext,
		{ parallelRequests, deadline }: OpenOptions,
	) {
		this.slots = pLimit(parallelRequests);
		const cancel = 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
		this.end = AbortSignal.any(cancel === undefined ? [this.halt.signal] : [this.halt.signal, cancel]);
		if (deadline === undefined) return;
		const giveUp = () => this.halt.abort(deadline.failure(this.account?.traffic.recentLimit()));
		currentClock().timeout(deadline.ms).addEventListener('abort', giveUp, { signal: this.halt.signal });
	}

	readonly stop = (): void => this.halt.abort();

	/** Returns the platform for one item, unless the execution has ended; items of the same account share it. Throws as {@link loadCredential}. */
	async forItem(itemIndex: number): Promise<Platform> {
		if (this.end.aborted) throw whyEnded(this.end);
		const credential = await loadCredential(this.context, itemIndex);
		const platform = this.platforms.get(credential.accountKey) ?? this.open(credential, itemIndex);
		this.platforms.set(credential.accountKey, platform);
		return platform;
	}

	open(loaded: Credential, itemIndex?: number): Platform {
		const { context, end, slots, stop } = this;
		this.account = accountOf(loaded);
		const load = async () => await loadCredential(context, itemIndex);
		const session = new Session(loaded, { load, signIn: this.signIn, end });
		const request: Platform['request'] = async ({ schema, ...sent }) => {
			const { maxRetries: most, keepsToken, countsLimits = false } = sent.settings;
			const costOf = ({ temporary, signInFailed, httpStatus }: FailureDetails) => {
				// After a failed sign-in, the request wasn't sent.
				if (temporary !== true || signInFailed === 'for good') return Infinity;
				if (mayChange(sent) && signInFailed === undefined) return Infinity;
				// After another status, one page may always fail.
				return httpStatus === 429 && !countsLimits ? 0 : 1;
			};
			const attempt = async (mayGo: () => boolean) => {
				const inSlot = async (credential: Credential) =>
					await slots(async () => {
						// A pause may have begun during the wait for the slot, which requests of other accounts may need.
						if (!mayGo() && !end.aborted) throw NOT_SENT;
						return await this.sendOnce(sent, credential);
					});
				return await session.withToken(inSlot, keepsToken);
			};
			return checkPayload(await accountOf(loaded).traffic.send(attempt, { most, costOf, end }), schema);
		};
		return { request, stop };
	}

	private async sendOnce(
		{ path, settings, words, mostValues, ...request }: Omit<PlatformRequest<unknown>, 'schema'>,
		credential: Credential,
	): Promise<unknown> {
		const { baseUrl, stored, redact, signsIn } = credential;
		const asked: Asked = { words, mostValues, mayChange: mayChange(request), redact, hasKey: !signsIn };
		const { query = {} } = credential.additions();
		const name = Object.keys(query).find((added) => Object.hasOwn(request.query ?? {}, added));
		if (name !== undefined) {
			const remedy = "Remove the parameter, or change 'Key Name' in the credential.";
			throw inputFailure(`The key in the credential already uses the query parameter "${name}"`, remedy);
		}
		const wire: WireRequest = {
			...request,
			url: `${baseUrl.href}${path}`,
			skipCertificateCheck: stored.allowUnauthorizedCerts,
			timeoutMs: settings.timeoutMs,
			cancel: this.end,
		};
		const send = async (options: IHttpRequestOptions) => await this.throughN8n(options, credential);
		return payloadOf(await exchange(send, wire, asked), asked);
	}

	/** Has n8n sign in and store the token. No request follows. */
	private readonly signIn = async (credential: Credential): Promise<void> => {
		const options = { url: credential.baseUrl.href, headers: { [SIGN_IN_MARK]: 'true' } };
		const before = accountOf(credential).dropped;
		const { failure } = await outcomeOf(this.throughN8n(options, credential.withToken('')));
		const { token, dropped } = accountOf(credential);
		// With a token, also with one that was refused since, only n8n's store failed.
		if (token === undefined && dropped === before) throw whyNoResponse(failure, askedBy(credential));
	};

	private async throughN8n(options: IHttpRequestOptions, { data }: Credential): Promise<unknown> {
		// Otherwise n8n replaces the request's own signal with the execution's.
		const getExecutionCancelSignal = { value: () => options.abortSignal };
		const caller: IAllExecuteFunctions = Object.create(this.context, { getExecutionCancelSignal });
		// Otherwise n8n reads and decrypts the credential for each request.
		const credentialsDecrypted = { id: '', name: '', type: CREDENTIAL_TYPE, data };
		const { httpRequestWithAuthentication } = this.context.helpers;
		return await httpRequestWithAuthentication.call(caller, CREDENTIAL_TYPE, options, { credentialsDecrypted });
	}
}

/** Whether a request may change something on the platform: by its method, unless the caller says that a POST only reads. */
function mayChange({ method, onlyReads = false }: Pick<PlatformRequest<unknown>, 'method' | 'onlyReads'>): boolean {
	return method !== 'GET' && !(method === 'POST' && onlyReads);
}
