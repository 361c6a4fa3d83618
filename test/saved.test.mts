/**
 * What users saved with earlier builds, a folder for each: workflows, credentials and states of triggers. Each workflow must send the
 * requests and return the items that it did then, without a sign-in. From each state, a trigger must report what changed since then,
 * once. The results are those of that build, and its states are what a trigger writes today, so that a rollback to it loses nothing.
 * From a state of another format, a trigger takes one new baseline, and says so.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ICredentialDataDecryptedObject as CredentialData, IDataObject } from 'n8n-workflow';

import { forgetPolls } from '../nodes/DeviceManagement/trigger/poll/memory.ts';
import type { WorkflowJson } from '../testbed/engine/engine.mts';
import { useBench, useStillClock } from '../testbed/jest.mts';
import { jsonOf } from '../testbed/output.mts';
import { type Device, Fleet, type Settings } from '../testbed/platform/server.mts';

/** Saved tokens and states belong to one address, so the platform is the proxy that leads to it. */
const ADDRESS = 'http://platform.invalid';
const FOLDER = new URL('saved/', import.meta.url);
/** The folder to write instead: its tokens, states and results. See docs/maintainers/releasing.md. */
const written = process.env['SAVE'];

/** A time, and what changed in the fleet until then, by ID; null: the device was removed. */
type Stage = Readonly<{ at: string; changes: Record<string, Partial<Device> | null> }>;

interface Saved {
	platform?: Partial<Settings>;
	workflow: WorkflowJson;
	/** A trigger's state after the polls before it was saved. */
	state?: string;
	/** Requests and items; of a trigger, the items of each poll since then. */
	result: unknown;
}

const bench = useBench();
const clock = useStillClock();
const environment = process.env;
beforeEach(() => {
	process.env = { ...environment, http_proxy: bench.platform.baseUrl, no_proxy: 'n8n.invalid' };
	bench.platform.settings.pathPrefix = ADDRESS;
});
afterEach(() => void (process.env = environment));

describe.each(written === undefined ? readdirSync(FOLDER) : [written])('saved by %s', (build) => {
	const file = (name: string) => new URL(`${build}/${name}.json`, FOLDER);
	const read = (name: string) => JSON.parse(readFileSync(file(name), 'utf8'));
	const write = (name: string, data: object) => writeFileSync(file(name), `${JSON.stringify(data, null, '\t')}\n`);
	const { device, before, after }: { device: Device; before: Stage[]; after: Stage[] } = read('fleet');
	const credentials: Record<string, CredentialData> = read('credentials');
	const workflows: Record<string, Saved> = read('workflows');
	const devices = new Map<string, Device>();

	function reach({ at, changes }: Stage): void {
		clock.now = Date.parse(at);
		for (const [id, change] of Object.entries(changes)) {
			if (change === null) devices.delete(id);
			else devices.set(id, { ...(devices.get(id) ?? device), id, ...change });
		}
		bench.platform.fleet = new Fleet([...devices.values()]);
	}

	const baselines = () => bench.engine.logs.filter(({ message }) => message.includes('starts over')).length;

	/** Polls at each stage, in a process that has just started, with durable cursors. */
	async function poll(workflow: WorkflowJson, state: string | undefined, stages: Stage[]) {
		forgetPolls();
		const cursor: IDataObject = { state };
		const result: IDataObject[][] = [];
		for (const stage of stages) {
			reach(stage);
			const node = bench.engine.pollingNode(workflow, { getNodeState: () => cursor, budgetMs: 36_000 });
			result.push(((await node.poll()) ?? []).map(({ json }) => json));
		}
		return { state: String(cursor['state']), result };
	}

	async function run(workflow: WorkflowJson) {
		[...before, ...after].forEach(reach);
		const items = jsonOf(await bench.engine.run(workflow));
		const sent = bench.platform.requests.filter(({ kind }) => kind !== 'login');
		const requests = sent.map(({ method, path, query, headers: { authorization = null }, body = null }) => {
			return { method, path, query, authorization, body };
		});
		return { requests, items };
	}

	test.each(Object.entries(workflows))('%s', async (_, saved) => {
		const { engine, platform } = bench;
		const { workflow, state, result } = saved;
		Object.assign(platform.settings, saved.platform);
		for (const [id, { sessionToken, ...stored }] of Object.entries(credentials)) {
			const isSignedIn = written === undefined && typeof sessionToken === 'string';
			const data = isSignedIn ? { ...stored, sessionToken: platform.issueToken(sessionToken) } : stored;
			await engine.saveCredential({ id, name: id, type: 'deviceManagementApi', data });
		}
		devices.clear();
		if (state !== undefined) saved.state = (await poll(workflow, undefined, before)).state;
		const formatOf = (text = '') => /^{"format":\d+/.exec(text)?.[0];
		if (written === undefined && formatOf(saved.state) !== formatOf(state)) {
			const begun = await poll(workflow, undefined, after);
			expect(baselines()).toBe(0);
			expect(await poll(workflow, state, after)).toEqual(begun);
			expect(baselines()).toBe(1);
			return;
		}
		// That build reads it after a rollback.
		if (written === undefined) expect(saved.state).toBe(state);
		const outcome = state === undefined ? await run(workflow) : (await poll(workflow, saved.state, after)).result;
		expect(baselines()).toBe(0);
		if (written === undefined) {
			expect(outcome).toEqual(result);
			expect(platform.logins.attempted).toBe(0);
			return;
		}
		saved.result = outcome;
		for (const id of Object.keys(credentials)) Object.assign(credentials[id] ?? {}, await engine.storedCredential(id));
		write('credentials', credentials);
		write('workflows', workflows);
	});
});
