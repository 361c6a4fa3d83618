import { createHash } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { parse, unescape } from 'node:querystring';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod/v4';
import { message, Refusal } from './codes.mts';
import { type Device, deviceSchema, Fleet, timeText } from './fleet.mts';
import { close, listen } from './httpServer.mts';
import { listDevices } from './listing.mts';
import { jsonOfPage, type Page, pageOf, readPage } from './paging.mts';
import {
	settingsSchema,
	type Fault,
	type PlatformRequest,
	type RequestKind,
	type Settings,
	type WriteResponse,
} from './settings.mts';

export { Fleet, type Device };
export type * from './settings.mts';

const startOptionsSchema = settingsSchema.extend({
	/** A size (and seed), or a ready fleet. */
	fleet: z
		.union([z.instanceof(Fleet), z.strictObject({ size: z.int().min(0), seed: z.int().default(1) })])
		.default({ size: 25, seed: 1 }),
	/** Default: any free one. */
	port: z.int().min(0).max(65535).optional(),
	/** Serves HTTPS with the test-only self-signed certificate. */
	tls: z.boolean().optional(),
});

/** How the platform starts: every setting (see `settings.mts`), the fleet, and where to listen. */
export type StartOptions = z.input<typeof startOptionsSchema>;

/** The address of a platform, and what its users sign in with. */
export type PlatformAccess = Pick<EmbeddedPlatform, 'baseUrl' | 'apiKey' | 'loginName' | 'password'>;

/**
 * Starts an embedded device-management platform that follows the API document.
 *
 * Endpoints: POST /api/device/list and GET /api/device/sn/{sn} as in section 4, POST `loginPath` as in section 5. The
 * document does not define other endpoints (section 4.3). This platform also has these, with the same sign-in:
 * PUT /api/device/sn/{sn} (changes fields), GET /api/device/list and /api/group/list (pages, neither filtered nor sorted), GET /api/model/list (an array in data), GET /api/version (a text in data), and any method on /api/echo (returns the
 * request). Any other path gets HTTP 404 without an envelope.
 *
 * @throws if an option is invalid, or the port is taken
 */
export async function startPlatform(options: StartOptions = {}): Promise<EmbeddedPlatform> {
	const platform = new EmbeddedPlatform(options);
	await platform.listen(options.port, options.tls);
	return platform;
}

/** A request as an HTTP server gets it. The URL is the path with the query. */
type ReceivedRequest = Partial<Pick<IncomingMessage, 'method' | 'url' | 'headers'>>;

interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string;
}

/** A running embedded platform. */
export class EmbeddedPlatform {
	/** The devices; may be replaced or changed at any time. */
	fleet = new Fleet([]);
	/** All switches; may be changed at any time. */
	settings: Settings = settingsSchema.parse({});
	readonly logins = { attempted: 0, succeeded: 0 };
	/** Every request since the start or the last `forget()`, in the order of arrival, with refused and failed ones. */
	requests: PlatformRequest[] = [];
	/** The most requests without a complete response at once. */
	peakInFlight = 0;

	/** Paged lists. Their requests are of the kind `list`, with the page that they ask for. */
	readonly #lists: Readonly<Record<string, (request: PlatformRequest) => Promise<Page<object>>>> = {
		'POST /api/device/list': async (request) =>
			this.settings.source?.(request, this.settings) ?? listDevices(this.fleet, request, this.settings),
		'GET /api/device/list': async ({ query }) => pageOf(this.fleet.devices, query, this.settings),
		'GET /api/group/list': async ({ query }) =>
			pageOf([...new Map(this.fleet.devices.map(({ group }) => [group.id, group])).values()], query, this.settings),
	};
	/** All other endpoints but the login. They get the serial number in the path and return `data`, or throw a Refusal. */
	readonly #endpoints: Readonly<Record<string, (request: PlatformRequest, sn: string) => unknown>> = {
		'GET /api/device/sn/{sn}': (_request, sn) => this.#device(sn),
		'PUT /api/device/sn/{sn}': ({ body }, sn) => this.#change(this.#device(sn), body),
		'GET /api/model/list': () => this.fleet.models,
		'GET /api/version': () => '2.6',
		'/api/echo': (request) => this.#echo(request),
	};
	#server: Server | undefined;
	#origin = '';
	readonly #tokens = new Map<string, { requests: number; dead: boolean }>();
	/** Requests without a complete response. */
	readonly #pending = new Set<PlatformRequest>();
	readonly #hookErrors: unknown[] = [];

	constructor(options: StartOptions) {
		this.reset(options);
	}

	/** Like http://127.0.0.1:41234, with the path prefix; paths begin with /api below it. */
	get baseUrl(): string {
		return this.#origin + this.settings.pathPrefix;
	}

	get apiKey(): string {
		return this.settings.apiKey;
	}

	get loginName(): string {
		return this.settings.loginName;
	}

	get password(): string {
		return this.settings.password;
	}

	/** The platform accepts it in lower-case hex. */
	get passwordMd5(): string {
		return createHash('md5').update(this.settings.password, 'utf8').digest('hex');
	}

	/** Every issued token, the oldest first. */
	get issuedTokens(): readonly string[] {
		return [...this.#tokens.keys()];
	}

	/** Requests without a complete response now. */
	get inFlight(): number {
		return this.#pending.size;
	}

	requestsOf(kind: RequestKind): PlatformRequest[] {
		return this.requests.filter((request) => request.kind === kind);
	}

	/** Makes every issued token expire. */
	expireTokens(): void {
		for (const token of this.#tokens.values()) token.dead = true;
	}

	/** Issues a valid token without a login. */
	issueToken(token?: string): string {
		if (this.settings.livingTokens === 'one-per-user') this.expireTokens();
		const number = this.#tokens.size + 1;
		const issued =
			token ?? `t${number}.${createHash('sha256').update(`embedded platform ${number}`).digest('base64url')}`;
		this.#tokens.set(issued, { requests: 0, dead: false });
		return issued;
	}

	/** Empties `requests` and sets `peakInFlight` and `logins` to 0; tokens, fleet and settings stay. */
	forget(): void {
		this.requests = [];
		this.peakInFlight = this.inFlight;
		Object.assign(this.logins, { attempted: 0, succeeded: 0 });
	}

	/**
	 * Begins again at the same address with this fleet and these settings, the others at their defaults, without requests and
	 * tokens. Requests that wait for a response are forgotten.
	 */
	reset(options: StartOptions = {}): void {
		const { fleet, port: _port, tls: _tls, ...settings } = startOptionsSchema.parse(options);
		this.fleet = fleet instanceof Fleet ? fleet : Fleet.seeded(fleet);
		this.settings = settings;
		this.#tokens.clear();
		this.#pending.clear();
		this.forget();
	}

	async listen(port?: number, tls?: boolean): Promise<void> {
		const serve = (raw: IncomingMessage, response: ServerResponse) => void this.#serve(raw, response);
		({ server: this.#server, origin: this.#origin } = await listen(serve, port, tls));
	}

	/** Closes every connection, hanging ones too. Rejects with the first error that a hook threw. */
	async stop(): Promise<void> {
		if (this.#server !== undefined) await close(this.#server);
		if (this.#hookErrors.length > 0) throw this.#hookErrors[0];
	}

	/**
	 * Returns the response to a request without HTTP, for tests with tens of thousands of requests.
	 * @throws what a hook throws, or if a fault concerns the connection
	 */
	async respond(received: ReceivedRequest, body = ''): Promise<Answer> {
		const request = this.#record(received);
		const answer = await this.#replyTo(request, body).finally(() => this.#pending.delete(request));
		if (typeof answer === 'function') throw new Error('Without HTTP, there is no connection to fail');
		request.status = answer.status;
		return answer;
	}

	async #serve(raw: IncomingMessage, response: ServerResponse): Promise<void> {
		const request = this.#record(raw);
		const end = () => {
			this.#pending.delete(request);
			if (response.headersSent) request.status = response.statusCode;
		};
		// A client may close the connection in the middle of a response.
		response
			.once('finish', end)
			.once('close', end)
			.on('error', () => {});
		const body = await text(raw).catch(() => undefined);
		if (body === undefined) return;
		const reply = await this.#replyTo(request, body).catch((error: unknown) => {
			this.#hookErrors.push(error);
			return this.#answerOf({ code: -1, status: 500 });
		});
		if (typeof reply === 'function') reply(response);
		else
			response
				.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) })
				.end(reply.body);
	}

	#record({ method = 'GET', url = '/', headers }: ReceivedRequest): PlatformRequest {
		const prefix = this.settings.pathPrefix;
		// A path outside the prefix gets one that has no endpoint.
		const target = url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : '/-outside-the-prefix';
		const [path = '/', ...rest] = target.split('?');
		const query = { ...parse(rest.join('?')) };
		const kind = this.#kindOf(method, path);
		const request: PlatformRequest = {
			kind,
			order: this.requests.length + 1,
			orderOfKind: this.requestsOf(kind).length + 1,
			method,
			url,
			path,
			query,
			headers: { ...headers },
			body: undefined,
			page: kind === 'list' ? readPage(query, this.settings) : undefined,
			at: Date.now(),
			status: undefined,
		};
		this.requests.push(request);
		this.#pending.add(request);
		this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
		return request;
	}

	/** Returns the response, or what happens to the connection. */
	async #replyTo(request: PlatformRequest, body: string): Promise<Answer | WriteResponse> {
		const isReadable = parseBody(request, body);
		const { latencyMs } = this.settings;
		if (latencyMs > 0) await pause(latencyMs, undefined, { ref: false });
		await this.settings.beforeAnswer?.(request);
		const fault = this.settings.fault?.(request) ?? this.#faultOfRules(request);
		if (typeof fault === 'function') return fault;
		if (typeof fault === 'object') return this.#answerOf(fault);
		if (fault === 'drop') return (response) => void response.socket?.destroy();
		if (fault === 'hang') return () => {};
		return await this.#answer(request, isReadable);
	}

	#kindOf(method: string, path: string): RequestKind {
		if (method === 'POST' && path === this.settings.loginPath) return 'login';
		if (`${method} ${path}` in this.#lists) return 'list';
		return method === 'GET' && path.startsWith('/api/device/sn/') ? 'sn' : 'other';
	}

	async #answer(request: PlatformRequest, isReadable: boolean): Promise<Answer> {
		const { method, path, kind, body } = request;
		const [, sn] = /^\/api\/device\/sn\/([^/]*)$/.exec(path) ?? [];
		const place = sn === undefined ? path : '/api/device/sn/{sn}';
		const list = this.#lists[`${method} ${place}`];
		const other = this.#endpoints[`${method} ${place}`] ?? this.#endpoints[place];
		const endpoint = kind === 'login' ? () => this.#logIn(request) : other;
		if (list === undefined && endpoint === undefined)
			return this.#answerOf({ status: 404, body: { status: 404, error: 'Not Found', path } });
		try {
			if (kind !== 'login') this.#authorize(request);
			// Section 1: bodies are JSON.
			const lacksBody = body === undefined && method === 'POST' && kind !== 'other';
			if (!isReadable || lacksBody) throw new Refusal(10014);
			const data = endpoint?.(request, unescape(sn ?? ''));
			const json = list === undefined ? JSON.stringify(data ?? null) : this.#paged(await list(request), request);
			return envelope(0, 'success', json);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			const { code, message: msg } = error;
			const isUnauthorized = (code === 14101 || code === 14102) && this.settings.deadToken === 401;
			const unauthorized = { status: 401, headers: { 'www-authenticate': 'Bearer' } };
			return this.#answerOf({ code, msg, ...(isUnauthorized && unauthorized) });
		}
	}

	#faultOfRules(request: PlatformRequest): Fault | undefined {
		const found = this.settings.faults.find((rule) => {
			const { kind, page, orderOfKind, times = 1 } = { ...request, ...rule };
			return times > 0 && kind === request.kind && page === request.page && orderOfKind === request.orderOfKind;
		});
		if (found !== undefined) found.times = (found.times ?? 1) - 1;
		return found?.fault;
	}

	/** Section 5. Throws 14101 without a valid sign-in, and 14102 for an unreadable one. */
	#authorize({ headers, query }: PlatformRequest): void {
		const { apiKey, apiKeyIn, apiKeyName, apiKeyPrefix } = this.settings;
		const given = apiKeyIn === 'header' ? headers[apiKeyName.toLowerCase()] : query[apiKeyName];
		if (given !== `${apiKeyPrefix} ${apiKey}`.trimStart()) this.#useToken(String(headers['authorization'] ?? ''));
	}

	#useToken(authorization: string): void {
		if (!authorization.startsWith('Bearer')) throw new Refusal(14101);
		const [, given] = /^Bearer ([\w.~+/-]{8,}=*)$/.exec(authorization) ?? [];
		if (given === undefined) throw new Refusal(14102);
		const token = this.#tokens.get(given);
		if (token === undefined) throw new Refusal(14101);
		const { tokenRequests, deadToken } = this.settings;
		if (token.dead || token.requests >= tokenRequests) throw new Refusal(deadToken === 401 ? 14101 : deadToken);
		token.requests++;
	}

	/** The login API of section 5. The document doesn't define its path, a setting, and its response. */
	#logIn({ body }: PlatformRequest): string {
		this.logins.attempted++;
		const given = read(loginSchema, body);
		if (given.loginName !== this.loginName || given.password !== this.passwordMd5) throw new Refusal(14201);
		this.logins.succeeded++;
		return this.issueToken();
	}

	/** Returns the JSON of a page of any list. */
	#paged(page: Page<object>, request: PlatformRequest): string {
		const { changePage } = this.settings;
		if (changePage === undefined) return jsonOfPage(page);
		const copy = structuredClone({ content: page.items.map((item) => ({ ...item })), ...page.metadata });
		return JSON.stringify(changePage(copy, request)) ?? 'null';
	}

	/** Section 4.2 has no rule for a valid serial number. This platform's rule: 1 to 64 letters, digits and - _ . : */
	#device(sn: string): Device {
		if (!/^[A-Za-z0-9._:-]{1,64}$/.test(sn)) throw new Refusal(10018, sn);
		const device = this.fleet.get(sn);
		if (device === undefined) throw new Refusal(this.settings.noDeviceCode, `device ${sn}`);
		return device;
	}

	#change(device: Device, body: unknown): Device {
		const made = { updator: this.loginName, updateTime: timeText(Date.now()) };
		return this.fleet.update(device.sn, deviceSchema.parse({ ...device, ...read(changesSchema, body), ...made }));
	}

	/** Returns the request without its sign-in. */
	#echo({ method, path, query, body = null }: PlatformRequest): object {
		const { [this.settings.apiKeyName]: _, ...shown } = query;
		return { method, path, query: shown, body };
	}

	#answerOf(fault: Extract<Fault, { code: number } | { status: number }>): Answer {
		if ('code' in fault) {
			const { code, details = [], msg = message(code, ...details), data = null, status = 200, headers } = fault;
			return { ...envelope(code, msg, JSON.stringify(data)), status, headers: { ...json, ...headers } };
		}
		const { status, headers = {}, body = '' } = fault;
		const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
		const [type, text] = typeof body === 'string' ? [html, body] : [json, JSON.stringify(body)];
		return { status, headers: { ...type, ...Object.fromEntries(own) }, body: text };
	}
}

/** The fields of a change. The document doesn't define them (section 4.3). */
const fixedFields = { id: true, sn: true, creator: true, createTime: true, updator: true, updateTime: true } as const;
const changesSchema = deviceSchema.omit(fixedFields).partial();
const loginSchema = z.object({ loginName: z.string(), password: z.string() });

function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
	if (body === undefined) throw new Refusal(10014);
	const { data, error } = schema.safeParse(body);
	if (error) throw new Refusal(10001, error.issues[0]?.path.join('.') || 'must be an object');
	return data;
}

/** Records the body. Returns whether it is usable: section 1 requires JSON with its content type. */
function parseBody(request: PlatformRequest, body: string): boolean {
	if (body === '') return true;
	try {
		request.body = JSON.parse(body);
	} catch {
		request.body = body;
		return false;
	}
	return /^application\/json\s*(?:;|$)/i.test(String(request.headers['content-type']));
}

const json = { 'content-type': 'application/json;charset=UTF-8' };
const html = { 'content-type': 'text/html;charset=UTF-8' };

/** Returns the envelope of section 1.1. `data` is JSON. */
function envelope(code: number, msg: string, data: string): Answer {
	return { status: 200, headers: json, body: `{"code":${code},"msg":${JSON.stringify(msg)},"data":${data}}` };
}
