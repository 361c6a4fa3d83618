import type { PerformanceFigures } from '../figures.mts';
import { type Contender, defaults, type Readers } from './contenders.mts';
import { measure } from './measure.mts';
import { LATENCY_MS, type Platforms } from './platforms.mts';
import { count, duration, ratio, type Section } from './report.mts';

export const SIZES = [1_000, 10_000, 100_000];

/** A way to read a list, with its name in the tables. */
interface Way {
	name: string;
	contender: Contender;
	/** Largest fleet for this way; larger ones take too long. */
	largest?: number;
}

const [ours, ours100, ours2000] = ['this node, defaults', 'this node, 100 per page', 'this node, 2,000 per page'];
const http = 'HTTP Request, defaults (10 per page)';
const [http100, http2000] = ['HTTP Request, 100 per page', 'HTTP Request, 2,000 per page'];
const [limit, limit100] = ["n8n's request helper, this node's defaults", "n8n's request helper, 100 per page"];

export const ways: readonly Way[] = [
	{ name: ours, contender: { kind: 'node' } },
	{ name: ours100, contender: { kind: 'node', pageSize: 100 } },
	{ name: ours2000, contender: { kind: 'node', pageSize: 2000 } },
	{ name: http, contender: { kind: 'http request' }, largest: 10_000 },
	{ name: http100, contender: { kind: 'http request', pageSize: 100 } },
	{ name: http2000, contender: { kind: 'http request', pageSize: 2000 } },
	{ name: limit, contender: { kind: 'request helper' } },
	{ name: limit100, contender: { kind: 'request helper', pageSize: 100 } },
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

type Lists = PerformanceFigures['lists'];

/**
 * Measures every way to read a fleet, and with TLS what the targets compare.
 * @param isQuick leaves the HTTP Request node out, which takes most of the time
 */
export async function measureLists(
	readers: Readers,
	platforms: Platforms,
	{ runs, quick: isQuick }: { runs: number; quick: boolean },
): Promise<Lists> {
	const lists: Lists = [];
	for (const tls of [false, true]) {
		for (const devices of SIZES) {
			const compared = targets.filter((target) => target.devices === devices && target.least === undefined);
			const cases = ways
				.filter(({ contender, largest = Infinity }) => {
					return devices <= largest && !(isQuick && contender.kind === 'http request');
				})
				.filter(({ name }) => !tls || compared.some(({ one, other }) => name === one || name === other))
				.map(({ name, contender }) => ({
					name,
					run: async () => await readers.list(contender, platforms.of(devices, { tls })),
				}));
			const times = await measure(cases, runs, `${count(devices)} devices${tls ? ', TLS' : ''}`);
			for (const [way, time] of times) lists.push({ way, devices, tls, milliseconds: Math.round(time) });
		}
	}
	return lists;
}

export function listsSection(lists: Lists): Section {
	return {
		title: 'Time to read all devices',
		words: `The latency is ${LATENCY_MS} ms. The number in brackets compares the time with that of this node with its defaults: ${count(defaults.pageSize)} devices per page and ${defaults.parallel} parallel requests. A dash marks a case that takes too long to measure.`,
		head: ['', ...SIZES.map((size) => `${count(size)} devices`)],
		rows: ways.map(({ name }) => [
			name,
			...SIZES.map((size) => {
				const time = timeOf(lists, name, size, false);
				return Number.isNaN(time) ? '–' : `${duration(time)} (${ratio(time / timeOf(lists, ours, size, false))})`;
			}),
		]),
	};
}

export function targetsSection(lists: Lists): Section {
	const row = ({ what, one, other, devices, least }: (typeof targets)[number], tls: boolean) => {
		const factor = timeOf(lists, one, devices, tls) / timeOf(lists, other, devices, tls);
		const isMet = least === undefined ? factor <= MOST : factor >= least;
		return [
			`${what}, ${count(devices)} devices${tls ? ', TLS' : ''}`,
			least === undefined ? `≤ ${MOST}×` : `≥ ${least}×`,
			...(Number.isNaN(factor) ? ['–', 'not measured'] : [ratio(factor), isMet ? 'met' : 'missed']),
		];
	};
	return {
		title: 'Targets',
		words: `How many times as long HTTP Request takes as this node, and this node as n8n's request helper, the limit. The latency is ${LATENCY_MS} ms. Rows without “TLS” use plain HTTP.`,
		head: ['', 'target', 'measured', ''],
		rows: [
			...targets.map((target) => row(target, false)),
			...targets.filter(({ least }) => least === undefined).map((target) => row(target, true)),
		],
	};
}

/** Returns the time of one case; NaN if it was not measured. */
function timeOf(lists: Lists, way: string, devices: number, tls: boolean): number {
	const found = lists.find((list) => list.way === way && list.devices === devices && list.tls === tls);
	return found?.milliseconds ?? NaN;
}
