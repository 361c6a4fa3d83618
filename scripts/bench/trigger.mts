import { decodeState, encodeState, type State } from '../../nodes/DeviceManagement/trigger/state.ts';
import type { Readers } from './contenders.mts';
import { type Case, measure, type Pace } from './measure.mts';
import { expectedMs, longestMs } from './plan.mts';
import type { Platforms } from './platforms.mts';
import { print, tell } from './progress.mts';
import type { Contender, Served } from './protocol.mts';
import type { PerformanceFigures } from '../figures.mts';
import { count, duration, type Section } from './report.mts';

/** The settings of a trigger, and whether its polls report something. */
interface Watching {
	name: string;
	events: readonly string[];
	/** Makes another state of the one after a quiet poll, from which so many devices look new or changed. */
	busy?: (state: State, devices: number) => State;
}

const NEWEST = ['deviceCreated', 'deviceUpdated'];
const WALKED = ['deviceRemoved', 'onlineStatusChanged', 'statusChanged'];

const watchings: readonly Watching[] = [
	{ name: 'trigger, created and updated, quiet', events: NEWEST },
	{ name: 'trigger, created and updated, 1 in 100 created', events: NEWEST, busy: withCreated },
	{ name: 'trigger, both statuses and removed, quiet', events: WALKED },
	{ name: 'trigger, both statuses and removed, 1 in 100 changed', events: WALKED, busy: withChanged },
	{ name: 'trigger, all of these, quiet', events: [...NEWEST, ...WALKED] },
];

/** What a workflow without the trigger reads at each run. */
const rivals: ReadonlyArray<{ name: string; contender: Contender }> = [
	{ name: 'HTTP Request, 100 per page', contender: { kind: 'http request', pageSize: 100 } },
	{ name: 'HTTP Request, 2,000 per page', contender: { kind: 'http request', pageSize: 2000 } },
];

const LATENCY_MS = 50;

type Poll = PerformanceFigures['polls'][number];

/** Measures a poll of the trigger, and the same work without the trigger. */
export async function watchFleets(
	readers: Readers,
	platforms: Platforms,
	{ runs }: { runs: number },
): Promise<{ section: Section; polls: Poll[] }> {
	const pace: Pace = { runs, budgetMs: 14_000, longestMs };
	const sizes = [1_000, 10_000, 100_000];
	const names = [...watchings, ...rivals].map(({ name }) => name);
	const polls: Poll[] = [];
	await platforms.setLatency(LATENCY_MS);
	for (const size of sizes) {
		const fleet = platforms.of(size, false);
		const costs = new Map<string, Cost>();
		const cases: Case[] = [];
		for (const watching of watchings) cases.push(await caseOf(readers, fleet, watching, costs));
		for (const { name, contender } of rivals) {
			costs.set(name, { requests: Math.ceil(size / (contender.pageSize ?? 10)) });
			const expected = expectedMs(contender, { size, latencyMs: LATENCY_MS, tls: false });
			cases.push({ name, expectedMs: expected, run: async () => await readers.list(contender, fleet) });
		}
		const timings = await measure(cases, pace, (step) => tell(`watching ${count(size)} devices · ${step}`));
		for (const [way, cost] of costs) {
			const median = timings.get(way)?.median;
			polls.push({
				way,
				devices: size,
				...cost,
				...(median === undefined ? {} : { milliseconds: Math.round(median) }),
			});
		}
		await platforms.setLatency(LATENCY_MS);
	}
	const section = print({
		title: 'The trigger',
		words: `Each cell has the requests of one poll, the size of the state in n8n's database, and the time of the poll, at ${LATENCY_MS} ms latency. A workflow without the trigger reads the fleet with HTTP Request, and then splits, compares and stores it. This table has only the time of reading. [Large fleets](large-fleets.md#what-it-costs) has the rest.`,
		head: ['', ...sizes.map((size) => `${count(size)} devices`)],
		rows: names.map((name) => [name, ...polls.filter(({ way }) => way === name).map((poll) => inCell(poll))]),
	});
	return { section, polls };
}

/** The cost of a poll, without its time. */
type Cost = Pick<Poll, 'requests' | 'stateBytes'>;

function inCell({ requests, stateBytes, milliseconds }: Poll): string {
	if (milliseconds === undefined) return '–';
	const state = stateBytes === undefined ? '–' : bytes(stateBytes);
	return `${count(requests)} · ${state} · ${duration(milliseconds)}`;
}

async function caseOf(
	readers: Readers,
	fleet: Served,
	{ name, events, busy }: Watching,
	costs: Map<string, Cost>,
): Promise<Case> {
	const { state: baseline } = await readers.poll(fleet, name, { events }, undefined);
	const known = decodeState(baseline);
	if (known === undefined) throw new Error('The trigger left no state behind');
	const state = busy === undefined ? baseline : encodeState(busy(known, fleet.size / 100));
	const poll = async () => {
		const polled = await readers.poll(fleet, name, { events }, state);
		if (polled.reported > 0 !== (busy !== undefined)) throw new Error(`${name} reported ${polled.reported} events`);
		return polled;
	};
	const { requests } = await poll();
	costs.set(name, { requests, stateBytes: JSON.stringify(state).length });
	const pages = Math.ceil(fleet.size / 1000);
	return { name, expectedMs: (2 + pages / 8) * (LATENCY_MS + 10) + fleet.size * 0.015, run: poll };
}

function bytes(size: number): string {
	return size < 1_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(2)} MB`;
}

/** Seeded fleets get four devices every 331 seconds. */
function withCreated(state: State, devices: number): State {
	const newest = (state.recent.get('createTime')?.newest ?? 0) - Math.ceil(devices / 4) * 331;
	return { ...state, recent: new Map([['createTime', { newest, rows: new Map() }]]) };
}

function withChanged(state: State, devices: number): State {
	const { snapshot } = state;
	if (snapshot === undefined) return state;
	const changed = new Map(
		[...snapshot.devices].map(([sn, code], position) => [sn, position < devices ? '[98,99]' : code]),
	);
	return { ...state, snapshot: { ...snapshot, devices: changed } };
}
