/**
 * The trigger on each of the three hosts that n8n has for a polling trigger, in a real n8n. All three run the same story at the
 * same time, because a story is mostly waiting for polls, which come once a minute. It kills nothing: restarts are orderly.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { z } from 'zod/v4';

import { signInCredentials } from '../../testbed/n8n/examples.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import { N8nInstance } from '../../testbed/n8n/instance.mts';
import { type Main, newOwner } from '../../testbed/n8n/main.mts';
import type { Environment, Services } from '../../testbed/n8n/services.mts';
import { type EmbeddedPlatform, startPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { triggerWorkflow } from './workflows.mts';

const SCHEDULER = {
	N8N_SCHEDULER_ENABLED: 'true',
	N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
	N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
} satisfies Environment;

interface PollHost {
	settings: Environment;
	/** Whether n8n's database then holds a job, and a cursor, for the trigger. */
	hasJob: boolean;
	hasCursor: boolean;
}

/** By their names: what switches each on. */
const HOSTS = {
	plain: { settings: {}, hasJob: false, hasCursor: false },
	'durable scheduler': { settings: SCHEDULER, hasJob: true, hasCursor: false },
	'durable cursors': {
		settings: { ...SCHEDULER, N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true' },
		hasJob: true,
		hasCursor: true,
	},
} satisfies Record<string, PollHost>;

const WORKFLOW = 'e2eHost';
const FOR_AT_LEAST_MINUTES = 1;
/** What the parts change, as rules of 'Only When'. */
const RULES = [{ to: '77' }, { to: '78' }, { to: '79' }, { to: '80' }, { from: '1', to: '0' }];
/** Polls come once a minute; with durable cursors n8n waits longer after one that failed. */
const LONGEST_MS = 300_000;
/** Requests that are further apart belong to different polls. */
const BETWEEN_POLLS_MS = 15_000;

/** An event that started an execution: kind, serial number, and when. */
interface Told {
	what: string;
	eventId: string;
	at: number;
}

const countSchema = z.object({ count: z.number() });

export async function pollHosts(host: N8nHost, folder: string, services: Services, checks: Checks): Promise<void> {
	const stories: Story[] = [];
	for (const [name, pollHost] of Object.entries(HOSTS)) {
		await checks.prepare(`Setting up: ${name}`, async () => {
			const platform = await services.add(async () => await startPlatform({ fleet: { size: 50 } }));
			const instance = new N8nInstance(host, join(folder, name.replace(' ', '-')), pollHost.settings);
			await services.add(() => instance);
			const story = new Story(name, pollHost, instance, platform, checks);
			await story.setUp();
			stories.push(story);
		});
	}
	const all = async (title: string, part: (story: Story) => Promise<void>) =>
		await checks.part(title, async () => void (await Promise.all(stories.map(part))));
	await all('The first polls', async (story) => await story.baseline());
	await all('A new device, and a status that holds', async (story) => await story.changes());
	await all('An outage', async (story) => await story.outage());
	await all('An orderly restart between two polls', async (story) => await story.restart());
	await all('A device that appears in a state', async (story) => await story.appears());
	await all('The end', async (story) => await story.end());
}

/** What happens on one host. Each part needs the ones before it. */
class Story {
	private readonly owner = newOwner();
	private main: Main | undefined;
	/** What has to have been reported by now, as `Told.what`. */
	private readonly expected: string[] = [];
	/** Serial numbers of devices that are there from the start, each changed in one part. */
	private readonly devices: readonly string[];

	constructor(
		private readonly name: string,
		private readonly host: PollHost,
		private readonly n8n: N8nInstance,
		private readonly platform: EmbeddedPlatform,
		private readonly checks: Checks,
	) {
		this.devices = platform.fleet.devices.map(({ sn }) => sn);
	}

	async setUp(): Promise<void> {
		await this.n8n.installPackage();
		await this.n8n.importCredentials(signInCredentials(this.platform));
		this.platform.fleet.update(this.serialNumber(11), { onlineStatus: 0 });
		const parameters = {
			events: ['deviceCreated', 'onlineStatusChanged'],
			conditions: { rule: RULES.map((rule) => ({ field: 'onlineStatus', ...rule })) },
			forAtLeast: FOR_AT_LEAST_MINUTES,
		};
		this.main = await this.n8n.startSignedIn(this.owner);
		const options = { maxRetries: 0 };
		await this.main.create(triggerWorkflow(WORKFLOW, 'deviceManagementLogin', { ...parameters, options }));
		await this.main.publish(WORKFLOW);
	}

	async baseline(): Promise<void> {
		await this.polls(1);
		this.check('reports no device that existed before', () => assert.deepEqual(this.told(), []));
	}

	async changes(): Promise<void> {
		const [holding, returning] = [this.serialNumber(3), this.serialNumber(5)];
		const created = this.create();
		const before = this.platform.fleet.get(returning)?.onlineStatus;
		for (const sn of [holding, returning]) this.platform.fleet.update(sn, { onlineStatus: 77 });
		await this.until(`deviceCreated ${created}`);
		this.check('reports a new device, and a status not before it has held', () => {
			assert.deepEqual(this.whats(), [`deviceCreated ${created}`]);
		});
		const jobs = await this.count(`SELECT count(*) AS count FROM scheduled_job WHERE ownerId = '${WORKFLOW}'`);
		const cursors = await this.count(`SELECT count(*) AS count FROM poller_state WHERE workflowId = '${WORKFLOW}'`);
		this.check("n8n's database shows that this is the host", () => {
			const { hasJob, hasCursor } = this.host;
			assert.deepEqual({ hasJob: jobs > 0, hasCursor: cursors > 0 }, { hasJob, hasCursor });
		});
		const seen = Date.now();
		this.platform.fleet.update(returning, { onlineStatus: before ?? 0 });
		await this.until(`onlineStatusChanged ${holding}`);
		this.expected.push(`deviceCreated ${created}`, `onlineStatusChanged ${holding}`);
		this.check('reports a status that held for the time, and no status that reverted', () => {
			assert.deepEqual(this.whats(), [...this.expected].sort());
			const waited = (this.told().at(-1)?.at ?? 0) - seen;
			assert(waited > (FOR_AT_LEAST_MINUTES * 60 - 20) * 1000, `it came after ${waited} ms`);
		});
	}

	async outage(): Promise<void> {
		this.platform.settings.faults = [{ fault: { status: 503 }, kind: 'list', times: Infinity }];
		await this.polls(1);
		const created = this.create();
		const changed = this.serialNumber(7);
		this.platform.fleet.update(changed, { onlineStatus: 78 });
		await this.polls(1);
		this.platform.settings.faults = [];
		await this.until(`onlineStatusChanged ${changed}`);
		const errors = await this.count(
			`SELECT count(*) AS count FROM execution_entity WHERE workflowId = '${WORKFLOW}' AND status = 'error'`,
		);
		this.check('is one failed execution, however many polls it lasts', () => assert.equal(errors, 1));
		this.expected.push(`deviceCreated ${created}`, `onlineStatusChanged ${changed}`);
		this.check('reports afterwards what changed in it, once', () => {
			assert.deepEqual(this.whats(), [...this.expected].sort());
		});
	}

	async restart(): Promise<void> {
		const back = this.serialNumber(11);
		this.platform.fleet.update(back, { onlineStatus: 1 });
		await this.polls(3);
		await this.main?.stop();
		const created = this.create();
		const changed = this.serialNumber(9);
		this.platform.fleet.update(changed, { onlineStatus: 79 });
		this.main = await this.n8n.startSignedIn(this.owner);
		await this.polls(1);
		this.platform.fleet.update(back, { onlineStatus: 0 });
		await this.until(`onlineStatusChanged ${changed}`);
		this.expected.push(`deviceCreated ${created}`, `onlineStatusChanged ${changed}`, `onlineStatusChanged ${back}`);
		await this.until(`onlineStatusChanged ${back}`);
		this.check(
			'reports what changed while n8n was stopped, once, and a device that only quiet polls saw come back',
			() => {
				assert.deepEqual(this.whats(), [...this.expected].sort());
			},
		);
	}

	async appears(): Promise<void> {
		const { fleet } = this.platform;
		// Too old to be reported as created.
		const old = { createTime: '2020-01-01 00:00:00', updateTime: null };
		const { sn } = fleet.add(fleet.make({ ...old, onlineStatus: 80 }));
		await this.polls(1);
		await this.main?.stop();
		this.main = await this.n8n.startSignedIn(this.owner);
		await this.until(`onlineStatusChanged ${sn}`);
		this.expected.push(`onlineStatusChanged ${sn}`);
		const device = fleet.remove(sn);
		await this.polls(2);
		fleet.add(device);
		await this.polls(4);
		this.check(
			'reports the state of an imported device once, also if n8n restarts or the list lacks it for a poll',
			() => {
				assert.deepEqual(this.whats(), [...this.expected].sort());
			},
		);
	}

	async end(): Promise<void> {
		await this.polls(2);
		this.check('nothing was reported twice, and nothing is lost', () => {
			assert.deepEqual(this.whats(), [...this.expected].sort());
			const ids = this.told().map(({ eventId }) => eventId);
			assert.equal(new Set(ids).size, ids.length);
		});
	}

	private check(promise: string, attempt: () => void): void {
		this.checks.check(`${this.name}: ${promise}`, attempt);
	}

	private told(): Told[] {
		return this.platform.requestsOf('other').map(({ query, at }) => ({
			what: `${String(query['event'])} ${String(query['sn'])}`,
			eventId: String(query['eventId']),
			at,
		}));
	}

	private whats(): string[] {
		return this.told()
			.map(({ what }) => what)
			.sort();
	}

	private async until(what: string): Promise<void> {
		await pWaitFor(() => this.whats().includes(what), {
			interval: 200,
			timeout: { milliseconds: LONGEST_MS, message: `${this.name}: ${what} was not reported` },
		});
	}

	/** Waits for further polls to begin. What the last of them reports may come later. */
	private async polls(count: number): Promise<void> {
		const begins = () =>
			this.platform
				.requestsOf('list')
				.filter(({ at }, index, requests) => at - (requests[index - 1]?.at ?? -Infinity) > BETWEEN_POLLS_MS).length;
		const wanted = begins() + count;
		await pWaitFor(() => begins() >= wanted, {
			interval: 200,
			timeout: { milliseconds: LONGEST_MS * count, message: `${this.name}: the trigger does not poll` },
		});
	}

	private create(): string {
		return this.platform.fleet.add().sn;
	}

	private serialNumber(position: number): string {
		const sn = this.devices[position];
		assert(sn);
		return sn;
	}

	private async count(sql: string): Promise<number> {
		const [row] = await this.n8n.query(countSchema, sql);
		return row?.count ?? 0;
	}
}
