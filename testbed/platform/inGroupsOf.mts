/**
 * For `beforeAnswer`: delays responses until so many requests wait, then releases them. A client that sends fewer at once waits
 * forever. The platform's `peakInFlight` shows if a client sends more.
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
