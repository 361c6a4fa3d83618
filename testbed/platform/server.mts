import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod/v4';
import { message, Refusal } from './codes.mts';
import { deviceSchema, Fleet, timeText, type Device } from './fleet.mts';
import { Listing } from './listing.mts';
import { type Page, readPage } from './paging.mts';
import {
	settingsSchema,
	type Fault,
	type FaultRule,
	type PlatformRequest,
	type RequestKind,
	type Settings,
} from './settings.mts';
import { testOnlyCertificate, testOnlyPrivateKey } from './tls/testOnlyCertificate.mts';

export { Fleet, type Device } from './fleet.mts';
export type { Fault, FaultRule, PageData, PlatformRequest, RequestKind, Settings } from './settings.mts';

const startOptionsSchema = settingsSchema.extend({
	/** A size (and seed), devices, or a ready fleet. */
	fleet: z
		.union([
			z.instanceof(Fleet),
			z.array(deviceSchema),
			z.strictObject({ size: z.int().min(0), seed: z.int().default(1) }),
		])
		.default({ size: 25, seed: 1 }),
	host: z.string().default('127.0.0.1'),
	/** 0: any free port. */
	port: z.int().min(0).max(65535).default(0),
	/** Serves HTTPS with the test-only self-signed certificate. */
	tls: z.boolean().default(false),
});

/** How the platform starts: every setting (see `settings.mts`), the fleet, and where to listen. */
export type StartOptions = z.input<typeof startOptionsSchema>;

/** The address of a platform, and what its users sign in with. */
export type PlatformAccess = Pick<EmbeddedPlatform, 'baseUrl' | 'apiKey' | 'loginName' | 'password'>;

/** The endpoint for API Request in the form, the docs and an example. It returns a list of models. */
export const OTHER_ENDPOINT = '/api/model/list';

/**
 * Starts an embedded device-management platform that follows the API document.
 *
 * Endpoints: POST /api/device/list and GET /api/device/sn/{sn} as in section 4, POST `loginPath` as in section 5. The
 * document does not define other endpoints (section 4.3). This platform also has these, with the same sign-in:
 * POST /api/device (creates), PUT or PATCH and DELETE /api/device/sn/{sn}, GET {@link OTHER_ENDPOINT} (an array in data),
 * GET /api/version (a text in data), and any method on /api/echo (returns the request). Any other path gets HTTP 404 without
 * an envelope.
 *
 * @throws if an option is invalid, or the port is taken
 */
export async function startPlatform(options: StartOptions = {}): Promise<EmbeddedPlatform> {
	const { host, port, tls } = startOptionsSchema.parse(options);
	const platform = new EmbeddedPlatform(options, tls);
	await platform.listen(host, port);
	return platform;
}

interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string | Buffer;
}

type Handler = (request: PlatformRequest, parameters: Record<string, string>) => Answer;

interface Token {
	requests: number;
	dead: boolean;
}

/** A running embedded platform. */
export class EmbeddedPlatform {
	/** The devices; may be replaced or changed at any time. */
	fleet = new Fleet([]);
	/** All switches; may be changed at any time. */
	readonly settings: Settings = settingsSchema.parse({});
	readonly logins = { attempted: 0, succeeded: 0 };
	/** The PEM certificate to trust when started with `tls`. */
	readonly certificate = testOnlyCertificate;
	/** Every request since the start or the last `forget()`, in the order of arrival, with refused and failed ones. */
	requests: PlatformRequest[] = [];
	/** The most requests without a complete response at once. */
	peakInFlight = 0;

	readonly #app: FastifyInstance;
	readonly #scheme: 'http' | 'https';
	readonly #listing = new Listing();
	/** Like `POST /api/device/list`. Their requests are of the kind `list`, with the page that they ask for. */
	readonly #pagedLists = new Set<string>();
	readonly #tokens = new Map<string, Token>();
	readonly #recorded = new WeakMap<IncomingMessage, PlatformRequest>();
	/** Requests without a complete response. */
	readonly #pending = new Set<PlatformRequest>();
	readonly #counts = new Map<RequestKind, number>();
	readonly #uses = new WeakMap<FaultRule, number>();
	/** The times of the requests within the rate limit. */
	#admitted: number[] = [];
	readonly #stopping = new AbortController();
	readonly #hookErrors: unknown[] = [];
	#origin = '';

	constructor(options: StartOptions, tls: boolean) {
		this.reset(options);
		this.#scheme = tls ? 'https' : 'http';
		this.#app = this.#build(tls);
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
	issueToken(): string {
		if (this.settings.livingTokens === 'one-per-user') this.expireTokens();
		const number = this.#tokens.size + 1;
		const text = `t${number}.${createHash('sha256').update(`embedded platform ${number}`).digest('base64url')}`;
		this.#tokens.set(text, { requests: 0, dead: false });
		return text;
	}

	/** Empties `requests` and sets `peakInFlight` and `logins` to 0; tokens, fleet and settings stay. */
	forget(): void {
		this.requests = [];
		this.#counts.clear();
		this.peakInFlight = this.inFlight;
		this.logins.attempted = 0;
		this.logins.succeeded = 0;
	}

	/**
	 * Begins again at the same address with this fleet and these settings, the others at their defaults, without requests and
	 * tokens. Requests that wait for a response are forgotten.
	 */
	reset(options: StartOptions = {}): void {
		const { fleet, host: _host, port: _port, tls: _tls, ...settings } = startOptionsSchema.parse(options);
		this.fleet = fleet instanceof Fleet ? fleet : Array.isArray(fleet) ? new Fleet(fleet) : Fleet.seeded(fleet);
		for (const key of Object.keys(this.settings)) Reflect.deleteProperty(this.settings, key);
		Object.assign(this.settings, settings);
		this.#tokens.clear();
		this.#pending.clear();
		this.#admitted = [];
		this.forget();
	}

	async listen(host: string, port: number): Promise<void> {
		await this.#app.listen({ host, port });
		const address: AddressInfo | undefined = this.#app.addresses()[0];
		if (address === undefined) throw new Error('The platform listens on no address');
		this.#origin = `${this.#scheme}://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
	}

	/** Closes every connection, hanging ones too. Rejects with the first error that a hook threw. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		await this.#app.close();
		if (this.#hookErrors.length > 0) throw this.#hookErrors[0];
	}

	#build(tls: boolean): FastifyInstance {
		const app = fastify({
			// Recording happens before routing, so that it includes requests with a malformed path.
			serverFactory: (route) => {
				const handle = (request: IncomingMessage, response: ServerResponse) => {
					this.#record(request, response);
					request.url = this.#withoutPrefix(request.url ?? '/');
					route(request, response);
				};
				const tlsOptions = { key: testOnlyPrivateKey, cert: testOnlyCertificate };
				return tls ? createSecureServer(tlsOptions, handle) : createServer(handle);
			},
			forceCloseConnections: true,
			exposeHeadRoutes: false,
			bodyLimit: 16 * 1024 * 1024,
			routerOptions: { maxParamLength: 100_000, querystringParser: parseQuery },
		});

		// Bodies are read as text and parsed here, so that an invalid one gets the document's code 10014.
		app.removeAllContentTypeParsers();
		app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

		const route = (method: string | string[], path: string, handler: Handler, writes = false) => {
			app.route({
				method,
				url: path,
				handler: async (request, reply) =>
					this.#answer(request, reply, (recorded) => {
						this.#authorize(recorded, writes);
						return handler(recorded, z.record(z.string(), z.string()).parse(request.params));
					}),
			});
		};
		const pagedList = <Item extends Record<string, unknown>>(
			method: string,
			path: string,
			list: (request: PlatformRequest) => Page<Item>,
			json?: (item: Item) => string | Buffer,
		) => {
			this.#pagedLists.add(`${method} ${path}`);
			route(method, path, (request) => {
				if (method === 'POST') parse(z.unknown(), request.body);
				return this.#paged(list(request), request, json);
			});
		};
		const listDevices = (request: PlatformRequest) => this.#listing.page(this.fleet, request, this.settings);
		pagedList('POST', '/api/device/list', listDevices, (device) => this.fleet.bytes(device));
		route('GET', '/api/device/sn/:sn', (_request, { sn = '' }) => success(JSON.stringify(this.#device(sn))));
		route('POST', '/api/device', (request) => this.#create(request), true);
		route(['PUT', 'PATCH'], '/api/device/sn/:sn', (request, { sn = '' }) => this.#change(request, sn), true);
		route('DELETE', '/api/device/sn/:sn', (_request, { sn = '' }) => this.#delete(sn), true);
		route('GET', OTHER_ENDPOINT, () => success(JSON.stringify(this.fleet.models)));
		route('GET', '/api/version', () => success(JSON.stringify('2.6')));
		route(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], '/api/echo', (request) => this.#echo(request));

		app.setNotFoundHandler(async (request, reply) =>
			this.#answer(request, reply, (recorded) =>
				recorded.kind === 'login' ? this.#logIn(recorded) : notFound(recorded.path),
			),
		);
		app.setErrorHandler(async (error, _request, reply) => {
			const status = z.object({ statusCode: z.int() }).safeParse(error).data?.statusCode ?? 500;
			return await reply.code(status).send({ status, error: status === 413 ? 'Payload Too Large' : 'Bad Request' });
		});
		return app;
	}

	/** Returns the path without the prefix. A path outside the prefix gets one that has no route. */
	#withoutPrefix(url: string): string {
		const prefix = this.settings.pathPrefix;
		if (prefix === '') return url;
		return url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : '/-outside-the-prefix';
	}

	#record(request: IncomingMessage, response: ServerResponse): void {
		const method = request.method ?? 'GET';
		const url = request.url ?? '/';
		const [path = '/', ...query] = this.#withoutPrefix(url).split('?');
		const kind = this.#kindOf(method, path);
		const parameters = parseQuery(query.join('?'));
		const orderOfKind = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, orderOfKind);
		const recorded: PlatformRequest = {
			order: this.requests.length + 1,
			orderOfKind,
			kind,
			method,
			url,
			path,
			query: parameters,
			headers: { ...request.headers },
			body: undefined,
			page: kind === 'list' ? this.#pageNumber(parameters) : undefined,
			at: this.settings.now(),
			status: undefined,
			inFlight: this.inFlight + 1,
		};
		this.requests.push(recorded);
		this.#pending.add(recorded);
		this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
		this.#recorded.set(request, recorded);
		const end = () => {
			this.#pending.delete(recorded);
			if (response.headersSent) recorded.status = response.statusCode;
		};
		response.once('finish', end).once('close', end);
	}

	#kindOf(method: string, path: string): RequestKind {
		if (method === 'POST' && path === this.settings.loginPath) return 'login';
		if (this.#pagedLists.has(`${method} ${path}`)) return 'list';
		if (method === 'GET' && path.startsWith('/api/device/sn/')) return 'sn';
		return 'other';
	}

	/** Returns the page that a query asks for, counted from 0; undefined if the query is invalid. */
	#pageNumber(query: PlatformRequest['query']): number | undefined {
		try {
			return readPage(query, this.settings);
		} catch {
			return undefined;
		}
	}

	async #answer(
		request: FastifyRequest,
		reply: FastifyReply,
		handle: (recorded: PlatformRequest) => Answer,
	): Promise<FastifyReply> {
		const recorded = this.#recorded.get(request.raw);
		if (recorded === undefined) throw new Error('A request was not recorded');
		const isJson = readBody(request, recorded);

		let fault: Fault | undefined;
		try {
			if (this.#isOverLimit()) return await this.#send(reply, tooManyRequests(this.settings), undefined);
			await this.#waitForLatency();
			await this.settings.beforeAnswer?.(recorded);
			fault = this.settings.fault?.(recorded) ?? this.#faultOfRules(recorded);
			if (fault === 'drop') {
				reply.hijack();
				request.raw.socket.destroy();
				return reply;
			}
			if (fault === 'hang') return reply.hijack();
			const answer =
				typeof fault === 'object' ? faultAnswer(fault, this.settings) : this.#handle(recorded, isJson, handle);
			return await this.#send(reply, answer, fault);
		} catch (error) {
			if (this.#stopping.signal.aborted) return reply.hijack();
			this.#hookErrors.push(error);
			return await this.#send(reply, { ...envelope(-1, message(-1), 'null'), status: 500 }, undefined);
		}
	}

	#handle(recorded: PlatformRequest, isJson: boolean, handle: (recorded: PlatformRequest) => Answer): Answer {
		try {
			// An unreadable body is refused before the handler reads it, but after the sign-in was checked.
			return handle(isJson ? recorded : { ...recorded, body: unreadable });
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			const unauthorized = this.settings.deadToken === 'status' && (error.code === 14101 || error.code === 14102);
			const answer = envelope(error.code, error.message, 'null');
			if (!unauthorized) return { ...answer, status: this.settings.refusalStatus };
			return { ...answer, status: 401, headers: { ...answer.headers, 'www-authenticate': 'Bearer' } };
		}
	}

	async #send(reply: FastifyReply, answer: Answer, fault: Fault | undefined): Promise<FastifyReply> {
		const isCut = fault === 'truncate' || fault === 'stall';
		if (!isCut) return await reply.code(answer.status).headers(answer.headers).send(answer.body);

		const { raw } = reply.hijack();
		const bytes = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
		raw.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
		raw.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => {
			if (fault === 'truncate') raw.destroy();
		});
		return reply;
	}

	async #waitForLatency(): Promise<void> {
		const { latencyMs } = this.settings;
		if (latencyMs === 0) return;
		// A separate signal: Node.js warns of more than ten listeners on one, and many responses may wait.
		await pause(latencyMs, undefined, { signal: AbortSignal.any([this.#stopping.signal]) });
	}

	#isOverLimit(): boolean {
		const { rateLimit, now } = this.settings;
		if (rateLimit === undefined) return false;
		this.#admitted = this.#admitted.filter((at) => now() - at < rateLimit.perMs);
		if (this.#admitted.length >= rateLimit.requests) return true;
		this.#admitted.push(now());
		return false;
	}

	#faultOfRules(request: PlatformRequest): Fault | undefined {
		for (const rule of this.settings.faults) {
			const used = this.#uses.get(rule) ?? 0;
			const fits = (['kind', 'page', 'order', 'orderOfKind'] as const).every(
				(mark) => rule[mark] === undefined || rule[mark] === request[mark],
			);
			if (!fits || used >= (rule.times ?? 1)) continue;
			this.#uses.set(rule, used + 1);
			return rule.fault;
		}
		return undefined;
	}

	/** Section 5. Throws 14101 without a valid sign-in, 14102 for an unreadable one, 14103 for a missing role. */
	#authorize(request: PlatformRequest, writes: boolean): void {
		if (!this.#hasKey(request)) this.#useToken(request.headers['authorization']);
		const { role } = this.settings;
		if (role === 'none' || (role === 'reader' && writes)) throw new Refusal(14103);
	}

	#hasKey({ headers, query }: PlatformRequest): boolean {
		const { apiKey, apiKeyIn, apiKeyName, apiKeyPrefix } = this.settings;
		const given = apiKeyIn === 'header' ? headers[apiKeyName.toLowerCase()] : query[apiKeyName];
		return given === (apiKeyPrefix === '' ? apiKey : `${apiKeyPrefix} ${apiKey}`);
	}

	#useToken(authorization: unknown): void {
		if (typeof authorization !== 'string') throw new Refusal(14101);
		if (!authorization.startsWith('Bearer')) throw new Refusal(14101);
		const [, text] = /^Bearer ([\w.~+/-]{8,}=*)$/.exec(authorization) ?? [];
		if (text === undefined) throw new Refusal(14102);
		const token = this.#tokens.get(text);
		if (token === undefined) throw new Refusal(14101);
		const { tokenRequests, deadTokenCode } = this.settings;
		if (token.dead || token.requests >= tokenRequests) throw new Refusal(deadTokenCode);
		token.requests++;
	}

	/** The login API of section 5. The document doesn't define its path and response; both are settings. */
	#logIn(request: PlatformRequest): Answer {
		this.logins.attempted++;
		const { loginName, passwordMd5 } = this;
		const { refuseLogin, tokenAt } = this.settings;
		const given = parse(z.object({ loginName: z.string(), password: z.string() }), request.body);
		if (refuseLogin !== undefined) throw new Refusal(refuseLogin);
		if (given.loginName !== loginName || given.password !== passwordMd5) throw new Refusal(14201);
		this.logins.succeeded++;
		const data = tokenAt
			.split('.')
			.slice(1)
			.reduceRight<unknown>((value, key) => ({ [key]: value }), this.issueToken());
		return success(JSON.stringify(data));
	}

	/**
	 * Responds with a page of any list, made by `pageOf`.
	 * @param json returns an item as JSON; faster if the JSON exists already
	 */
	#paged<Item extends Record<string, unknown>>(
		{ items, metadata }: Page<Item>,
		request: PlatformRequest,
		json: (item: Item) => string | Buffer = (item) => JSON.stringify(item),
	): Answer {
		const { changePage } = this.settings;
		if (changePage !== undefined) {
			const page = structuredClone({ content: [...items], ...metadata });
			return success(JSON.stringify(changePage(page, request)) ?? 'null');
		}
		const content = items.flatMap((item, position) => (position === 0 ? [json(item)] : [comma, json(item)]));
		return success([`{"content":[`, ...content, `],${JSON.stringify(metadata).slice(1)}`]);
	}

	#device(sn: string): Device {
		checkSerialNumber(sn);
		const device = this.fleet.get(sn);
		if (device !== undefined) return device;
		const { noDeviceCode } = this.settings;
		throw noDeviceCode === 10007 ? new Refusal(noDeviceCode, `device ${sn}`) : new Refusal(noDeviceCode);
	}

	#create(request: PlatformRequest): Answer {
		const changes = parse(changesSchema, request.body);
		if (changes.sn === undefined || changes.sn === '') throw new Refusal(10010, 'sn');
		checkSerialNumber(changes.sn);
		if (this.fleet.get(changes.sn) !== undefined) throw new Refusal(10015, 'sn');
		const device = deviceSchema.parse({
			...this.fleet.make(),
			imei: null,
			iccid: '',
			sensorSn: '',
			onlineStatus: 0,
			attributes: {},
			tags: [],
			description: null,
			creator: this.settings.loginName,
			createTime: timeText(this.settings.now()),
			updator: null,
			updateTime: null,
			...changes,
		});
		return success(JSON.stringify(this.fleet.add(device)));
	}

	#change(request: PlatformRequest, sn: string): Answer {
		const changes = parse(changesSchema, request.body);
		const device = this.#device(sn);
		if (changes.sn !== undefined && changes.sn !== device.sn) throw new Refusal(10011, 'sn');
		const updated = deviceSchema.parse({
			...device,
			...changes,
			updator: this.settings.loginName,
			updateTime: timeText(this.settings.now()),
		});
		return success(JSON.stringify(this.fleet.update(sn, updated)));
	}

	#delete(sn: string): Answer {
		this.fleet.remove(this.#device(sn).sn);
		return success('null');
	}

	#echo(request: PlatformRequest): Answer {
		const { apiKeyIn, apiKeyName } = this.settings;
		const headers: PlatformRequest['headers'] = { ...request.headers };
		const query = { ...request.query };
		if (headers['authorization'] !== undefined) headers['authorization'] = '(redacted)';
		const [place, name] = apiKeyIn === 'header' ? [headers, apiKeyName.toLowerCase()] : [query, apiKeyName];
		if (place[name] !== undefined) place[name] = '(redacted)';
		const body: unknown = request.body === undefined ? null : parse(z.unknown(), request.body);
		return success(JSON.stringify({ method: request.method, path: request.path, query, headers, body }));
	}
}

/** The fields of a create or update. The document doesn't define them (section 4.3). */
const changesSchema = deviceSchema
	.omit({ id: true, creator: true, createTime: true, updator: true, updateTime: true })
	.partial();

/** Section 4.2 has no rule for a valid serial number. This platform's rule: 1 to 64 letters, digits and - _ . : */
const serialNumber = /^[A-Za-z0-9._:-]{1,64}$/;

function checkSerialNumber(sn: string): void {
	if (!serialNumber.test(sn)) throw new Refusal(10018, sn);
}

/** Marks a body that is not JSON, or was not sent as JSON (section 1). */
const unreadable = Symbol('unreadable body');

function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
	if (body === unreadable || body === undefined) throw new Refusal(10014);
	const parsed = schema.safeParse(body);
	if (parsed.success) return parsed.data;
	throw new Refusal(10001, parsed.error.issues[0]?.path.join('.') || 'must be an object');
}

/** Records the body. Returns whether it is usable: section 1 requires JSON with its content type. */
function readBody(request: FastifyRequest, recorded: PlatformRequest): boolean {
	const text = z.string().safeParse(request.body).data ?? '';
	if (text === '') return true;
	try {
		recorded.body = JSON.parse(text);
	} catch {
		recorded.body = text;
		return false;
	}
	return /^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');
}

function parseQuery(text: string): Record<string, string | string[]> {
	const parameters = new URLSearchParams(text);
	return Object.fromEntries(
		[...new Set(parameters.keys())].map((name) => {
			const values = parameters.getAll(name);
			return [name, values.length === 1 ? (values[0] ?? '') : values];
		}),
	);
}

const json = { 'content-type': 'application/json;charset=UTF-8' };

const comma = Buffer.from(',');

/** Returns the envelope of section 1.1. `data` is JSON, as one text or in pieces. */
function envelope(code: number, msg: string, data: string | readonly (string | Buffer)[]): Answer {
	const head = `{"code":${code},"msg":${JSON.stringify(msg)},"data":`;
	const body =
		typeof data === 'string'
			? `${head}${data}}`
			: Buffer.concat([head, ...data, '}'].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
	return { status: 200, headers: json, body };
}

function success(data: string | readonly (string | Buffer)[]): Answer {
	return envelope(0, 'success', data);
}

function notFound(path: string): Answer {
	return { status: 404, headers: json, body: JSON.stringify({ status: 404, error: 'Not Found', path }) };
}

function tooManyRequests({ rateLimit }: Settings): Answer {
	const headers = { 'content-type': 'text/html;charset=UTF-8', 'retry-after': String(rateLimit?.retryAfter) };
	return { status: 429, headers, body: '<html><title>429 Too Many Requests</title></html>' };
}

function faultAnswer(fault: Exclude<Fault, string>, settings: Settings): Answer {
	if ('code' in fault) {
		const answer = envelope(
			fault.code,
			fault.msg ?? message(fault.code, ...(fault.details ?? [])),
			JSON.stringify(fault.data ?? null),
		);
		const status = fault.status ?? (fault.code === 0 ? 200 : settings.refusalStatus);
		return { ...answer, status, headers: { ...answer.headers, ...fault.headers } };
	}
	const isText = typeof fault.body === 'string' || fault.body === undefined;
	const type = isText ? { 'content-type': 'text/html;charset=UTF-8' } : json;
	return {
		status: fault.status,
		headers: { ...type, ...lowerCase(fault.headers ?? {}) },
		body: typeof fault.body === 'string' ? fault.body : (JSON.stringify(fault.body) ?? ''),
	};
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
