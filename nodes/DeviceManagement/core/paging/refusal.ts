import { concernsSignIn, Failure } from '../failure';
import type { PageSource } from './page';

/** Codes that a platform may return for a page size or a sort order that it doesn't accept. */
const MAY_BE_THE_QUERY: ReadonlySet<number> = new Set([-1, 9999, 10001, 10005, 10014]);
const STATUSES_THAT_MAY_BE = { size: [400, 413, 414, 422, 500], order: [400, 422, 500] };
/**
 * Whether a first page may have failed because of its size (section 8 doesn't name the largest) or its sort order (section 1.3
 * doesn't name the allowed fields). Most of these failures may have a reason that soon passes: callers check before they remember it.
 */
export function mayRefuse(what: keyof typeof STATUSES_THAT_MAY_BE, thrown: unknown): boolean {
	if (!refusesPage(thrown)) return false;
	const { code, httpStatus = 0 } = thrown.details;
	return code === undefined ? STATUSES_THAT_MAY_BE[what].includes(httpStatus) : MAY_BE_THE_QUERY.has(code);
}

/** For the `catch` of a request: returns undefined if the platform refused a page that may be past the end, or sent no page. */
export function undefinedIfPageRefused(thrown: unknown): undefined {
	if (!refusesPage(thrown)) throw thrown;
}

/** Whether the platform refused a page, or sent no page, and neither is temporary nor concerns the sign-in. */
function refusesPage(thrown: unknown): thrown is Failure {
	if (!(thrown instanceof Failure)) return false;
	const { mayRefusePage, signInFailed, temporary } = thrown.details;
	if (signInFailed === 'for good' || concernsSignIn(thrown.details)) return false;
	return mayRefusePage === true && temporary !== true;
}

/**
 * Reads a list with the ID as the last field of its sort order; without it if the platform refuses that at the first page twice in a row,
 * or has refused it before. If that fails, too, the ID was not the reason.
 */
export async function readById<T, Result>(
	source: PageSource<T>,
	read: (list: PageSource<T>) => Promise<Result>,
	isSecond = false,
): Promise<Result> {
	if (source.idOrder?.isRefused() !== false) return await read(source);
	let begun = false;
	const fetchPage: typeof source.fetchPage = async (page, size) => {
		const fetched = await source.fetchPage(page, size, true);
		begun = true;
		return fetched;
	};
	return await read({ ...source, fetchPage }).catch(async (thrown: unknown) => {
		if (begun) throw thrown;
		// A platform may refuse an unknown field with any code.
		undefinedIfPageRefused(thrown);
		// One refusal may be temporary.
		if (!isSecond) return await readById(source, read, true);
		const result = await read(source);
		source.idOrder?.noteRefusal();
		return result;
	});
}
