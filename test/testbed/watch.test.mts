import type { IPollFunctions } from 'n8n-workflow';

import { useBench } from '../../testbed/jest.mts';
import { type HostLetter, triggerType, Watch } from '../../testbed/watch.mts';

const bench = useBench();

const poll = (of: (this: IPollFunctions) => Promise<object[] | null>) =>
	(bench.engine.packages.getByNameAndVersion(triggerType).poll = async function () {
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

const watchOn = (host: HostLetter) => new Watch(bench, {}, { host });

/** A poll when the workflow is published, without news; then polls without, with and without news; a restart; one poll. */
test.each([
	['A', [undefined, 1, 2, 3, 3, 4], [300, 300], ['activate', 'init'], ['{"node:Watch":{"count":4}}', undefined]],
	['B', [undefined, 1, 1, 2, 2], [300, 36], ['activate', 'update'], ['{"node:Watch":{"count":2}}', undefined]],
	['C', [undefined, 1, 2, 3, 4], [300, 36], ['activate', 'update'], ['{}', '{"count":5}']],
] as const)('%s keeps the state as n8n does', async (letter, counts, budgets, modes, [staticData, cursor]) => {
	const watching = watchOn(letter);
	await watching.activate();
	for (found of [0, 1, 0]) await watching.poll();
	await watching.restart();
	await watching.poll();
	expect(seen.map(({ count }) => count)).toEqual(counts);
	expect(seen.slice(0, 2).map(({ budget }) => budget)).toEqual(budgets);
	expect([seen[0]?.mode, seen.at(-1)?.mode]).toEqual(modes);
	expect(watching.database).toMatchObject({ staticData, cursor, executions: [expect.anything()] });
});

test.each(['A', 'B', 'C'] as const)('%s ignores a poll that is replaced or abandoned, but no error', async (letter) => {
	const watching = watchOn(letter);
	await watching.activate();
	found = 1;
	const tick = watching.tick();
	if (letter === 'A') await watching.activate('update');
	else tick.abandon();
	expect(await tick.done).toMatchObject([{ json: { count: 2 } }]);
	found = 0;
	expect(await watching.poll()).toBeNull();
	expect(seen.at(-1)?.count).toBe(letter === 'A' ? 2 : 1);
	const error = new Error('No response');
	poll(async () => await Promise.reject(error));
	await expect(watching.poll()).rejects.toBe(error);
});
