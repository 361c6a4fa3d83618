/**
 * For `beforeAnswer`: holds back answers until so many requests are waiting, then lets these go. Whoever sends fewer at
 * once waits for ever, and the platform's `peakInFlight` shows whoever sends more.
 */
export function inGroupsOf(size: number): () => Promise<void> {
	let waiting: Array<() => void> = [];
	return async () => {
		const released = new Promise<void>((release) => waiting.push(release));
		if (waiting.length === size) {
			const group = waiting;
			waiting = [];
			for (const release of group) release();
		}
		await released;
	};
}
