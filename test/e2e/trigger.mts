/** The trigger in a real n8n: a published workflow polls, also after n8n was stopped and started again. */
import assert from 'node:assert/strict';
import pWaitFor from 'p-wait-for';

import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import type { Main, Owner } from '../../testbed/n8n/main.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { triggerWorkflow } from './workflows.mts';

/** Polls come once a minute, and n8n takes its time to start. */
const LONGEST_MS = 120_000;
const WORKFLOW = 'e2eTrigger';

/** Stops the n8n that it is given, and starts it again. */
export async function watchDevices(
	n8n: N8nInstance,
	main: Main,
	owner: Owner,
	platform: EmbeddedPlatform,
	checks: Checks,
): Promise<void> {
	const polls = () => platform.requestsOf('list').length;
	const told = () => platform.requestsOf('other').map(({ query }) => query['sn']);
	const until = async (what: string, isSo: () => boolean) =>
		await pWaitFor(isSo, { interval: 200, timeout: { milliseconds: LONGEST_MS, message: `${what} did not come` } });
	const change = (position: number, onlineStatus: number) =>
		platform.fleet.update(platform.fleet.at(position).sn, { onlineStatus }).sn;

	platform.forget();
	await main.create(triggerWorkflow(WORKFLOW, 'deviceManagementKey', { events: ['onlineStatusChanged'] }));
	await main.publish(WORKFLOW);
	const first = polls();
	checks.check('polls when it is published, and reports no device that existed before', () => {
		assert(first > 0);
		assert.deepEqual(told(), []);
	});

	const changed = change(3, 71);
	await until('the execution', () => told().length > 0);
	checks.check('starts the workflow for a changed device', () => assert.deepEqual(told(), [changed]));

	const before = polls();
	await until('the next poll', () => polls() >= before + first);
	// Long enough for an execution that the poll might have started.
	const executions = await main.executions(WORKFLOW);
	checks.check('starts nothing if nothing changed', () => {
		assert.deepEqual(told(), [changed]);
		assert.equal(executions.length, 1);
	});

	await main.stop();
	platform.forget();
	const later = change(4, 72);
	const again = await n8n.startMain();
	await again.signIn(owner);
	await until('the execution after the start', () => told().length > 0);
	const afterwards = await again.executions(WORKFLOW);
	checks.check('reports what changed while n8n was stopped, and repeats nothing', () => {
		assert.deepEqual(told(), [later]);
		assert.equal(afterwards.length, 2);
	});
	await again.unpublish(WORKFLOW);
}
