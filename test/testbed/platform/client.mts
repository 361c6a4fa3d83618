import { Agent } from 'undici';
import { z } from 'zod/v4';
import { deviceSchema, type Device } from '../../../testbed/platform/fleet.mts';
import { startPlatform, type EmbeddedPlatform, type StartOptions } from '../../../testbed/platform/server.mts';

/** The envelope of section 1.1: only its three fields. */
export const envelopeSchema = z.strictObject({ code: z.int32(), msg: z.string(), data: z.unknown() });

const sortedSchema = z.strictObject({ sorted: z.boolean(), unsorted: z.boolean() });

/** A paged result of devices, section 1.2: every field there, and no other. */
const pageSchema = z.strictObject({
	content: z.array(deviceSchema),
	pageable: z.strictObject({
		sort: sortedSchema,
		offset: z.int(),
		pageSize: z.int(),
		pageNumber: z.int(),
		paged: z.boolean(),
		unpaged: z.boolean(),
	}),
	totalElements: z.int32(),
	totalPages: z.int32(),
	last: z.boolean(),
	first: z.boolean(),
	sort: sortedSchema,
	size: z.int32(),
	number: z.int32(),
	numberOfElements: z.int32(),
});

interface Sending {
	/** Text is sent unchanged, undefined sends no body, anything else is sent as JSON. */
	body?: unknown;
	/** Added to Accept, Content-Type and the sign-in; undefined removes one of these. */
	headers?: Record<string, string | undefined>;
	signal?: AbortSignal | undefined;
}

/** A platform and a plain HTTP client for it. */
export class Client {
	readonly platform: EmbeddedPlatform;
	readonly #agent: Agent;

	constructor(platform: EmbeddedPlatform) {
		this.platform = platform;
		this.#agent = new Agent({ connect: { ca: platform.certificate } });
	}

	/** Sends one request, signed in with the API key unless the headers say otherwise. */
	async send(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, sending: Sending = {}) {
		const { body, signal } = sending;
		const headers = Object.entries({
			accept: 'application/json',
			authorization: `ApiKey ${this.platform.apiKey}`,
			...(body === undefined ? {} : { 'content-type': 'application/json' }),
			...sending.headers,
		}).filter((header): header is [string, string] => header[1] !== undefined);
		const reply = await this.#agent.request({
			origin: new URL(this.platform.baseUrl).origin,
			path: new URL(this.platform.baseUrl).pathname.replace(/\/$/, '') + path,
			method,
			headers: Object.fromEntries(headers),
			body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
			signal,
		});
		return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() };
	}

	/** Sends one request and reads the envelope. Throws if the response is not an envelope. */
	async call(...parameters: Parameters<Client['send']>): Promise<z.infer<typeof envelopeSchema>> {
		return envelopeSchema.parse(JSON.parse((await this.send(...parameters)).text));
	}

	/** The return code that a list request with this query and body gets. */
	async listCode(query = '', body: unknown = {}): Promise<number> {
		return (await this.call('POST', `/api/device/list${query}`, { body })).code;
	}

	/** Reads a page of devices. Throws if the response is not a page. */
	async list(query = '', body: unknown = {}): Promise<z.infer<typeof pageSchema>> {
		return pageSchema.parse((await this.call('POST', `/api/device/list${query}`, { body })).data);
	}

	/** The serial numbers on a page. */
	async listed(query = '', body: unknown = {}): Promise<string[]> {
		return serialNumbers((await this.list(query, body)).content);
	}

	async logIn(loginName = this.platform.loginName, password = this.platform.passwordMd5) {
		return await this.call('POST', this.platform.settings.loginPath, {
			body: { loginName, password },
			headers: { authorization: undefined },
		});
	}

	/** The code that a read with this token gets. */
	async codeWithToken(token: string): Promise<number> {
		return (await this.call('GET', '/api/version', { headers: { authorization: `Bearer ${token}` } })).code;
	}

	async stop(): Promise<void> {
		await this.#agent.destroy();
		await this.platform.stop();
	}
}

/** Starts platforms for the tests of one file and stops them after each test. */
export function clients(): (options?: StartOptions) => Promise<Client> {
	const started: Client[] = [];
	afterEach(async () => {
		await Promise.all(started.splice(0).map((client) => client.stop()));
	});
	return async (options) => {
		const client = new Client(await startPlatform(options));
		started.push(client);
		return client;
	};
}

export function serialNumbers(devices: readonly Device[]): string[] {
	return devices.map((device) => device.sn);
}
