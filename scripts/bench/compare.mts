import { defaults, type Readers } from './contenders.mts';
import { type Case, measure, type Pace, type Timing } from './measure.mts';
import { measureMemory } from './memory.mts';
import { type Condition, expectedMs, inWords, longestMs } from './plan.mts';
import type { Platforms } from './platforms.mts';
import { print, tell } from './progress.mts';
import type { Contender, Memory } from './protocol.mts';
import { count, duration, megabytes, ratio, type Section } from './report.mts';

/** A way to read a list, under the name that it has in the tables. */
interface Way {
	name: string;
	contender: Contender;
	/** The smallest fleet that it makes sense for. */
	from: number;
}

export const ways: readonly Way[] = [
	{ name: 'this node, defaults', contender: { kind: 'node' }, from: 0 },
	{ name: 'this node, 100 per page', contender: { kind: 'node', pageSize: 100 }, from: 0 },
	{ name: 'this node, 2,000 per page', contender: { kind: 'node', pageSize: 2000 }, from: 10_000 },
	{ name: 'HTTP Request, defaults (10 per page)', contender: { kind: 'http request' }, from: 0 },
	{ name: 'HTTP Request, 100 per page', contender: { kind: 'http request', pageSize: 100 }, from: 0 },
	{ name: 'HTTP Request, 2,000 per page', contender: { kind: 'http request', pageSize: 2000 }, from: 10_000 },
	{ name: "undici, this node's defaults", contender: { kind: 'undici' }, from: 0 },
	{ name: 'undici, 100 per page', contender: { kind: 'undici', pageSize: 100 }, from: 0 },
	{ name: 'undici, 2,000 per page', contender: { kind: 'undici', pageSize: 2000 }, from: 10_000 },
];

const marks = '* a single run, as it takes long; – left out, as it would take more than 75 seconds, or the fleet fits one page.';

/**
 * Compares every way to read a fleet.
 * @param runs how often each case runs at most
 * @param quick measures only what the targets need
 * @returns the tables, the one of the targets first
 */
export async function compare(
	readers: Readers,
	platforms: Platforms,
	{ runs, quick }: { runs: number; quick: boolean },
): Promise<Section[]> {
	const pace: Pace = { runs: quick ? Math.min(runs, 2) : runs, budgetMs: quick ? 8_000 : 14_000, longestMs };
	const sizes = quick ? [10_000, 100_000] : [1_000, 10_000, 100_000];
	const latencies = quick ? [50] : [50, 0];
	const transports = quick ? [false] : [false, true];
	const timings = new Timings();
	const sections: Section[] = [];

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
			sections.push(print(listSection(timings, sizes, latencyMs, tls)));
		}
	}
	const getting = await compareGet(readers, platforms, pace, latencies);
	sections.push(print(getting));
	const memory = await compareMemory(platforms, quick ? 1 : Math.min(runs, 3));
	sections.push(print(memory.section));
	return [print(targetSection(timings, transports, memory)), ...sections];
}

function listSection(timings: Timings, sizes: readonly number[], latencyMs: number, tls: boolean): Section {
	const [reference] = ways;
	return {
		title: `All devices, ${inWords(latencyMs, tls)}`,
		words: `In brackets: as many times as long as this node with its defaults. ${marks}`,
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
		words: `In brackets: as many times as long as this node with its defaults. ${marks}`,
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
	/** How many times as much this node takes for ten times the fleet. */
	growth: { peak: number; retained: number };
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
				'Of a fresh process, above what it needed after n8n and a small list. Peak: the most the process had from the system. Output: what stays after a garbage collection, which is the list itself.',
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
	const undici = transports.flatMap((tls) =>
		[
			{ sort: "this node's defaults", size: 10_000 },
			{ sort: '100 per page', size: 10_000 },
			{ sort: "this node's defaults", size: 100_000 },
			{ sort: '2,000 per page', size: 100_000 },
		].map(({ sort, size }) => {
			const ours = sort === "this node's defaults" ? 'this node, defaults' : `this node, ${sort}`;
			const measured = against(ours, `undici, ${sort}`, at(size, tls));
			return atMost(`time of undici, ${count(size)} devices, ${sort}${tls ? ', TLS' : ''}`, 1.25, measured);
		}),
	);
	return {
		title: 'Targets',
		words:
			"At 50 ms latency, over plain HTTP unless it says TLS. What stands between this node and undici: with large pages both are busy parsing JSON, and this node also shapes each device, tells devices apart by their ids and checks how deep an answer nests, all of which makes garbage; and n8n opens a connection for every request, which over TLS means a handshake for every request.",
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
			...undici,
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
	return [what, target, ratio(measured), isMet(measured) ? 'met' : 'MISSED'];
}

/** Everything that was measured, by what it was. */
class Timings {
	private readonly all = new Map<string, Timing>();

	set(way: string, condition: Condition, timing: Timing): void {
		this.all.set(JSON.stringify([way, condition.size, condition.latencyMs, condition.tls]), timing);
	}

	of(way: string, { size, latencyMs, tls }: Condition): Timing | undefined {
		return this.all.get(JSON.stringify([way, size, latencyMs, tls]));
	}

	/** How many times as long `one` took as `other`; undefined when either was not measured. */
	ratio(one: readonly [string, Condition], other: readonly [string, Condition]): number | undefined {
		const [ours, theirs] = [this.of(...one)?.median, this.of(...other)?.median];
		return ours === undefined || theirs === undefined ? undefined : ours / theirs;
	}
}

function cell(timing: Timing | undefined, factor: number | undefined): string {
	if (timing?.median === undefined || factor === undefined) return '–';
	return `${duration(timing.median)} (${ratio(factor)})${timing.runs === 1 ? ' *' : ''}`;
}
