import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { createEngine, type Engine, type RunOptions, type WorkflowJson } from '../../../testbed/engine/engine.mts';
import { Container, core } from '../../../testbed/engine/host.cjs';

const fixturePackage = join(__dirname, 'fixturePackage');
const n8nHome = join(homedir(), '.n8n');
const hadN8nHome = existsSync(n8nHome);

/** A server with a login and some things; a token is valid until `expireTokens`. */
class ThingServer {
	logins = 0;
	requests: string[] = [];
	readonly things = [
		{ id: 1, name: 'kettle' },
		{ id: 2, name: 'lamp' },
		{ id: 3, name: 'lamp shade' },
	];
	/** Answers with empty objects. */
	hollowThings = false;
	onSlowRequest = (_request: IncomingMessage) => {};

	private readonly server = createServer((request, response) => this.answer(request, response));
	private validToken = '';

	get url(): string {
		const { port } = this.server.address() as AddressInfo;
		return `http://127.0.0.1:${port}`;
	}

	async listen(): Promise<void> {
		await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}

	expireTokens(): void {
		this.validToken = '';
	}

	private answer(request: IncomingMessage, response: ServerResponse): void {
		const path = request.url ?? '';
		this.requests.push(`${request.method} ${path}`);
		if (path === '/login') {
			this.validToken = `token-${++this.logins}`;
			return json(response, 200, { token: this.validToken });
		}
		if (request.headers.authorization !== `Bearer ${this.validToken}`) return json(response, 401, { message: 'who?' });
		if (path === '/slow') return this.onSlowRequest(request);
		if (path === '/things') return json(response, 200, this.things);
		const thing = this.things.find(({ id }) => path === `/things/${id}`);
		return thing
			? json(response, 200, this.hollowThings ? {} : thing)
			: json(response, 404, { message: 'no such thing' });
	}
}

function json(response: ServerResponse, status: number, body: unknown): void {
	response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

let server: ThingServer;
let engine: Engine;
let credential: string;

beforeEach(async () => {
	server = new ThingServer();
	await server.listen();
	engine = await createEngine({ packageDirectory: fixturePackage });
	credential = await engine.saveCredential({
		name: 'Probe account',
		type: 'probeApi',
		data: { baseUrl: server.url, password: 'open sesame' },
	});
});

afterEach(async () => {
	await engine.close();
	await server.close();
});

type NodeJson = WorkflowJson['nodes'][number];

/** Start → Probe → Regular, and Probe's second output → Failed. */
function probeWorkflow(
	parameters: NonNullable<NodeJson['parameters']>,
	settings: Partial<NodeJson> = {},
): WorkflowJson {
	return {
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{
				name: 'Probe',
				type: 'n8n-nodes-probe.probe',
				parameters,
				credentials: engine.credentialReference(credential),
				...settings,
			},
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

const runProbe = async (
	parameters: NonNullable<NodeJson['parameters']>,
	options?: RunOptions,
	settings?: Partial<NodeJson>,
) => await engine.run(probeWorkflow(parameters, settings), options);

describe('packages', () => {
	it('are loaded by n8n under the names that installed packages have', () => {
		expect(engine.packages.nodeNames()).toEqual(['n8n-nodes-probe.probe', 'n8n-nodes-probe.probeTrigger']);
		expect(engine.packages.getSupportedNodes('probeApi')).toEqual(engine.packages.nodeNames());
	});

	it('get what the loader adds: poll times for a polling node, allowed domains for a credential', () => {
		const { properties } = engine.packages.getByNameAndVersion('n8n-nodes-probe.probeTrigger').description;
		expect(properties.map(({ name }) => name)).toContain('pollTimes');
		expect(engine.packages.getCredentialType('probeApi').properties.map(({ name }) => name)).toContain(
			'allowedDomains',
		);
	});

	it('that are not there are named in the error', async () => {
		const workflow = { nodes: [{ name: 'Start', type: 'n8n-nodes-absent.thing' }] };
		await expect(engine.run(workflow)).rejects.toThrow('n8n-nodes-absent');
	});
});

describe('a run', () => {
	it('evaluates expressions for each item and keeps the items paired', async () => {
		const run = await runProbe({ path: '=/things/{{ $json.n }}' }, { input: [{ n: 2 }, { n: 1 }] });

		expect(run.error).toBeUndefined();
		expect(run.data('Probe')).toEqual([
			{ json: { id: 2, name: 'lamp' }, pairedItem: { item: 0 } },
			{ json: { id: 1, name: 'kettle' }, pairedItem: { item: 1 } },
		]);
		expect(run.data('Regular')).toHaveLength(2);
		expect(run.cancelled).toBe(false);
	});

	it('starts with one empty item without input, after any earlier run', async () => {
		await runProbe({}, { input: [{ n: 2 }, { n: 1 }] });
		const run = await runProbe({ path: '=/things/{{ Object.keys($json).length + 1 }}' });
		expect(run.data('Probe').map((item) => item.json['id'])).toEqual([1]);
	});

	it('takes a workflow from a file, ids and pinned data included', async () => {
		const folder = mkdtempSync(join(tmpdir(), 'engine-test-'));
		try {
			const file = join(folder, 'workflow.json');
			const workflow = {
				...probeWorkflow({ path: '=/things/{{ $json.n }}' }),
				pinData: { Start: [{ json: { n: 3 } }] },
			};
			writeFileSync(file, JSON.stringify({ ...workflow, active: false, meta: null, staticData: null, tags: [] }));

			expect((await engine.run(file)).data('Probe')).toMatchObject([{ json: { id: 3 } }]);
		} finally {
			rmSync(folder, { recursive: true });
		}
	});

	it('ignores pinned data unless it was started by hand, as n8n does', async () => {
		const workflow = { ...probeWorkflow({}), pinData: { Probe: [{ json: { pinned: true } }] } };

		expect((await engine.run(workflow)).data('Probe')).toMatchObject([{ json: { pinned: true } }]);
		const input = [{ json: {} }];
		expect((await engine.run(workflow, { mode: 'trigger', input })).data('Probe')).toMatchObject([{ json: { id: 1 } }]);
	});

	it('stops at a failing node and keeps its error', async () => {
		const run = await runProbe({ refuse: '={{ $json.bad }}' }, { input: [{ bad: false }, { bad: true }] });

		expect(run.error?.message).toBe('The probe refuses');
		expect(run.nodeError('Probe')?.message).toBe('The probe refuses');
		expect(run.data('Regular')).toEqual([]);
		expect(run.raw.status).toBe('error');
	});

	it('carries errors on as items with “Continue”', async () => {
		const run = await runProbe(
			{ refuse: '={{ $json.bad }}' },
			{ input: [{ bad: true }, { bad: false }] },
			{ onError: 'continueRegularOutput' },
		);
		expect(run.error).toBeUndefined();
		expect(run.data('Regular').map((item) => item.json)).toEqual([
			{ error: 'The probe refuses' },
			{ id: 1, name: 'kettle' },
		]);
	});

	it('sends failed items to the second output with “Continue (using error output)”', async () => {
		const run = await runProbe(
			{ refuse: '={{ $json.bad }}' },
			{ input: [{ bad: true }, { bad: false }] },
			{ onError: 'continueErrorOutput' },
		);
		expect(run.data('Regular').map((item) => item.json)).toEqual([{ id: 1, name: 'kettle' }]);
		expect(run.data('Probe', 1).map((item) => item.json)).toEqual([{ bad: true, error: 'The probe refuses' }]);
		expect(run.data('Failed')).toHaveLength(1);
	});

	it('keeps execution hints with the items of the node', async () => {
		const run = await runProbe({ hint: 'Look out' });
		expect(run.hints('Probe')).toEqual([{ message: 'Look out', location: 'outputPane', type: 'warning' }]);
		expect(run.hints('Regular')).toEqual([]);
	});

	it('that is cancelled drops the request under way and runs nothing after it', async () => {
		const stop = new AbortController();
		const dropped = new Promise<void>((resolve) => {
			server.onSlowRequest = (request) => {
				request.on('close', resolve);
				stop.abort();
			};
		});
		const run = await runProbe({ path: '/slow' }, { signal: stop.signal });

		await dropped;
		expect(run.cancelled).toBe(true);
		expect(run.data('Regular')).toEqual([]);
	});

	it('that is cancelled before it begins sends nothing', async () => {
		const run = await runProbe({}, { signal: AbortSignal.abort() });
		expect(run.cancelled).toBe(true);
		expect(server.requests).toEqual([]);
	});

	it('leaves the given workflow and input as they were', async () => {
		const workflow = probeWorkflow({ path: '=/things/{{ $json.n }}' });
		const input = [{ n: 1 }];
		const before = structuredClone({ workflow, input });

		await engine.run(workflow, { input });
		expect({ workflow, input }).toEqual(before);
	});

	it('names a node that the workflow does not have instead of showing no items', async () => {
		const run = await runProbe({});
		expect(() => run.data('Prope')).toThrow('The workflow has no node "Prope"');
	});
});

describe('credentials', () => {
	it('are encrypted where they are stored and readable only through n8n', async () => {
		const ciphertext = engine.storedCiphertext(credential);
		expect(Buffer.from(ciphertext, 'base64').toString('latin1')).not.toContain('sesame');
		expect(await engine.storedCredential(credential)).toEqual({ baseUrl: server.url, password: 'open sesame' });
	});

	it('log in once, save the token encrypted, and use it again in the next run', async () => {
		await runProbe({});
		await runProbe({});

		expect(server.logins).toBe(1);
		expect(await engine.storedCredential(credential)).toMatchObject({
			sessionToken: 'token-1',
			password: 'open sesame',
		});
		expect(engine.credentialUse).toEqual({ decrypted: 4, preAuthenticated: 1, updated: 1 });
	});

	it('log in again after an HTTP 401 and send the request once more', async () => {
		await runProbe({});
		server.expireTokens();
		const run = await runProbe({});

		expect(run.data('Probe')).toMatchObject([{ json: { id: 1 } }]);
		expect(server.requests.slice(-3)).toEqual(['GET /things/1', 'POST /login', 'GET /things/1']);
		expect(await engine.storedCredential(credential)).toMatchObject({ sessionToken: 'token-2' });
	});

	it('save nothing when the login returns no token', async () => {
		await engine.updateCredential(credential, { baseUrl: server.url, loginName: '' });
		const run = await runProbe({});

		expect(run.error).toMatchObject({ httpCode: '401' });
		expect(server.logins).toBe(0);
		expect(engine.credentialUse.updated).toBe(0);
	});

	it('are decrypted for every request without its own copy', async () => {
		await runProbe({}, { input: [{}, {}, {}] });
		expect(engine.credentialUse.decrypted).toBe(4);
	});

	it('may hold expressions, which a login leaves in place', async () => {
		const data = { baseUrl: `={{ "${server.url}" }}`, password: '={{ $json.word }}' };
		await engine.updateCredential(credential, data);
		const run = await runProbe({}, { input: [{ word: 'open sesame' }] });

		expect(run.data('Probe')).toMatchObject([{ json: { id: 1 } }]);
		expect(await engine.storedCredential(credential)).toEqual({ ...data, sessionToken: 'token-1' });
	});

	it('never log in outside the domains that the user allows them', async () => {
		const restriction = { allowedHttpRequestDomains: 'domains', allowedDomains: 'elsewhere.example' };
		await engine.updateCredential(credential, { baseUrl: server.url, password: 'open sesame', ...restriction });
		const run = await runProbe({});

		expect(run.error).toBeDefined();
		expect(server.logins).toBe(0);
	});

	it.each(['legacy', 'current'])('serve the HTTP Request node through its %s request function', async (helper) => {
		const run = await engine.run(
			{
				nodes: [
					{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
					{
						name: 'HTTP Request',
						type: 'n8n-nodes-base.httpRequest',
						typeVersion: 4.2,
						parameters: {
							url: `=${server.url}/things/{{ $json.n }}`,
							authentication: 'predefinedCredentialType',
							nodeCredentialType: 'probeApi',
							helper,
						},
						credentials: engine.credentialReference(credential),
					},
				],
				connections: { Start: { main: [[{ node: 'HTTP Request', type: 'main', index: 0 }]] } },
			},
			{ input: [{ n: 2 }, { n: 3 }] },
		);

		expect(run.error).toBeUndefined();
		expect(run.data('HTTP Request').map((item) => item.json['id'])).toEqual([2, 3]);
		expect(server.logins).toBe(1);
	});
});

describe('the credential test', () => {
	it('logs in and passes', async () => {
		expect(await engine.testCredential(credential)).toEqual({ status: 'OK', message: 'Connection successful!' });
		expect(await engine.storedCredential(credential)).toMatchObject({ sessionToken: 'token-1' });
	});

	it('finds a rule for the status of a refused request', async () => {
		const refusing = createServer((_request, response) => json(response, 403, {}));
		await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
		const { port } = refusing.address() as AddressInfo;
		const data = { baseUrl: `http://127.0.0.1:${port}`, sessionToken: 'any' };
		await engine.updateCredential(credential, data);

		expect(await engine.testCredential(credential)).toEqual({ status: 'Error', message: 'This account may not look' });
		await new Promise((resolve) => refusing.close(resolve));
	});

	it('finds a rule for the body of an answer with status 200', async () => {
		server.hollowThings = true;
		expect(await engine.testCredential(credential)).toEqual({ status: 'Error', message: 'That is no thing' });
	});

	it('shows the status text when no rule fits', async () => {
		server.things.length = 0;
		expect(await engine.testCredential(credential)).toEqual({ status: 'Error', message: 'Not Found' });
	});

	it('shows the code of a refused connection', async () => {
		const closed = new ThingServer();
		await closed.listen();
		const { url } = closed;
		await closed.close();
		await engine.updateCredential(credential, { baseUrl: url, sessionToken: 'any' });

		expect(await engine.testCredential(credential)).toEqual({ status: 'Error', message: 'ECONNREFUSED' });
	});
});

describe('a list search', () => {
	it('sees the parameters of the editor, filters and pages', async () => {
		const search = async (filter?: string, token?: string) =>
			await engine.listSearch(
				{ path: '/things' },
				engine.credentialReference(credential),
				'searchThings',
				filter,
				token,
			);

		expect(await search('lamp')).toEqual({ results: [{ name: 'lamp', value: 2 }], paginationToken: '1' });
		expect(await search('lamp', '1')).toEqual({
			results: [{ name: 'lamp shade', value: 3 }],
			paginationToken: undefined,
		});
		expect(server.logins).toBe(1);
	});

	it('names a method that no node has', async () => {
		await expect(engine.listSearch({}, {}, 'searchNothing')).rejects.toThrow('searchNothing');
	});
});

describe('a poll', () => {
	const triggerWorkflow = (): WorkflowJson => ({
		nodes: [
			{
				name: 'Probe Trigger',
				type: 'n8n-nodes-probe.probeTrigger',
				credentials: engine.credentialReference(credential),
			},
		],
	});

	it('remembers what the node kept in its static data', async () => {
		const first = await engine.poll(triggerWorkflow());
		expect(first.items?.map((item) => item.json['id'])).toEqual([1, 2, 3]);

		const second = await engine.poll(triggerWorkflow(), { staticData: first.staticData });
		expect(second.items).toBeNull();

		server.things.push({ id: 4, name: 'clock' });
		const third = await engine.poll(triggerWorkflow(), { staticData: second.staticData });
		expect(third.items?.map((item) => item.json['id'])).toEqual([4]);
	});

	it('starts a workflow when it is run by hand', async () => {
		const run = await engine.run(triggerWorkflow());
		expect(run.data('Probe Trigger')).toHaveLength(3);
	});
});

describe('the instance', () => {
	it('captures every level of the log and prints none of it', async () => {
		const printed = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
		try {
			await runProbe({ refuse: true });
			expect(printed).not.toHaveBeenCalled();
		} finally {
			printed.mockRestore();
		}
		expect(engine.logs.map(({ level }) => level)).toContain('debug');
		expect(engine.logs.map(({ message }) => message)).toContain('Running node "Probe" finished with error');
	});

	it('captures for each engine only what happened since it was created', async () => {
		await runProbe({});
		const later = await createEngine({ packageDirectory: fixturePackage });
		expect(engine.logs.length).toBeGreaterThan(0);
		expect(later.logs.map(({ message }) => message)).not.toContain('Workflow execution started');
		await later.close();
	});

	it('knows the errors of Node’s own modules as errors, as they are outside jest', () => {
		const attempt = () => readdirSync(join(fixturePackage, 'absent'));
		expect(attempt).toThrow();
		try {
			attempt();
		} catch (error) {
			expect(error instanceof Error).toBe(true);
			expect(error instanceof TypeError).toBe(false);
		}
	});

	it('leaves no files and no settings behind', () => {
		expect(existsSync(Container.get(core.InstanceSettings).n8nFolder)).toBe(false);
		expect(process.env['N8N_ENCRYPTION_KEY']).toBeUndefined();
		expect(process.env['N8N_USER_FOLDER']).toBeUndefined();
		expect(existsSync(n8nHome)).toBe(hadN8nHome);
	});
});
