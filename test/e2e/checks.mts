/** Counts what an end-to-end run has shown, and says it as it goes. */
export class Checks {
	passed = 0;
	failed = 0;
	readonly skipped: string[] = [];

	/** @param only a part runs if its title matches */
	constructor(private readonly only = /^/) {}

	/** A part of the run, and how long it took. If it throws, it counts as failed, and the next part runs. */
	async part(title: string, work: () => Promise<void>): Promise<void> {
		if (!this.only.test(title)) return;
		console.log(`\n${title}`);
		const begun = Date.now();
		await work().catch((error: unknown) => this.fail('runs to its end', error));
		console.log(`  ${Math.round((Date.now() - begun) / 1000)} s`);
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
}
