import type { Page, PageSource } from '../nodes/DeviceManagement/core/paging/page.ts';
import { type Device, Fleet } from './platform/fleet.mts';
import { Listing } from './platform/listing.mts';
import type { Page as ListedPage } from './platform/paging.mts';
import { type Settings, settingsSchema } from './platform/settings.mts';

/** What a page says of itself, honest or not. */
export type Metadata = Omit<Page<Device>, 'content'>;

export interface ServerScript {
	numbering: 'one-based' | 'zero-based';
	largestSize: number;
	/** Changes to the fleet, by the number of the request (from 1) that they come before. */
	changes?: ReadonlyMap<number, (fleet: Fleet) => void>;
	/** Drops or falsifies what a page says of itself, knowing the page parameter it was asked for with. */
	falsify?: (metadata: Metadata, asked: number | undefined) => Metadata;
	/** Requests (from 1) that fail. */
	failing?: ReadonlyMap<number, Error>;
	/** How many turns of the event queue each answer takes, in rotation: answers overtake each other. */
	turns?: readonly number[];
	/** Answers every page with the first one. */
	ignoresPage?: boolean;
	/** What a page past the end is answered with; an empty page where this is left out. */
	pastEnd?: 'empty page' | 'last page' | 'first page' | Error;
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

	readonly source: PageSource<Device> = {
		fetchPage: async (page, size) => await this.answer(page, size),
		identify: (device) => device.id,
	};

	private async answer(page: number | undefined, size: number): Promise<Page<Device>> {
		const request = ++this.requests;
		if (request > 20_000) throw new Error('The walk does not end');
		this.asked.push(page);
		this.peakInFlight = Math.max(this.peakInFlight, ++this.inFlight);
		try {
			this.script.changes?.get(request)?.(this.fleet);
			const failure = this.script.failing?.get(request);
			const answer = failure ?? this.page(page, size);
			const turns = this.script.turns ?? [];
			for (let turn = turns[request % turns.length] ?? 0; turn > 0; turn--) await Promise.resolve();
			if (answer instanceof Error) throw answer;
			return answer;
		} finally {
			this.inFlight--;
		}
	}

	private page(page: number | undefined, size: number): Page<Device> | Error {
		const { pastEnd = 'empty page', falsify, ignoresPage } = this.script;
		let { items, metadata } = this.at(ignoresPage === true ? undefined : page, size);
		if (metadata.number >= metadata.totalPages && metadata.number > 0) {
			if (pastEnd instanceof Error) return pastEnd;
			const lastPage = Math.max(metadata.totalPages - 1, 0) + (this.script.numbering === 'one-based' ? 1 : 0);
			if (pastEnd === 'first page') ({ items, metadata } = this.at(undefined, size));
			if (pastEnd === 'last page') ({ items, metadata } = this.at(lastPage, size));
		}
		const { pageable, number, totalElements, totalPages, last } = metadata;
		const honest = { number, size: metadata.size, totalElements, totalPages, last, pageable };
		return { content: items, ...(falsify?.(honest, page) ?? honest) };
	}

	private at(page: number | undefined, size: number): ListedPage<Device> {
		const query = { size: String(size), ...(page === undefined ? {} : { page: String(page) }) };
		return this.listing.page(this.fleet, { query, body: {} }, this.settings);
	}
}
