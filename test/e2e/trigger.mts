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

/** A workflow that polls a platform of its own. Between its two methods, other parts run instead of waiting for polls. */
export class WatchedTrigger {
	private changed = '';

	constructor(
		private readonly platform: EmbeddedPlatform,
		private readonly checks: Checks,
	) {}

	/** Publishes the workflow, then changes a device. */
	async publish(main: Main): Promise<void> {
		await main.create(triggerWorkflow(WORKFLOW, 'polled', { events: ['onlineStatusChanged'] }));
		await main.publish(WORKFLOW);
		this.checks.check('polls when it is published, and reports no device that existed before', () => {
			assert(this.polls().length > 0);
			assert.deepEqual(this.told(), []);
		});
		this.changed = this.change(3, 71);
	}

	/** Looks at what was reported, then stops n8n and starts it again. */
	async look(n8n: N8nInstance, main: Main, owner: Owner): Promise<void> {
		const { checks, changed } = this;
		await this.until('the execution', () => this.told().length > 0);
		checks.check('starts the workflow for a changed device', () => assert.deepEqual(this.told(), [changed]));

		const reported = this.platform.requestsOf('other')[0]?.at ?? 0;
		await this.until('a later poll', () => this.polls().some(({ at }) => at > reported + 30_000));
		const executions = await main.executions(WORKFLOW);
		checks.check('starts nothing if nothing changed', () => {
			assert.deepEqual(this.told(), [changed]);
			assert.equal(executions.length, 1);
		});

		await main.stop();
		const later = this.change(4, 72);
		const again = await n8n.startMain();
		await again.signIn(owner);
		await this.until('the execution after the start', () => this.told().length > 1);
		const afterwards = await again.executions(WORKFLOW);
		checks.check('reports what changed while n8n was stopped, and repeats nothing', () => {
			assert.deepEqual(this.told(), [changed, later]);
			assert.equal(afterwards.length, 2);
		});
		await again.unpublish(WORKFLOW);
	}

	private polls() {
		return this.platform.requestsOf('list');
	}

	private told() {
		return this.platform.requestsOf('other').map(({ query }) => query['sn']);
	}

	private change(position: number, onlineStatus: number): string {
		const { fleet } = this.platform;
		return fleet.update(fleet.at(position).sn, { onlineStatus }).sn;
	}

	private async until(what: string, isSo: () => boolean): Promise<void> {
		await pWaitFor(isSo, { interval: 200, timeout: { milliseconds: LONGEST_MS, message: `${what} did not come` } });
	}
}
