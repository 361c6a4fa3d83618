import type { CauseClass } from './codes';
import type { Purpose } from './purpose';

/** An HTTP status in words. */
export interface ExplainedStatus {
	readonly cause: CauseClass;
	/** What happened, short. */
	readonly message: string;
	/** What to do about it. */
	readonly remedy: string;
}

/** Where the path is the user's own, it is the first thing to look at. */
const CHECK_PATH: Readonly<Partial<Record<Purpose, string>>> = {
	login: "Check 'Login Path' and",
	read: "Check 'Path' and",
	write: "Check 'Path' and",
};

/** Who asks once, and has no field to ask less by. */
const ASKS_ONCE: ReadonlySet<Purpose> = new Set(['login', 'dropdown', 'test']);

/** Of the statuses that say that something is wrong with the request, those that may be about something else. */
const NOT_ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([
	// Also the answer to a write that was carried out: its result is shown somewhere else.
	302, 303,
	// Also of a server that has carried out the request, and can't put its result into JSON.
	406,
	// Also of somebody on the way who did not wait for the answer.
	408, 499,
]);

/** What a server does not do at all, a version that it does not speak, and a sign-in page of the network. */
const NOTHING_WAS_DONE: ReadonlySet<number> = new Set([501, 505, 511]);

/**
 * Whether a request may have been carried out that was answered with this HTTP status, and with no envelope that would say
 * more. HTTP 500 and its neighbours only say that somebody came to grief on the way; 503 is also what some proxies make of a
 * connection that broke after the request was sent.
 * @param status any but 2xx
 */
export function mayHaveBeenCarriedOut(status: number): boolean {
	const refuses = status >= 300 && status <= 499 && !NOT_ABOUT_THE_REQUEST.has(status);
	return !refuses && !NOTHING_WAS_DONE.has(status);
}

/**
 * Puts an HTTP status into words, for answers without an envelope that would say more.
 * @param status any but 2xx
 * @param purpose what was asked for
 * @param redirectOrigin where a redirect leads; undefined where that is not known
 */
export function explainStatus(status: number, purpose: Purpose, redirectOrigin?: string): ExplainedStatus {
	if (status >= 300 && status <= 399) {
		return {
			cause: 'input',
			message:
				redirectOrigin === undefined
					? `The address answers with a redirect (HTTP ${status})`
					: `The address answers with a redirect to ${redirectOrigin} (HTTP ${status})`,
			remedy:
				"Redirects are not followed, so that the credential goes nowhere else. Set 'Base URL' in the credential to the address where the platform itself answers, with https:// if it has it.",
		};
	}
	if (status === 401) {
		return {
			cause: 'credential',
			message: 'The platform did not accept the sign-in (HTTP 401)',
			remedy: 'Check the Device Management API credential: key or login, and how the key is sent.',
		};
	}
	if (status === 403) {
		return {
			cause: 'unknown',
			message: 'Access was denied (HTTP 403)',
			remedy:
				'The user may not do this, or a proxy or firewall in front of the platform blocks the request. Ask who administers them.',
		};
	}
	if (status === 404) {
		return {
			cause: 'unknown',
			message: 'There is nothing at this address (HTTP 404)',
			remedy: `${CHECK_PATH[purpose] ?? 'Check'} 'Base URL' in the credential, which is what stands before /api in the platform's addresses, without /api itself.`,
		};
	}
	if (status === 413 || status === 414 || status === 431) {
		return {
			cause: 'input',
			message: `The request is too large for the server (HTTP ${status})`,
			remedy: 'Use fewer or shorter values.',
		};
	}
	if (status === 429) {
		return {
			cause: 'platform',
			message: 'The platform receives too many requests (HTTP 429)',
			remedy: ASKS_ONCE.has(purpose)
				? 'Try again later.'
				: "Lower 'Parallel Requests' under 'Options', or have the workflow ask less often.",
		};
	}
	if (status >= 500) {
		return {
			cause: 'platform',
			message: `The platform or a proxy in front of it could not answer (HTTP ${status})`,
			remedy: 'Try again later. If it keeps happening, ask who administers the platform.',
		};
	}
	return {
		cause: 'platform',
		message: `The server answered with HTTP ${status} instead of the platform's envelope`,
		remedy:
			"Check 'Base URL' in the credential, and whether a proxy in front of the platform answers in its place.",
	};
}
