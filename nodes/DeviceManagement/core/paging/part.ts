import { type Listing, type ListOptions, readList, readOnce } from './list';
import type { PageSource } from './page';
import { refusesPage } from './refusal';
import { RepeatedPage } from './walk';

/**
 * Reads up to `limit` items of a paged list, after the first `skip` ones. It begins at the page of the first one, if the list's first page says
 * that its offset is 0, each page of the part says its own offset, size and number (section 1.2), and the part counts to the total. Otherwise it
 * reads the list from its beginning. Parts have no gap or overlap unless the list changes between them, or its order is not the same.
 * @throws Failure as {@link readList} does
 */
export async function readPart<T, K>(source: PageSource<T>, options: ListOptions<T, K>): Promise<Listing<K>> {
	const { skip = 0, limit = Infinity } = options;
	const size = Math.min(options.pageSize, limit);
	const before = Math.floor(skip / size) * size;
	const first = before === 0 ? undefined : await source.fetchPage(undefined, size).catch(undefinedIfRefused);
	const { size: said = 0, pageable } = first ?? {};
	if (said > 0 && said < size) return await readPart(source, { ...options, pageSize: said });
	// Section 1.2 leaves open whether pages count from 0 or 1. A platform may also count offsets from 1.
	for (const firstNumber of pageable?.offset === 0 ? [1, 0] : []) {
		const part = { ...options, skip: skip - before, pageSize: size, byId: false };
		const found = await readOnce(partFrom(source, before, size, firstNumber), part).catch((thrown: unknown) => {
			if (thrown instanceof OtherPage || thrown instanceof RepeatedPage) return undefined;
			return undefinedIfRefused(thrown);
		});
		if (found === undefined) continue;
		if (!found.isWhole || found.total === undefined) break;
		return { items: found.items.slice(0, limit), settled: true, reportedTotal: found.total + before, readings: 1 };
	}
	const byId = skip === 0 ? options.byId : 'never';
	return await readList(source, { ...options, byId, pageSize: Math.min(options.pageSize, skip + limit) });
}

function undefinedIfRefused(thrown: unknown): undefined {
	if (!refusesPage(thrown)) throw thrown;
}

/** Returns the items of a list behind the first ones as a list of its own, which counts from 1. `before` is a multiple of the size. */
function partFrom<T>(source: PageSource<T>, before: number, size: number, firstNumber: number): PageSource<T> {
	return {
		...source,
		async fetchPage(page = 1, asked) {
			const index = before / size + page - 1;
			if (asked !== size) throw new OtherPage();
			const found = await source.fetchPage(firstNumber + index, size);
			const { totalElements: total, number = index } = found;
			if (found.size !== size || found.pageable?.offset !== index * size || number !== index) throw new OtherPage();
			return { ...found, totalElements: total && Math.max(0, total - before), totalPages: undefined, number: page - 1 };
		},
	};
}

/** The page is another one, or doesn't say which. */
class OtherPage extends Error {}
