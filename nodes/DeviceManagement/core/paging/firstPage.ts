import type { Page, PageSource } from './page';
import { isPageFailure, mayRefuseSizeOrSort } from './refusal';

/** Sizes to ask for if the platform refuses a larger one. Section 8 names only the last one, as the default. */
const SMALLER = [1000, 200, 100, 50, 10];
/** Sizes that platforms offer where they accept only some. The largest first: pages of both lengths then have the fewest edges in common. */
const OFFERED = [500, 200, 100, 50, 25, 20, 10];
/** Some platforms accept no size as small as a limit below this one. */
const SMALL = 50;

export interface FirstPageOptions {
	/** The largest size to ask for, if the platform refuses a small one; default: any. */
	most?: number | undefined;
	byId?: boolean;
	/** How many items the first page should not have, if another size can change it. */
	notOfLength?: number | undefined;
}

/** Fetches the first page of a list in a size, and an order, that the platform accepts. Returns it with what to ask for in the next pages. */
export async function fetchFirst<T>(
	{ fetchPage }: Pick<PageSource<T>, 'fetchPage'>,
	wanted: number,
	{ most = Infinity, byId = false, notOfLength }: FirstPageOptions = {},
) {
	const others =
		notOfLength === undefined ? [] : [Math.max(1, notOfLength - 1), ...OFFERED.filter((size) => size < most)];
	const sizes = [...others, wanted, ...SMALLER.filter((size) => size <= Math.max(wanted, SMALL))];
	let refusal: unknown;
	let found: { page: Page<T>; size: number; byId: boolean } | undefined;
	for (const size of new Set(sizes.map((one) => Math.min(one, most)))) {
		for (const order of byId ? [true, false] : [false]) {
			const page = await fetchPage(undefined, size, order).catch((thrown: unknown) => {
				// A platform may refuse an unknown field with any code.
				if (!(order ? isPageFailure(thrown) : mayRefuseSizeOrSort(thrown))) throw thrown;
				refusal = order ? refusal : (refusal ?? thrown);
			});
			if (page === undefined) continue;
			// A server may reduce the size, but count the offset of a page by the requested one.
			const { size: said = 0, content } = page;
			const isReduced = said > 0 && said >= content.length && said < size;
			found = { page, size: isReduced ? said : size, byId: order };
			if (content.length !== notOfLength) return found;
			break;
		}
	}
	// If every size was refused, the size wasn't the reason.
	if (found === undefined) throw refusal;
	return found;
}
