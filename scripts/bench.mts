/**
 * `npm run bench`: measures the table in docs/large-fleets.md, what it costs to read a whole fleet in a real n8n in queue mode: time
 * and memory of the worker. The ways take turns, each on new workers. Compare the rows, not the seconds. It needs PostgreSQL and
 * Redis, like `npm run test:e2e -- --queue`, and Linux, which keeps the highest memory of each process.
 */
import { Command } from 'commander';
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';

import { keyCredential } from '../testbed/n8n/examples.mts';
import { provideN8n } from '../testbed/n8n/host.mts';
import { type Execution, layFoundation, QueueMode } from '../testbed/n8n/queueMode.mts';
import { type Services, Unreachable } from '../testbed/n8n/services.mts';
import { jsonOf } from '../testbed/platform/paging.mts';
import { Fleet, startPlatform } from '../testbed/platform/server.mts';
import { removing } from '../testbed/removing.mts';
import { aborted, stopSignal } from '../testbed/stopSignal.mts';
import { duration, highestMemory, megabytes } from './bench/figures.mts';
import { pollMillion, startMillion } from './bench/million.mts';
import { count, type Served, type Way, ways, workflowOf } from './bench/ways.mts';
import { number, step, type Task } from './terminal.mts';

const SIZES = [10_000, 100_000];
/** How often each way reads each fleet. */
const ROUNDS = 3;
/** Milliseconds that a platform waits before each response. */
const LATENCY_MS = 50;
/** Without a limit, Node.js keeps garbage while the machine has free memory. */
const HEAP_MB = 640;
const MILLION_HEAP_MB = 1536;
/** Seconds, for the polls of a million devices. n8n ends a poll of its scheduler after 80% of the lower one, 36 seconds by default. */
const POLLS = { N8N_SCHEDULER_POLL_TIMEOUT: '300', N8N_SCHEDULER_LEASE_DURATION: '300' };
const TAKES_MS = 300_000;

const { million } = new Command('npm run bench --')
	.description('Measures what reading a whole fleet costs in a real n8n in queue mode, in several ways.')
	.option('--million', 'measures a million devices instead, once: polls and Count')
	.parse()
	.opts<{ million?: true }>();

/** What a run cost. */
interface Ended {
	milliseconds: number;
	workerBytes: number;
}

interface Run {
	way: Way;
	size: number;
	/** Undefined: a worker ran out of memory. */
	ended: Ended | undefined;
}

const isStopping = stopSignal();
let services: Services | undefined;
try {
	await Promise.race([million ? benchMillion() : bench(), aborted(isStopping)]);
} catch (error) {
	console.error(error instanceof Unreachable ? error.message : error);
	process.exitCode = 1;
} finally {
	if (isStopping.aborted) console.log('\nStopping …');
	await services?.stop();
}
process.exit(isStopping.aborted ? 1 : process.exitCode);

async function bench(): Promise<void> {
	const fleets = await Promise.all(SIZES.map(serve));
	const n8n = await start(fleets);
	const idleBytes = await highestMemory(n8n.workers.map(({ process: worker }) => worker));
	const runs: Run[] = [];
	const readAll = async (task: Task) => {
		for (let round = 1; round <= ROUNDS; round++) {
			for (const { fleet, way } of fleets.flatMap((each) => ways.map((one) => ({ fleet: each, way: one })))) {
				task.say(`round ${round} of ${ROUNDS} · ${number(fleet.size)} devices · ${way.name}`);
				runs.push({ way, size: fleet.size, ended: await measure(n8n, way, fleet) });
			}
		}
	};
	await step('Read all fleets', readAll);
	console.log(report(runs, idleBytes ?? NaN));
}

/** Prints what a million devices cost: ways to read on workers, then polls in the main process. */
async function benchMillion(): Promise<void> {
	const fleet = await startMillion(LATENCY_MS);
	const n8n = await start([fleet], MILLION_HEAP_MB);
	console.log(`idle: main ${megabytes((await highestMemory([n8n.main.process])) ?? NaN)}`);
	console.log(`${count.name}: ${cellOf([await measure(n8n, count, fleet)])}`);
	await pollMillion(n8n, fleet);
}

/** Starts a platform in this process. n8n reads from it in other ones. */
async function serve(size: number): Promise<Served> {
	const fleet = Fleet.seeded({ size });
	// So that no run measures it: half a second for 100,000.
	for (const device of fleet.devices) jsonOf(device);
	const { baseUrl, apiKey } = await startPlatform({ fleet, latencyMs: LATENCY_MS });
	return { id: `fleet${size}`, size, baseUrl, apiKey };
}

/** Starts an n8n that has a credential for each fleet, and a workflow for each way to read it. */
async function start(fleets: readonly Served[], heapMb = HEAP_MB): Promise<QueueMode> {
	const foundation = await layFoundation();
	({ services } = foundation);
	const host = await provideN8n();
	const folder = await mkdtemp(join(tmpdir(), 'n8n-bench-'));
	services.add({ stop: async () => await rm(folder, removing) });
	return await QueueMode.start(host, folder, foundation, {
		credentials: fleets.map((fleet) => keyCredential(fleet.id, fleet.id, fleet)),
		workflows: fleets.flatMap((fleet) => [...ways, count].map((way) => workflowOf(way, idOf(way, fleet), fleet))),
		settings: {
			// A worker runs one execution at once.
			N8N_CONCURRENCY_PRODUCTION_LIMIT: '1',
			NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
			...POLLS,
		},
	});
}

function idOf(way: Way, { id }: Pick<Served, 'id'>): string {
	return `way${ways.indexOf(way)}-${id}`;
}

/** Runs a workflow on new workers, so that no run affects the next, and waits for its end. */
async function measure(n8n: QueueMode, way: Way, fleet: Served): Promise<Ended | undefined> {
	const { workers } = n8n;
	await Promise.all(workers.map(async (worker) => await worker.process.kill()));
	await n8n.restartEnded();
	const id = idOf(way, fleet);
	assert.equal((await n8n.main.webhook(id, {})).status, 200);
	const ended = async () => {
		if (workers.some(({ process: worker }) => worker.hasEnded)) return pWaitFor.resolveWith<Execution[]>([]);
		const begun = new Set(workers.flatMap((worker) => worker.executions));
		const own = (await n8n.executions(id)).filter((one) => begun.has(one.id) && one.milliseconds !== null);
		return own.length === 1 && pWaitFor.resolveWith(own);
	};
	const timeout = { milliseconds: TAKES_MS, message: `${way.name} does not end` };
	const [own] = await pWaitFor<Execution[]>(ended, { interval: 100, timeout });
	const workerBytes = await highestMemory(workers.map(({ process: worker }) => worker));
	if (workerBytes === undefined) return undefined;
	assert.equal(own?.status, 'success', `${way.name} ended with ${own?.status}`);
	return { milliseconds: own.milliseconds ?? NaN, workerBytes };
}

/** Returns the table as Markdown, and below it what it was measured with. */
function report(runs: readonly Run[], idleBytes: number): string {
	const cell = (way: Way, size: number) =>
		cellOf(runs.filter((run) => run.way === way && run.size === size).map(({ ended }) => ended));
	const rows = ways.map((way) => [way.name, ...SIZES.map((size) => cell(way, size))]);
	const lines = [['Way', ...SIZES.map(number)], ['---', ...SIZES.map(() => '---:')], ...rows];
	const machine = `${cpus().length} × ${cpus()[0]?.model.trim()} and ${Math.round(totalmem() / 1024 ** 3)} GB`;
	return `${lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}
The median time of ${ROUNDS} executions, and the highest memory of a worker, which ran one at a time with ${HEAP_MB} MB of heap. An idle
worker has ${megabytes(idleBytes)}. The platform waited ${LATENCY_MS} ms before each response. n8n, database, queue and platform
shared ${machine}.`;
}

/** The median time and the highest memory of executions. */
function cellOf(ended: ReadonlyArray<Ended | undefined>): string {
	const all = ended.flatMap((one) => one ?? []);
	if (all.length < ended.length) return 'out of memory';
	const times = all.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
	const memory = Math.max(...all.map(({ workerBytes }) => workerBytes));
	return `${duration(times[Math.floor(times.length / 2)] ?? NaN)} and ${megabytes(memory)}`;
}
