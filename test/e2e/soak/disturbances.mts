/** What a soak does to n8n, its services and the platform, in this order, and which deviations the docs allow for each. */
import { execa } from 'execa';
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { type Foundation, GRACE_MS, type QueueMode } from '../../../testbed/n8n/queueMode.mts';
import type { EmbeddedPlatform, Settings } from '../../../testbed/platform/server.mts';
import { holdAnswers } from '../eventsInStorms.mts';
import { DOCS } from './docs.mts';
import type { Disturbance } from './judgement.mts';

export interface Stage {
	n8n: QueueMode;
	gates: Foundation['gates'];
	/** The platforms of the triggers. They list the same devices. */
	platforms: readonly EmbeddedPlatform[];
	/** What the workflows tell of events. No disturbance concerns it. */
	receiver: EmbeddedPlatform;
	tarballs: { before: string; now: string };
	/** Gives the credentials of the triggers the platforms' current keys. */
	correctKeys(): Promise<void>;
	triggers: readonly string[];
}

type Step = Pick<Disturbance, 'allows' | 'restartsHolds'> & { happens(stage: Stage): Promise<void> };

const MINUTE_MS = 60_000;

export const STEPS: Readonly<Record<string, Step>> = {
	upgrade: {
		allows: { late: DOCS.afterOutages, lost: DOCS.theseRuns },
		happens: async ({ n8n, tarballs }) => await n8n.update(tarballs.now),
	},
	rollback: {
		allows: { late: DOCS.afterOutages, lost: DOCS.theseRuns, 'lost in a poll': DOCS.newBaseline },
		restartsHolds: true,
		happens: async ({ n8n, tarballs }) => await n8n.rollBack(tarballs.before),
	},
	'upgrade again': {
		allows: { late: DOCS.afterOutages, lost: DOCS.theseRuns },
		happens: async ({ n8n, tarballs }) => await n8n.update(tarballs.now),
	},
	'main killed': {
		allows: { late: DOCS.reportedAfterwards, doubled: DOCS.oneMore },
		async happens({ n8n }) {
			await n8n.main.process.kill();
			await n8n.restartEnded();
		},
	},
	'worker killed': {
		allows: { late: DOCS.reportedAfterwards, lost: DOCS.killedExecution, doubled: DOCS.oneMore },
		happens: workerKilled,
	},
	'PostgreSQL restarted': {
		allows: {
			late: DOCS.reportedAfterwards,
			lost: DOCS.endThen,
			doubled: DOCS.oneMore,
		},
		happens: async (stage) => await restart(stage, 'postgres'),
	},
	'Redis restarted': {
		allows: {
			late: DOCS.reportedAfterwards,
			lost: DOCS.takeLonger,
			doubled: DOCS.oneMore,
		},
		happens: async (stage) => await restart(stage, 'redis'),
	},
	'platform down': {
		allows: { late: DOCS.afterOutages },
		happens: async (stage) => await platformsWith(stage, { fault: () => 'drop' }),
	},
	'maintenance page': {
		allows: { late: DOCS.afterOutages },
		happens: async (stage) =>
			await platformsWith(stage, { fault: () => ({ status: 403, body: '<html><title>Maintenance</title></html>' }) }),
	},
	'wrong key': {
		allows: { late: DOCS.pausesFor30Minutes },
		// docs/watch.md: “_For At Least (Minutes)_ may start again.”
		restartsHolds: true,
		happens: wrongKey,
	},
	'poller_state refuses writes': {
		allows: { late: DOCS.reportedAfterwards },
		happens: async ({ n8n }) => await refusingWrites(n8n, ['poller_state']),
	},
	'disk full (each write to a table of n8n raises disk_full)': {
		allows: { late: DOCS.reportedAfterwards, lost: DOCS.beginOrEndThen },
		happens: diskFull,
	},
	'polls of 40 seconds': {
		allows: { late: DOCS.endAfter36Seconds },
		happens: async (stage) => await platformsWith(stage, { beforeAnswer: async () => await pause(40_000) }),
	},
	'clock an hour ahead (that of n8n, not of PostgreSQL)': {
		allows: {
			early: DOCS.setForward,
			late: DOCS.clocksGoBack,
		},
		happens: clockAhead,
	},
};

/** The worker has told the receiver of the events, but not n8n that its execution ended. */
async function workerKilled({ n8n, receiver, triggers }: Stage): Promise<void> {
	const { held, release } = holdAnswers(receiver, 'other');
	await held();
	const newest = await Promise.all(triggers.map(async (id) => (await n8n.executions(id)).at(-1)));
	const running = newest.find((execution) => execution?.status === 'running');
	assert(running, 'no execution runs');
	await n8n.workerOf(running.id).process.kill();
	release();
	await n8n.restartEnded();
}

/** With the command in `SOAK_RESTART_POSTGRES` or `SOAK_RESTART_REDIS`. Without it, only the connections end, for 10 seconds. */
async function restart({ gates, n8n }: Stage, service: 'postgres' | 'redis'): Promise<void> {
	const name = `SOAK_RESTART_${service.toUpperCase()}`;
	const command = process.env[name];
	if (command === undefined) {
		console.log(`  ${name} is not set: this only ends the connections for 10 seconds`);
		await gates[service].close();
		await pause(10_000);
		await gates[service].open();
	} else await execa('sh', ['-c', command], { stdio: 'ignore' });
	await n8n.restartEnded();
}

/** For two minutes, the platforms have these settings. */
async function platformsWith({ platforms }: Stage, changed: Partial<Settings>): Promise<void> {
	for (const { settings } of platforms) Object.assign(settings, changed);
	await pause(2 * MINUTE_MS);
	for (const { settings } of platforms) Object.assign(settings, { fault: undefined, beforeAnswer: undefined });
}

async function wrongKey({ platforms, triggers, n8n, correctKeys }: Stage): Promise<void> {
	for (const { settings } of platforms) settings.apiKey = `${settings.apiKey}-new`;
	await pause(1.5 * MINUTE_MS);
	await correctKeys();
	for (const id of triggers) {
		await n8n.main.unpublish(id);
		await n8n.main.publish(id);
	}
}

/** For a minute, PostgreSQL refuses each write to these tables as on a full disk. */
async function refusingWrites({ database }: QueueMode, tables: readonly string[]): Promise<void> {
	await database.sql(`CREATE FUNCTION soak_refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend file: No space left on device'; END $$`);
	for (const table of tables) {
		await database.sql(`CREATE TRIGGER soak_refuse BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION soak_refuse()`);
	}
	await pause(MINUTE_MS);
	await database.sql('DROP FUNCTION soak_refuse() CASCADE');
}

/** “After a full disk, restart n8n.” */
async function diskFull({ n8n }: Stage): Promise<void> {
	await refusingWrites(n8n, ['poller_state', 'scheduled_job', 'execution_entity', 'execution_data']);
	await Promise.all([n8n.main, ...n8n.workers].map(async ({ process: each }) => await each.stop(GRACE_MS)));
	await n8n.restartEnded();
}

async function clockAhead({ n8n }: Stage): Promise<void> {
	const turn = () => {
		for (const { process: each } of [n8n.main, ...n8n.workers])
			if (each.pid !== undefined) process.kill(each.pid, 'SIGUSR2');
	};
	turn();
	await pause(2.5 * MINUTE_MS);
	turn();
	// What poll-watch waits for, and then asks for.
	await pause(3 * MINUTE_MS);
	await n8n.main.process.stop(GRACE_MS);
	await n8n.restartEnded();
}

/** A preload for Node.js: at each signal SIGUSR2, the clock of the process goes an hour ahead, or back. */
export const CLOCK = `
const now = Date.now;
let aheadMs = 0;
Date.now = () => now() + aheadMs;
globalThis.Date = new Proxy(Date, {
	construct: (target, values, made) => Reflect.construct(target, values.length > 0 ? values : [Date.now()], made),
});
process.on('SIGUSR2', () => (aheadMs = 3_600_000 - aheadMs));
`;
