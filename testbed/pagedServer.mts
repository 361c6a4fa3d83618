import { Failure } from '../nodes/DeviceManagement/core/failure.ts';
import type { Page, PageSource } from '../nodes/DeviceManagement/core/paging/page.ts';
import { Refusal } from './platform/codes.mts';
import type { Device, Fleet } from './platform/fleet.mts';
import { listDevices } from './platform/listing.mts';
import { type Settings, settingsSchema } from './platform/settings.mts';

/** The metadata of a page, right or wrong. */
export type Metadata = Omit<Page<Device>, 'content'>;

export interface ServerScript {
	numbering: 'one-based' | 'zero-based';
	largestSize: number;
	/** Changes to the fleet. The key is the number of the next request, from 1. */
	changes?: ReadonlyMap<number, (fleet: Fleet) => void>;
	/** Removes or falsifies the metadata of a page; also gets the page parameter of the request. */
	falsify?: (metadata: Metadata, asked: number | undefined) => Metadata;
	/** Numbers of the requests that fail, from 1. */
	failing?: ReadonlyMap<number, Error>;
	/** Turns of the event queue that each response takes, in rotation, so that responses overtake each other. */
	turns?: readonly number[];
	/** The response for a page past the end; default: an empty page. */
	pastEnd?: 'empty page' | 'last page' | 'first page' | Error;
	/** The client's `sort` parameter; without it, the order of the fleet or `ownSort`. */
	sort?: string;
	/** How the server sorts. */
	sorting?: Pick<Partial<Settings>, 'equalValues' | 'idSort' | 'ownSort' | 'severalFields' | 'sorting'>;
}

/**
 * The device list of the embedded platform, without the network: one call per request, so that thousands of walks take
 * seconds.
 */
export class PagedServer {
	peakInFlight = 0;
	/** The page parameters of the requests, in order. */
	readonly asked: Array<number | undefined> = [];
	private inFlight = 0;
	private readonly settings: Settings;

	constructor(
		readonly fleet: Fleet,
		private readonly script: ServerScript,
	) {
		const { numbering: pageNumbering, largestSize, sorting } = script;
		this.settings = settingsSchema.parse({ pageNumbering, largestSize, ...sorting });
	}

	readonly source: PageSource<Device> = {
		fetchPage: async (page, size, byId?: boolean) => await this.answer(page, size, byId),
		identify: (device) => device.id,
	};

	private async answer(page: number | undefined, size: number, byId = false): Promise<Page<Device>> {
		const request = this.asked.push(page);
		if (request > 20_000) throw new Error('The walk does not end');
		this.peakInFlight = Math.max(this.peakInFlight, ++this.inFlight);
		try {
			this.script.changes?.get(request)?.(this.fleet);
			const failure = this.script.failing?.get(request);
			const answer = failure ?? this.page(page, size, byId);
			const turns = this.script.turns ?? [];
			for (let turn = turns[request % turns.length] ?? 0; turn > 0; turn--) await Promise.resolve();
			if (answer instanceof Error) throw answer;
			return answer;
		} finally {
			this.inFlight--;
		}
	}

	private page(page: number | undefined, size: number, byId: boolean): Page<Device> | Error {
		const { pastEnd = 'empty page', falsify } = this.script;
		let { items, metadata } = this.at(page, size, byId);
		if (metadata.number >= metadata.totalPages && metadata.number > 0) {
			if (pastEnd instanceof Error) return pastEnd;
			const lastPage = Math.max(metadata.totalPages - 1, 0) + (this.script.numbering === 'one-based' ? 1 : 0);
			if (pastEnd === 'first page') ({ items, metadata } = this.at(undefined, size, byId));
			if (pastEnd === 'last page') ({ items, metadata } = this.at(lastPage, size, byId));
		}
		return { content: items, ...(falsify?.(metadata, page) ?? metadata) };
	}

	private at(page: number | undefined, size: number, byId: boolean) {
		const { sort } = this.script;
		// The ID joins the last field, or replaces the server's own order.
		const sorted = byId ? (sort?.replace(/ (asc|desc)$|$/, ',id$&') ?? 'id asc') : sort;
		const query = { size: String(size), page: page === undefined ? undefined : String(page), sort: sorted };
		try {
			return listDevices(this.fleet, { query, body: {} }, this.settings);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			const { code, message } = error;
			throw new Failure({ kind: 'refused', cause: 'input', code, message, remedy: '', mayRefusePage: true });
		}
	}
}
