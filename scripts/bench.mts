/**
 * `npm run bench`: measures how fast fleets are read, in n8n's engine with embedded platforms. All contenders run in turns in the
 * same run. Compare the ratios, not the times.
 */
import { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod/v4';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { type Contender, defaults, Readers } from './bench/contenders.mts';
import { LATENCY_MS, type Platforms, startPlatforms } from './bench/platforms.mts';
import { count, duration, machine, type Performance, print, Publication, type Section, tell } from './figures.mts';
import { positive } from './flags.mts';

const SIZES = [1_000, 10_000, 100_000];
const HEAD = ['', ...SIZES.map((size) => `${count(size)} devices`)];

/** A way to read a list: its name in the tables, and its largest fleet, if larger ones take too long. */
type Way = Contender & { name: string; largest?: number };

const [ours, ours100, ours2000] = ['this node, defaults', 'this node, 100 per page', 'this node, 2,000 per page'];
const http = 'HTTP Request, defaults (10 per page)';
const [http100, http2000] = ['HTTP Request, 100 per page', 'HTTP Request, 2,000 per page'];
const [limit, limit100] = ["n8n's request helper, this node's defaults", "n8n's request helper, 100 per page"];
const ways: readonly Way[] = [
	{ name: ours, kind: 'node' },
	{ name: ours100, kind: 'node', pageSize: 100 },
	{ name: ours2000, kind: 'node', pageSize: 2000 },
	{ name: http, kind: 'http request', largest: 10_000 },
	{ name: http100, kind: 'http request', pageSize: 100 },
	{ name: http2000, kind: 'http request', pageSize: 2000 },
	{ name: limit, kind: 'request helper' },
	{ name: limit100, kind: 'request helper', pageSize: 100 },
];

/** What the median times must show: `one` takes at least or at most so many times as long as `other`. */
const targets: ReadonlyArray<{ what: string; one: string; other: string; devices: number; least?: number }> = [
	{ what: 'HTTP Request, both 100 per page', one: http100, other: ours100, devices: 10_000, least: 5 },
	{ what: 'HTTP Request, both 2,000 per page', one: http2000, other: ours2000, devices: 100_000, least: 3 },
	{ what: 'HTTP Request, both with their defaults', one: http, other: ours, devices: 10_000, least: 100 },
	{ what: 'this node and the limit, 100 per page', one: ours100, other: limit100, devices: 10_000 },
	{ what: 'this node and the limit, defaults', one: ours, other: limit, devices: 10_000 },
	{ what: 'this node and the limit, defaults', one: ours, other: limit, devices: 100_000 },
];
const MOST = 1.1;

const triggers = [
	{ way: 'trigger, created and updated, quiet', events: ['deviceCreated', 'deviceUpdated'] },
	{
		way: 'trigger, both statuses and removed, quiet',
		events: ['deviceRemoved', 'onlineStatusChanged', 'statusChanged'],
	},
];

const flags = new Command('npm run bench --')
	.description("Measures how fast fleets are read, against n8n's HTTP Request node and n8n's bare request helper.")
	.option('--runs <number>', 'most runs of each case; the tables show the median', positive, 5)
	.option('--quick', 'leaves HTTP Request out, which takes half of the time', false)
	.option('--write', 'writes the tables into the docs, and the figures of charts', false)
	.addHelpText('after', '\nA full run takes about six minutes, --quick three.')
	.allowExcessArguments(false)
	.showHelpAfterError('--help lists the flags.')
	.parse()
	.opts<{ runs: number; quick: boolean; write: boolean }>();

setFlagsFromString('--expose-gc');
/** Collects garbage before each run, so that no run pays for the one before. */
const collectGarbage: () => void = runInNewContext('gc');
/** A case that took so long in all its runs does not run again. */
const ENOUGH_MS = 20_000;

try {
	await bench();
} catch (error) {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
}

async function bench(): Promise<void> {
	if (flags.write && flags.quick) throw new Error('--write needs a full run: leave --quick out.');
	const publication = await Publication.open('performance', 'docs/maintainers/benchmark.md');
	tell('starting the platforms');
	const platforms = await startPlatforms(SIZES);
	const readers = await Readers.load();
	try {
		// Everything once, so that just-in-time compilation does not slow down the first case.
		for (const way of ways.filter(({ largest }) => largest === undefined)) {
			tell(`warming up · ${way.name}`);
			await readers.list(way, platforms.of(1_000));
		}
		const lists = await measureLists(readers, platforms);
		const polls = await measurePolls(readers, platforms);
		const sections = [listsSection(lists), targetsSection(lists), pollsSection(polls)];
		sections.forEach(print);
		if (flags.write) await publication.write({ lists, polls }, sections, [await machineWords()]);
	} finally {
		await readers.close();
		platforms.stop();
	}
}

/** Measures every way to read a fleet, and with TLS what the targets compare with the limit. */
async function measureLists(readers: Readers, platforms: Platforms): Promise<Performance['lists']> {
	const lists: Performance['lists'] = [];
	for (const tls of [false, true]) {
		for (const devices of SIZES) {
			const compared = targets.filter((target) => target.devices === devices && target.least === undefined);
			const cases = ways
				.filter(({ kind, largest = Infinity }) => devices <= largest && !(flags.quick && kind === 'http request'))
				.filter(({ name }) => !tls || compared.some(({ one, other }) => name === one || name === other))
				.map((way) => [way.name, async () => await readers.list(way, platforms.of(devices, tls))] as const);
			const times = await measure(new Map(cases), `${count(devices)} devices${tls ? ', TLS' : ''}`);
			for (const [way, milliseconds] of times) lists.push({ way, devices, tls, milliseconds });
		}
	}
	return lists;
}

/** Measures polls of unchanged fleets. */
async function measurePolls(readers: Readers, platforms: Platforms): Promise<Performance['polls']> {
	const polls: Performance['polls'] = [];
	for (const devices of SIZES) {
		const requests = new Map<string, number>();
		const cases = new Map<string, () => Promise<void>>();
		for (const { way, events } of triggers) {
			const poll = await readers.trigger(platforms.of(devices), way, events);
			cases.set(way, async () => void requests.set(way, await poll()));
		}
		for (const [way, milliseconds] of await measure(cases, `polls of ${count(devices)} devices`)) {
			polls.push({ way, devices, requests: requests.get(way) ?? NaN, milliseconds });
		}
	}
	return polls;
}

/**
 * Runs cases in rounds, each case once per round, so that other load on the machine affects all of them equally.
 * @returns the median time of each case, in milliseconds
 */
async function measure(cases: ReadonlyMap<string, () => Promise<void>>, about: string): Promise<Map<string, number>> {
	const times = new Map<string, number[]>([...cases.keys()].map((name) => [name, []]));
	for (let round = 1; round <= flags.runs; round++) {
		for (const [name, run] of cases) {
			const taken = times.get(name) ?? [];
			if (taken.reduce((sum, time) => sum + time, 0) > ENOUGH_MS) continue;
			tell(`${about} · round ${round} of ${flags.runs} · ${name}`);
			collectGarbage();
			const began = performance.now();
			await run();
			taken.push(performance.now() - began);
		}
	}
	return new Map([...times].map(([name, taken]) => [name, Math.round(median(taken))]));
}

function median(values: readonly number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const middle = (sorted.length - 1) / 2;
	return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

function listsSection(lists: Performance['lists']): Section {
	const cell = (name: string, size: number) => {
		const time = timeOf(lists, name, size);
		return Number.isNaN(time) ? '–' : `${duration(time)} (${ratio(time / timeOf(lists, ours, size))})`;
	};
	return {
		title: 'Time to read all devices',
		words: `The latency is ${LATENCY_MS} ms. The number in brackets compares the time with that of this node with its defaults: ${count(defaults.pageSize)} devices per page and ${defaults.parallel} parallel requests. A dash marks a case that takes too long to measure.`,
		head: HEAD,
		rows: ways.map(({ name }) => [name, ...SIZES.map((size) => cell(name, size))]),
	};
}

function targetsSection(lists: Performance['lists']): Section {
	const row = ({ what, one, other, devices, least }: (typeof targets)[number], tls: boolean) => {
		const factor = timeOf(lists, one, devices, tls) / timeOf(lists, other, devices, tls);
		const isMet = least === undefined ? factor <= MOST : factor >= least;
		return [
			`${what}, ${count(devices)} devices${tls ? ', TLS' : ''}`,
			least === undefined ? `≤ ${MOST}×` : `≥ ${least}×`,
			...(Number.isNaN(factor) ? ['–', 'not measured'] : [ratio(factor), isMet ? 'met' : 'missed']),
		];
	};
	const limits = targets.filter(({ least }) => least === undefined);
	return {
		title: 'Targets',
		words: `How many times as long HTTP Request takes as this node, and this node as n8n's request helper, the limit. The latency is ${LATENCY_MS} ms. Rows without “TLS” use plain HTTP.`,
		head: ['', 'target', 'measured', ''],
		rows: [...targets.map((target) => row(target, false)), ...limits.map((target) => row(target, true))],
	};
}

function pollsSection(polls: Performance['polls']): Section {
	const cells = (name: string) =>
		polls
			.filter(({ way }) => way === name)
			.map(({ requests, milliseconds }) => `${count(requests)} · ${duration(milliseconds)}`);
	return {
		title: 'Polls of unchanged fleets',
		words: `The requests and the time of one poll, at ${LATENCY_MS} ms latency.`,
		head: HEAD,
		rows: triggers.map(({ way }) => [way, ...cells(way)]),
	};
}

/** Returns the time of one case; NaN if it was not measured. */
function timeOf(lists: Performance['lists'], way: string, devices: number, tls = false): number {
	const found = lists.find((list) => list.way === way && list.devices === devices && list.tls === tls);
	return found?.milliseconds ?? NaN;
}

function ratio(value: number): string {
	return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)}×`;
}

/** Returns the machine and the versions as a list in Markdown. */
async function machineWords(): Promise<string> {
	const { name, version } = await readManifest(checkout);
	const engine: unknown = JSON.parse(await readFile(join(checkout, 'node_modules/n8n-core/package.json'), 'utf8'));
	const core = z.object({ version: z.string() }).parse(engine).version;
	return `- Machine: ${machine().join(', ')}, ${process.platform} ${process.arch}
- Versions: ${name} ${version}, n8n-core ${core}, Node.js ${process.versions.node}
`;
}
