/**
 * `npm run scaling`: measures the cost of reading a whole fleet in a real n8n in queue mode: time, memory of the
 * worker, and the size of the execution in the database. Needs PostgreSQL and Redis, like `npm run test:e2e -- --queue`. About ten minutes.
 */
import assert from 'node:assert/strict';
import { Command } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { LATENCY_MS, startPlatforms } from './bench/platforms.mts';
import * as figures from './figures.mts';
import { count, print, tell } from './figures.mts';
import { MemoryWatch } from './scaling/memory.mts';
import { partsOf, ways, workflowOf } from './scaling/ways.mts';
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

const SIZES = quick ? [1_000, 10_000] : [1_000, 5_000, 10_000, 100_000];
const WORKERS = 2;
/** Without a limit, Node.js keeps garbage while the machine has free memory. */
const HEAP_MB = 640;
const PART = 10_000;
const PARTS_NAME = `in parts of ${count(PART)}, over ${WORKERS} workers`;
const TAKES_MS = 300_000;

/** The worker ran out of memory. */
const TOO_MUCH = 'out of memory';

type Runs = figures.Fleets['runs'];

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
	const publication = await figures.Publication.open('fleets', 'docs/large-fleets.md');
	const foundation = await layFoundation();
	({ services } = foundation);
	const host = await provideN8n(tell);
	tell('starting the platforms');
	const platforms = await startPlatforms(SIZES);
	await services.add(() => ({ stop: async () => platforms.stop() }));
	const folder = await mkdtemp(join(tmpdir(), 'n8n-scaling-'));
	await services.add(() => ({ stop: async () => await rm(folder, removing) }));
	const fleets = SIZES.map((size) => ({ ...platforms.of(size), id: `fleet${size}` }));
	const example = (await exampleWorkflows()).get('parts-over-workers');
	assert(example);
	const waysFor = (size: number) => ways.filter(({ largest = Infinity }) => size <= largest);
	const single = fleets.flatMap((fleet) => waysFor(fleet.size).map((way) => workflowOf(way, fleet)));
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
		concurrency: 1,
		settings: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
	});
	const idle = peakOf(await new MemoryWatch(pidsOf(n8n)).stop());
	const runs: Runs = [];
	const add = async (way: string, devices: number, ...how: Parameters<typeof measure>) => {
		tell(`${way}, ${count(devices)} devices`);
		runs.push({ way, devices, ...(await measure(...how)) });
	};
	for (const { id: fleet, size } of fleets) {
		for (const { id, name } of waysFor(size)) {
			await add(name, size, n8n, `${id}-${fleet}`, 1, async (workflow) => {
				assert.equal((await n8n.main.webhook(workflow, {})).status, 200);
			});
		}
		await add(PARTS_NAME, size, n8n, `parts-${fleet}`, Math.ceil(size / PART), async (workflow) => {
			await n8n.main.execute(workflow, 'Start');
		});
	}
	const sections = report(runs, idle);
	sections.forEach(print);
	if (write) await publication.write({ runs }, sections);
}

/**
 * Runs a workflow on new workers, so that no run affects the next, and waits for its end.
 * @param executions the number of its executions on workers
 */
async function measure(
	n8n: QueueMode,
	workflow: string,
	executions: number,
	start: (workflow: string) => Promise<void>,
): Promise<figures.FleetOutcome> {
	const { workers } = n8n;
	await Promise.all(workers.map(async (worker) => await worker.kill().then(async () => await worker.restart())));
	const watch = new MemoryWatch(pidsOf(n8n));
	const began = Date.now();
	await start(workflow);
	const costs = await pWaitFor<Cost[] | typeof TOO_MUCH>(
		async () => {
			if (watch.hasLost) return pWaitFor.resolveWith<Cost[] | typeof TOO_MUCH>(TOO_MUCH);
			const ran = (await n8n.executions(workflow)).filter(({ id }) =>
				workers.some((worker) => worker.executions.includes(id)),
			);
			const known = (await Promise.all(ran.map(async ({ id }) => await n8n.cost(id)))).flatMap((cost) => cost ?? []);
			return known.length === executions && pWaitFor.resolveWith<Cost[] | typeof TOO_MUCH>(known);
		},
		{ interval: 100, timeout: { milliseconds: TAKES_MS, message: `${workflow} does not end` } },
	);
	const wallMs = Date.now() - began;
	const peaks = await watch.stop();
	if (costs === TOO_MUCH) return { outOfMemory: true };
	for (const { status } of costs) assert.equal(status, 'success', `${workflow} ended with ${status}`);
	return {
		milliseconds: executions === 1 ? Math.max(...costs.map(({ milliseconds }) => milliseconds)) : wallMs,
		workerBytes: peakOf(peaks),
		executionBytes: costs.reduce((sum, { bytes }) => sum + bytes, 0),
	};
}

function peakOf(peaks: ReadonlyMap<number, number>): number {
	return Math.max(0, ...peaks.values());
}

function pidsOf({ workers }: QueueMode): number[] {
	return workers.flatMap(({ pid }) => pid ?? []);
}

function report(runs: Runs, idleWorker: number): figures.Section[] {
	const sections: ReadonlyArray<
		[title: string, key: 'milliseconds' | 'workerBytes' | 'executionBytes', (value: number) => string, words: string]
	> = [
		[
			'Time',
			'milliseconds',
			figures.duration,
			`From the start of the execution to its end. For parts: from the first start to the last end. The platform waits ${LATENCY_MS} ms before each response. The machine has ${figures.machine().join(' and ')}, shared by n8n, database, queue and platform. Compare the rows, not the seconds.`,
		],
		[
			'Memory of the worker',
			'workerBytes',
			figures.megabytes,
			`The highest memory of the process. An idle worker has ${figures.megabytes(idleWorker)}. Each worker ran one execution at a time, with NODE_OPTIONS=--max-old-space-size=${HEAP_MB}. Without that limit, Node.js collects garbage later and takes more. “${TOO_MUCH}” means that the worker ended.`,
		],
		[
			'The execution in the database',
			'executionBytes',
			figures.megabytes,
			'What n8n saves for an execution that it keeps, before PostgreSQL compresses it. For parts: all executions together.',
		],
	];
	const head = ['', ...SIZES.map((size) => count(size))];
	return sections.map(([title, key, inWords, words]) => {
		const cell = (way: string, size: number) => {
			const run = runs.find((each) => each.way === way && each.devices === size);
			if (run === undefined) return '–';
			return 'outOfMemory' in run ? TOO_MUCH : inWords(run[key]);
		};
		const names = [...new Set(runs.map(({ way }) => way))];
		return { title, words, head, rows: names.map((way) => [way, ...SIZES.map((size) => cell(way, size))]) };
	});
}
