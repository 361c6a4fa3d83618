import { setTimeout as pause } from 'node:timers/promises';
import pidusage from 'pidusage';

/** Reads the memory of processes repeatedly, and keeps the highest value of each, in bytes. */
export class MemoryWatch {
	/** Whether one of them has ended. */
	hasLost = false;
	private readonly peaks = new Map<number, number>();
	private readonly over = new AbortController();
	private readonly watching: Promise<void>;

	constructor(pids: readonly number[]) {
		this.watching = this.watch(pids);
	}

	/** Stops reading. */
	async stop(): Promise<ReadonlyMap<number, number>> {
		this.over.abort();
		await this.watching;
		return this.peaks;
	}

	private async watch(pids: readonly number[]): Promise<void> {
		while (!this.over.signal.aborted) {
			for (const pid of pids) {
				const usage = await pidusage(pid).catch(() => undefined);
				if (usage === undefined) this.hasLost = true;
				else this.peaks.set(pid, Math.max(usage.memory, this.peaks.get(pid) ?? 0));
			}
			await pause(50);
		}
	}
}
