/**
 * `npm run bench`: measures what it costs to read a whole fleet in a real n8n in queue mode: time, memory of the worker, and
 * the size of the execution in the database. The ways take turns, each on new workers. Compare the rows, not the seconds. It needs
 * PostgreSQL and Redis, like `npm run test:e2e -- --queue`, and Linux, which keeps the highest memory of each process.
 */
import { Command } from 'commander';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pWaitFor from 'p-wait-for';

import { checkout } from '../testbed/checkout.mts';
import { keyCredential } from '../testbed/n8n/examples.mts';
import { provideN8n } from '../testbed/n8n/host.mts';
import type { N8nProcess } from '../testbed/n8n/process.mts';
import { type Cost, layFoundation, QueueMode } from '../testbed/n8n/queueMode.mts';
import { type Environment, type Services, Unreachable } from '../testbed/n8n/services.mts';
import { Fleet, startPlatform } from '../testbed/platform/server.mts';
import { removing } from '../testbed/removing.mts';
import { aborted, stopSignal } from '../testbed/stopSignal.mts';
import { Million, pollMillion, SIZE as A_MILLION } from './bench/million.mts';
import { count, type Served, type Way, ways } from './bench/ways.mts';
import { positive } from './flags.mts';

const SIZES = [1_000, 10_000, 100_000];
/** Milliseconds that a platform waits before each response. */
const LATENCY_MS = 50;
/** Without a limit, Node.js keeps garbage while the machine has free memory. */
const HEAP_MB = 640;
const MILLION_HEAP_MB = 1536;
/** Seconds. n8n ends a poll of its scheduler after 80% of the lower one, 36 seconds by default. */
const MILLION_POLLS = { N8N_SCHEDULER_POLL_TIMEOUT: '300', N8N_SCHEDULER_LEASE_DURATION: '300' };
const TAKES_MS = 300_000;
const PAGE = 'docs/large-fleets.md';
const BETWEEN_MARKS = /(?<=<!-- figures -->\n)[^]*(?=\n<!-- end of figures -->)/;

const { rounds, largest, million, write } = new Command('npm run bench --')
	.description('Measures what reading a whole fleet costs in a real n8n in queue mode, in several ways.')
	.option('--rounds <number>', 'how often each way reads each fleet', positive, 3)
	.option('--largest <devices>', 'leaves larger fleets out', positive, SIZES.at(-1))
	.option('--million', 'measures a million devices instead, once: polls, parts and Count', false)
	.option('--write', `writes the tables into ${PAGE}`, false)
	.addHelpText('after', '\nA round takes about five minutes.')
	.allowExcessArguments(false)
	.parse()
	.opts<{ rounds: number; largest: number; million: boolean; write: boolean }>();
const sizes = SIZES.filter((size) => size <= largest);

/** What a run cost. */
interface Ended {
	milliseconds: number;
	workerBytes: number;
	executionBytes: number;
}

/** Undefined: a worker ran out of memory. */
type Outcome = Ended | undefined;

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
	if (write && sizes.length < SIZES.length) throw new Error('--write needs all fleets: leave --largest out.');
	const page = await readFile(join(checkout, PAGE), 'utf8');
	assert.match(page, BETWEEN_MARKS);
	tell('starting n8n');
	const fleets = await Promise.all(sizes.map(serve));
	const n8n = await start(fleets);
	const idleBytes = await highestMemory(n8n.workers.map(({ process: worker }) => worker));
	const outcomes = new Map<string, Outcome[]>();
	for (let round = 1; round <= rounds; round++) {
		for (const fleet of fleets) {
			for (const way of waysFor(fleet)) {
				tell(`round ${round} of ${rounds} · ${inWords(fleet.size)} devices · ${way.name}`);
				const id = idOf(way, fleet);
				outcomes.set(id, [...(outcomes.get(id) ?? []), await measure(n8n, way, fleet)]);
			}
		}
	}
	tell('');
	const tables = report((way, size) => outcomes.get(idOf(way, { id: `fleet${size}` })), idleBytes ?? NaN);
	console.log(tables);
	const written = page.replace(BETWEEN_MARKS, () => `\n${tables}`);
	if (write) await writeFile(join(checkout, PAGE), written);
}

/** Prints what a million devices cost: ways to read on workers, then polls in the main process. */
async function benchMillion(): Promise<void> {
	const fleet = await Million.start(LATENCY_MS);
	const n8n = await start([fleet], { ...limits(MILLION_HEAP_MB), ...MILLION_POLLS });
	console.log(`idle: main ${megabytes((await highestMemory([n8n.main.process])) ?? NaN)}`);
	for (const way of waysFor(fleet)) {
		const outcome = await measure(n8n, way, fleet);
		const cells = outcome ? [duration(outcome.milliseconds), megabytes(outcome.workerBytes)] : ['out of memory'];
		console.log(`| ${[way.name, ...cells].join(' | ')} |`);
	}
	await pollMillion(n8n, fleet);
}

/** Starts a platform in this process. n8n reads from it in other ones. */
async function serve(size: number): Promise<Served & { apiKey: string }> {
	const fleet = Fleet.seeded({ size });
	fleet.warm();
	const { baseUrl, apiKey } = await startPlatform({ fleet, latencyMs: LATENCY_MS });
	return { id: `fleet${size}`, size, baseUrl, apiKey };
}

/** Starts an n8n that has a credential for each fleet, and a workflow for each way to read it. */
async function start(
	fleets: ReadonlyArray<Served & { apiKey: string }>,
	settings = limits(HEAP_MB),
): Promise<QueueMode> {
	const foundation = await layFoundation();
	({ services } = foundation);
	const host = await provideN8n(tell);
	const folder = await mkdtemp(join(tmpdir(), 'n8n-bench-'));
	services.add({ stop: async () => await rm(folder, removing) });
	return await QueueMode.start(host, folder, foundation, {
		credentials: fleets.map((fleet) => keyCredential(fleet.id, fleet.id, fleet)),
		workflows: fleets.flatMap((fleet) => waysFor(fleet).map((way) => way.workflow(idOf(way, fleet), fleet))),
		settings: {
			// A worker runs one execution at once.
			N8N_CONCURRENCY_PRODUCTION_LIMIT: '1',
			// The execution that waits for the parts would occupy a worker.
			OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'false',
			...settings,
			N8N_CUSTOM_EXTENSIONS: fileURLToPath(new URL('bench', import.meta.url)),
		},
	});
}

function limits(heapMb: number): Environment {
	return { NODE_OPTIONS: `--max-old-space-size=${heapMb}` };
}

function waysFor({ size }: Served): Way[] {
	if (size >= A_MILLION) return [count, ...ways.slice(-1)];
	return ways.filter((way) => size <= (way.largest ?? Infinity));
}

function idOf(way: Way, { id }: Pick<Served, 'id'>): string {
	return `way${ways.indexOf(way)}-${id}`;
}

/** Runs a workflow on new workers, so that no run affects the next, and waits for its end. */
async function measure(n8n: QueueMode, way: Way, fleet: Served): Promise<Outcome> {
	const { workers } = n8n;
	await Promise.all(
		workers.map(async (worker) => await worker.process.kill().then(async () => await worker.restart())),
	);
	const id = idOf(way, fleet);
	const executions = way.executions(fleet.size);
	const began = Date.now();
	await way.start(n8n.main, id);
	const ended = async () => {
		if (workers.some(({ process: worker }) => worker.hasEnded)) return pWaitFor.resolveWith<Cost[]>([]);
		const begun = new Set(workers.flatMap((worker) => worker.executions));
		const own = (await n8n.executions(id)).filter((execution) => begun.has(execution.id));
		const costs = (await Promise.all(own.map(async (execution) => await n8n.cost(execution.id)))).flatMap(
			(cost) => cost ?? [],
		);
		return costs.length === executions && pWaitFor.resolveWith(costs);
	};
	const timeout = { milliseconds: TAKES_MS, message: `${way.name} does not end` };
	const costs = await pWaitFor<Cost[]>(ended, { interval: 100, timeout });
	const wallMs = Date.now() - began;
	const workerBytes = await highestMemory(workers.map(({ process: worker }) => worker));
	if (workerBytes === undefined) return undefined;
	for (const { status } of costs) assert.equal(status, 'success', `${way.name} ended with ${status}`);
	return {
		milliseconds: costs.length === 1 ? (costs[0]?.milliseconds ?? NaN) : wallMs,
		workerBytes,
		executionBytes: costs.reduce((sum, { bytes }) => sum + bytes, 0),
	};
}

/** The highest memory of a worker since its start, in bytes; undefined if one has ended. */
async function highestMemory(workers: readonly N8nProcess[]): Promise<number | undefined> {
	if (workers.some(({ hasEnded }) => hasEnded)) return undefined;
	const statuses = await Promise.all(workers.map(async ({ pid }) => await readFile(`/proc/${pid}/status`, 'utf8')));
	return Math.max(...statuses.map((status) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024));
}

/** Returns the tables as Markdown. */
function report(outcomesOf: (way: Way, size: number) => Outcome[] | undefined, idleBytes: number): string {
	const table = (title: string, words: string, cell: (outcomes: Ended[], size: number) => string) => {
		const cellOf = (way: Way, size: number) => {
			const outcomes = outcomesOf(way, size);
			if (outcomes === undefined) return '–';
			const ended = outcomes.flatMap((outcome) => outcome ?? []);
			return ended.length < outcomes.length ? 'out of memory' : cell(ended, size);
		};
		const rows = ways.map((way) => [way.name, ...sizes.map((size) => cellOf(way, size))]);
		const lines = [['', ...sizes.map(inWords)], ['---', ...sizes.map(() => '---:')], ...rows];
		return `### ${title}\n\n${words}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`;
	};
	const machine = `${cpus().length} × ${cpus()[0]?.model.trim()} and ${Math.round(totalmem() / 1024 ** 3)} GB`;
	const time = (outcomes: readonly Ended[], size: number) => {
		const first = ways.slice(0, 1).flatMap((way) => outcomesOf(way, size) ?? []);
		const ratio = medianTime(outcomes) / medianTime(first.flatMap((outcome) => outcome ?? []));
		return `${duration(medianTime(outcomes))} (${ratio.toFixed(1)}×)`;
	};
	return [
		table(
			'Time',
			`From the start of the execution to its end, the median of all rounds (${rounds}). For parts: from the first start to the last end. In brackets: compared with the first row. The platform waits ${LATENCY_MS} ms before each response. The machine has ${machine}, shared by n8n, database, queue and platform. Compare the rows, not the seconds.`,
			time,
		),
		table(
			'Memory of the worker',
			`The highest memory of the process. An idle worker has ${megabytes(idleBytes)}. Each worker ran one execution at a time, with NODE_OPTIONS=--max-old-space-size=${HEAP_MB}. Without that limit, Node.js collects garbage later and takes more. “out of memory” means that the worker ended.`,
			(outcomes) => megabytes(Math.max(...outcomes.map(({ workerBytes }) => workerBytes))),
		),
		table(
			'The execution in the database',
			'What n8n saves for an execution that it keeps, before PostgreSQL compresses it. For parts: all executions together.',
			(outcomes) => megabytes(Math.max(...outcomes.map(({ executionBytes }) => executionBytes))),
		),
	].join('\n');
}

function medianTime(outcomes: readonly Ended[]): number {
	const times = outcomes.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
	return times[Math.floor(times.length / 2)] ?? NaN;
}

/** Shows the progress in one line of a terminal. */
function tell(step: string): void {
	const { stderr } = process;
	if (stderr.isTTY) stderr.write(`\r\x1b[K${step.slice(0, stderr.columns - 1)}`);
}

function duration(milliseconds: number): string {
	return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
	return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`;
}

function inWords(value: number): string {
	return value.toLocaleString('en');
}
