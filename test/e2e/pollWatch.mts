/** `poll-watch.json` in queue mode: it notices polls that fail or don't come, and nothing else. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { checkout } from '../../testbed/checkout.mts';
import { CALLER, exampleWorkflow, filledIn } from '../../testbed/n8n/examples.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { until } from './runs.mts';
import { withCredential } from '../../testbed/n8n/workflows.mts';

/** What the monitor sends. */
export const MONITORS_SECRET = randomUUID();

/** @param platform its credential, and the workflow that polls it, have the id `quiet` */
export async function pollWatch(
	n8n: QueueMode,
	{ settings }: EmbeddedPlatform,
	checks: Checks,
	killScheduler: () => Promise<void>,
): Promise<void> {
	const monitor = await publishWatch(n8n);
	await polls(n8n, monitor, checks);
	await failures(n8n, monitor, settings, checks);
	await publications(n8n, monitor, settings, checks);
	await checks.check('notices a dead scheduler, while n8n passes its health check', async () => {
		await killScheduler();
		await monitor.says(/^503 \S+\/workflow\/\S+: has not polled since/);
		assert.equal((await n8n.main.request('/healthz/readiness')).status, 200);
	});
}

type Monitor = Awaited<ReturnType<typeof publishWatch>>;

async function publishWatch(n8n: QueueMode) {
	const workflow = await n8n.main.create(withCredential(filledIn(await exampleWorkflow('poll-watch')), 'quiet'));
	await n8n.main.publish(workflow);
	const monitor = {
		workflow,
		polling: 0,
		/** Returns the status and the text. */
		ask: async () => {
			const query = monitor.polling > 0 ? `?triggers=${monitor.polling}` : '';
			const headers = { [CALLER.header]: MONITORS_SECRET };
			const answer = await n8n.main.request(`/webhook/polls${query}`, { headers });
			return `${answer.status} ${await answer.text()}`;
		},
		says: async (expected: RegExp): Promise<void> =>
			await until(`it does not say ${String(expected)}`, async () => expected.test(await monitor.ask()), 1000),
	};
	return monitor;
}

async function polls({ database, main }: QueueMode, monitor: Monitor, checks: Checks): Promise<void> {
	await checks.check("says that it can't know if it may not read the tables", async () => {
		await monitor.says(/^503 Can't know whether triggers poll: permission denied/);
	});
	await checks.check('needs only the rights of the page, which show no serial number', async () => {
		const role = database.environment['DB_POSTGRESDB_DATABASE'] ?? '';
		const grants = (await readFile(join(checkout, 'docs/production.md'), 'utf8')).match(/^GRANT [^;]+;/gm) ?? [];
		await database.sql(grants.join('\n').replaceAll('poll_watch', role));
		await assert.rejects(database.sql(`SET ROLE ${role}; SELECT cursor FROM poller_state`), /permission denied/);
	});
	await checks.check('says how many triggers poll if the request does not say it', async () => {
		const listed = /^503 Polling triggers: \d+, expected: unknown\..*\n(\S+\/workflow\/\S+\n)*\S+\/workflow\/quiet/;
		await monitor.says(listed);
		monitor.polling = Number(/ request this address with \?triggers=(\d+):/.exec(await monitor.ask())?.[1]);
		assert.equal((await database.sql('SELECT FROM poller_state')).length, monitor.polling);
	});
	await checks.check('says that no poll is late, also after three intervals without a change', async () => {
		const sql = `SELECT FROM poller_state WHERE "workflowId" = 'quiet' AND "updatedAt" < now() - interval '3 minutes'`;
		await until('its state keeps changing', async () => (await database.sql(sql)).length > 0);
		assert.equal(await monitor.ask(), '200 No poll is late');
	});
	await checks.check("keeps no executions, which have the monitor's password", async () => {
		await until('it keeps some', async () => (await main.executions(monitor.workflow)).length === 0);
	});
}

async function failures(
	{ database }: QueueMode,
	{ ask, says }: Monitor,
	settings: EmbeddedPlatform['settings'],
	checks: Checks,
): Promise<void> {
	/** Waits for a failed poll after which n8n pauses. Then the database has it that the half hour is over. */
	const pauses = async (errors: number) => {
		const where = `"workflowId" = 'quiet' AND "consecutiveErrors" = ${errors}`;
		const sql = `SELECT FROM poller_state WHERE ${where} AND "backoffUntil" > now() + interval '20 minutes'`;
		await until('n8n does not pause', async () => (await database.sql(sql)).length > 0);
		const earlier = ['backoffUntil', 'updatedAt'].map((time) => `"${time}" = "${time}" - interval '30 minutes'`);
		await database.sql(`UPDATE poller_state SET ${earlier.join()} WHERE ${where}`);
	};
	const edit = async (from: string, to: string) => {
		const nodes = `replace(nodes::text, '${from}', '${to}')::json`;
		await database.sql(`UPDATE workflow_history SET nodes = ${nodes} WHERE "workflowId" = 'quiet'`);
	};
	await checks.check('notices a refused key and a value of a later build, also after the pauses', async () => {
		const { apiKey } = settings;
		settings.apiKey = 'another key';
		await says(/^503 n8n can't count the devices: .* 14101.*\n\S+\/workflow\/quiet: failed, and polls again after/);
		settings.apiKey = apiKey;
		await edit('onlineStatusChanged', 'laterEvent');
		await pauses(1);
		await pauses(2);
		await edit('laterEvent', 'onlineStatusChanged');
		assert.match(await ask(), /^503 \S+\/workflow\/quiet: failed/);
		await says(/^200/);
	});
}

async function publications(
	{ main }: QueueMode,
	{ ask, says, polling }: Monitor,
	settings: EmbeddedPlatform['settings'],
	checks: Checks,
): Promise<void> {
	await checks.check('notices a trigger that is not published, and one that n8n could not publish', async () => {
		await main.unpublish('quiet');
		const answer = await ask();
		const missing = `503 Polling triggers: ${polling - 1}, expected: ${polling}.`;
		assert(answer.startsWith(missing) && !answer.includes('workflow/quiet'), answer);
		settings.fault = () => ({ code: 10005 });
		// Only some versions of n8n respond after it has failed.
		await main.publish('quiet').catch(() => {});
		const unpublished = /^503 n8n can't count .*\n\S+\/workflow\/quiet: could not be published. .* 10005.*\nPolling/;
		await says(unpublished);
		settings.fault = undefined;
		await main.unpublish('quiet');
		assert.equal(await ask(), answer);
		await main.publish('quiet');
		await says(/^200/);
	});
}
