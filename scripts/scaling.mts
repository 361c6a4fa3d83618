/**
 * `npm run scaling`: measures the cost of reading a whole fleet in a real n8n in queue mode: time, memory of main process and
 * worker, and the size of the execution in the database. Needs PostgreSQL and Redis, like `npm run test:e2e -- --queue`. About ten minutes.
 */
import assert from 'node:assert/strict';
import { constants } from 'node:buffer';
import { Command } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { type Platforms, startPlatforms } from './bench/platforms.mts';
import { tell } from './bench/progress.mts';
import { asText, count, duration, megabytes, type Section } from './bench/report.mts';
import { fleetFigures, writeBetweenMarks } from './figures.mts';
import { MemoryWatch } from './scaling/memory.mts';
import { comparing, partsOf, ways, workflowOf } from './scaling/ways.mts';
import { exampleWorkflows } from '../testbed/n8n/examples.mts';
import { provideN8n } from '../testbed/n8n/host.mts';
import { type Cost, layFoundation, QueueMode } from '../testbed/n8n/queueMode.mts';
import { type Services, Unreachable } from '../testbed/n8n/services.mts';
import { aborted, stopSignal } from '../testbed/stopSignal.mts';
import { removing } from '../testbed/removing.mts';

const { write, quick } = new Command('npm run scaling --')
	.description('Measures what reading a whole fleet costs in a real n8n in queue mode.')
	.option('--write', 'writes the tables into docs/large-fleets.md, and the figures of its chart', false)
	.option('--quick', 'leaves the largest fleet out')
	.allowExcessArguments(false)
	.parse()
	.opts<{ write: boolean; quick?: true }>();

const PAGE = 'docs/large-fleets.md';

const SIZES = quick ? [1_000, 10_000] : [1_000, 5_000, 10_000, 100_000];
const COMPUTED = 1_000_000;
const LATENCY_MS = 50;
const WORKERS = 2;
/** Without a limit, Node.js keeps garbage while the machine has free memory. */
const HEAP_MB = 640;
const PART = 10_000;
const PARTS_NAME = `in parts of ${count(PART)}, over ${WORKERS} workers`;
const TAKES_MS = 300_000;

/** The worker ran out of memory. */
const TOO_MUCH = 'out of memory';

/** The figures of one execution, or of all parts together. */
interface Figures extends Omit<Cost, 'status'> {
	/** Most memory of the worker that ran it; with several workers, the highest. */
	worker: number;
	main: number;
	/** Most memory of the main process while the editor opened the execution. */
	opened: number;
}

type Outcome = Figures | typeof TOO_MUCH;

const isStopping = stopSignal();
let services: Services | undefined;
try {
	if (write && quick) throw new Error('--write needs all sizes: leave --quick out.');
	await Promise.race([run(), aborted(isStopping)]);
} catch (error) {
	console.error(error instanceof Unreachable ? error.message : error);
	process.exitCode = 1;
} finally {
	if (isStopping.aborted) console.log('\nStopping …');
	await services?.stop();
}
process.exit(isStopping.aborted ? 1 : process.exitCode);

async function run(): Promise<void> {
	const foundation = await layFoundation();
	({ services } = foundation);
	const host = await provideN8n(tell);
	tell('starting the platforms');
	const platforms = await startPlatforms(SIZES);
	await services.add(() => ({ stop: async () => platforms.stop() }));
	await platforms.setLatency(LATENCY_MS);
	const folder = await mkdtemp(join(tmpdir(), 'n8n-scaling-'));
	await services.add(() => ({ stop: async () => await rm(folder, removing) }));
	const fleets = SIZES.map((size) => ({ id: `fleet${size}`, size, ...pick(platforms, size) }));
	const example = (await exampleWorkflows()).get('parts-over-workers');
	assert(example);
	const single = fleets.flatMap((fleet) =>
		[...ways, comparing].filter(({ largest }) => fleet.size <= largest).map((way) => workflowOf(way, fleet)),
	);
	const inParts = fleets.map((fleet) => partsOf(example, fleet, PART));
	tell('starting n8n');
	const n8n = await QueueMode.start(host, folder, foundation, {
		credentials: fleets.map(({ id, baseUrl, apiKey }) => ({
			id,
			name: id,
			type: 'deviceManagementApi',
			data: { baseUrl, authentication: 'apiKey', apiKey },
		})),
		workflows: [...single, ...inParts],
		workers: WORKERS,
		concurrency: 1,
		settings: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
	});
	const idle = await idleMemory(n8n);
	const measured = new Map<string, Map<number, Outcome>>();
	for (const fleet of fleets) {
		for (const way of [...ways, comparing]) {
			if (fleet.size > way.largest) continue;
			tell(`${way.name}, ${count(fleet.size)} devices`);
			note(measured, way.name, fleet.size, await measure(n8n, `${way.id}-${fleet.id}`, 1, startByWebhook));
		}
		tell(`${PARTS_NAME}, ${count(fleet.size)} devices`);
		const parts = Math.ceil(fleet.size / PART);
		note(measured, PARTS_NAME, fleet.size, await measure(n8n, `parts-${fleet.id}`, parts, startByHand));
	}
	const sections = report(measured, idle);
	tell('');
	for (const section of sections) process.stdout.write(asText(section));
	if (!write) return;
	await fleetFigures.write({ runs: figuresOf(measured) });
	await writeBetweenMarks(PAGE, '', sections);
}

function pick(platforms: Platforms, size: number) {
	const { baseUrl, apiKey } = platforms.of(size, false);
	return { baseUrl, apiKey };
}

function note(measured: Map<string, Map<number, Outcome>>, way: string, size: number, outcome: Outcome): void {
	measured.set(way, (measured.get(way) ?? new Map<number, Outcome>()).set(size, outcome));
}

/**
 * Runs a workflow on new workers, so that no run affects the next, and waits for its end.
 * @param executions the number of its executions on workers
 */
async function measure(
	n8n: QueueMode,
	workflow: string,
	executions: number,
	start: (n8n: QueueMode, workflow: string) => Promise<void>,
): Promise<Outcome> {
	await Promise.all(
		n8n.workers.map(async (worker) => {
			await worker.kill();
			await worker.restart();
		}),
	);
	const { main, workers } = n8n;
	const watch = new MemoryWatch(pidsOf([main, ...workers]));
	const before = Date.now();
	await start(n8n, workflow);
	const costs = await pWaitFor<Cost[] | typeof TOO_MUCH>(
		async () => {
			if (watch.hasLost) return pWaitFor.resolveWith<Cost[] | typeof TOO_MUCH>(TOO_MUCH);
			const ran = (await n8n.executions(workflow)).filter(({ id }) =>
				workers.some((worker) => worker.executions.includes(id)),
			);
			const ended = await Promise.all(ran.map(async ({ id }) => await n8n.cost(id)));
			const known = ended.flatMap((cost) => cost ?? []);
			return known.length === executions && pWaitFor.resolveWith<Cost[] | typeof TOO_MUCH>(known);
		},
		{ interval: 100, timeout: { milliseconds: TAKES_MS, message: `${workflow} does not end` } },
	);
	const wallMs = Date.now() - before;
	const peaks = await watch.stop();
	if (costs === TOO_MUCH) return TOO_MUCH;
	for (const { status } of costs) assert.equal(status, 'success', `${workflow} ended with ${status}`);

	const [first] = await n8n.executions(workflow);
	const opening = new MemoryWatch(pidsOf([main]));
	if (executions === 1 && first !== undefined) await main.results(first.id);
	const opened = await opening.stop();
	return {
		milliseconds: executions === 1 ? Math.max(...costs.map(({ milliseconds }) => milliseconds)) : wallMs,
		bytes: costs.reduce((sum, { bytes }) => sum + bytes, 0),
		worker: peakOf(workers, peaks),
		main: peakOf([main], peaks),
		opened: peakOf([main], opened),
	};
}

async function startByWebhook(n8n: QueueMode, workflow: string): Promise<void> {
	const { status } = await n8n.main.webhook(workflow, {});
	assert.equal(status, 200);
}

async function startByHand(n8n: QueueMode, workflow: string): Promise<void> {
	await n8n.main.execute(workflow, 'Start');
}

async function idleMemory({ main, workers }: QueueMode): Promise<{ main: number; worker: number }> {
	const watch = new MemoryWatch(pidsOf([main, ...workers]));
	const peaks = await watch.stop();
	return { main: peakOf([main], peaks), worker: peakOf(workers, peaks) };
}

/** Returns the highest value of all processes. */
function peakOf(processes: ReadonlyArray<{ pid: number | undefined }>, peaks: ReadonlyMap<number, number>): number {
	return Math.max(...pidsOf(processes).map((pid) => peaks.get(pid) ?? 0));
}

function pidsOf(processes: ReadonlyArray<{ pid: number | undefined }>): number[] {
	return processes.flatMap(({ pid }) => pid ?? []);
}

function report(
	measured: ReadonlyMap<string, ReadonlyMap<number, Outcome>>,
	idle: { main: number; worker: number },
): Section[] {
	const table = (title: string, words: string, key: keyof Figures, inWords: (value: number) => string): Section => ({
		title,
		words,
		head: ['', ...SIZES.map((size) => count(size)), `${count(COMPUTED)} (computed)`],
		rows: [...measured].map(([name, bySize]) => [
			name,
			...SIZES.map((size) => cellOf(bySize.get(size), key, inWords)),
			// A worker has only one part in memory, for any number of parts.
			key === 'worker' && name === PARTS_NAME ? 'as before' : computed(bySize, key, inWords),
		]),
	});
	const processor = cpus()[0]?.model.trim() ?? 'unknown';
	return [
		table(
			'Time',
			`From the start of the execution to its end. For parts: from the first start to the last end. The platform waits ${LATENCY_MS} ms before each response. The machine has ${cpus().length} × ${processor} and ${Math.round(totalmem() / 1024 ** 3)} GB, shared by n8n, database, queue and platform. Compare the rows, not the seconds.`,
			'milliseconds',
			duration,
		),
		table(
			'Memory of the worker',
			`The highest memory of the process. An idle worker has ${megabytes(idle.worker)}. Each worker ran one execution at a time, with NODE_OPTIONS=--max-old-space-size=${HEAP_MB}. Without that limit, Node.js collects garbage later and takes more. “${TOO_MUCH}” means that the worker ended.`,
			'worker',
			megabytes,
		),
		table(
			'The execution in the database',
			'What n8n saves for an execution that it keeps, before PostgreSQL compresses it. For parts: all executions together.',
			'bytes',
			// n8n saves an execution as one text.
			(bytes) => (bytes > constants.MAX_STRING_LENGTH ? 'too large to save' : megabytes(bytes)),
		),
		table(
			'Memory of the main process while you open the execution',
			`The highest memory of the main process while n8n's editor loaded the execution. For parts, none was opened. The main process had ${megabytes(idle.main)} right after its start, and later less at times. It needed ${megabytes(mostOf(measured, 'main'))} at most while the workers ran the executions.`,
			'opened',
			megabytes,
		),
	];
}

function mostOf(measured: ReadonlyMap<string, ReadonlyMap<number, Outcome>>, key: keyof Figures): number {
	return Math.max(
		...[...measured.values()].flatMap((bySize) =>
			[...bySize.values()].flatMap((outcome) => (outcome === TOO_MUCH ? [] : outcome[key])),
		),
	);
}

function cellOf(outcome: Outcome | undefined, key: keyof Figures, inWords: (value: number) => string): string {
	if (outcome === undefined) return '–';
	return outcome === TOO_MUCH ? TOO_MUCH : inWords(outcome[key]);
}

/** Computes the next value from the growth between the last two sizes. */
function computed(
	bySize: ReadonlyMap<number, Outcome>,
	key: keyof Figures,
	inWords: (value: number) => string,
): string {
	const [smaller, larger] = SIZES.slice(-2);
	const [before, after] = [bySize.get(smaller ?? 0), bySize.get(larger ?? 0)];
	if (smaller === undefined || larger === undefined || before === undefined || after === undefined) return '–';
	if (before === TOO_MUCH || after === TOO_MUCH) return TOO_MUCH;
	const [one, other] = [before[key], after[key]];
	return inWords(other + (Math.max(0, other - one) * (COMPUTED - larger)) / (larger - smaller));
}

function figuresOf(measured: ReadonlyMap<string, ReadonlyMap<number, Outcome>>) {
	return [...measured].flatMap(([way, bySize]) =>
		[...bySize].map(([devices, outcome]) => {
			if (outcome === TOO_MUCH) return { way, devices, outOfMemory: true as const };
			const { milliseconds, worker, bytes, opened } = outcome;
			return { way, devices, milliseconds, workerBytes: worker, executionBytes: bytes, openedBytes: opened };
		}),
	);
}
