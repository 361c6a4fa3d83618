import { defaults, type Readers } from './contenders.mts';
import { type Case, measure, type Pace, type Timing } from './measure.mts';
import { measureMemory } from './memory.mts';
import { type Condition, expectedMs, inWords, longestMs } from './plan.mts';
import type { Platforms } from './platforms.mts';
import { print, tell } from './progress.mts';
import type { Contender, Memory } from './protocol.mts';
import type { PerformanceFigures } from '../figures.mts';
import { count, duration, megabytes, ratio, type Section } from './report.mts';

/** A way to read a list, with its name in the tables. */
interface Way {
	name: string;
	contender: Contender;
	/** The smallest fleet for this way. */
	from: number;
}

export const ways: readonly Way[] = [
	{ name: 'this node, defaults', contender: { kind: 'node' }, from: 0 },
	{ name: 'this node, 100 per page', contender: { kind: 'node', pageSize: 100 }, from: 0 },
	{ name: 'this node, 2,000 per page', contender: { kind: 'node', pageSize: 2000 }, from: 10_000 },
	{ name: 'HTTP Request, defaults (10 per page)', contender: { kind: 'http request' }, from: 0 },
	{ name: 'HTTP Request, 100 per page', contender: { kind: 'http request', pageSize: 100 }, from: 0 },
	{ name: 'HTTP Request, 2,000 per page', contender: { kind: 'http request', pageSize: 2000 }, from: 10_000 },
	{ name: "n8n's request helper, this node's defaults", contender: { kind: 'request helper' }, from: 0 },
	{ name: "n8n's request helper, 100 per page", contender: { kind: 'request helper', pageSize: 100 }, from: 0 },
	{ name: "undici, this node's defaults", contender: { kind: 'undici' }, from: 0 },
	{ name: 'undici, 100 per page', contender: { kind: 'undici', pageSize: 100 }, from: 0 },
	{ name: 'undici, 2,000 per page', contender: { kind: 'undici', pageSize: 2000 }, from: 10_000 },
];

const marks =
	'An asterisk marks a single run. A dash marks a case that did not run: it would take more than 75 seconds, or one page holds the fleet.';

interface Comparison {
	/** Tables for users. */
	forUsers: Section[];
	/** Targets first, then every other condition. */
	forMaintainers: Section[];
	figures: Pick<PerformanceFigures, 'lists' | 'memory'>;
}

/**
 * Compares every way to read a fleet.
 * @param runs how often each case runs at most
 * @param quick measures only what the targets need
 * @returns the tables, and the figures in them
 */
export async function compare(
	readers: Readers,
	platforms: Platforms,
	{ runs, quick }: { runs: number; quick: boolean },
): Promise<Comparison> {
	const pace: Pace = { runs: quick ? Math.min(runs, 2) : runs, budgetMs: quick ? 8_000 : 14_000, longestMs };
	const sizes = quick ? [10_000, 100_000] : [1_000, 10_000, 100_000];
	const latencies = quick ? [50] : [50, 0];
	const transports = quick ? [false] : [false, true];
	const timings = new Timings();
	const lists: Section[] = [];

	for (const tls of transports) {
		for (const latencyMs of latencies) {
			for (const size of sizes) {
				await platforms.setLatency(latencyMs);
				const condition = { size, latencyMs, tls };
				const fleet = platforms.of(size, tls);
				const cases = ways
					.filter(({ from }) => size >= from)
					.map(
						({ name, contender }): Case => ({
							name,
							expectedMs: expectedMs(contender, condition),
							run: async () => await readers.list(contender, fleet),
						}),
					);
				const about = `${count(size)} devices, ${inWords(latencyMs, tls)}`;
				const measured = await measure(cases, pace, (step) => tell(`${about} · ${step}`));
				for (const [name, timing] of measured) timings.set(name, condition, timing);
			}
			lists.push(print(listSection(timings, sizes, latencyMs, tls)));
		}
	}
	const getting = print(await compareGet(readers, platforms, pace, latencies));
	const memory = await compareMemory(platforms, quick ? 1 : Math.min(runs, 3));
	print(memory.section);
	// The first list is the one at 50 ms latency, without TLS.
	const [typical = getting, ...others] = lists;
	return {
		forUsers: [typical, getting, memory.section],
		forMaintainers: [print(targetSection(timings, transports, memory)), ...others],
		figures: { lists: timings.figures(), memory: memory.figures },
	};
}

function listSection(timings: Timings, sizes: readonly number[], latencyMs: number, tls: boolean): Section {
	const [reference] = ways;
	return {
		title: `All devices, ${inWords(latencyMs, tls)}`,
		words: `The number in brackets compares the time with that of this node with its defaults. ${marks}`,
		head: ['', ...sizes.map((size) => `${count(size)} devices`)],
		rows: ways.map(({ name }) => [
			name,
			...sizes.map((size) => {
				const condition = { size, latencyMs, tls };
				const ours: readonly [string, Condition] = [reference?.name ?? '', condition];
				return cell(timings.of(name, condition), timings.ratio([name, condition], ours));
			}),
		]),
	};
}

async function compareGet(
	readers: Readers,
	platforms: Platforms,
	pace: Pace,
	latencies: readonly number[],
): Promise<Section> {
	const contenders: readonly { name: string; contender: Contender }[] = [
		{ name: 'this node, defaults', contender: { kind: 'node' } },
		{ name: 'this node, one at a time', contender: { kind: 'node', parallel: 1 } },
		{ name: "undici, as many at a time as this node's defaults", contender: { kind: 'undici' } },
	];
	const fleet = platforms.of(1_000, false);
	const columns: Map<string, Timing>[] = [];
	for (const latencyMs of latencies) {
		await platforms.setLatency(latencyMs);
		const cases = contenders.map(({ name, contender }) => ({
			name,
			expectedMs: (fleet.serialNumbers.length * (latencyMs + 3)) / (contender.parallel ?? defaults.parallel),
			run: async () => await readers.get(contender, fleet),
		}));
		const about = `Get for 1,000 items, ${inWords(latencyMs, false)}`;
		columns.push(await measure(cases, pace, (step) => tell(`${about} · ${step}`)));
	}
	return {
		title: 'Get for 1,000 items',
		words: `The number in brackets compares the time with that of this node with its defaults. ${marks}`,
		head: ['', ...latencies.map((latencyMs) => inWords(latencyMs, false))],
		rows: contenders.map(({ name }) => [
			name,
			...columns.map((column) => {
				const [own, reference] = [column.get(name), column.get('this node, defaults')];
				return cell(own, (own?.median ?? NaN) / (reference?.median ?? NaN));
			}),
		]),
	};
}

interface MemoryComparison {
	section: Section;
	/** How much more memory this node needs for ten times the fleet. */
	growth: { peak: number; retained: number };
	figures: PerformanceFigures['memory'];
}

async function compareMemory(platforms: Platforms, runs: number): Promise<MemoryComparison> {
	const contenders: readonly { name: string; contender: Contender }[] = [
		{ name: 'this node, defaults', contender: { kind: 'node' } },
		{ name: "this node, 'Output' = Raw", contender: { kind: 'node', output: 'raw' } },
		{ name: 'HTTP Request, 2,000 per page', contender: { kind: 'http request', pageSize: 2000 } },
		{ name: "undici, this node's defaults", contender: { kind: 'undici' } },
	];
	const sizes = [10_000, 100_000] as const;
	await platforms.setLatency(0);
	const measured = new Map<string, Memory[]>();
	const key = (name: string, size: number) => `${name} ${size}`;
	for (let round = 1; round <= runs; round++) {
		for (const { name, contender } of contenders) {
			for (const size of sizes) {
				tell(`memory for ${count(size)} devices · round ${round} of ${runs} · ${name}`);
				const task = { contender, warmUp: platforms.of(1_000, false), fleet: platforms.of(size, false) };
				const taken = measured.get(key(name, size)) ?? [];
				measured.set(key(name, size), [...taken, await measureMemory(task)]);
				await platforms.setLatency(0);
			}
		}
	}
	const middle = (name: string, size: number, figure: 'peak' | 'retained') => {
		const figures = (measured.get(key(name, size)) ?? []).map((memory) => memory[figure]);
		return figures.sort((one, other) => one - other)[Math.floor(figures.length / 2)] ?? NaN;
	};
	const growth = (name: string, figure: 'peak' | 'retained') =>
		middle(name, sizes[1], figure) / middle(name, sizes[0], figure);
	return {
		section: {
			title: 'Memory',
			words:
				'The memory that a new process needs in addition to n8n and a small list. Peak: the most memory that it had. Output: the memory of the list, after garbage collection.',
			head: [
				'',
				...sizes.map((size) => `peak, ${count(size)}`),
				'growth',
				...sizes.map((size) => `output, ${count(size)}`),
				'growth',
			],
			rows: contenders.map(({ name }) => [
				name,
				...(['peak', 'retained'] as const).flatMap((figure) => [
					...sizes.map((size) => megabytes(middle(name, size, figure))),
					ratio(growth(name, figure)),
				]),
			]),
		},
		growth: {
			peak: growth('this node, defaults', 'peak'),
			retained: growth('this node, defaults', 'retained'),
		},
		figures: contenders.flatMap(({ name }) =>
			sizes.map((devices) => ({
				way: name,
				devices,
				peakBytes: middle(name, devices, 'peak'),
				outputBytes: middle(name, devices, 'retained'),
			})),
		),
	};
}

function targetSection(timings: Timings, transports: readonly boolean[], { growth }: MemoryComparison): Section {
	const at = (size: number, tls = false): Condition => ({ size, latencyMs: 50, tls });
	const against = (theirs: string, ours: string, condition: Condition) =>
		timings.ratio([theirs, condition], [ours, condition]);
	const atLeast = (what: string, least: number, measured: number | undefined) =>
		verdict(what, `≥ ${least}×`, measured, (value) => value >= least);
	const atMost = (what: string, most: number, measured: number | undefined) =>
		verdict(what, `≤ ${most}×`, measured, (value) => value <= most);
	const limits = transports.flatMap((tls) =>
		[
			{ paging: '100 per page', ours: 'this node, 100 per page', size: 10_000 },
			{ paging: "this node's defaults", ours: 'this node, defaults', size: 10_000 },
			{ paging: "this node's defaults", ours: 'this node, defaults', size: 100_000 },
		].map(({ paging, ours, size }) => {
			const what = `time of n8n's request helper, ${count(size)} devices, ${paging}${tls ? ', TLS' : ''}`;
			return atMost(what, 1.1, against(ours, `n8n's request helper, ${paging}`, at(size, tls)));
		}),
	);
	return {
		title: 'Targets',
		words:
			"The latency is 50 ms. Rows without “TLS” use plain HTTP. n8n's request helper is the limit for a node: it sends as many requests at a time, and does nothing else. Like every node, it opens a connection for each request. undici reuses its connections, which no node can do.",
		head: ['', 'target', 'measured', ''],
		rows: [
			atLeast(
				'faster than HTTP Request, 10,000 devices, both 100 per page',
				5,
				against('HTTP Request, 100 per page', 'this node, 100 per page', at(10_000)),
			),
			atLeast(
				'faster than HTTP Request, 100,000 devices, both 2,000 per page',
				3,
				against('HTTP Request, 2,000 per page', 'this node, 2,000 per page', at(100_000)),
			),
			atLeast(
				'faster than HTTP Request, 10,000 devices, both with their defaults',
				100,
				against('HTTP Request, defaults (10 per page)', 'this node, defaults', at(10_000)),
			),
			...limits,
			atMost(
				'growth of time from 10,000 to 100,000 devices, defaults',
				10.5,
				timings.ratio(['this node, defaults', at(100_000)], ['this node, defaults', at(10_000)]),
			),
			atMost('growth of peak memory from 10,000 to 100,000 devices', 10.5, growth.peak),
			atMost('growth of the memory of the output from 10,000 to 100,000 devices', 10.5, growth.retained),
		],
	};
}

function verdict(
	what: string,
	target: string,
	measured: number | undefined,
	isMet: (value: number) => boolean,
): string[] {
	if (measured === undefined) return [what, target, '–', 'not measured'];
	return [what, target, ratio(measured), isMet(measured) ? 'met' : 'missed'];
}

/** All measured times, by way and condition. */
class Timings {
	private readonly all = new Map<string, { way: string; condition: Condition; timing: Timing }>();

	set(way: string, condition: Condition, timing: Timing): void {
		this.all.set(keyOf(way, condition), { way, condition, timing });
	}

	of(way: string, condition: Condition): Timing | undefined {
		return this.all.get(keyOf(way, condition))?.timing;
	}

	/** Every case that was run. */
	figures(): PerformanceFigures['lists'] {
		return [...this.all.values()].flatMap(({ way, condition, timing }) => {
			const { size, latencyMs, tls } = condition;
			return timing.median === undefined
				? []
				: { way, devices: size, latencyMs, tls, milliseconds: Math.round(timing.median) };
		});
	}

	/** Returns the time of `one` divided by that of `other`; undefined if either was not measured. */
	ratio(one: readonly [string, Condition], other: readonly [string, Condition]): number | undefined {
		const [ours, theirs] = [this.of(...one)?.median, this.of(...other)?.median];
		return ours === undefined || theirs === undefined ? undefined : ours / theirs;
	}
}

function keyOf(way: string, { size, latencyMs, tls }: Condition): string {
	return JSON.stringify([way, size, latencyMs, tls]);
}

function cell(timing: Timing | undefined, factor: number | undefined): string {
	if (timing?.median === undefined || factor === undefined) return '–';
	return `${duration(timing.median)} (${ratio(factor)})${timing.runs === 1 ? ' *' : ''}`;
}
