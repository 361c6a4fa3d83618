import { RepeatedPage } from './end';
import { fetchFirst } from './firstPage';
import { type Listing, type ListOptions, readList } from './list';
import type { Page, PageSource } from './page';
import { isPageFailure } from './refusal';

/**
 * Reads up to `limit` items of a paged list, after the first `skip` ones. It begins at the page of the first one, if the list's first page
 * says that its offset is 0, and each page of the part proves its place. Otherwise it reads the list from its beginning. Parts have no gap
 * or overlap unless the list changes between them, or its order isn't the same.
 * @throws Failure as {@link readList} does
 */
export async function readPart<T, K>(source: PageSource<T>, options: ListOptions<T, K>): Promise<Listing<K>> {
	const { skip = 0, limit = Infinity, pageSize } = options;
	if (skip >= Math.min(pageSize, limit)) {
		const { page, size } = await fetchFirst(source, Math.min(pageSize, limit), { most: pageSize });
		const before = skip - (skip % size);
		// Section 1.2 leaves open whether pages count from 0 or 1. A platform may also count offsets from 1.
		for (const firstNumber of page.pageable?.offset === 0 && skip >= size ? [1, 0] : []) {
			const part = { ...options, skip: skip - before, pageSize: size, most: size };
			const found = await readList(partFrom(source, before, size, firstNumber), part).catch((thrown: unknown) => {
				if (!(thrown instanceof OtherPage || thrown instanceof RepeatedPage || isPageFailure(thrown))) throw thrown;
			});
			if (found !== undefined) return { ...found, reportedTotal: before + (found.reportedTotal ?? 0) };
		}
	}
	return await readList(source, { ...options, pageSize: Math.min(pageSize, skip + limit), most: pageSize });
}

/** Returns the items of a list behind the first ones as a list of its own, which counts from 1. `before` is a multiple of the size. */
function partFrom<T>(source: PageSource<T>, before: number, size: number, firstNumber: number): PageSource<T> {
	return {
		...source,
		async fetchPage(page = 1, asked): Promise<Page<T>> {
			const [index, offset] = [before / size + page - 1, before + (page - 1) * size];
			if (asked !== size) throw new OtherPage();
			const found = await source.fetchPage(firstNumber + index, size);
			const { content, totalElements: total = NaN, pageable, last } = found;
			const says = [found.number, found.size, pageable?.offset, content.length];
			const isRight = [index, size, offset, Math.min(size, Math.max(0, total - offset))];
			if (says.some((one, at) => one !== isRight[at])) throw new OtherPage();
			return { content, totalElements: Math.max(0, total - before), last, number: page - 1, size };
		},
	};
}

/** The page is another one, or doesn't say which. */
class OtherPage extends Error {}
