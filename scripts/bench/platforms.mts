/** Embedded platforms in a separate process, so that they do not share the event loop with the contenders. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod/v4';

import { Fleet, startPlatform } from '../../testbed/platform/server.mts';

/** Milliseconds that a platform waits before each response. */
export const LATENCY_MS = 50;

const servedSchema = z.object({ size: z.number(), tls: z.boolean(), baseUrl: z.string(), apiKey: z.string() });

/** A platform and the size of its fleet. */
export type Served = z.infer<typeof servedSchema>;

export interface Platforms {
	/** Returns the platform with a fleet of that size. */
	of(size: number, tls?: boolean): Served;
	stop(): void;
}

const file = fileURLToPath(import.meta.url);
if (process.argv[1] === file) await serve(process.argv.slice(2).map(Number));

/** Starts two platforms for each size of fleet: plain, and with TLS. */
export async function startPlatforms(sizes: readonly number[]): Promise<Platforms> {
	const child = fork(file, sizes.map(String));
	const ended = once(child, 'exit').then((): never => {
		throw new Error('The platforms ended before their time');
	});
	ended.catch(() => {});
	const [message]: unknown[] = await Promise.race([once(child, 'message'), ended]);
	const served = z.array(servedSchema).parse(message);
	return {
		of(size, tls = false) {
			const found = served.find((one) => one.size === size && one.tls === tls);
			if (found === undefined) throw new Error(`There is no platform with ${size} devices`);
			return found;
		},
		stop: () => child.disconnect(),
	};
}

/** Runs in the other process. */
async function serve(sizes: readonly number[]): Promise<void> {
	const served: Served[] = [];
	for (const size of sizes) {
		const fleet = Fleet.seeded({ size });
		fleet.warm();
		for (const tls of [false, true]) {
			const { baseUrl, apiKey } = await startPlatform({ fleet, tls, latencyMs: LATENCY_MS });
			served.push({ size, tls, baseUrl, apiKey });
		}
	}
	process.on('disconnect', () => process.exit());
	process.send?.(served);
}
