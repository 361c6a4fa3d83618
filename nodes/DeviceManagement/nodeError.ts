import { type Failure as N8nFailure, type INode, NodeApiError, NodeHelpers, NodeOperationError } from 'n8n-workflow';

import { Failure, type FailureDetails } from './core/failure';

/**
 * What a failed item looks like in the workflow's data: readable by an IF node. By these very names n8n knows it as a
 * failed one and hands it to the error output; beside any other field, or with an `error` on the item itself, it
 * would not, or would throw the details away.
 */
export type FailedItem = {
	error: string;
	details: {
		description?: string;
		/** The platform's return code, where it gave one. */
		code?: number;
		httpStatus?: number;
	};
};

/**
 * Turns anything that was thrown into n8n's error.
 * @param itemIndex index of the input item; undefined where there is none
 * @param severalItems whether the message has to name the item
 */
export function asNodeError(
	node: INode,
	thrown: unknown,
	itemIndex: number | undefined,
	severalItems: boolean,
): NodeApiError | NodeOperationError {
	const place = itemIndex === undefined ? {} : { itemIndex };
	// n8n's own errors (an expression that fails, a missing parameter) are clear already and hold no request.
	if (!(thrown instanceof Failure)) {
		return new NodeOperationError(node, thrown instanceof Error ? thrown : 'Something unexpected was thrown', place);
	}
	const { kind, httpStatus, cause } = thrown.details;
	const words = inSayableWords(thrown.details);
	const suffix = severalItems && itemIndex !== undefined ? ` [item ${itemIndex}]` : '';
	const message = sayTo(node, `${words.message}${suffix}`, words.remedy);
	const options = { message, description: words.remedy, ...place };
	if (kind === 'input' || kind === 'cancelled') {
		return withWords(new NodeOperationError(node, message, options), message, words.remedy);
	}
	const httpCode = httpStatus === undefined ? {} : { httpCode: String(httpStatus) };
	const error = new NodeApiError(node, { message }, { ...options, ...httpCode, ...failureCause(thrown) });
	error.context['data'] = { ...numbersOf(thrown.details), cause };
	return withWords(error, message, words.remedy);
}

/** A model that uses the node as its tool gets no more than the message: there it also says what to do. */
function sayTo({ type }: INode, message: string, remedy: string): string {
	return NodeHelpers.isToolType(type) ? `${message}. ${remedy}` : message;
}

/** The fields of a failed item under "continue" and "continue (using error output)". */
export function failedItem(error: NodeApiError | NodeOperationError, thrown: unknown): FailedItem {
	const description = typeof error.description === 'string' ? { description: error.description } : {};
	const numbers = thrown instanceof Failure ? numbersOf(thrown.details) : {};
	return { error: error.message, details: { ...description, ...numbers } };
}

function numbersOf({ code, httpStatus }: FailureDetails): { code?: number; httpStatus?: number } {
	return { ...(code === undefined ? {} : { code }), ...(httpStatus === undefined ? {} : { httpStatus }) };
}

/** Puts our words back: n8n replaces a message that contains the name of a system error, even within a serial number. */
function withWords<E extends NodeApiError | NodeOperationError>(error: E, message: string, description: string): E {
	error.message = message;
	error.description = description;
	error.messages = [];
	return error;
}

/**
 * n8n never tries an activation again that failed with this word in its message, and the platform, or whoever filled in the
 * node, may have used it. All of it stands in the description then.
 */
function inSayableWords({ message, remedy }: FailureDetails): { message: string; remedy: string } {
	const sayable = message.replace(/authorization/gi, '…');
	return sayable === message ? { message, remedy } : { message: sayable, remedy: `${remedy} In full: ${message}` };
}

/**
 * n8n's own classes of causes; versions that do not know them ignore the option. A poll that fails for good is silent for
 * half an hour, and so is one whose HTTP 403 has no cause: a proxy answers like that during a redeploy.
 */
function failureCause({ details }: Failure): { failure?: N8nFailure } {
	const { cause, kind, httpStatus = 0, retryAfterMs, tokenRefused } = details;
	const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
	if (httpStatus === 429) return { failure: { cause: 'rate-limited', ...wait } };
	if (cause === 'credential' || tokenRefused === true) return { failure: { cause: 'credential-invalid' } };
	if (cause === 'not found' || cause === 'input') return { failure: { cause: 'configuration-invalid' } };
	const mayPass = httpStatus === 403 || httpStatus === 404 || httpStatus >= 500;
	if (mayPass || kind === 'timeout' || kind === 'unreachable') {
		return { failure: { cause: 'temporarily-unavailable', ...wait } };
	}
	return {};
}
