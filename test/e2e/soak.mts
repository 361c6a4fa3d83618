/**
 * n8n in queue mode for an hour, with durable cursors, while it is upgraded, killed, cut off and misled: `-- --soak`. Devices go offline
 * and come back all the time. A journal of these changes, which shares no code with the package, decides what became of each event. The
 * table at the end has a sentence of the docs for each deviation. Those without one are faults.
 */
import { execa } from 'execa';
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod/v4';

import { checkout } from '../../testbed/checkout.mts';
import { nodeType } from '../../testbed/deviceWorkflow.mts';
import { exampleWorkflow, keyCredential } from '../../testbed/n8n/examples.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import { type Foundation, QueueMode } from '../../testbed/n8n/queueMode.mts';
import { chain, type Step } from '../../testbed/n8n/workflows.mts';
import { packVersion } from '../../testbed/pack.mts';
import { type EmbeddedPlatform, Fleet, startPlatform } from '../../testbed/platform/server.mts';
import { triggerType } from '../../testbed/watch.mts';
import type { Checks } from './checks.mts';
import { CLOCK, type Stage, STEPS } from './soak/disturbances.mts';
import {
	type Change,
	type Disturbance,
	FAULT,
	INTERVAL_MS,
	judge,
	type Poll,
	type Watched,
} from './soak/judgement.mts';
import { tableOf } from './soak/table.mts';
import { until } from './runs.mts';

export interface SoakOptions {
	/** The whole run. Below 50, the waits are shorter, too. */
	minutes: number;
	/** The commit of the build to begin with. */
	before: string;
	/** Only the disturbances with these names. */
	only: RegExp;
}

const DEVICES = 6000;
const BETWEEN_CHANGES_MS = 5000;
/** How long devices are offline, one after the other, in minutes. */
const OFFLINE_MINUTES = [Infinity, 8, Infinity, 20, Infinity, 1.5, Infinity, 5];

/** A trigger with its own platform, which tells its polls apart. All platforms list the same devices. */
interface Trigger {
	id: string;
	waitMinutes: number;
	platform: EmbeddedPlatform;
}

export async function soak(
	host: N8nHost,
	folder: string,
	foundation: Foundation,
	checks: Checks,
	options: SoakOptions,
): Promise<void> {
	const steps = Object.entries(STEPS).filter(([name]) => options.only.test(name));
	const shorter = Math.min(1, options.minutes / 50);
	const fleet = Fleet.seeded({ size: DEVICES });
	const { services } = foundation;
	const start = async () => services.add(await startPlatform({ fleet }));
	const triggers: Trigger[] = [];
	for (const minutes of [0, 3, 15].map((wait) => Math.ceil(wait * shorter))) {
		triggers.push({ id: `wait${minutes}`, waitMinutes: minutes, platform: await start() });
	}
	const receiver = await start();
	console.log(`Packing ${options.before}, and starting PostgreSQL's database, Redis, one main process and two workers`);
	const tarballs = { before: await packCommit(folder, options.before), now: await packVersion(folder, '0.0.2') };
	const n8n = await startN8n(host, folder, foundation, triggers, receiver, tarballs.before);
	const correctKeys = async () => await n8n.mainInstance.importCredentials(credentialsOf(triggers, receiver));
	const platforms = triggers.map(({ platform }) => platform);
	const ids = triggers.map(({ id }) => id);
	const stage: Stage = { n8n, gates: foundation.gates, platforms, receiver, tarballs, correctKeys, triggers: ids };
	await until('n8n does not poll', async () => {
		return (await n8n.database.sql(`SELECT FROM poller_state WHERE cursor::text <> '{}'`)).length === triggers.length;
	});

	const journal: Change[] = [];
	const over = new AbortController();
	const changes = change(fleet, journal, shorter, over.signal);
	const disturbances = await disturb(stage, steps, options.minutes, checks);
	over.abort();
	await changes;
	await tell(n8n, triggers, receiver, { journal, disturbances }, checks);
}

/** Builds a commit and packs it. */
async function packCommit(folder: string, commit: string): Promise<string> {
	const source = join(folder, 'before');
	await mkdir(source);
	await execa('sh', ['-c', `git archive "$1" | tar -x -C "$2"`, 'sh', commit, source], { cwd: checkout });
	await symlink(join(checkout, 'node_modules'), join(source, 'node_modules'));
	await execa(process.execPath, ['node_modules/@n8n/node-cli/bin/n8n-node.mjs', 'build'], { cwd: source });
	return await packVersion(folder, '0.0.1', source);
}

async function startN8n(
	host: N8nHost,
	folder: string,
	foundation: Foundation,
	triggers: readonly Trigger[],
	receiver: EmbeddedPlatform,
	tarball: string,
): Promise<QueueMode> {
	const clock = join(folder, 'clock.cjs');
	await writeFile(clock, CLOCK);
	const example = await exampleWorkflow('offline-devices');
	const watching = example.nodes.find(({ type }) => type === triggerType)?.parameters ?? {};
	const credentials = credentialsOf(triggers, receiver);
	const workflows = triggers.map((trigger) => workflowOf(trigger, watching));
	// The tests' own time to shut down is shorter than n8n's.
	const settings = { NODE_OPTIONS: `--require ${clock}`, N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '30' };
	return await QueueMode.start(host, folder, foundation, { credentials, workflows, settings, tarball });
}

function credentialsOf(triggers: readonly Trigger[], receiver: EmbeddedPlatform) {
	return [{ id: 'receiver', platform: receiver }, ...triggers].map(({ id, platform }) =>
		keyCredential(id, id, platform),
	);
}

/** The trigger of the example _offline-devices_. The workflow tells the receiver of each event. */
function workflowOf({ id, waitMinutes }: Trigger, watching: object) {
	const query = {
		trigger: id,
		sn: '={{ $json.device.sn }}',
		value: '={{ $json.current }}',
		eventId: '={{ $json.eventId }}',
	};
	const parameter = Object.entries(query).map(([name, value]) => ({ name, value }));
	const trigger: Step = {
		name: 'Trigger',
		type: triggerType,
		typeVersion: 1,
		parameters: { ...watching, forAtLeast: waitMinutes },
	};
	const tell: Step = {
		name: 'Tell',
		type: nodeType,
		typeVersion: 1,
		parameters: { resource: 'api', operation: 'request', path: '/api/echo', query: { parameter } },
	};
	const workflow = chain(id, id, [trigger, tell]);
	const own = { deviceManagementApi: { id: 'receiver', name: 'receiver' } };
	return {
		...workflow,
		nodes: workflow.nodes.map((node) => (node.name === 'Tell' ? { ...node, credentials: own } : node)),
	};
}

/** Sends devices offline, each one once, and brings some of them back, until the signal. Writes down each change. */
async function change(fleet: Fleet, journal: Change[], shorter: number, over: AbortSignal): Promise<void> {
	const online = fleet.devices.filter(({ onlineStatus }) => onlineStatus === 1).map(({ sn }) => sn);
	const set = (sn: string, onlineStatus: number) => {
		fleet.update(sn, { onlineStatus });
		journal.push({ at: Date.now(), sn, value: String(onlineStatus) });
	};
	let offline: { sn: string; until: number }[] = [];
	for (let made = 0; !over.aborted; made++) {
		const sn = online.pop();
		assert(sn, 'no device is online any more');
		set(sn, 0);
		const minutes = OFFLINE_MINUTES[made % OFFLINE_MINUTES.length] ?? Infinity;
		// The short one is in minutes of n8n's polls.
		offline.push({ sn, until: Date.now() + minutes * (minutes < 2 ? 1 : shorter) * 60_000 });
		for (const back of offline.filter((each) => each.until <= Date.now())) set(back.sn, 1);
		offline = offline.filter((each) => each.until > Date.now());
		await pause(BETWEEN_CHANGES_MS, undefined, { signal: over }).catch(() => {});
	}
}

/** Disturbs, one after the other. Afterwards, all waits can end. */
async function disturb(
	stage: Stage,
	steps: ReadonlyArray<[string, (typeof STEPS)[string]]>,
	minutes: number,
	checks: Checks,
): Promise<Disturbance[]> {
	const begun = Date.now();
	const last = begun + minutes * 60_000;
	const quietMs = Math.ceil(15 * Math.min(1, minutes / 50)) * 60_000 + 2.5 * INTERVAL_MS;
	const eachMs = Math.max(0, last - begun - quietMs) / (steps.length + 1);
	const done: Disturbance[] = [];
	for (const [at, [name, { happens, ...rest }]] of steps.entries()) {
		await untilAndRestart(stage.n8n, begun + eachMs * (at + 1), done.at(-1));
		await checks.part(`${timeText(Date.now())} ${name} (load ${loadavg()[0]?.toFixed(1)})`, async () => {
			const from = Date.now();
			await happens(stage).finally(() => done.push({ name, from, to: Date.now(), ...rest }));
		});
	}
	console.log(`\n${timeText(Date.now())} No further disturbance`);
	await untilAndRestart(stage.n8n, Math.max(last, Date.now() + quietMs), done.at(-1));
	return done;
}

/** Waits, and starts processes again that end, as Docker does. The disturbance lasts until they run. */
async function untilAndRestart(n8n: QueueMode, time: number, disturbance?: Disturbance): Promise<void> {
	while (Date.now() < time) {
		await pause(Math.min(2000, Math.max(0, time - Date.now())));
		const ended = await n8n.restartEnded();
		if (ended === 0) continue;
		console.log(`  ${timeText(Date.now())} started ${ended} processes again that had ended`);
		if (disturbance !== undefined) disturbance.to = Date.now();
	}
}

const failedSchema = z.object({ workflowId: z.string(), at: z.coerce.number(), data: z.string() });

/** Prints the table, and fails for each fault. */
async function tell(
	n8n: QueueMode,
	triggers: readonly Trigger[],
	receiver: EmbeddedPlatform,
	{ journal, disturbances }: { journal: readonly Change[]; disturbances: readonly Disturbance[] },
	checks: Checks,
): Promise<void> {
	const end = Date.now();
	const failures = await n8n.database.query(
		failedSchema,
		`SELECT "workflowId", EXTRACT(EPOCH FROM "createdAt") * 1000 AS at, data
			FROM execution_entity JOIN execution_data ON "executionId" = id WHERE status <> 'success'
			-- n8n also makes an execution for the error of a poll. It never starts.
			AND NOT (status = 'error' AND "startedAt" IS NULL)`,
	);
	const textSchema = z.string();
	const devices = new Set(journal.map(({ sn }) => sn));
	const watched = triggers.map(({ id, waitMinutes, platform }): Watched => {
		const told = receiver.requestsOf('other').filter(({ query }) => query['trigger'] === id);
		const reports = told.map(({ at, query: { sn, value, eventId } }) => ({
			at,
			sn: textSchema.parse(sn),
			value: textSchema.parse(value),
			eventId: textSchema.parse(eventId),
		}));
		const failed = failures
			.filter(({ workflowId }) => workflowId === id)
			.map(({ at, data }) => ({ at, serialNumbers: [...devices].filter((sn) => data.includes(sn)) }));
		return { name: id, holdMs: waitMinutes * 60_000, reports, polls: pollsOf(platform), failed };
	});
	const verdicts = judge(journal, watched, disturbances, end);
	console.log(`\n${tableOf(verdicts)}`);
	for (const { name } of watched) {
		await checks.check(`${name}: each change was reported once and in time, or the docs say why not`, () => {
			const faults = verdicts.filter(({ trigger, reason }) => trigger === name && reason === FAULT);
			const lines = faults.map(({ change: { at, sn, value }, after, outcome, lateMs }) => {
				return `${timeText(at)} ${sn} to ${value}, after ${after}: ${outcome}, ${Math.round(lateMs / 1000)} s late`;
			});
			assert.equal(lines.join('\n'), '');
		});
	}
}

/** The polls that read all pages, from the platform's side. */
function pollsOf(platform: EmbeddedPlatform): Poll[] {
	const polls: number[][] = [];
	for (const { at, status } of platform.requestsOf('list')) {
		if (status !== 200) continue;
		const last = polls.at(-1);
		if (last !== undefined && at - (last.at(-1) ?? 0) < INTERVAL_MS / 4) last.push(at);
		else polls.push([at]);
	}
	const whole = polls.filter(({ length }) => length >= DEVICES / 1000);
	return whole.map((times) => ({ from: Math.min(...times), to: Math.max(...times) }));
}

function timeText(time: number): string {
	return new Date(time).toISOString().slice(11, 19);
}
