import { type Page, type PageSource } from '../../nodes/DeviceManagement/core/paging.ts';
import { type Device, Fleet } from '../platform/fleet.mts';
import { Listing } from '../platform/listing.mts';
import { type Settings, settingsSchema } from '../platform/settings.mts';

/** What a page says of itself, honest or not. */
export type Metadata = Pick<Page<Device>, 'number' | 'size' | 'totalElements' | 'totalPages' | 'last'>;

export interface ServerScript {
	numbering: 'one-based' | 'zero-based';
	largestSize: number;
	/** Changes to the fleet, by the number of the request (from 1) that they come before. */
	changes?: ReadonlyMap<number, (fleet: Fleet) => void>;
	/** Drops or falsifies what a page says of itself. */
	falsify?: (metadata: Metadata, request: number) => Metadata;
	/** Requests (from 1) that fail. */
	failing?: ReadonlyMap<number, Error>;
	/** How many turns of the event queue each answer takes, in rotation: answers overtake each other. */
	turns?: readonly number[];
	/** Answers every page with the first one. */
	ignoresPage?: boolean;
}

/**
 * The list of the embedded platform without the network: the same paging over the same fleet, one call per request,
 * so that thousands of walks take seconds.
 */
export class PagedServer {
	requests = 0;
	peakInFlight = 0;
	/** The page parameters that were asked for, in order. */
	readonly asked: Array<number | undefined> = [];
	private inFlight = 0;
	private readonly listing = new Listing();
	private readonly settings: Settings;

	constructor(
		readonly fleet: Fleet,
		private readonly script: ServerScript,
	) {
		this.settings = settingsSchema.parse({ pageNumbering: script.numbering, largestSize: script.largestSize });
	}

	source(asked: {
		pageSize: number;
		parallelRequests: number;
		limit?: number | undefined;
	}): PageSource<Device> {
		return {
			fetchPage: async (page, size) => await this.answer(page, size),
			identify: (device) => device.id,
			pageSizes: [asked.pageSize],
			refusesSize: () => false,
			parallelRequests: asked.parallelRequests,
			limit: asked.limit,
		};
	}

	private async answer(page: number | undefined, size: number): Promise<Page<Device>> {
		const request = ++this.requests;
		if (request > 20_000) throw new Error('The walk does not end');
		this.asked.push(page);
		this.peakInFlight = Math.max(this.peakInFlight, ++this.inFlight);
		try {
			this.script.changes?.get(request)?.(this.fleet);
			const failure = this.script.failing?.get(request);
			const answer = failure ?? this.page(page, size, request);
			const turns = this.script.turns ?? [];
			for (let turn = turns[request % turns.length] ?? 0; turn > 0; turn--) await Promise.resolve();
			if (answer instanceof Error) throw answer;
			return answer;
		} finally {
			this.inFlight--;
		}
	}

	private page(page: number | undefined, size: number, request: number): Page<Device> {
		const asked = this.script.ignoresPage === true ? undefined : page;
		const query = { size: String(size), ...(asked === undefined ? {} : { page: String(asked) }) };
		const { devices, metadata } = this.listing.page(this.fleet, { query, body: {} }, this.settings);
		const { number, totalElements, totalPages, last } = metadata;
		const honest = { number, size: metadata.size, totalElements, totalPages, last };
		return { content: devices, ...(this.script.falsify?.(honest, request) ?? honest) };
	}
}
