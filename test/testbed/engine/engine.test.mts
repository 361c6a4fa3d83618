import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
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
let token: string;

beforeEach(async () => {
	[requests, token] = [[], ''];
	({ url: baseUrl } = await serve(({ url = '', headers }, response) => {
		requests.push(url);
		const json = (status: number, body: unknown) =>
			response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
		if (url === '/login') return json(200, { token: (token = `token-${requests.length}`) });
		if (headers.authorization !== `Bearer ${token}`) return json(401, { message: 'who?' });
		return url === '/slow' ? undefined : json(200, { path: url });
	}));
	engine = await createEngine({ packageDirectory: fixturePackage });
	const data = { baseUrl, password: 'open sesame' };
	credential = await engine.saveCredential({ name: 'Probe account', type: 'probeApi', data });
});
afterEach(async () => await engine.close());

/** Start → Probe → After. */
function probeWorkflow(path = '/thing'): WorkflowJson {
	const credentials = engine.credentialReference(credential);
	const to = (node: string) => ({ main: [[{ node, type: 'main' as const, index: 0 }]] });
	return {
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{ name: 'Probe', type: 'n8n-nodes-probe.probe', parameters: { path }, credentials },
			{ name: 'After', type: 'n8n-nodes-base.noOp' },
		],
		connections: { Start: to('Probe'), Probe: to('After') },
	};
}

const run = async (path?: string, options?: RunOptions) => await engine.run(probeWorkflow(path), options);

it('evaluates expressions for each item, keeps items paired, and changes neither the workflow nor the input', async () => {
	const [workflow, input] = [probeWorkflow('=/{{ $json.n }}'), [{ n: 2 }, { n: 1 }]];
	const before = structuredClone({ workflow, input });
	const result = await engine.run(workflow, { input });
	const paired = [2, 1].map((n, item) => ({ json: { path: `/${n}` }, pairedItem: { item } }));
	expect([result.data('Probe'), result.error, result.cancelled]).toEqual([paired, undefined, false]);
	expect({ workflow, input }).toEqual(before);
	expect(() => result.data('Prope')).toThrow('The workflow has no node "Prope"');
	const later = await run('=/{{ Object.keys($json).length }}');
	expect(later.data('Probe').map(({ json }) => json)).toEqual([{ path: '/0' }]);
});

it('ends a run that is stopped, and begins none that was stopped before', async () => {
	const stop = new AbortController();
	const running = run('/slow', { signal: stop.signal });
	while (!requests.includes('/slow')) await new Promise(setImmediate);
	stop.abort();
	const stopped = await running;
	expect([stopped.cancelled, stopped.data('After')]).toEqual([true, []]);
	requests = [];
	expect((await run('/thing', { signal: AbortSignal.abort() })).cancelled).toBe(true);
	expect(requests).toEqual([]);
});

it('signs in once, saves the token, uses it in the next run, and signs in again after an HTTP 401', async () => {
	await run();
	await run();
	expect(engine.credentialUse).toEqual({ decrypted: 4, preAuthenticated: 1, updated: 1 });
	token = '';
	await run();
	expect(requests).toEqual(['/login', '/thing', '/thing', '/thing', '/login', '/thing']);
	const stored = { baseUrl, sessionToken: 'token-5', password: 'open sesame' };
	expect(await engine.storedCredential(credential)).toEqual(stored);
	const ciphertext = Buffer.from(engine.storedCiphertext(credential), 'base64').toString('latin1');
	expect(ciphertext).not.toContain('sesame');
});

it('resolves expressions in a credential, which a sign-in leaves in place', async () => {
	const data = { baseUrl: `={{ "${baseUrl}" }}`, password: '={{ $json.word }}' };
	await engine.updateCredential(credential, data);
	const result = await run('/thing', { input: [{ word: 'open sesame' }] });
	expect(result.data('Probe')).toMatchObject([{ json: { path: '/thing' } }]);
	expect(await engine.storedCredential(credential)).toEqual({ ...data, sessionToken: 'token-1' });
	const fields = engine.packages.getCredentialType('probeApi').properties;
	expect(fields.map(({ name }) => name)).toContain('allowedDomains');
});

it('captures every level of the log and prints nothing, knows errors of Node.js, and leaves no files', async () => {
	const printed = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
	await run('');
	const times = printed.mock.calls.length;
	printed.mockRestore();
	expect(times).toBe(0);
	expect(engine.logs.map(({ level }) => level)).toContain('debug');
	expect(engine.logs.map(({ message }) => message)).toContain('Running node "Probe" finished with error');
	expect(() => readdirSync(join(fixturePackage, 'absent'))).toThrow(Error);
	expect(existsSync(Container.get(core.InstanceSettings).n8nFolder)).toBe(false);
	expect(existsSync(n8nHome)).toBe(hadN8nHome);
});
