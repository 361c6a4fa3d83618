import { join } from 'node:path';

import type { IPollFunctions } from 'n8n-workflow';

import { checkout } from '../../../testbed/checkout.mts';
import { createEngine, type Engine, type WorkflowJson } from '../../../testbed/engine/engine.mts';
import { PollDatabase, type PollHost } from '../../../testbed/engine/pollHosts.mts';
import { type HostLetter, HOSTS } from '../../../testbed/watch.mts';

const workflow: WorkflowJson = {
	nodes: [
		{ name: 'Probe', type: 'n8n-nodes-probe.probeTrigger', credentials: { probeApi: { id: '1', name: 'probe' } } },
	],
	connections: {},
};

let engine: Engine;
beforeAll(async () => {
	engine = await createEngine({ packageDirectory: join(checkout, 'test/testbed/engine/fixturePackage') });
});
afterAll(async () => await engine.close());

/** What the trigger finds at its next polls: it counts them in its state, and reports some. */
let found: Array<'something' | 'nothing'> = [];
let counts: unknown[] = [];
let budgets: number[] = [];
let modes: string[] = [];
beforeEach(() => {
	found = [];
	counts = [];
	budgets = [];
	modes = [];
	engine.packages.getByNameAndVersion('n8n-nodes-probe.probeTrigger').poll = async function (this: IPollFunctions) {
		const state = this.getWorkflowStaticData('node');
		counts.push(state['count']);
		budgets.push(this.getPollBudgetMs());
		modes.push(this.getActivationMode());
		state['count'] = Number(state['count'] ?? 0) + 1;
		return found.shift() === 'something' ? [[{ json: { count: state['count'] } }]] : null;
	};
});

function make(letter: HostLetter): { host: PollHost; database: PollDatabase } {
	const database = new PollDatabase();
	const host = new HOSTS[letter]({ engine, database, workflow: () => workflow, onProcessEnd: () => {} });
	return { database, host };
}

async function ticks(host: PollHost, ...next: Array<'something' | 'nothing'>): Promise<void> {
	for (const one of next) {
		found = [one];
		await host.tick().done;
	}
}

it('A keeps what a quiet poll changed in memory, and saves it with the next items', async () => {
	const { host, database } = make('A');
	await host.activate('activate');
	await ticks(host, 'nothing', 'something', 'nothing');
	expect(counts).toEqual([undefined, 1, 2, 3]);
	expect(database.staticData).toBe('{"node:Probe":{"count":3}}');
	await host.restart();
	expect(counts.at(-1)).toBe(3);
	expect(modes).toEqual(['activate', 'activate', 'activate', 'activate', 'init']);
	expect(budgets).toEqual([300_000, 300_000, 300_000, 300_000, 300_000]);
	expect(database.executions).toHaveLength(1);
});

it('A throws away what a registration puts out that another one has replaced', async () => {
	const { host, database } = make('A');
	await host.activate('activate');
	found = ['something', 'nothing'];
	const tick = host.tick();
	await host.activate('update');
	await tick.done;
	expect(database.executions).toHaveLength(0);
	await ticks(host, 'nothing');
	expect(counts).toEqual([undefined, 1, 1, 2]);
});

it('B hands out what was saved last, and saves nothing of a quiet poll but the first', async () => {
	const { host, database } = make('B');
	await host.activate('activate');
	await ticks(host, 'nothing', 'nothing', 'something', 'nothing', 'nothing');
	expect(counts).toEqual([undefined, 1, 1, 1, 2, 2]);
	await host.restart();
	await ticks(host, 'nothing');
	expect(counts.at(-1)).toBe(2);
	expect(modes).toEqual(['activate', 'update', 'update', 'update', 'update', 'update', 'update']);
	expect(budgets.slice(0, 2)).toEqual([300_000, 36_000]);
	expect(database.history).toHaveLength(2);
});

it('C keeps every state', async () => {
	const { host, database } = make('C');
	await host.activate('activate');
	await ticks(host, 'nothing', 'something', 'nothing');
	await host.restart();
	await ticks(host, 'nothing');
	expect(counts).toEqual([undefined, 1, 2, 3, 4]);
	expect(database.cursor).toBe('{"count":5}');
	expect(database.staticData).toBe('{}');
});

it.each(['B', 'C'] as const)('%s ignores how an abandoned poll ends', async (letter) => {
	const { host, database } = make(letter);
	await host.activate('activate');
	found = ['something'];
	const tick = host.tick();
	tick.abandon();
	expect(await tick.done).toMatchObject({ items: [{ json: { count: 2 } }] });
	await ticks(host, 'nothing');
	expect(database.executions).toHaveLength(0);
	expect(counts).toEqual([undefined, 1, 1]);
});

it.each(['A', 'B', 'C'] as const)('%s makes an execution of a poll that fails', async (letter) => {
	const { host, database } = make(letter);
	await host.activate('activate');
	engine.packages.getByNameAndVersion('n8n-nodes-probe.probeTrigger').poll = async () => {
		throw new Error('Nobody is there');
	};
	expect(await host.tick().done).toEqual({ error: new Error('Nobody is there') });
	expect(database.errorExecutions).toEqual([new Error('Nobody is there')]);
});
