import { concernsSignIn, Failure } from '../failure';

/** Codes and statuses that a platform may return for a page size or a sort order that it doesn't accept. */
const CODES: ReadonlySet<number> = new Set([-1, 9999, 10001, 10005, 10014]);
const STATUSES: ReadonlySet<number> = new Set([400, 413, 414, 422, 500]);

/**
 * Whether a first page may have failed because of its size (section 8 doesn't name the largest) or its sort order (section 1.3
 * doesn't name the allowed fields). Most of these failures may have a reason that soon passes: callers check before they remember it.
 */
export function mayRefuseSizeOrSort(thrown: unknown): thrown is Failure {
	if (!isPageFailure(thrown)) return false;
	const { code, httpStatus = 0 } = thrown.details;
	return code === undefined ? STATUSES.has(httpStatus) : CODES.has(code);
}

/** Whether the platform refused a page, or sent no page, and neither is temporary nor concerns the sign-in. */
export function isPageFailure(thrown: unknown): thrown is Failure {
	if (!(thrown instanceof Failure)) return false;
	const { mayRefusePage, signInFailed, temporary, code } = thrown.details;
	if (signInFailed === 'for good' || concernsSignIn(thrown.details)) return false;
	// A platform may also say 10002 of a sort order that its service can't read, each time.
	return mayRefusePage === true && (temporary !== true || code === 10002);
}
