import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { z } from 'zod/v4';

import { type Reachable, Unreachable } from './services.mts';

/**
 * Provides a separate key prefix on a running Redis, at `QUEUE_BULL_REDIS_HOST`, `_PORT` and `_PASSWORD`; default: the usual local
 * address.
 * @throws Unreachable
 */
export async function redis(): Promise<Reachable> {
	const host = process.env['QUEUE_BULL_REDIS_HOST'] ?? '127.0.0.1';
	const port = z.coerce.number().parse(process.env['QUEUE_BULL_REDIS_PORT'] ?? 6379);
	const password = process.env['QUEUE_BULL_REDIS_PASSWORD'] ?? '';
	// Only a Redis that was there is expected to come back.
	let retryMs: number | null = null;
	const client = new Redis({ host, port, password, lazyConnect: true, retryStrategy: () => retryMs });
	// The failed command only says that there is no connection.
	let reason: Error | undefined;
	client.on('error', (error: Error) => (reason = error));
	try {
		await client.connect();
		await client.ping();
		retryMs = 500;
	} catch (error) {
		client.disconnect();
		throw new Unreachable('Redis', { host, port }, 'QUEUE_BULL_REDIS_HOST, _PORT and _PASSWORD', reason ?? error);
	}
	const prefix = `n8n-test-${randomBytes(6).toString('hex')}`;
	return {
		environment: {
			QUEUE_BULL_REDIS_HOST: host,
			QUEUE_BULL_REDIS_PORT: String(port),
			QUEUE_BULL_REDIS_PASSWORD: password,
			QUEUE_BULL_PREFIX: prefix,
			N8N_REDIS_KEY_PREFIX: prefix,
			N8N_CACHE_REDIS_KEY_PREFIX: prefix,
		},
		async stop() {
			const found: AsyncIterable<string[]> = client.scanStream({ match: `*${prefix}*`, count: 1000 });
			for await (const keys of found) if (keys.length > 0) await client.unlink(...keys);
			await client.quit();
		},
	};
}
