import { createHash } from 'crypto';

import { fingerprint, type Page, type PageSource } from './page';

/** What a walk has seen of a list: it tells new items from those of an earlier page. It doesn't know where the list ends. */
export class Seen<T> {
	/** The digest of the identities of all items so far, without those to skip. */
	readonly digest = createHash('sha256');
	/** How many items an earlier page had: the list has changed or has them twice, or items with equal sort values have no order. */
	repeated = 0;
	/** Whether an item has the ID of another one of an earlier page, which may have been edited and have moved. */
	sharesId = false;
	/** On which page an item was found first, by its identity; of rows, only pages, by their fingerprint. */
	private readonly foundAt = new Map<string, number>();
	private readonly ids = new Set<string>();

	constructor(
		private readonly source: PageSource<T>,
		private readonly skip: number,
		/** How many items are still to return. */
		public left: number,
	) {}

	/**
	 * Compares a page with the earlier ones, which had so many items `before` it. Returns its items that none of them had, without those to
	 * skip, up to the limit; and whether it has items, but none of them is new.
	 */
	add(page: Page<T>, index: number, before: number): { fresh: T[]; isRepeated: boolean } {
		const { source, foundAt } = this;
		const { identify, areRows = false } = source;
		const known = foundAt.size;
		const texts = page.content.map(identify);
		if (areRows) {
			const print = fingerprint(source, page, texts);
			if (foundAt.has(print)) this.repeated += texts.length;
			foundAt.set(print, index);
		}
		const found: string[] = [];
		const fresh = page.content.filter((item, at) => {
			const text = texts[at] ?? '';
			const isFresh = (areRows || this.isNew(item, text, index)) && before + at >= this.skip && this.left-- > 0;
			if (isFresh) found.push(text, '\n');
			return isFresh;
		});
		this.digest.update(found.join(''));
		return { fresh, isRepeated: page.content.length > 0 && foundAt.size === known };
	}

	private isNew(item: T, identity: string, index: number): boolean {
		const { foundAt, ids, source } = this;
		const first = foundAt.get(identity) ?? index;
		// An item that is twice on one page is twice in the list. Only on two pages can it have taken the place of another one.
		if (first !== index) this.repeated++;
		if (foundAt.size === foundAt.set(identity, first).size) return false;
		const id = (source.idOf ?? source.identify)(item);
		this.sharesId ||= index > 0 && ids.has(id);
		ids.add(id);
		return true;
	}
}
