import type { Page, PageSource } from '../nodes/DeviceManagement/core/paging/page.ts';
import type { Device, Fleet } from './platform/fleet.mts';
import { type Order, pageOf, shuffleEqual } from './platform/paging.mts';

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
	/** Returns the first page for every page number. */
	ignoresPage?: boolean;
	/** The response for a page past the end; default: an empty page. */
	pastEnd?: 'empty page' | 'last page' | 'first page' | Error;
	/** The server sorts by this value. Devices with equal values have another order for each page and size, as in a database. */
	sortedBy?: (device: Device) => number;
	/** The response if the list is to be sorted by ID. */
	idRefused?: Error;
}

/**
 * The device list of the embedded platform, without the network: one call per request, so that thousands of walks take
 * seconds.
 */
export class PagedServer {
	requests = 0;
	peakInFlight = 0;
	/** What the client asks to sort by: nothing, the server's value and then the ID, or the ID alone. May change at any time. */
	sort: 'own' | 'value and id' | 'id' = 'own';
	/** The page parameters of the requests, in order. */
	readonly asked: Array<number | undefined> = [];
	private inFlight = 0;

	constructor(
		readonly fleet: Fleet,
		private readonly script: ServerScript,
	) {}

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
		const { pastEnd = 'empty page', falsify, ignoresPage, idRefused } = this.script;
		if (this.sort !== 'own' && idRefused !== undefined) return idRefused;
		let { items, metadata } = this.at(ignoresPage === true ? undefined : page, size);
		if (metadata.number >= metadata.totalPages && metadata.number > 0) {
			if (pastEnd instanceof Error) return pastEnd;
			const lastPage = Math.max(metadata.totalPages - 1, 0) + (this.script.numbering === 'one-based' ? 1 : 0);
			if (pastEnd === 'first page') ({ items, metadata } = this.at(undefined, size));
			if (pastEnd === 'last page') ({ items, metadata } = this.at(lastPage, size));
		}
		return { content: items, ...(falsify?.(metadata, page) ?? metadata) };
	}

	private at(page: number | undefined, size: number) {
		const { numbering: pageNumbering, largestSize, sortedBy } = this.script;
		const query = { size: String(size), ...(page === undefined ? {} : { page: String(page) }) };
		const byValue: Order<Device> = (one, other) => (sortedBy?.(one) ?? 0) - (sortedBy?.(other) ?? 0);
		const byId: Order<Device> = (one, other) => one.id.localeCompare(other.id);
		const orders = { own: [byValue], 'value and id': [byValue, byId], id: [byId] }[this.sort];
		const order: Order<Device> = (one, other) => orders.reduce((sum, next) => sum || next(one, other), 0);
		const list = this.fleet.devices.toSorted(order);
		const sorted = pageOf(list, query, { pageNumbering, largestSize, largerSize: 'clamp' });
		return sortedBy === undefined ? sorted : shuffleEqual(sorted, list, order);
	}
}
