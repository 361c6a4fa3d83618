import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { createEngine, type Engine, type RunOptions, type WorkflowJson } from '../../../testbed/engine/engine.mts';
import { Container, core } from '../../../testbed/engine/host.cjs';
import { useServers } from '../../../testbed/jest.mts';

const fixturePackage = join(__dirname, 'fixturePackage');
const n8nHome = join(homedir(), '.n8n');
const hadN8nHome = existsSync(n8nHome);
const serve = useServers();

let engine: Engine;
let credential: string;
let baseUrl: string;
/** The paths of the requests. A token is valid until the test clears `token`. */
let requests: string[];
let logins: number;
let token: string;
let onSlowRequest: (request: IncomingMessage) => void;

beforeEach(async () => {
	[requests, logins, token, onSlowRequest] = [[], 0, '', () => {}];
	({ url: baseUrl } = await serve((request, response) => {
		const path = request.url ?? '';
		requests.push(path);
		const json = (status: number, body: unknown) =>
			response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
		if (path === '/login') return json(200, { token: (token = `token-${++logins}`) });
		if (request.headers.authorization !== `Bearer ${token}`) return json(401, { message: 'who?' });
		if (path === '/slow') return onSlowRequest(request);
		return json(200, { path });
	}));
	engine = await createEngine({ packageDirectory: fixturePackage });
	const data = { baseUrl, password: 'open sesame' };
	credential = await engine.saveCredential({ name: 'Probe account', type: 'probeApi', data });
});
afterEach(async () => await engine.close());

type NodeJson = WorkflowJson['nodes'][number];

/** Start → Probe → Regular, and Probe's second output → Failed. */
function probeWorkflow(parameters: NonNullable<NodeJson['parameters']>, onError?: NodeJson['onError']): WorkflowJson {
	const credentials = engine.credentialReference(credential);
	return {
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{ name: 'Probe', type: 'n8n-nodes-probe.probe', parameters, credentials, onError },
			{ name: 'Regular', type: 'n8n-nodes-base.noOp' },
			{ name: 'Failed', type: 'n8n-nodes-base.noOp' },
		],
		connections: {
			Start: { main: [[{ node: 'Probe', type: 'main', index: 0 }]] },
			Probe: {
				main: [[{ node: 'Regular', type: 'main', index: 0 }], [{ node: 'Failed', type: 'main', index: 0 }]],
			},
		},
	};
}

const runProbe = async (parameters: NonNullable<NodeJson['parameters']>, options?: RunOptions) =>
	await engine.run(probeWorkflow(parameters), options);

describe('packages', () => {
	it('have the names and the additions of n8n’s loader', () => {
		expect(engine.packages.nodeNames()).toEqual(['n8n-nodes-probe.probe', 'n8n-nodes-probe.probeTrigger']);
		const { properties } = engine.packages.getByNameAndVersion('n8n-nodes-probe.probeTrigger').description;
		expect(properties.map(({ name }) => name)).toContain('pollTimes');
		const fields = engine.packages.getCredentialType('probeApi').properties;
		expect(fields.map(({ name }) => name)).toContain('allowedDomains');
	});

	it('that are missing are named in the error', async () => {
		const workflow = { nodes: [{ name: 'Start', type: 'n8n-nodes-absent.thing' }] };
		await expect(engine.run(workflow)).rejects.toThrow('n8n-nodes-absent');
	});
});

describe('a run', () => {
	it('evaluates expressions for each item, keeps the items paired, and does not change its arguments', async () => {
		const workflow = probeWorkflow({ path: '=/{{ $json.n }}' });
		const input = [{ n: 2 }, { n: 1 }];
		const before = structuredClone({ workflow, input });
		const run = await engine.run(workflow, { input });
		expect(run.data('Probe')).toEqual([
			{ json: { path: '/2' }, pairedItem: { item: 0 } },
			{ json: { path: '/1' }, pairedItem: { item: 1 } },
		]);
		expect(run.data('Regular')).toHaveLength(2);
		expect([run.error, run.cancelled]).toEqual([undefined, false]);
		expect({ workflow, input }).toEqual(before);
		expect(() => run.data('Prope')).toThrow('The workflow has no node "Prope"');
	});

	it('starts with one empty item without input, after any earlier run', async () => {
		await runProbe({}, { input: [{ n: 2 }, { n: 1 }] });
		const run = await runProbe({ path: '=/{{ Object.keys($json).length }}' });
		expect(run.data('Probe').map(({ json }) => json)).toEqual([{ path: '/0' }]);
	});

	it('takes a workflow from a file, with pinned data', async () => {
		const folder = mkdtempSync(join(tmpdir(), 'engine-test-'));
		try {
			const file = join(folder, 'workflow.json');
			const workflow = { ...probeWorkflow({ path: '=/{{ $json.n }}' }), pinData: { Start: [{ json: { n: 3 } }] } };
			writeFileSync(file, JSON.stringify({ ...workflow, active: false, meta: null, staticData: null, tags: [] }));
			expect((await engine.run(file)).data('Probe')).toMatchObject([{ json: { path: '/3' } }]);
		} finally {
			rmSync(folder, { recursive: true });
		}
	});

	const error = 'The probe refuses';
	it.each([
		['stops at', undefined, error, [], []],
		['continues after', 'continueRegularOutput', undefined, [{ error }, { path: '/things/1' }], []],
		['separates', 'continueErrorOutput', undefined, [{ path: '/things/1' }], [{ bad: true, error }]],
	] as const)('%s a failing item', async (_what, onError, message, regular, failed) => {
		const workflow = probeWorkflow({ refuse: '={{ $json.bad }}' }, onError);
		const run = await engine.run(workflow, { input: [{ bad: true }, { bad: false }] });
		expect(run.error?.message).toBe(message);
		expect(run.data('Regular').map(({ json }) => json)).toEqual(regular);
		expect(run.data('Failed').map(({ json }) => json)).toEqual(failed);
	});

	it('that is cancelled ends its request and runs nothing after it', async () => {
		const stop = new AbortController();
		const ended = new Promise<void>((resolve) => {
			onSlowRequest = (request) => {
				request.on('close', resolve);
				stop.abort();
			};
		});
		const run = await runProbe({ path: '/slow' }, { signal: stop.signal });
		await ended;
		expect(run.cancelled).toBe(true);
		expect(run.data('Regular')).toEqual([]);
	});

	it('that is cancelled before it begins sends nothing', async () => {
		expect((await runProbe({}, { signal: AbortSignal.abort() })).cancelled).toBe(true);
		expect(requests).toEqual([]);
	});
});

describe('credentials', () => {
	it('are encrypted in the store', async () => {
		const ciphertext = engine.storedCiphertext(credential);
		expect(Buffer.from(ciphertext, 'base64').toString('latin1')).not.toContain('sesame');
		expect(await engine.storedCredential(credential)).toEqual({ baseUrl, password: 'open sesame' });
	});

	it('sign in once, save the token, use it in the next run, and sign in again after an HTTP 401', async () => {
		await runProbe({});
		await runProbe({});
		expect(engine.credentialUse).toEqual({ decrypted: 4, preAuthenticated: 1, updated: 1 });
		token = '';
		await runProbe({});
		expect(requests).toEqual(['/login', ...Array(3).fill('/things/1'), '/login', '/things/1']);
		const stored = { sessionToken: 'token-2', password: 'open sesame' };
		expect(await engine.storedCredential(credential)).toMatchObject(stored);
	});

	it('are decrypted for every request without its own copy', async () => {
		await runProbe({}, { input: [{}, {}, {}] });
		expect(engine.credentialUse.decrypted).toBe(4);
	});

	it('may hold expressions, which a sign-in leaves in place', async () => {
		const data = { baseUrl: `={{ "${baseUrl}" }}`, password: '={{ $json.word }}' };
		await engine.updateCredential(credential, data);
		const run = await runProbe({}, { input: [{ word: 'open sesame' }] });
		expect(run.data('Probe')).toMatchObject([{ json: { path: '/things/1' } }]);
		expect(await engine.storedCredential(credential)).toEqual({ ...data, sessionToken: 'token-1' });
	});
});

describe('the instance', () => {
	it('captures every level of the log since the engine was created, and prints none of it', async () => {
		const printed = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
		try {
			await runProbe({ refuse: true });
			expect(printed).not.toHaveBeenCalled();
		} finally {
			printed.mockRestore();
		}
		expect(engine.logs.map(({ level }) => level)).toContain('debug');
		expect(engine.logs.map(({ message }) => message)).toContain('Running node "Probe" finished with error');
		const later = await createEngine({ packageDirectory: fixturePackage });
		expect(later.logs.map(({ message }) => message)).not.toContain('Running node "Probe" finished with error');
		await later.close();
	});

	it('knows the errors of Node’s own modules as errors, as they are outside jest', () => {
		let thrown: unknown;
		try {
			readdirSync(join(fixturePackage, 'absent'));
		} catch (error) {
			thrown = error;
		}
		expect([thrown instanceof Error, thrown instanceof TypeError]).toEqual([true, false]);
	});

	it('leaves no files and no settings behind', () => {
		expect(existsSync(Container.get(core.InstanceSettings).n8nFolder)).toBe(false);
		expect([process.env['N8N_ENCRYPTION_KEY'], process.env['N8N_USER_FOLDER']]).toEqual([undefined, undefined]);
		expect(existsSync(n8nHome)).toBe(hadN8nHome);
	});
});
