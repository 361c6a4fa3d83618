/**
 * Lists one fleet in a separate process and reports the memory that it needed. memory.mts starts it with the task as its
 * argument.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Readers } from './contenders.mts';
import { type Memory, memoryTaskSchema } from './protocol.mts';

const { contender, warmUp, fleet } = memoryTaskSchema.parse(JSON.parse(process.argv[2] ?? ''));
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const readers = await Readers.load();
await readers.list(contender, warmUp);
collectGarbage();
const before = process.memoryUsage();
const highestBefore = process.resourceUsage().maxRSS * 1024;

let highestSeen = before.rss;
const sampler = setInterval(() => {
	highestSeen = Math.max(highestSeen, process.memoryUsage.rss());
}, 5);
const read = await readers.list(contender, fleet);
clearInterval(sampler);
const highest = process.resourceUsage().maxRSS * 1024;
highestSeen = Math.max(highestSeen, process.memoryUsage.rss());
collectGarbage();
const after = process.memoryUsage();
if (read.count !== fleet.size) throw new Error('The list was not read to its end');

// The system's figure is exact, but only if the list needed more memory than loading the process.
const peak = highest > highestBefore ? highest : highestSeen;
const memory: Memory = {
	before: before.rss,
	peak: peak - before.rss,
	retained: after.heapUsed - before.heapUsed,
};
process.send?.(memory);
await readers.close();
process.disconnect?.();
