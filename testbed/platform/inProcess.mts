import { Refusal } from './codes.mts';
import type { Fleet } from './fleet.mts';
import { Listing } from './listing.mts';
import { jsonOf, jsonOfPage } from './paging.mts';
import { type Settings, settingsSchema } from './settings.mts';

/** A request, as n8n's request function gets it. */
export interface InProcessRequest {
	method?: string;
	url: string;
	qs?: object;
	body?: unknown;
}

/**
 * The embedded platform without HTTP and sign-in, for tests with tens of thousands of requests. It has the list and the device
 * by serial number, as in the document.
 */
export class InProcessPlatform {
	/** Requests since the start. A test can set it to 0. */
	requests = 0;
	/** The requests: the query of a list request, or the path of a device. */
	readonly asked: string[] = [];
	/** Called before every response; may wait, or return another response. */
	intervene: ((request: InProcessRequest) => Promise<{ statusCode: number; body: string } | undefined>) | undefined;
	private readonly listing = new Listing();
	readonly settings: Settings;

	/** @param settings those that do not concern HTTP */
	constructor(
		public fleet: Fleet,
		settings: Partial<Settings> = {},
	) {
		this.settings = settingsSchema.parse(settings);
	}

	/** The HTTP status and the body of a response. */
	async respond(request: InProcessRequest): Promise<{ status: number; text: string }> {
		this.requests++;
		this.asked.push(inWords(request));
		const instead = await this.intervene?.(request);
		return { status: instead?.statusCode ?? 200, text: instead?.body ?? this.answerOf(request) };
	}

	private answerOf({ url, qs, body }: InProcessRequest): string {
		const { listing, fleet, settings } = this;
		try {
			const criteria: unknown = typeof body === 'string' ? JSON.parse(body) : {};
			const data = url.endsWith('/api/device/list')
				? jsonOfPage(listing.page(fleet, { query: { ...qs }, body: criteria }, settings))
				: this.device(decodeURIComponent(url.slice(url.lastIndexOf('/') + 1)));
			return `{"code":0,"msg":"success","data":${data}}`;
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			return JSON.stringify({ code: error.code, msg: error.message, data: null });
		}
	}

	private device(sn: string): string {
		const device = this.fleet.get(sn);
		if (device === undefined) throw new Refusal(this.settings.noDeviceCode, sn);
		return jsonOf(device);
	}
}

function inWords({ url, qs = {} }: InProcessRequest): string {
	if (!url.endsWith('/api/device/list')) return url;
	return Object.entries(qs)
		.map(([name, value]) => `${name}=${String(value)}`)
		.join('&');
}
