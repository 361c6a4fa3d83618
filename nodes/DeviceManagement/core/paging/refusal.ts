import { Failure } from '../failure';
import { isWorthRepeating } from '../retry';

/** Codes with which a platform may turn down a page size or an order: they say that the input, or the query, is wrong. */
const MAY_BE_THE_QUERY: ReadonlySet<number> = new Set([-1, 9999, 10001, 10005, 10014]);
const STATUSES_THAT_MAY_BE_THE_SIZE: ReadonlySet<number> = new Set([400, 413, 414, 422, 500]);
const STATUSES_THAT_MAY_BE_THE_ORDER: ReadonlySet<number> = new Set([400, 422, 500]);

/** Whether a first page may have failed because of its size (section 8: the largest size is not known). */
export function mayRefuseSize(thrown: unknown): boolean {
	return isOneOf(thrown, STATUSES_THAT_MAY_BE_THE_SIZE);
}

/**
 * Whether a page may have failed because of the order it was asked for in (section 1.3: which fields are allowed is not
 * shown). Most of these mean a fault of the moment as well: whoever remembers it makes sure first.
 */
export function mayRefuseOrder(thrown: unknown): boolean {
	return isOneOf(thrown, STATUSES_THAT_MAY_BE_THE_ORDER);
}

/**
 * For the `catch` of a page that may lie past the end. It becomes undefined where the platform said no, or sent no page, and
 * not because of who asks or for the moment only; anything else is thrown again.
 */
export function undefinedIfPageRefused(thrown: unknown): undefined {
	if (!(thrown instanceof Failure)) throw thrown;
	const { kind, cause, httpStatus, final, tokenRefused } = thrown.details;
	if (cause === 'credential' || final === true || tokenRefused === true) throw thrown;
	if (httpStatus !== undefined && isWorthRepeating(httpStatus)) throw thrown;
	if (kind !== 'refused' && kind !== 'status' && kind !== 'answer') throw thrown;
}

function isOneOf(thrown: unknown, statuses: ReadonlySet<number>): boolean {
	if (!(thrown instanceof Failure) || thrown.details.tokenRefused === true) return false;
	const { kind, code, httpStatus } = thrown.details;
	if (kind === 'refused') return code !== undefined && MAY_BE_THE_QUERY.has(code);
	return kind === 'status' && httpStatus !== undefined && statuses.has(httpStatus);
}
