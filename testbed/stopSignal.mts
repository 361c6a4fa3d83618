/**
 * Aborts when the process is told to end, and when what started it was killed without a word (npm's shell passes no signal
 * on): whoever starts processes of their own has to end them then.
 */
export function stopSignal(): AbortSignal {
	const stop = new AbortController();
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());
	const parent = process.ppid;
	setInterval(() => {
		if (process.ppid !== parent) stop.abort();
	}, 1000).unref();
	return stop.signal;
}

/** Settles when the signal aborts, at once where it has. */
export function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		signal.addEventListener('abort', () => resolve());
		if (signal.aborted) resolve();
	});
}
