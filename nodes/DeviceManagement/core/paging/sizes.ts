import type { Page, PageSource } from './page';
import { mayRefuse } from './refusal';

/** Some platforms accept no page size as small as a limit below this one. */
const SMALL = 50;
/** Sizes to fall back to, the largest first. Section 8 names only the last one, as the default. */
const FALLBACKS = [1000, 200, SMALL, 10];
/** Sizes that platforms offer where they accept only some. The largest first: pages of both lengths then have the fewest edges in common. */
const OFFERED = [500, 200, 100, 50, 25, 20, 10];

/** Page sizes to ask for, in turn, until a platform accepts one: section 8 of the API document doesn't name the largest. */
export class PageSizes {
	readonly wanted: number;
	private readonly others: readonly number[];

	/** @param notOfLength a page of this length doesn't count: a platform may replace sizes that it doesn't accept */
	constructor(
		needed: number,
		private readonly most = needed,
		others?: readonly number[],
		private readonly notOfLength?: number,
	) {
		const wanted = Math.min(needed, most);
		const usual = FALLBACKS.filter((size) => (wanted < SMALL ? size <= SMALL : size < wanted));
		this.wanted = wanted;
		this.others = others ?? usual.map((size) => Math.min(size, most));
	}

	/** Returns sizes for pages of another length, then these sizes. */
	otherThan(length: number): PageSizes {
		const offered = OFFERED.filter((size) => size <= this.most && size !== length);
		const smaller = Math.max(1, length - 1);
		return new PageSizes(smaller, smaller, [...offered, this.wanted, ...this.others], length);
	}

	/** Fetches the first page at the first size that the platform accepts. Returns it and the size of the next ones. */
	async firstPage<T>(source: PageSource<T>): Promise<{ page: Page<T>; size: number }> {
		const refusals: unknown[] = [];
		let accepted: { page: Page<T>; size: number } | undefined;
		for (const size of new Set([this.wanted, ...this.others])) {
			const page = await source.fetchPage(undefined, size).catch((thrown: unknown) => {
				if (!mayRefuse('size', thrown)) throw thrown;
				refusals.push(thrown);
			});
			if (page === undefined) continue;
			accepted = { page, size: nextSize(page, size) };
			if (page.content.length !== this.notOfLength) break;
		}
		// If every size was refused, the size was not the reason, and the first refusal says the most.
		if (accepted === undefined) throw refusals[0];
		return accepted;
	}
}

/** Returns the size of the other pages: a server may reduce the size, but count a page's offset by the requested one. */
function nextSize<T>({ content, size = 0, totalElements = 0, totalPages }: Page<T>, requested: number): number {
	const fits = (pageSize: number) => Math.ceil(totalElements / pageSize) === totalPages;
	if (size === 0 || size >= requested || content.length > size) return requested;
	const isFull = content.length === size && totalElements !== size;
	return isFull || (fits(size) && !fits(requested)) ? size : requested;
}
