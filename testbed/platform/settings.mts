import { z } from 'zod/v4';
import type { Device } from './fleet.mts';

/** What a request is to the platform; 'other' is every path but the three the document specifies or hints at. */
export type RequestKind = 'list' | 'sn' | 'login' | 'other';

/** A request as the platform recorded it, in the order of arrival. */
export interface PlatformRequest {
	/** 1 for the first request since the start or the last `forget()`. */
	order: number;
	/** 1 for the first request of its kind. */
	orderOfKind: number;
	kind: RequestKind;
	method: string;
	/** The request target as it came, prefix and query included. */
	url: string;
	/** The path without prefix and query, still percent-encoded. */
	path: string;
	/** Decoded; a repeated key is an array. */
	query: Record<string, string | string[]>;
	/** As received, secrets included: names in lower case. */
	headers: Record<string, string | string[] | undefined>;
	/** The parsed JSON body; the text when it is no JSON; undefined when there is none. */
	body: unknown;
	/** For a list request the page it addresses, counted from 0 like `number` in the answer, whatever `pageNumbering` is. */
	page: number | undefined;
	/** When it arrived, by the platform's `now`. */
	at: number;
	/** The HTTP status it was answered with; undefined before, and where no answer was sent. */
	status: number | undefined;
	/** How many requests, this one included, were being answered when it arrived. */
	inFlight: number;
	/** 'answered' once sent completely, 'cut' when the connection closed before that. */
	outcome: 'pending' | 'answered' | 'cut';
}

/**
 * What goes wrong with an answer:
 * - 'drop' closes the connection without an answer; 'hang' never answers (until `stop()`)
 * - 'truncate' announces the whole real answer, sends half of it and closes; 'stall' sends half and then nothing
 * - `{ slowBody }` sends the real answer in pieces with a pause between them
 * - `{ status, headers?, body? }` a raw answer, as from a proxy: text goes out as HTML unless a header says otherwise,
 *   anything else as JSON
 * - `{ code, details?, msg?, data?, status?, headers? }` an envelope; the message is the table's, its %s filled from
 *   `details`
 */
const faultSchema = z.union([
	z.enum(['drop', 'hang', 'truncate', 'stall']),
	z.strictObject({ slowBody: z.strictObject({ pieces: z.int().min(2), pauseMs: z.number().min(0) }) }),
	z.strictObject({
		code: z.int(),
		details: z.array(z.string()).optional(),
		msg: z.string().optional(),
		data: z.unknown().optional(),
		status: z.int().optional(),
		headers: z.record(z.string(), z.string()).optional(),
	}),
	z.strictObject({
		status: z.int(),
		headers: z.record(z.string(), z.string()).optional(),
		body: z.unknown().optional(),
	}),
]);

export type Fault = z.infer<typeof faultSchema>;

/** zod's own number type takes no Infinity. */
const count = z.custom<number>((value) => typeof value === 'number' && value >= 0, 'must be a number from 0');

const faultRuleSchema = z.strictObject({
	fault: faultSchema,
	kind: z.enum(['list', 'sn', 'login', 'other']).optional(),
	/** Counted from 0, as in `PlatformRequest.page`. */
	page: z.int().optional(),
	order: z.int().optional(),
	orderOfKind: z.int().optional(),
	/** How often the rule applies; Infinity for always. */
	times: count.default(1),
});

/** A fault for the requests that have all the given marks; the first rule that fits and is not used up applies. */
export type FaultRule = z.input<typeof faultRuleSchema>;

/** `data` of a list answer, section 1.2. */
export interface PageData {
	content: Device[];
	pageable: {
		sort: { sorted: boolean; unsorted: boolean };
		offset: number;
		pageSize: number;
		pageNumber: number;
		paged: boolean;
		unpaged: boolean;
	};
	totalElements: number;
	totalPages: number;
	last: boolean;
	first: boolean;
	sort: { sorted: boolean; unsorted: boolean };
	size: number;
	number: number;
	numberOfElements: number;
}

const callback = <Callback,>(name: string) =>
	z.custom<Callback>((value) => typeof value === 'function', `${name} must be a function`).optional();

const path = z.string().regex(/^(?:\/[^/?#]+)+$/, 'must begin with / and not end with it');

/** Every switch of the embedded platform. Where the document is silent, the default is the best known answer. */
export const settingsSchema = z.strictObject({
	// Sign-in, section 5
	apiKey: z.string().min(1).default('demo-api-key-0123456789'),
	apiKeyIn: z.enum(['header', 'query']).default('header'),
	apiKeyName: z.string().min(1).default('Authorization'),
	/** Before the key, with a space between; empty: the key alone. */
	apiKeyPrefix: z.string().default('ApiKey'),
	loginName: z.string().min(1).default('demo'),
	/** In plain text; the login takes its MD5 in lower-case hex. */
	password: z.string().default('demo-password-密码'),
	loginPath: path.default('/api/user/login'),
	/** Where the login answer holds the token: 'data' or any dotted path below it. */
	tokenAt: z
		.string()
		.regex(/^data(?:\.[^.]+)*$/, "must be 'data' or a dotted path that begins with it")
		.default('data'),
	/** The code that answers a wrong user name or password. */
	wrongPasswordCode: z.union([z.literal(14201), z.literal(14202), z.literal(14203)]).default(14201),
	/** Refuses every login with this code, the right password included. */
	refuseLogin: z.union([z.literal(14201), z.literal(14202), z.literal(14203)]).optional(),
	/** one-per-user: a login ends the life of every token handed out before. */
	livingTokens: z.enum(['side-by-side', 'one-per-user']).default('side-by-side'),
	/** How many authorised requests a token lives; Infinity: without end. */
	tokenRequests: count.default(Infinity),
	/** How many milliseconds of `now` a token lives. */
	tokenMs: count.default(Infinity),
	/** How a missing, wrong or dead sign-in is reported: by code alone, or by HTTP 401 (with the envelope as body). */
	deadToken: z.enum(['code', 'status']).default('code'),
	/** The code for a dead token. */
	deadTokenCode: z.union([z.literal(14101), z.literal(14102)]).default(14101),
	/** What the signed-in user may do: everything, read, or nothing; else 14103. */
	role: z.enum(['administrator', 'reader', 'none']).default('administrator'),

	// Answers
	/** HTTP status of an answer whose code is not 0; the document gives none. */
	refusalStatus: z.int().min(200).max(599).default(200),
	/** "The word for success", section 1.1. */
	successMessage: z.string().default('success'),
	/** The code for a serial number that no device has, section 4.2; 0 is a success without data. */
	noDeviceCode: z.union([z.literal(10007), z.literal(14401), z.literal(0)]).default(10007),
	/** Everything is below this path; a request elsewhere is answered with 404. */
	pathPrefix: z.union([z.literal(''), path]).default(''),

	// Paging, sections 1.2 and 8
	/** one-based: page=0 and page=1 both answer the first page. `number` in the answer counts from 0 either way. */
	pageNumbering: z.enum(['one-based', 'zero-based']).default('one-based'),
	largestSize: z.int().min(1).default(2000),
	/** A larger size is silently cut to the largest, or refused with 10001. */
	largerSize: z.enum(['clamp', 'refuse']).default('clamp'),
	/** Whether a list comes in the order that `sort` asks for; else it is refused with 10005, or nobody looks at it. */
	sorting: z.enum(['obeyed', 'refused', 'ignored']).default('obeyed'),
	/** Whether a list obeys its filters; else it returns all devices. */
	filtering: z.enum(['obeyed', 'ignored']).default('obeyed'),
	/** What a missing value is to a sort: less than all others, or more; or it comes first, or last, in both directions. */
	missingValues: z.enum(['smallest', 'largest', 'first', 'last']).default('smallest'),
	/** Drops or falsifies what a list answer tells; gets a copy. */
	changePage: callback<(page: PageData, request: PlatformRequest) => unknown>('changePage'),

	// Time and trouble
	/** Real milliseconds before every answer. */
	latencyMs: z.number().min(0).default(0),
	/** The clock of token lifetimes and of createTime and updateTime. */
	now: z.custom<() => number>((value) => typeof value === 'function', 'now must be a function').default(() => Date.now),
	/**
	 * More requests than these within so many milliseconds of `now` are refused with HTTP 429, as by a proxy, which asks to
	 * wait for so many seconds.
	 */
	rateLimit: z
		.strictObject({ requests: z.int().min(1), perMs: z.number().min(1), retryAfter: z.int().min(0).default(1) })
		.optional(),
	/** Runs before every answer and may change fleet and settings; the answer waits for it. */
	beforeAnswer: callback<(request: PlatformRequest) => void | Promise<void>>('beforeAnswer'),
	/** Asked for every request; comes before `faults`. */
	fault: callback<(request: PlatformRequest) => Fault | undefined>('fault'),
	faults: z.array(faultRuleSchema).default([]),
});

/** The switches as they stand; every one may be changed while the platform runs. */
export type Settings = Omit<z.output<typeof settingsSchema>, 'faults'> & { faults: FaultRule[] };
