import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Memory, memorySchema, type MemoryTask } from './protocol.mts';

/** Measures the memory of a list in a new process. */
export async function measureMemory(task: MemoryTask): Promise<Memory> {
	const child = fork(fileURLToPath(new URL('memoryProcess.mts', import.meta.url)), [JSON.stringify(task)]);
	const ended = once(child, 'exit').then(() => {
		throw new Error('The process whose memory was measured ended before its time');
	});
	ended.catch(() => {});
	const [message]: unknown[] = await Promise.race([once(child, 'message'), ended]);
	return memorySchema.parse(message);
}
