/** Counts what an end-to-end run has shown, and says it as it goes. */
export class Checks {
	passed = 0;
	failed = 0;
	readonly skipped: string[] = [];
	private readonly times: Array<[title: string, seconds: number]> = [];

	/** Prepares the following parts, under a heading. If it throws, the run ends. */
	async prepare<T>(title: string, work: () => Promise<T>): Promise<T> {
		console.log(title);
		const began = Date.now();
		try {
			return await work();
		} finally {
			this.times.push([title, (Date.now() - began) / 1000]);
		}
	}

	/** A part of the run. If it throws, it counts as failed, and the next part runs. */
	async part(title: string, work: () => Promise<void>): Promise<void> {
		await this.prepare(`\n${title}`, work).catch((error: unknown) => this.fail('runs to its end', error));
	}

	/** Passes unless `attempt` throws. Returns whether it passed. */
	async check(promise: string, attempt: () => void | Promise<void>): Promise<boolean> {
		try {
			await attempt();
		} catch (error) {
			this.fail(promise, error);
			return false;
		}
		this.passed++;
		console.log(`  ✔ ${promise}`);
		return true;
	}

	/** Counts what was promised and is not so. */
	fail(promise: string, error: unknown): void {
		this.failed++;
		const reason = error instanceof Error ? (error.name === 'AssertionError' ? error.message : error.stack) : undefined;
		const lines = (reason ?? String(error)).split('\n').slice(0, 30);
		console.log(`  ✖ ${promise}\n${lines.join('\n').replace(/^/gm, '      ')}`);
	}

	/** What could not be tried on this machine, said now and again at the end. */
	skip(what: string): void {
		this.skipped.push(what);
		console.log(`  !! ${what}`);
	}

	/** Says how long each part took, in its order, and what was skipped. */
	sayEnd(): void {
		console.log('\nTimes');
		for (const [title, seconds] of this.times) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${title.trim()}`);
		for (const what of this.skipped) console.log(`\n!! ${what}`);
	}
}
