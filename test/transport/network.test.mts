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

	/** Runs the node and the connection test where n8n has only these variables. Each signs in first. */
	async function sendBy(variables: string, tls: boolean): Promise<string> {
		const { engine, login, platform, run } = await open({ tls });
		const { host, port } = new URL(platform.baseUrl);
		for (const name of NAMES) delete process.env[name];
		const { port: proxyPort } = proxy.address() as AddressInfo;
		for (const [name = '', value = ''] of variables.split(' ').map((variable) => variable.split('='))) {
			process.env[name] = value.replace('PROXY', `http://127.0.0.1:${proxyPort}`).replace('PORT', port);
		}
		await engine.editCredential(login, { allowUnauthorizedCerts: tls });
		expect((await run(operations.count, { credential: login })).error).toBeUndefined();
		expect(await engine.testCredential(login)).toMatchObject({ status: 'OK' });
		return passed.join(' ').replaceAll(host, 'platform');
	}

	it.each([
		['http', 'HTTP_PROXY=PROXY'],
		['http', 'ALL_PROXY=PROXY'],
		['https', 'ALL_PROXY=PROXY'],
		['https', 'https_proxy=PROXY HTTPS_PROXY=http://127.0.0.1:1'],
		['http', 'HTTP_PROXY=PROXY NO_PROXY=127.0.0.1:1'],
		['http', 'HTTP_PROXY=PROXY NO_PROXY=127.0.0.0/8'],
	])('over %s, the login, the requests and the connection test take the proxy of %s', async (scheme, variables) => {
		expect(await sendBy(variables, scheme === 'https')).toBe('platform platform platform platform');
	});

	it.each(['127.0.0.1', '127.0.0.1:PORT', 'example.com,.0.0.1', '*.0.0.1', '*'])(
		'NO_PROXY=%s leads past it',
		async (exceptions) => {
			expect(await sendBy(`HTTP_PROXY=PROXY NO_PROXY=${exceptions}`, false)).toBe('');
		},
	);
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
