import type { Page, PageSource } from './page';
import { mayRefuse } from './refusal';

/** Some platforms accept no page size as small as a limit below this one. */
const SMALL = 50;
/** Sizes to fall back to, the largest first. Section 8 names only the last one, as the default. */
const FALLBACKS = [1000, 200, SMALL, 10];

/** Page sizes to ask for, in turn, until a platform accepts one: section 8 of the API document doesn't name the largest. */
export class PageSizes {
	readonly wanted: number;
	private readonly others: readonly number[];

	constructor(needed: number, most = needed, others?: readonly number[]) {
		this.wanted = Math.min(needed, most);
		const usual = FALLBACKS.filter((size) => (this.wanted < SMALL ? size <= SMALL : size < this.wanted));
		this.others = others ?? usual.map((size) => Math.min(size, most));
	}

	/** Returns sizes for pages of another length, the largest first: pages of both lengths then have the fewest edges in common. */
	otherThan(length: number): PageSizes {
		const smaller = Math.max(1, length - 1);
		const others = [...FALLBACKS.filter((size) => size < smaller), this.wanted, ...this.others];
		return new PageSizes(smaller, smaller, others);
	}

	/** Fetches the first page at the first size that the platform accepts. Returns it and the size of the next ones. */
	async firstPage<T>(source: PageSource<T>): Promise<{ page: Page<T>; size: number }> {
		const refusals: unknown[] = [];
		for (const size of new Set([this.wanted, ...this.others])) {
			const page = await source.fetchPage(undefined, size).catch((thrown: unknown) => {
				if (!mayRefuse('size', thrown)) throw thrown;
				refusals.push(thrown);
			});
			if (page !== undefined) return { page, size: nextSize(page, size) };
		}
		// If every size was refused, the size was not the reason, and the first refusal says the most.
		throw refusals[0];
	}
}

/** Returns the size of the other pages: a server may reduce the size, but count a page's offset by the requested one. */
function nextSize<T>({ content, size = 0, totalElements = 0, totalPages }: Page<T>, requested: number): number {
	const fits = (pageSize: number) => Math.ceil(totalElements / pageSize) === totalPages;
	if (size === 0 || size >= requested || content.length > size) return requested;
	const isFull = content.length === size && totalElements !== size;
	return isFull || (fits(size) && !fits(requested)) ? size : requested;
}
