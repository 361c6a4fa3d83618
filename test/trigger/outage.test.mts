import type { WorkflowActivateMode } from 'n8n-workflow';

import { useBench } from '../../testbed/jest.mts';
import { type HostLetter, Watch, type WatchOptions } from '../../testbed/watch.mts';
import { HOUR, useTrigger } from '../../testbed/trigger/watching.mts';

const n8n = useBench();
const { bench, clock, watch, change, answer, warnings } = useTrigger();

const parameters = { events: ['onlineStatusChanged'], options: { maxRetries: 0 } };

const ACTIONS = {
	down: () => answer(503),
	// The platform refuses the key.
	refused: () => answer(200, '{"code":14101,"msg":"","data":null}'),
	works: () => answer(),
	changes: () => void change(3, { onlineStatus: 77 }),
};
/** So many polls, an hour apart; what happens; or how the workflow is activated. */
type Step = number | keyof typeof ACTIONS | 'restart' | WorkflowActivateMode;

/** Returns how polls and activations ended: `E` with an error, `+` with items, `·` quietly. */
async function endsOf(watching: Watch, steps: readonly Step[], apart = HOUR): Promise<string> {
	let ends = '';
	const end = async (poll: Promise<unknown>) =>
		(ends += await poll.then(
			(items) => (items === null ? '·' : '+'),
			() => 'E',
		));
	for (const step of steps) {
		for (let poll = 0; poll < Number(step); poll++) {
			clock.now += apart;
			await end(watching.poll());
		}
		if (step in ACTIONS) ACTIONS[step as keyof typeof ACTIONS]();
		else if (step === 'restart') await end(watching.restart());
		else if (typeof step === 'string') await end(watching.activate(step as WorkflowActivateMode));
	}
	return ends;
}

it.each<[string, Step[], string, string?]>([
	['makes one error execution, and the next one another', ['down', 5, 'works', 2, 'down', 2], 'E······E·'],
	['hides no change, which is reported once after it', ['down', 1, 'changes', 1, 'works', 2], 'E·+·'],
	[
		'does not hide what a person must fix; an outage is no news then',
		['down', 5, 'refused', 5, 'down', 2],
		'E····E······',
		// n8n has paused the trigger before each of these polls, and would take a quiet one for a success.
		'E····EEEEE··',
	],
	['is reported by the second poll after n8n starts', ['down', 'restart', 3, 'changes', 'works', 1], '·E··+'],
])('on each host, an outage %s', async (_, steps, expected, withCursor = expected) => {
	for (const host of ['A', 'B', 'C'] as HostLetter[]) {
		const watching = await watch(parameters, { host, workflowId: host });
		expect(await endsOf(watching, steps)).toBe(host === 'C' ? withCursor : expected);
		ACTIONS.works();
		change(3, { onlineStatus: 1 });
	}
});

it('with a cursor, also an n8n that does not pause gets only two errors in half an hour, whatever comes between', async () => {
	const watching = await watch(parameters, { host: 'C' });
	const ends = await endsOf(watching, ['refused', 29, 'down', 1, 'refused', 40], 60_000);
	expect([...ends.matchAll(/E/g)].map(({ index }) => index)).toEqual([0, 1, 30, 31, 59, 60]);
});

it("n8n's default host gets one error, also if the state is still a cursor of before", async () => {
	const state = {};
	const workflow = new Watch(bench, parameters).workflow();
	const node = bench.engine.pollingNode(workflow, { activation: 'activate', getNodeState: () => state });
	await expect(node.poll()).resolves.toBeNull();
	ACTIONS.refused();
	await expect(node.poll()).rejects.toThrow('14101');
	await expect(node.poll()).resolves.toBeNull();
});

it.each<[string, WatchOptions, Step[], string]>([
	['in mode init, the first poll is quiet', {}, ['down', 'init', 2], '·E·'],
	[
		'a process that is the leader again reports a new outage: another one saw the end of the last',
		{},
		['down', 2, 'leadershipChange', 3, 'leadershipChange', 3],
		'E··E···E··',
	],
	['a refused sign-in is reported, and the next try of n8n activates', {}, ['refused', 'init', 'init'], 'E·'],
	['also for a new leader', {}, ['refused', 'leadershipChange', 'leadershipChange'], 'E·'],
	['in mode activate, a person sees it each time', {}, ['down', 2, 'activate', 'activate'], 'E·EE'],
	['in mode update, too', {}, ['down', 2, 'update', 'update'], 'E·EE'],
	['also in an n8n that names no time for polls', { budgetMs: null }, ['down', 2, 'update', 'update'], 'E·EE'],
	['a scheduler with another time has one error', { budgetMs: 600_000, host: 'B' }, ['down', 5], 'E····'],
])('when the platform is down: %s', async (_, options, steps, expected) => {
	expect(await endsOf(await watch(parameters, options), steps)).toBe(expected);
});

it('without a state, the first poll fails in each mode', async () => {
	ACTIONS.down();
	for (const mode of ['init', 'leadershipChange'] as const)
		await expect(new Watch(bench, parameters, { workflowId: mode }).activate(mode)).rejects.toThrow('HTTP 503');
});

it.each<HostLetter>(['A', 'B', 'C'])(
	'on host %s, the log has a line for each poll that fails, and one when it is over',
	async (host) => {
		const watching = await watch(parameters, { host });
		expect(await endsOf(watching, ['down', 3, 'works', 2])).toBe('E····');
		const words = "couldn't poll: The platform is unavailable (HTTP 503)";
		expect(warnings()).toEqual(Array(3).fill(`The trigger "Watch" ${words}`));
		const over = bench.engine.logs.filter(({ level }) => level === 'info').map(({ message }) => message);
		expect(over).toEqual(['The trigger "Watch" can poll again']);
		expect(watching.database.history).toHaveLength(1);
		// What only the user can fix is reported at once, during an outage too.
		await endsOf(watching, ['down', 1]);
		watching.parameters = { ...parameters, events: [] };
		await expect(host === 'A' ? watching.activate('update') : watching.poll()).rejects.toThrow("'Events' is empty");
	},
);

it("in n8n's engine, no message keeps n8n from trying an activation again", async () => {
	n8n.platform.settings.faults = [{ fault: { code: 10009, details: ['Authorization'] }, times: Infinity }];
	await expect(new Watch(n8n, parameters).activate()).rejects.toMatchObject({
		message: expect.not.stringContaining('Authorization'),
		description: expect.stringMatching(/ In full: .*Authorization/),
	});
});
