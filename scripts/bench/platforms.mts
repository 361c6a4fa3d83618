import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { messageSchema, type Served } from './protocol.mts';

/** Embedded platforms in another process. */
export interface Platforms {
	/** Returns the platform with a fleet of that size. */
	of(size: number, tls: boolean): Served;
	/** Sets how long every platform waits before each response, in milliseconds, and clears the recorded requests. */
	setLatency(latencyMs: number): Promise<void>;
	stop(): void;
}

/** Starts a platform for each size of fleet, plain and with TLS. */
export async function startPlatforms(sizes: readonly number[]): Promise<Platforms> {
	const child = fork(fileURLToPath(new URL('platformProcess.mts', import.meta.url)), sizes.map(String));
	const ended = once(child, 'exit').then((): never => {
		throw new Error('The platforms ended before their time');
	});
	ended.catch(() => {});
	const next = async () => {
		const [message]: unknown[] = await Promise.race([once(child, 'message'), ended]);
		return messageSchema.parse(message);
	};
	const first = await next();
	const served = 'served' in first ? first.served : [];
	return {
		of(size, tls) {
			const found = served.find((candidate) => candidate.size === size && candidate.tls === tls);
			if (found === undefined) throw new Error(`There is no platform with ${size} devices`);
			return found;
		},
		async setLatency(latencyMs) {
			const ready = next();
			child.send({ latencyMs });
			await ready;
		},
		stop: () => child.disconnect(),
	};
}
