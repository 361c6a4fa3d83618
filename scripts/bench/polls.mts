import type { PerformanceFigures } from '../figures.mts';
import type { Readers } from './contenders.mts';
import { SIZES } from './lists.mts';
import { type Case, measure } from './measure.mts';
import { LATENCY_MS, type Platforms } from './platforms.mts';
import { count, duration, type Section } from './report.mts';

const triggers = [
	{ way: 'trigger, created and updated, quiet', events: ['deviceCreated', 'deviceUpdated'] },
	{
		way: 'trigger, both statuses and removed, quiet',
		events: ['deviceRemoved', 'onlineStatusChanged', 'statusChanged'],
	},
];

type Polls = PerformanceFigures['polls'];

/** Measures polls of unchanged fleets. */
export async function measurePolls(readers: Readers, platforms: Platforms, runs: number): Promise<Polls> {
	const polls: Polls = [];
	for (const devices of SIZES) {
		const fleet = platforms.of(devices);
		const sent = new Map<string, number>();
		const cases: Case[] = [];
		for (const { way, events } of triggers) {
			const { state } = await readers.poll(fleet, way, { events }, undefined);
			const run = async () => {
				const { reported, requests } = await readers.poll(fleet, way, { events }, state);
				if (reported > 0) throw new Error(`${way} reported ${reported} events`);
				sent.set(way, requests);
			};
			cases.push({ name: way, run });
		}
		for (const [way, milliseconds] of await measure(cases, runs, `polls of ${count(devices)} devices`)) {
			polls.push({ way, devices, requests: sent.get(way) ?? NaN, milliseconds: Math.round(milliseconds) });
		}
	}
	return polls;
}

export function pollsSection(polls: Polls): Section {
	return {
		title: 'Polls of unchanged fleets',
		words: `The requests and the time of one poll, at ${LATENCY_MS} ms latency.`,
		head: ['', ...SIZES.map((size) => `${count(size)} devices`)],
		rows: triggers.map(({ way }) => [
			way,
			...polls
				.filter((poll) => poll.way === way)
				.map(({ requests, milliseconds }) => `${count(requests)} · ${duration(milliseconds)}`),
		]),
	};
}
