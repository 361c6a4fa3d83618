import type { ServerResponse } from 'node:http';
import { z } from 'zod/v4';
import type { Device } from './fleet.mts';
import type { Page, PageData, Query } from './paging.mts';

export type { PageData };

/** The kind of a request. 'other' is every path except the three in the document. */
export type RequestKind = 'list' | 'sn' | 'login' | 'other';

/** A request as the platform recorded it, in the order of arrival. */
export interface PlatformRequest {
	/** 1 for the first request since the start or the last `forget()`. */
	order: number;
	/** 1 for the first request of its kind. */
	orderOfKind: number;
	kind: RequestKind;
	method: string;
	/** The request target as received, with prefix and query. */
	url: string;
	/** The path without prefix and query, still percent-encoded. */
	path: string;
	query: Query;
	/** As received, with secrets; names in lower case. */
	headers: Record<string, string | string[] | undefined>;
	/** The parsed JSON body; the text if it is not JSON; undefined without a body. */
	body: unknown;
	/** For a list request: the page, counted from 0 like `number` in the response; -1 if it is invalid. */
	page: number | undefined;
	/** When it arrived. */
	at: number;
	/** The HTTP status of the response; undefined without one. */
	status: number | undefined;
}

/**
 * A fault of a response:
 * - 'drop' closes the connection without a response; 'hang' never responds (until `stop()`)
 * - `{ status, headers?, body? }` is a raw response, as from a proxy: text is sent as HTML unless a header differs, anything
 *   else as JSON
 * - `{ code, details?, msg?, data?, status?, headers? }` is an envelope; the default message is that of the code, with
 *   `details` for each %s
 * - a function sends any response that HTTP allows, or none
 */
export type Fault =
	| 'drop'
	| 'hang'
	| {
			code: number;
			details?: string[];
			msg?: string;
			data?: unknown;
			status?: number;
			headers?: Record<string, string>;
	  }
	| { status: number; headers?: Record<string, string>; body?: unknown }
	| WriteResponse;

export type WriteResponse = (response: ServerResponse) => void;

/** A fault for all requests with these properties. The first matching rule that is not used up applies. */
export interface FaultRule {
	fault: Fault;
	kind?: RequestKind;
	orderOfKind?: number;
	page?: number;
	/** How often the rule applies; default: once; Infinity for always. */
	times?: number;
}

/** Returns the page for a list request, of devices outside of the platform's fleet. Throws a Refusal. */
export type DeviceSource = (request: { query: Query; body: unknown }, settings: Settings) => Promise<Page<Device>>;

/** TypeScript checks these settings. */
const unchecked = <Value,>() => z.custom<Value>();

const path = z.string().regex(/^(?:\/[^/?#]+)+$/, 'must begin with / and not end with it');

/** Every setting of the embedded platform. If the document says nothing, the default is the best guess. */
export const settingsSchema = z.strictObject({
	// Sign-in, section 5
	apiKey: z.string().min(1).default('demo-api-key-0123456789'),
	apiKeyIn: z.enum(['header', 'query']).default('header'),
	apiKeyName: z.string().min(1).default('Authorization'),
	/** Sent before the key, with a space between; empty: only the key. */
	apiKeyPrefix: z.string().default('ApiKey'),
	loginName: z.string().min(1).default('demo'),
	/** In plain text; the login expects its MD5 in lower-case hex. */
	password: z.string().default('demo-password-密码'),
	loginPath: path.default('/api/user/login'),
	/** one-per-user: a login ends all earlier tokens. */
	livingTokens: z.enum(['side-by-side', 'one-per-user']).default('side-by-side'),
	/** Number of authorized requests until a token expires; Infinity: never. */
	tokenRequests: unchecked<number>().default(Infinity),
	/** The code for an expired token. 401: it is 14101, and each refused sign-in is an HTTP 401, with the envelope as body. */
	deadToken: z.union([z.literal(14101), z.literal(14102), z.literal(401)]).default(14101),

	// Responses
	/** The code for a serial number that no device has, section 4.2; 0 is a success without data. */
	noDeviceCode: z.union([z.literal(10007), z.literal(14401), z.literal(0)]).default(10007),
	/** All endpoints are below this path; a request elsewhere gets 404. */
	pathPrefix: z.union([z.literal(''), path]).default(''),

	// Lists, sections 1.2 and 8
	/** one-based: page=0 and page=1 both return the first page. `number` in the response always counts from 0. */
	pageNumbering: z.enum(['one-based', 'zero-based']).default('one-based'),
	/** A larger size is reduced to this one. */
	largestSize: z.int().min(1).default(2000),
	/** The list of devices in a database, instead of the fleet's. */
	source: unchecked<DeviceSource>().optional(),
	/** Whether the platform obeys `sort`, refuses it with 10005, or ignores it. */
	sorting: z.enum(['obeyed', 'refused', 'ignored']).default('obeyed'),
	/** The order without `sort`, as a value of `sort`; default: that of the fleet, in which no devices are equal. */
	ownSort: z.string().optional(),
	/** Whether devices with equal values keep their order, or have another one for each page and size, as in a database. */
	equalValues: z.enum(['steady', 'unsteady']).default('steady'),
	/** A sort by several fields: obeyed, refused with 10005, or reduced to the first field. */
	severalFields: z.enum(['obeyed', 'refused', 'first field']).default('obeyed'),
	/** A sort by `id`: obeyed, refused with 10005, or the field is ignored. */
	idSort: z.enum(['obeyed', 'refused', 'ignored']).default('obeyed'),
	/** How a sort treats missing values. */
	missingValues: z.enum(['smallest', 'largest']).default('smallest'),
	/** Changes the `data` of a response with a page of any list: other items, another total. It gets a copy. */
	changePage: unchecked<(page: PageData, request: PlatformRequest) => unknown>().optional(),

	// Time and faults
	/** Real milliseconds before every response. */
	latencyMs: z.number().min(0).default(0),
	/** Runs before every response and may change fleet and settings; the response waits for it. */
	beforeAnswer: unchecked<(request: PlatformRequest) => void | Promise<void>>().optional(),
	/** Called for every request, before `faults`. */
	fault: unchecked<(request: PlatformRequest) => Fault | undefined>().optional(),
	faults: unchecked<FaultRule[]>().default(() => []),
});

/** The current settings; all of them can change while the platform runs. */
export type Settings = z.output<typeof settingsSchema>;
