import { hasLostParent } from './processes.mts';

/**
 * Returns a signal that aborts when the process is told to end, or when its parent was killed (npm's shell passes no signal on).
 * A command that starts processes ends them then.
 */
export function stopSignal(): AbortSignal {
	const stop = new AbortController();
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());
	const parent = process.ppid;
	setInterval(() => {
		if (hasLostParent(parent)) stop.abort();
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
