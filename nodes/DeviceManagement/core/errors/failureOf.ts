/**
 * Makes a Failure of what went wrong with a request: it takes the words of the table, for the fields that the user sees, and says what may
 * follow. A server's words join a message here, without secrets. It doesn't know whether a request may change something: callers say.
 */
import { Failure, type FailureDetails } from '../failure';
import { type Redact, withoutHtml } from '../redaction';
import { hasMark, type Row, rowOf } from './table';

/** The words that differ by request, by their place in a message or remedy. They name only fields that the user can see. */
const REQUEST = {
	names: 'the request',
	body: 'the request',
	address: "'Base URL' in the credential",
	/** What code 10007 means. */
	missing: "The record doesn't exist",
	notAccepted: 'The platform rejected the sign-in',
	credential: "Check the credential. If your platform signs in differently, turn on 'Custom Sign-In'.",
	/** The remedies for HTTP 429, a timeout and a response that is too large. */
	tooMany: "Lower 'Parallel Requests' under 'Options', or run the workflow less often.",
	tooSlow: "Raise 'Timeout (Milliseconds)' under 'Options'.",
	tooLarge: "Check 'Base URL' in the credential: another service may use this address.",
	/** What else to do if a response takes too long for a proxy (HTTP 502, 504) or breaks off. */
	tooLong: '',
	/** What else to do if there is no envelope. */
	elsewhere: '',
};
const OF_KEY = {
	notAccepted: 'The platform rejected the API key',
	credential: "Check 'API Key' in the credential. If it's correct, you may need 'Custom Sign-In'.",
};
const API_REQUEST = {
	...REQUEST,
	names: "'Method', 'Path', and 'Query Parameters'",
	address: "'Path', and 'Base URL' in the credential",
	tooLarge: "Lower 'Page Size' under 'Options', or request less with 'Query Parameters' or another 'Path'.",
	tooLong: " With 'Return All', lower 'Page Size'.",
	elsewhere: " For other formats, use n8n's HTTP Request node.",
};

/** One row for each form or place that shows errors of its requests. They decide words only. */
export const WORDING = {
	list: {
		...REQUEST,
		names: "the names in 'Filters' and sort rules",
		body: "'Filters'",
		tooSlow: "Raise 'Timeout (Milliseconds)' under 'Options', or lower 'Page Size' there.",
		tooLarge: "Lower 'Page Size' under 'Options', or list fewer devices with 'Filters'.",
		tooLong: " Or lower 'Page Size' under 'Options'.",
	},
	count: {
		...REQUEST,
		names: "the names in 'Filters'",
		body: "'Filters'",
		tooLarge: "Count fewer devices with 'Filters'.",
		tooLong: " Or count fewer devices with 'Filters'.",
	},
	device: { ...REQUEST, names: 'the serial number', missing: 'No device has this serial number' },
	dropdown: {
		...REQUEST,
		tooMany: 'Try again later.',
		tooSlow: "Try again later, or enter the value instead of choosing 'From List'.",
		tooLarge: "Enter the value instead of choosing 'From List'.",
		tooLong: " Or enter the value without 'From List'.",
	},
	test: {
		...REQUEST,
		notAccepted: 'The platform rejected the API key or token',
		tooMany: 'Try again later.',
	},
	apiRequest: API_REQUEST,
	apiRequestWithBody: { ...API_REQUEST, names: "'Method', 'Path', 'Query Parameters', and 'Body'", body: "'Body'" },
	login: {
		...REQUEST,
		tooMany: 'Try again later.',
		names: "'Custom Sign-In' in the credential",
		missing: "The platform doesn't know this user",
		address: "'Base URL' and 'Custom Sign-In' in the credential",
		tooSlow: "Try again later, or check 'Login Path' in the credential.",
	},
} satisfies Record<string, typeof REQUEST>;
export type Wording = keyof typeof WORDING;

/** What the words of a Failure depend on. */
export interface Asked {
	words: Wording;
	/** Whether it may change something on the platform, so that an unknown outcome is in doubt. */
	mayChange: boolean;
	redact: Redact;
	hasKey?: boolean;
	/** Most values that its response may have; default: those of six pages of 2000 devices. */
	mostValues?: number | undefined;
}

/** What went wrong: a row of the table, and facts. */
interface Fault extends Omit<Partial<FailureDetails>, 'cause' | 'message' | 'remedy'> {
	kind: FailureDetails['kind'];
	row: Row;
	system?: string;
	/** Text from outside, with secrets. */
	said?: string | undefined;
	places?: Record<string, string | number>;
}

/** Returns the words of a code, status or system error for a request that changes nothing. */
export function explain(key: number | string, words: Wording, facts: Partial<Fault> = {}): FailureDetails {
	const asked: Asked = { words, mayChange: false, redact: String };
	return failureOf({ kind: 'status', row: rowOf(key), ...facts }, asked).details;
}

/** Returns the Failure for a fault of a request, without secrets. */
export function failureOf({ row, system = '', said = '', places, ...facts }: Fault, asked: Asked): Failure {
	const { kind, code, httpStatus, retryAfterMs } = facts;
	const [cause, message, remedy] = row;
	const words: Record<string, string | number> = { ...WORDING[asked.words], ...(asked.hasKey && OF_KEY), ...places };
	const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, place: string) => String(words[place]));
	const name = code !== undefined ? `code ${code}` : httpStatus !== undefined ? `HTTP ${httpStatus}` : system;
	const clean = asked.redact(said);
	// The platform's own words stay as they are, others may be HTML.
	const shown = [name, kind === 'status' ? withoutHtml(clean) : clean].filter((part) => part !== '').join(': ');
	const isRefused = kind === 'refused' || kind === 'status';
	const isBarred = hasMark(row, 'barred');
	const isOfToken = !isBarred && (hasMark(row, 'token') || httpStatus === 401);
	// A code may come with a status that passes.
	const statusPasses = code !== undefined && hasMark(rowOf(`HTTP ${httpStatus}`), 'passes');
	const passes = statusPasses || (!isOfToken && hasMark(row, 'passes'));
	// The request was refused for now, and not because of the token. A redirect's `Retry-After` is no limit.
	const asksToWait = retryAfterMs !== undefined && !isOfToken && !isBarred && !/^3..$/.test(String(httpStatus));
	// A code or a status says whether the platform has carried out the request.
	const isInDoubt = asked.mayChange && (!isRefused || hasMark(row, 'doubt'));
	const [before, after] = isInDoubt ? ['Check the platform first. ', '. The change may have been made'] : ['', ''];
	return new Failure({
		...facts,
		cause,
		message: fill(message) + (shown && ` (${shown})`) + after,
		remedy: before + fill(remedy),
		temporary: asksToWait || (!isBarred && passes),
		token: isOfToken ? 'refused' : hasMark(row, 'expiry') && !asksToWait ? 'doubted' : undefined,
		...(isRefused && { mayRefusePage: true }),
		...(isInDoubt && { inDoubt: true }),
	});
}
