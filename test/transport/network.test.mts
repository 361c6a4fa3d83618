import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { checkout } from '../../testbed/checkout.mts';
import { useBenches } from '../../testbed/jest.mts';
import { operations } from '../../testbed/operations.mts';
import { testOnlyCertificate } from '../../testbed/platform/tls/testOnlyCertificate.mts';

/** What docs/network.md says of n8n's environment holds for every request of the package, the credential's own included. */

const open = useBenches();

describe('a proxy in the environment', () => {
	const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
	const before = NAMES.map((name) => [name, process.env[name]] as const);
	let proxy: Server;
	/** Where requests and tunnels led that came by the proxy. */
	let passed: string[];

	beforeEach(async () => {
		passed = [];
		proxy = createServer((incoming, outgoing) => {
			const url = new URL(incoming.url ?? '');
			passed.push(url.host);
			const { method, headers } = incoming;
			const onward = request(url, { method, headers }, (answer) => {
				outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
				answer.pipe(outgoing);
			});
			incoming.pipe(onward);
		});
		proxy.on('connect', (incoming, socket) => {
			const { hostname, port, host } = new URL(`tunnel://${incoming.url}`);
			passed.push(host);
			const onward = connect(Number(port), hostname, () => {
				socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
				socket.pipe(onward).pipe(socket);
			});
			socket.on('error', () => onward.destroy());
			onward.on('error', () => socket.destroy());
		});
		proxy.listen(0, '127.0.0.1');
		await once(proxy, 'listening');
	});
	afterEach(() => {
		for (const [name, value] of before) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
		proxy.closeAllConnections();
		proxy.close();
	});

	/** Opens a bench where n8n has only these variables. */
	const openWith = async (environment: (proxy: string, platform: URL) => Record<string, string>, tls = false) => {
		const bench = await open({ tls });
		const platform = new URL(bench.platform.baseUrl);
		for (const name of NAMES) delete process.env[name];
		Object.assign(process.env, environment(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, platform));
		for (const id of [bench.apiKey, bench.login])
			await bench.engine.editCredential(id, { allowUnauthorizedCerts: tls });
		return { ...bench, host: platform.host };
	};
	const NOWHERE = 'http://127.0.0.1:1';

	it.each([
		['HTTP_PROXY', false, (HTTP_PROXY: string) => ({ HTTP_PROXY })],
		['ALL_PROXY', false, (ALL_PROXY: string) => ({ ALL_PROXY })],
		['ALL_PROXY, over TLS,', true, (ALL_PROXY: string) => ({ ALL_PROXY })],
		['https_proxy before HTTPS_PROXY', true, (https_proxy: string) => ({ https_proxy, HTTPS_PROXY: NOWHERE })],
	])('%s carries the login, the requests and the connection test', async (_name, tls, environment) => {
		const { login, host, run, engine } = await openWith(environment, tls);
		expect((await run(operations.count, { credential: login })).error).toBeUndefined();
		expect(await engine.testCredential(login)).toMatchObject({ status: 'OK' });
		// Two sign-ins, and a list after each.
		expect(passed).toEqual([host, host, host, host]);
	});

	it.each<[exceptions: string, path: 'past the proxy' | 'by the proxy']>([
		['127.0.0.1', 'past the proxy'],
		['127.0.0.1:PORT', 'past the proxy'],
		['example.com,.0.0.1', 'past the proxy'],
		['*.0.0.1', 'past the proxy'],
		['*', 'past the proxy'],
		['127.0.0.1:1', 'by the proxy'],
		['127.0.0.0/8', 'by the proxy'],
	])('NO_PROXY=%s leads %s', async (exceptions, path) => {
		const NO_PROXY = (port: string) => exceptions.replace('PORT', port);
		const { run, host } = await openWith((HTTP_PROXY, { port }) => ({ HTTP_PROXY, NO_PROXY: NO_PROXY(port) }));
		expect((await run(operations.count)).error).toBeUndefined();
		expect(passed).toEqual(path === 'by the proxy' ? [host] : []);
	});
});

describe('a private certificate', () => {
	const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
	const file = join(folder, 'our-authority.pem');
	writeFileSync(file, testOnlyCertificate);
	afterAll(() => rmSync(folder, { recursive: true }));

	it('is trusted where NODE_EXTRA_CA_CERTS names it, and nowhere else', async () => {
		// Node.js reads this variable when a process starts.
		const script = fileURLToPath(new URL('trustingProcess.mts', import.meta.url));
		const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
		const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script], { cwd: checkout, env });
		expect(stdout.trim().split('\n').at(-1)).toBe('[null,"OK"]');
		const { run } = await open({ tls: true });
		expect((await run(operations.count)).error?.message).toContain("The platform's TLS certificate is not trusted");
	}, 120_000);
});
