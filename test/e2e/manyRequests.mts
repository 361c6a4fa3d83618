/** Prints how many bytes each of many requests leaves behind in the Node.js that runs this, which needs --expose-gc. */
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import { exchange } from '../../nodes/DeviceManagement/transport/exchange.ts';

const REQUESTS = 20_000;

const execution = new AbortController();
// What is made once and kept, and what the just-in-time compiler keeps, is there after the first of them.
await askFor(REQUESTS / 2);
const before = await heapAtRest();
await askFor(REQUESTS);
console.log(Math.round(((await heapAtRest()) - before) / REQUESTS));

async function askFor(requests: number): Promise<void> {
	for (let request = 0; request < requests; request++) {
		const cancel = request % 2 === 0 ? undefined : AbortSignal.any([execution.signal]);
		const answer = async () => ({ statusCode: 200, headers: {}, body: Readable.from([Buffer.from('{}')]) });
		const limits = { timeoutMs: 3_600_000, cancel };
		const read = { method: 'GET', url: 'http://platform.example/', skipCertificateCheck: false, ...limits } as const;
		await exchange(answer, read, { words: 'list', mayChange: false, redact: String });
	}
}

async function heapAtRest(): Promise<number> {
	if (globalThis.gc === undefined) throw new Error('Run it with --expose-gc');
	// What is let go of in one round lets go of more in the next.
	for (let round = 0; round < 10; round++) {
		await pause(20);
		globalThis.gc();
	}
	return process.memoryUsage().heapUsed;
}
