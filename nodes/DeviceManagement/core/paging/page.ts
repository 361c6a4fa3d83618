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
	 * @param page the page parameter; undefined leaves it out, which by the API document is the first page
	 * @param size the size parameter
	 */
	fetchPage(page: number | undefined, size: number): Promise<Page<T>>;
	/** Returns what tells one item from another. */
	identify: (item: T) => string;
}

/** Whether two pages, or two passes over a list, brought the same items in the same order. */
export function areSame<T>(identify: PageSource<T>['identify'], one: readonly T[], other: readonly T[]): boolean {
	const ids = other.map(identify);
	return one.length === ids.length && one.every((item, position) => identify(item) === ids[position]);
}
