import { type Draft, Failure, type FailureDetails } from '../failure';
import type { Redact } from '../redaction';

/**
 * What a request is for: `list` for Get Many and the trigger, `device` for one by its serial number, `test` for the connection test,
 * `read` for API Request by GET, `write` for it by any other method.
 */
export type Purpose = 'list' | 'count' | 'device' | 'dropdown' | 'test' | 'read' | 'write' | 'login';

/** The words that differ by purpose, by their place in a message or remedy. They name only fields that the user can see. */
const REQUEST = {
	/** Where the names in the request come from. */
	names: 'the request',
	/** Where the request body comes from. */
	body: 'the request',
	/** What to check after HTTP 404. */
	address: "'Base URL' in the credential",
	/** What code 10007 means. */
	missing: 'The record does not exist',
	/** What a refused sign-in means, and its remedy. */
	notAccepted: 'The platform did not accept the sign-in',
	notRead: 'The platform could not read the key or token',
	credential:
		"Check what you entered in the Device Management API credential, and whether it needs 'My Platform Signs In Differently'.",
	/** The remedies for HTTP 429, a timeout and a response that is too large. */
	tooMany: "Lower 'Parallel Requests' under 'Options', or run the workflow less often.",
	tooSlow: "Raise 'Timeout (Milliseconds)' under 'Options'.",
	tooLarge: "Check 'Base URL' in the credential: another service may use this address.",
};
const API_REQUEST = {
	...REQUEST,
	address: "'Path', and 'Base URL' in the credential",
	tooLarge: "Lower 'Page Size' under 'Options', or request less with 'Query Parameters' or another 'Path'.",
};

/** One row per purpose. */
export const WORDING: Readonly<Record<Purpose, typeof REQUEST>> = {
	list: {
		...REQUEST,
		names: "the names under 'Filters' and in the sort rules",
		body: "'Filters'",
		tooSlow: "Raise 'Timeout (Milliseconds)' under 'Options', or lower 'Page Size' there.",
		tooLarge: "Lower 'Page Size' under 'Options', or list fewer devices with 'Filters'.",
	},
	count: {
		...REQUEST,
		names: "the names under 'Filters'",
		body: "'Filters'",
		tooLarge: "Count fewer devices with 'Filters'.",
	},
	device: { ...REQUEST, names: 'the serial number', missing: 'No device has this serial number' },
	dropdown: {
		...REQUEST,
		tooMany: 'Try again later.',
		tooSlow: "Try again later, or enter the device 'By Serial Number'.",
		tooLarge: "Enter the device 'By Serial Number'.",
	},
	test: {
		...REQUEST,
		notAccepted: 'The platform refused the API key or the new token',
		notRead: 'The platform could not read the API key or the new token',
		credential: "Check 'API Key' in the credential, and whether it needs 'My Platform Signs In Differently'.",
		tooMany: 'Try again later.',
	},
	read: { ...API_REQUEST, names: "'Path' and 'Query Parameters'" },
	write: { ...API_REQUEST, names: "'Path', 'Query Parameters' and 'Body'", body: "'Body'" },
	login: {
		...REQUEST,
		tooMany: 'Try again later.',
		missing: 'The platform does not know this user',
		address: "'Login Path' and 'Base URL' in the credential",
		tooSlow: "Try again later. If it happens again, check 'Login Path' in the credential.",
	},
};

/** The words for a refused sign-in where the credential has an API key. */
const OF_KEY = {
	notAccepted: 'The platform refused the API key',
	notRead: 'The platform refused the API key',
	credential: "Check 'API Key' in the credential, and whether it needs 'My Platform Signs In Differently'.",
};

type Words = Pick<FailureDetails, 'message' | 'remedy'>;

/** Returns words with each place in braces filled in. */
export function fillIn<W extends Words>(words: W, purpose: Purpose, outside = '', hasKey = false): W {
	const places = { ...WORDING[purpose], ...(hasKey && OF_KEY), outside };
	const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, place: keyof typeof places) => places[place]);
	return { ...words, message: fill(words.message), remedy: fill(words.remedy) };
}

/**
 * Returns what a request or a sign-in throws, in the words for its purpose. Only here, text from outside joins a message,
 * without secrets, and a write that may have been carried out is in doubt. A Failure stays as it is.
 * @param hasKey whether the credential has an API key
 */
export function inWords(reason: Draft | Failure, purpose: Purpose, redact: Redact, hasKey = false): Failure {
	if (reason instanceof Failure) return reason;
	const { inDoubt, outside, ...details } = reason.details;
	const words = fillIn(details, purpose, outside?.(redact), hasKey);
	if (!inDoubt || purpose !== 'write') return new Failure(words);
	return new Failure({
		...words,
		inDoubt,
		message: `${words.message}; the platform may still have carried out the request`,
		remedy: `Check on the platform whether the change was made before you send the request again. If not: ${words.remedy}`,
	});
}
