/**
 * Returns a signal that aborts when the process has to end, or when its parent was killed (npm's shell passes no signal on).
 * The command then ends the processes that it started.
 */
export function stopSignal(): AbortSignal {
	const stop = new AbortController();
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());
	const parent = process.ppid;
	setInterval(() => {
		if (hasEnded(parent)) stop.abort();
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

/** An orphan gets another parent, except on Windows. There, EPERM means that the process runs for another user. */
function hasEnded(parent: number): boolean {
	if (process.platform !== 'win32') return process.ppid !== parent;
	try {
		process.kill(parent, 0);
		return false;
	} catch (error) {
		return error instanceof Error && 'code' in error && error.code === 'ESRCH';
	}
}
