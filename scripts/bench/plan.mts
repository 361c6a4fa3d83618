import { defaults } from './contenders.mts';
import type { Contender } from './protocol.mts';

/** The size of the fleet and the connection of a measurement. */
export interface Condition {
	size: number;
	latencyMs: number;
	tls: boolean;
}

/** A case that takes longer is left out. */
export const longestMs = 75_000;

/** Time of a request through n8n, without the platform's latency. */
const overheadMs = 6;

/** Returns the expected time of a list, in milliseconds. */
export function expectedMs({ kind, pageSize, parallel }: Contender, { size, latencyMs }: Condition): number {
	const pages = Math.ceil(size / (pageSize ?? (kind === 'http request' ? 10 : defaults.pageSize)));
	const turns = kind === 'http request' ? pages : 1 + Math.ceil((pages - 1) / (parallel ?? defaults.parallel));
	return turns * (latencyMs + overheadMs) + size * 0.015;
}

export function inWords(latencyMs: number, tls: boolean): string {
	return `${latencyMs} ms latency${tls ? ', TLS' : ''}`;
}
