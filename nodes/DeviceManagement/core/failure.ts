import type { CauseClass } from './errors/codes';

/** Where in the exchange a request came to nothing. */
export type FailureKind =
	/** Refused by us before anything was sent. */
	| 'input'
	/** The platform's envelope carries a code other than 0. */
	| 'refused'
	/** An HTTP status other than 2xx, without an envelope that explains it. */
	| 'status'
	/** An answer that is not what the API document describes. */
	| 'answer'
	| 'unreachable'
	| 'timeout'
	/** A list that can't be walked to its end. */
	| 'paging'
	| 'cancelled';

export interface FailureDetails {
	kind: FailureKind;
	cause: CauseClass;
	/** What happened. Never holds a secret. */
	message: string;
	/** What to do about it. Never holds a secret. */
	remedy: string;
	/** The platform's return code, where it gave one. */
	code?: number;
	httpStatus?: number;
	/** Whether a request that only reads may be sent again. */
	retryable?: boolean;
	/** The wait that the platform asked for, in milliseconds. */
	retryAfterMs?: number | undefined;
	/** Whether the key or token was refused, so that a new one may help. */
	tokenRefused?: boolean;
	/** Whether the platform said that the request succeeded, and sent nothing. */
	withoutData?: boolean;
	/** Whether nothing else in this execution can succeed either (a refused login, a refused key). */
	final?: boolean;
	/** Whether the login itself was answered with no: another try brings the account closer to its lock. */
	loginRefused?: boolean;
}

/**
 * The one error of the package's core: what happened, what to do, and what callers decide on.
 * It holds plain words and numbers only, never a request, an answer or another error.
 */
export class Failure extends Error {
	readonly details: Readonly<FailureDetails>;

	constructor(details: FailureDetails) {
		super(details.message);
		this.name = 'Failure';
		this.details = details;
	}
}

/**
 * A refusal of what the user entered, before any request.
 * @param message what is wrong, with the field's label in single quotes
 * @param remedy what to enter instead
 */
export function inputFailure(message: string, remedy: string): Failure {
	return new Failure({ kind: 'input', cause: 'input', message, remedy });
}

/** An execution that was stopped: nothing more is sent. */
export function cancelledFailure(): Failure {
	return new Failure({
		kind: 'cancelled',
		cause: 'unknown',
		// By this word n8n tells an execution that was stopped from one that failed.
		message: 'The execution was canceled',
		remedy: 'Nothing more was sent to the platform. Run the workflow again when you are ready.',
	});
}
