type FailureKind =
	/** The package refused it before anything was sent. */
	| 'input'
	/** The platform's envelope has a code other than 0. */
	| 'refused'
	/** An HTTP status other than 2xx, without an envelope that explains it. */
	| 'status'
	/** A response that differs from the API document. */
	| 'response'
	| 'unreachable'
	| 'timeout'
	/** A list that can't be read to its end. */
	| 'paging'
	| 'cancelled';

/** What has to change before a failed request can succeed. */
export type CauseClass = 'credential' | 'input' | 'not found' | 'conflict' | 'platform' | 'unknown';

export interface FailureDetails {
	kind: FailureKind;
	cause: CauseClass;
	/** What happened. Never contains a secret. */
	message: string;
	/** What to do about it. Never contains a secret. */
	remedy: string;
	code?: number;
	httpStatus?: number | undefined;
	/** Whether the same request may succeed later. */
	temporary?: boolean;
	retryAfterMs?: number | undefined;
	/** Whether the key or token was refused, or an expired token may be the reason: a new one may help. */
	token?: 'refused' | 'doubted' | undefined;
	/** Whether a write may have been carried out. */
	inDoubt?: boolean;
	/** Whether the platform may have refused the page: it sent a code, an error status, or a payload that isn't a page. */
	mayRefusePage?: boolean;
	withoutData?: boolean;
	/** Set if a sign-in failed, so that the request wasn't sent. After `for good`, all other requests fail, too. */
	signInFailed?: 'for now' | 'for good';
}

/**
 * The only error that leaves the package: what happened, what to do, and what callers decide on.
 * It contains words and numbers only, never a request, a response or another error.
 */
export class Failure extends Error {
	constructor(readonly details: Readonly<FailureDetails>) {
		super(details.message);
		this.name = 'Failure';
	}
}

export type Outcome<T> =
	| { value: T; failure?: undefined; details?: undefined }
	| { failure: unknown; details?: FailureDetails };

/** Returns the promise's value, or its error and a Failure's details. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<Outcome<T>> {
	return await promise.then(
		(value) => ({ value }),
		(failure: unknown) => (failure instanceof Failure ? { failure, details: failure.details } : { failure }),
	);
}

/** Whether a response refuses a request because there are too many. */
export function isLimit({ temporary, httpStatus, retryAfterMs }: FailureDetails): boolean {
	return temporary === true && (httpStatus === 429 || httpStatus === 503 || retryAfterMs !== undefined);
}

/** Whether the platform refused the key, the token, the login or the user. A sign-in can also fail for other reasons. */
export function concernsSignIn({ cause, token }: FailureDetails): boolean {
	return cause === 'credential' || token === 'refused';
}

/** Returns the error for a value that the user entered, before any request. The message has the field's label in single quotes. */
export function inputFailure(message: string, remedy: string): Failure {
	return new Failure({ kind: 'input', cause: 'input', message, remedy });
}

/** Returns a time span for messages, in seconds or minutes, rounded up. */
export function timeInWords(ms: number): string {
	const [count, unit] = ms <= 60_000 ? [Math.ceil(ms / 1000), 'second'] : [Math.ceil(ms / 60_000), 'minute'];
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
