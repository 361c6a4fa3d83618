import {
	ExpressionError,
	type Failure as N8nFailure,
	type INode,
	NodeApiError,
	NodeHelpers,
	NodeOperationError,
	UserError,
} from 'n8n-workflow';

import { concernsSignIn, Failure, type FailureDetails } from './core/failure';

type NodeError = NodeApiError | NodeOperationError;

/** Returns n8n's error for any error of an input item, or of a poll or a dropdown. Among several items, the message names it. */
export function asNodeError(node: INode, thrown: unknown, itemIndex?: number, severalItems = false): NodeError {
	const place = itemIndex === undefined ? {} : { itemIndex };
	// n8n's own errors (an expression that fails, a missing parameter) are clear and don't contain the request.
	if (!(thrown instanceof Failure)) {
		// Others tell of n8n's database, which may be back at once.
		const isForUser = [ExpressionError, NodeOperationError, UserError].some((kind) => thrown instanceof kind);
		const error = thrown instanceof Error ? thrown : 'Something unexpected was thrown';
		return new NodeOperationError(node, error, { ...place, ...(isForUser && INVALID) });
	}
	const { kind, httpStatus, cause, remedy } = thrown.details;
	const suffix = severalItems && itemIndex !== undefined ? ` [item ${itemIndex}]` : '';
	const short = `${thrown.details.message}${suffix}`;
	// A model that uses the node as a tool sees only the message.
	const message = NodeHelpers.isToolType(node.type) ? `${short}. ${remedy}` : short;
	const options = { message, description: remedy, ...place, ...failureCause(thrown) };
	// n8n shows it as an error code, also 200.
	const httpCode = httpStatus === undefined || httpStatus < 300 ? {} : { httpCode: String(httpStatus) };
	const error =
		kind === 'input' || kind === 'cancelled'
			? new NodeOperationError(node, message, options)
			: new NodeApiError(node, { message }, { ...options, ...httpCode });
	if (error instanceof NodeApiError) error.context['data'] = { ...numbersOf(thrown.details), cause };
	// n8n replaces a message that contains the name of a system error, even within a serial number.
	return Object.assign(error, { message, description: remedy, messages: [] });
}

/**
 * Removes the word “authorization” from the message of a poll's error, and puts the full message into the description: n8n never
 * retries an activation whose error contains that word, and it may come from the platform or from a field of the node.
 */
export function withoutAuthorization(thrown: unknown): unknown {
	if (!(thrown instanceof Failure) || !/authorization/i.test(thrown.message)) return thrown;
	const { message, remedy } = thrown.details;
	const cleaned = message.replace(/authorization/gi, '…');
	return new Failure({ ...thrown.details, message: cleaned, remedy: `${remedy} In full: ${message}` });
}

/**
 * Returns the data of a failed item, which an If node can read. n8n recognizes failed items by exactly these names and sends them to
 * the error output. With another field, or an `error` on the item itself, it would not, or would drop the details.
 */
export function failedItem(error: NodeError, thrown: unknown) {
	const description = typeof error.description === 'string' ? { description: error.description } : {};
	const numbers = thrown instanceof Failure ? numbersOf(thrown.details) : {};
	return { error: error.message, details: { ...description, ...numbers } };
}

function numbersOf({ code, httpStatus }: FailureDetails) {
	return { ...(code === undefined ? {} : { code }), ...(httpStatus === undefined ? {} : { httpStatus }) };
}

const INVALID: { failure: N8nFailure } = { failure: { cause: 'configuration-invalid' } };

/** Returns n8n's class of the cause; older versions of n8n ignore it. n8n pauses a poll for half an hour after a permanent cause. */
function failureCause({ details }: Failure): { failure?: N8nFailure } {
	const { cause, kind, httpStatus = 0, retryAfterMs, temporary } = details;
	const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
	if (httpStatus === 429) return { failure: { cause: 'rate-limited', ...wait } };
	const passes: { failure: N8nFailure } = { failure: { cause: 'temporarily-unavailable', ...wait } };
	if (temporary === true) return passes;
	if (concernsSignIn(details)) return { failure: { cause: 'credential-invalid' } };
	if (cause === 'not found' || cause === 'input') return INVALID;
	// More than the node itself retries, because the next poll comes later. A proxy may redirect, or return 403 or 404, during a redeploy.
	const mayPass = (httpStatus >= 300 && httpStatus <= 399) || [403, 404].includes(httpStatus) || httpStatus >= 500;
	return mayPass || kind === 'timeout' || kind === 'unreachable' ? passes : {};
}
