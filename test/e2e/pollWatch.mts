/** `poll-watch.json` in queue mode: it notices polls that fail or don't come, and nothing else. */
import assert from 'node:assert/strict';

import { exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { until } from './runs.mts';
import { withCredential } from '../../testbed/n8n/workflows.mts';

/** @param platform its credential, and the workflow that polls it, have the id `quiet` */
export async function pollWatch(
	n8n: QueueMode,
	{ settings, settings: { apiKey } }: EmbeddedPlatform,
	checks: Checks,
	killScheduler: () => Promise<void>,
): Promise<void> {
	const { database } = n8n;
	let query = '';
	const ask = async () => {
		const answer = await n8n.main.request(`/webhook/polls${query}`);
		return `${answer.status} ${await answer.text()}`;
	};
	const says = async (expected: RegExp) =>
		await until(`it does not say ${String(expected)}`, async () => expected.test(await ask()), 1000);

	await n8n.main.publish(await n8n.main.create(withCredential(await exampleWorkflow('poll-watch'), 'quiet')));
	await checks.check("says that it can't know if it may not read the tables", async () => {
		await says(/^503 Can't know whether triggers poll: permission denied/);
		await database.sql('GRANT SELECT ON scheduled_job, poller_state TO PUBLIC');
	});
	let polling = 0;
	await checks.check('says how many triggers poll if the request does not say it', async () => {
		await says(/^503 Polling triggers: \d+, expected: unknown\..*\n(\S+\/workflow\/\S+\n)*\S+\/workflow\/quiet/);
		[, query = ''] = / request this address with (\?triggers=\d+):/.exec(await ask()) ?? [];
		polling = Number(query.replace('?triggers=', ''));
		assert.equal((await database.sql('SELECT FROM poller_state')).length, polling);
	});
	await checks.check('says that no poll is late, also after three intervals without a change', async () => {
		const sql = `SELECT FROM poller_state WHERE "workflowId" = 'quiet' AND "updatedAt" < now() - interval '3 minutes'`;
		await until('its state keeps changing', async () => (await database.sql(sql)).length > 0);
		assert.equal(await ask(), '200 No poll is late');
	});
	await checks.check('notices a refused key until it is published with the right one, and that it is not', async () => {
		settings.apiKey = 'another key';
		await says(/^503 n8n can't count the devices: .* 14101.*\n\S+\/workflow\/quiet: failed, and is paused until/);
		settings.apiKey = apiKey;
		await says(/^503 \S+\/workflow\/quiet: failed/);
		await n8n.main.unpublish('quiet');
		const answer = await ask();
		assert(answer.startsWith(`503 Polling triggers: ${polling - 1}, expected: ${polling}.`), answer);
		assert(!answer.includes('workflow/quiet'), answer);
		await n8n.main.publish('quiet');
		await says(/^200/);
	});
	await checks.check('notices a dead scheduler, while n8n passes its health check', async () => {
		await killScheduler();
		await says(/^503 \S+\/workflow\/\S+: has not polled since/);
		assert.equal((await n8n.main.request('/healthz/readiness')).status, 200);
	});
}
