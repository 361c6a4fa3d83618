/**
 * What a request is for:
 * - `list`: a page of Get Many or of the trigger
 * - `device`: one device by its serial number
 * - `dropdown`: the device dropdown, or the credential's connection test
 * - `read`: API Request by GET; `write`: API Request by any other method
 * - `login`: the sign-in
 */
export type Purpose = 'list' | 'count' | 'device' | 'dropdown' | 'read' | 'write' | 'login';

/** The words that differ by purpose: messages name only fields that the user can see. */
export interface Wording {
	/** In a code's remedy: where the names in the request come from. */
	readonly names: string;
	/** In a code's remedy: where the request body comes from. */
	readonly body: string;
	/** In the remedy for HTTP 404: what to check. */
	readonly address: string;
	/** The remedy for HTTP 429. */
	readonly tooMany: string;
	/** The remedy for a timeout. */
	readonly tooSlow: string;
	/** The remedy for a response that is too large. */
	readonly tooLarge: string;
}

const REQUEST: Omit<Wording, 'tooLarge'> = {
	names: 'the request',
	body: 'the request',
	address: "'Base URL' in the credential",
	tooMany: "Lower 'Parallel Requests' under 'Options', or run the workflow less often.",
	tooSlow: "Raise 'Timeout (Milliseconds)' under 'Options'.",
};
const NO_OPTIONS = { tooMany: 'Try again later.' };
const OTHER_SERVICE = "Check 'Base URL' in the credential: another service may use this address.";

/** One row per purpose. */
export const WORDING: Readonly<Record<Purpose, Wording>> = {
	list: {
		...REQUEST,
		names: "the names under 'Filters' and in the sort rules",
		body: "'Filters'",
		tooSlow: "Raise 'Timeout (Milliseconds)' under 'Options', or lower 'Page Size' there.",
		tooLarge: "Lower 'Page Size' under 'Options', or list fewer devices with 'Filters'.",
	},
	count: { ...REQUEST, names: "the names under 'Filters'", body: "'Filters'", tooLarge: OTHER_SERVICE },
	device: { ...REQUEST, names: 'the serial number', tooLarge: OTHER_SERVICE },
	dropdown: {
		...REQUEST,
		...NO_OPTIONS,
		tooSlow: "Try again later, or enter the device 'By SN'.",
		tooLarge: "Enter the device 'By SN'.",
	},
	read: {
		...REQUEST,
		names: "'Path' and 'Query Parameters'",
		address: "'Path', and 'Base URL' in the credential",
		tooLarge: "Request less with 'Query Parameters' or another 'Path'.",
	},
	write: {
		...REQUEST,
		names: "'Path', 'Query Parameters' and 'Body'",
		body: "'Body'",
		address: "'Path', and 'Base URL' in the credential",
		tooLarge: "Request less with 'Query Parameters' or another 'Path'.",
	},
	login: {
		...REQUEST,
		...NO_OPTIONS,
		address: "'Login Path' and 'Base URL' in the credential",
		tooSlow: "Try again later. If it happens again, check 'Login Path' in the credential.",
		tooLarge: OTHER_SERVICE,
	},
};

/** The words for a serial number that no device has, in Get. */
export const NO_DEVICE = {
	message: 'No device has this serial number',
	remedy: "Check the serial number. To go on without the device, set 'If Not Found' under 'Options'.",
};
