/** One page as it came. Missing or impossible metadata is undefined. */
export interface Page<T> {
	content: readonly T[];
	number?: number | undefined;
	size?: number | undefined;
	totalElements?: number | undefined;
	totalPages?: number | undefined;
	last?: boolean | undefined;
	pageable?: { offset?: number | undefined } | undefined;
}

/** Where pages come from. */
export interface PageSource<T> {
	/**
	 * Fetches one page.
	 * @param page the page parameter; undefined leaves it out, which by the API document is the first page,
	 * whether the server counts from 0 or from 1
	 * @param size the size parameter
	 */
	fetchPage(page: number | undefined, size: number): Promise<Page<T>>;
	/** What tells one item from another. */
	identify(item: T): string;
}

/** What tells the page's items from others, in their order. */
export function identitiesOf<T>(source: PageSource<T>, page: Page<T>): string[] {
	return page.content.map((item) => source.identify(item));
}

/** Whether two pages, or two walks, held the same items in the same order. */
export function areSame(one: readonly string[], other: readonly string[]): boolean {
	return one.length === other.length && one.every((id, position) => id === other[position]);
}
