import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod/v4';

/** Milliseconds that a platform waits before each response, unless a case asks for another latency. */
export const LATENCY_MS = 50;

/** What platformProcess.mts sends: its platforms. */
const servedSchema = z.array(
	z.object({
		size: z.number(),
		latencyMs: z.number(),
		tls: z.boolean(),
		baseUrl: z.string(),
		apiKey: z.string(),
		/** Of its first 1,000 devices. */
		serialNumbers: z.array(z.string()),
	}),
);

/** A platform and its fleet. */
export type Served = z.infer<typeof servedSchema>[number];

/** Embedded platforms in another process. */
export interface Platforms {
	/** Returns the platform with a fleet of that size; by default at {@link LATENCY_MS}, without TLS. */
	of(size: number, condition?: { latencyMs?: number; tls?: boolean }): Served;
	stop(): void;
}

/** Starts platforms for each size of fleet: at {@link LATENCY_MS} plain and with TLS, and without latency. */
export async function startPlatforms(sizes: readonly number[]): Promise<Platforms> {
	const child = fork(fileURLToPath(new URL('platformProcess.mts', import.meta.url)), sizes.map(String));
	const ended = once(child, 'exit').then((): never => {
		throw new Error('The platforms ended before their time');
	});
	ended.catch(() => {});
	const [message]: unknown[] = await Promise.race([once(child, 'message'), ended]);
	const served = servedSchema.parse(message);
	return {
		of(size, { latencyMs = LATENCY_MS, tls = false } = {}) {
			const found = served.find((one) => one.size === size && one.latencyMs === latencyMs && one.tls === tls);
			if (found === undefined) throw new Error(`There is no platform with ${size} devices`);
			return found;
		},
		stop: () => child.disconnect(),
	};
}
