import { type FirstPage, type FirstPageNumber, learnNumbering, numbersMayTell } from './numbering';
import { areSame, identitiesOf, type Page, type PageSource } from './page';

export interface FeedOptions {
	/** The size parameter of every request. */
	size: number;
	/** Most requests under way at once. */
	parallelRequests: number;
	/** Whether to tell the numbering from the items alone, not from the answers' `number`. */
	distrustNumbers: boolean;
}

/**
 * Hands out pages by their place and fetches ahead. It starts as if the server counted from 1, which costs nothing
 * where that is so; a server that counts from 0 answers the same requests with other pages, in which one is missing
 * and one too many.
 */
export class PageFeed<T> {
	/** What the server calls its first page; undefined until a second page came. */
	firstPageNumber: FirstPageNumber | undefined;
	/** Whether any answer so far had another total than the first page. */
	totalMoved = false;
	private readonly answers = new Map<number, Answer<T>>();
	private readonly underWay = new Map<number, Promise<unknown>>();
	private readonly firstSaid: FirstPage;
	/** Whether page 1 is asked for, to tell the numbering. */
	private asksPageOne: boolean;
	/** Page parameter of the first empty page that came: nothing is fetched beyond it. */
	private emptyFrom = Infinity;

	/** @param first the first page, fetched without a page parameter, and what tells its items from others */
	constructor(
		private readonly source: PageSource<T>,
		private readonly options: FeedOptions,
		first: { page: Page<T>; ids: readonly string[] },
	) {
		const { number, totalElements } = first.page;
		this.firstSaid = { number, totalElements, ids: first.ids };
		this.asksPageOne = options.distrustNumbers || !numbersMayTell(this.firstSaid);
	}

	/**
	 * The page at `index` (1 or more); pages up to `lastIndex` are fetched ahead.
	 * @throws whatever the page's request failed with, or that of a page ahead that is needed, too
	 */
	async at(index: number, lastIndex: number): Promise<Page<T>> {
		for (;;) {
			this.lookAtNumbering();
			if (this.firstPageNumber !== undefined) {
				const answer = this.nextAnswer(this.firstPageNumber, index, lastIndex);
				if (answer !== undefined) return answer;
			}
			this.fetchAhead(index, lastIndex);
			await Promise.race(this.underWay.values());
		}
	}

	/** Waits for pages that were fetched ahead in vain: their totals count, too. */
	async atRest(): Promise<void> {
		await Promise.all(this.underWay.values());
	}

	/**
	 * Whether two pages hold these items at the same time, which tells a server that repeats itself from a list that
	 * moved between two requests. One page is read before and after the other, so that nothing that moves once looks
	 * like standing still.
	 */
	async stillHolds(ids: readonly string[], one: number, other: number): Promise<boolean> {
		for (const index of [one, other, one]) {
			if (!areSame(ids, identitiesOf(this.source, await this.again(index)))) return false;
		}
		return true;
	}

	private async again(index: number): Promise<Page<T>> {
		const base = this.firstPageNumber;
		const page = index === 0 || base === undefined ? undefined : base + index;
		return await this.source.fetchPage(page, this.options.size);
	}

	private nextAnswer(base: FirstPageNumber, index: number, lastIndex: number): Page<T> | undefined {
		for (const [parameter, answer] of this.answers) {
			// A page that is needed and can't be had: no sense in waiting for the ones before it.
			if ('failure' in answer && parameter - base <= lastIndex) throw answer.failure;
		}
		const answer = this.answers.get(base + index);
		if (answer === undefined || 'failure' in answer) return undefined;
		this.answers.delete(base + index);
		return answer.page;
	}

	private fetchAhead(index: number, lastIndex: number): void {
		if (this.firstPageNumber === undefined && this.asksPageOne) this.start(1);
		const assumed = this.firstPageNumber ?? 1;
		for (let ahead = index; ahead <= lastIndex; ahead++) {
			if (this.underWay.size >= this.options.parallelRequests) return;
			if (ahead > index + MOST_PAGES_AHEAD) return;
			if (assumed + ahead > this.emptyFrom && ahead > index) return;
			this.start(assumed + ahead);
		}
	}

	private start(parameter: number): void {
		if (this.answers.has(parameter) || this.underWay.has(parameter)) return;
		const settle = (answer: Answer<T>) => {
			this.underWay.delete(parameter);
			this.answers.set(parameter, answer);
		};
		this.underWay.set(
			parameter,
			this.source.fetchPage(parameter, this.options.size).then(
				(page) => {
					this.compareTotal(page);
					if (page.content.length === 0) this.emptyFrom = Math.min(this.emptyFrom, parameter);
					settle({ page });
				},
				(failure: unknown) => settle({ failure }),
			),
		);
	}

	/** A page beyond the end may say 0, which is no word about the list. */
	private compareTotal({ totalElements, content }: Page<T>): void {
		const before = this.firstSaid.totalElements;
		if (totalElements === undefined || before === undefined) return;
		if (totalElements === 0 && content.length === 0) return;
		if (totalElements !== before) this.totalMoved = true;
	}

	private lookAtNumbering(): void {
		if (this.firstPageNumber !== undefined) return;
		const pageOne = this.answers.get(1);
		if (pageOne !== undefined) {
			if ('failure' in pageOne) throw pageOne.failure;
			const ids = identitiesOf(this.source, pageOne.page);
			this.firstPageNumber = learnNumbering(this.firstSaid, { parameter: 1, ids });
			return;
		}
		const pageTwo = this.answers.get(2);
		if (this.asksPageOne || pageTwo === undefined) return;
		// A failure does not tell how the server counts.
		const number = 'failure' in pageTwo ? undefined : pageTwo.page.number;
		this.firstPageNumber = learnNumbering(this.firstSaid, { parameter: 2, number });
		this.asksPageOne = this.firstPageNumber === undefined;
	}
}

/** Pages fetched ahead of the one whose turn it is: enough to pass a slow page, few enough to hold. */
const MOST_PAGES_AHEAD = 64;

/** An answer that is kept until its turn comes. */
type Answer<T> = { page: Page<T> } | { failure: unknown };
