/**
 * Returns a signal that aborts when the process has to end, or when its parent was killed (npm's shell passes no signal on).
 * The command then ends the processes that it started.
 */
export function stopSignal(): AbortSignal {
	const stop = new AbortController();
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());
	const parent = process.ppid;
	setInterval(() => {
		// An orphan gets another parent, except on Windows.
		if (process.ppid !== parent) stop.abort();
	}, 1000).unref();
	return stop.signal;
}

/** Settles when the signal aborts; at once if it already has. */
export function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		signal.addEventListener('abort', () => resolve());
		if (signal.aborted) resolve();
	});
}
