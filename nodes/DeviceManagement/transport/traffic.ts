/** How a request ended, as far as the key or token is concerned that it carried. */
export type TokenOutcome = 'accepted' | 'refused' | 'unanswered';

interface Watcher {
	/** Only requests that were sent after this one count. */
	after: number;
	tell(outcome: 'accepted' | 'refused'): void;
}

/** The requests that are sent with one token, or in one session, and what they say about it. */
export class Traffic {
	/** Whether the platform accepted one of them. */
	accepted = false;
	/** Whether the token was accepted for a request that was sent after the last refusal; undefined before any answer. */
	lives: boolean | undefined;
	private sent = 0;
	/** Requests up to this one were sent before the last refusal. */
	private doubtful = 0;
	private readonly underWay = new Set<number>();
	private watchers: Watcher[] = [];
	private waiting: Array<{ upTo: number; tell(): void }> = [];

	/** A request is sent; returns its number. */
	begin(): number {
		this.underWay.add(++this.sent);
		return this.sent;
	}

	/** That request has ended. */
	settle(order: number, outcome: TokenOutcome): void {
		this.underWay.delete(order);
		if (outcome === 'accepted') {
			this.accepted = true;
			if (order > this.doubtful) this.lives = true;
		}
		if (outcome === 'refused') {
			this.lives = false;
			this.doubtful = this.sent;
		}
		if (outcome !== 'unanswered') {
			const told = this.watchers.filter(({ after }) => order > after);
			this.watchers = this.watchers.filter(({ after }) => order <= after);
			for (const watcher of told) watcher.tell(outcome);
		}
		const oldest = Math.min(...this.underWay);
		const free = this.waiting.filter(({ upTo }) => oldest > upTo);
		this.waiting = this.waiting.filter(({ upTo }) => oldest <= upTo);
		for (const one of free) one.tell();
	}

	/**
	 * What becomes of the next request that is sent from now on.
	 * @param pause how long to wait for one while none is under way
	 * @returns undefined when there was none
	 */
	async verdict(pause: () => Promise<void>): Promise<'accepted' | 'refused' | undefined> {
		const told = new Promise<'accepted' | 'refused'>((tell) => {
			this.watchers.push({ after: this.sent, tell });
		});
		const nobody = pause().then(async () => {
			await this.allSettled();
			return undefined;
		});
		return await Promise.race([told, nobody]);
	}

	/** Resolves when every request that is under way now has ended. */
	async allSettled(): Promise<void> {
		if (this.underWay.size === 0) return;
		const upTo = this.sent;
		await new Promise<void>((tell) => {
			this.waiting.push({ upTo, tell });
		});
	}
}
