import type { IPollFunctions } from 'n8n-workflow';

import { checkout } from '../../../testbed/checkout.mts';
import { createEngine, type Engine } from '../../../testbed/engine/engine.mts';
import { PollDatabase } from '../../../testbed/engine/pollHosts.mts';
import { type HostLetter, HOSTS, triggerType, triggerWorkflow } from '../../../testbed/watch.mts';

let engine: Engine;
beforeAll(async () => (engine = await createEngine({ packageDirectory: checkout })));
afterAll(async () => await engine.close());

const poll = (of: (this: IPollFunctions) => Promise<object[] | null>) =>
	(engine.packages.getByNameAndVersion(triggerType).poll = async function () {
		const items = await of.call(this);
		return items && [items.map((json) => ({ json: { ...json } }))];
	});

/** What each poll sees. It counts the polls in its state, and finds as many items as `found` says. */
let seen: Array<{ count: unknown; budget: number; mode: string }>;
let found = 0;
beforeEach(() => {
	[seen, found] = [[], 0];
	poll(async function () {
		const state = this.getWorkflowStaticData('node');
		seen.push({ count: state['count'], budget: this.getPollBudgetMs() / 1000, mode: this.getActivationMode() });
		state['count'] = Number(state['count'] ?? 0) + 1;
		return found-- > 0 ? [state] : null;
	});
});

function make(letter: HostLetter) {
	const database = new PollDatabase();
	const credentialReference = () => ({ deviceManagementApi: { id: '1', name: 'key' } });
	const workflow = () => triggerWorkflow({ credentialReference }, '1', {});
	return { database, host: new HOSTS[letter]({ engine, database, workflow, onProcessEnd: () => {} }) };
}

/** A poll when the workflow is published, without news; then polls without, with and without news; a restart; one poll. */
test.each([
	['A', [undefined, 1, 2, 3, 3, 4], [300, 300], ['activate', 'init'], ['{"node:Watch":{"count":4}}', undefined]],
	['B', [undefined, 1, 1, 2, 2], [300, 36], ['activate', 'update'], ['{"node:Watch":{"count":2}}', undefined]],
	['C', [undefined, 1, 2, 3, 4], [300, 36], ['activate', 'update'], ['{}', '{"count":5}']],
] as const)('%s keeps the state as n8n does', async (letter, counts, budgets, modes, [staticData, cursor]) => {
	const { host, database } = make(letter);
	await host.activate('activate');
	for (found of [0, 1, 0]) await host.tick().done;
	await host.restart();
	await host.tick().done;
	expect(seen.map(({ count }) => count)).toEqual(counts);
	expect(seen.slice(0, 2).map(({ budget }) => budget)).toEqual(budgets);
	expect([seen[0]?.mode, seen.at(-1)?.mode]).toEqual(modes);
	expect([database.staticData, database.cursor]).toEqual([staticData, cursor]);
	expect(database.executions).toHaveLength(1);
});

test.each(['A', 'B', 'C'] as const)('%s ignores a poll that is replaced or abandoned, but no error', async (letter) => {
	const { host, database } = make(letter);
	await host.activate('activate');
	found = 1;
	const tick = host.tick();
	if (letter === 'A') await host.activate('update');
	else tick.abandon();
	expect(await tick.done).toMatchObject({ items: [{ json: { count: 2 } }] });
	found = 0;
	await host.tick().done;
	expect(database.executions).toHaveLength(0);
	expect(seen.at(-1)?.count).toBe(letter === 'A' ? 2 : 1);
	const error = new Error('No response');
	poll(async () => await Promise.reject(error));
	expect([await host.tick().done, database.errorExecutions]).toEqual([{ error }, [error]]);
});
