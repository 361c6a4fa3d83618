import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { useBenches, useProcesses } from '../../testbed/jest.mts';
import { testOnlyCertificate } from '../../testbed/platform/tls/testOnlyCertificate.mts';

/** What docs/network.md says of n8n's environment holds for every request of the package, the credential's own included. */

const count = { resource: 'device', operation: 'count' };
const open = useBenches();

describe('a proxy in the environment', () => {
	const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
		name,
		name.toLowerCase(),
	]);
	let before: Record<string, string | undefined> = {};
	let proxy: Server;
	let address: string;
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
		address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	});
	afterEach(() => {
		for (const [name, value] of Object.entries(before)) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
		proxy.closeAllConnections();
		proxy.close();
	});

	const tell = (environment: Record<string, string>) => {
		before = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
		for (const name of VARIABLES) delete process.env[name];
		Object.assign(process.env, environment);
	};
	const openTold = async (environment: (proxy: string, platform: URL) => Record<string, string>, tls = false) => {
		const bench = await open({ tls });
		const platform = new URL(bench.platform.baseUrl);
		tell(environment(address, platform));
		for (const id of [bench.apiKey, bench.login]) {
			await bench.engine.updateCredential(id, {
				...(await bench.engine.storedCredential(id)),
				allowUnauthorizedCerts: tls,
			});
		}
		return { ...bench, host: platform.host };
	};

	it.each([
		['HTTP_PROXY', false, (HTTP_PROXY: string) => ({ HTTP_PROXY })],
		['HTTPS_PROXY', true, (HTTPS_PROXY: string) => ({ HTTPS_PROXY })],
		['ALL_PROXY', false, (ALL_PROXY: string) => ({ ALL_PROXY })],
		['ALL_PROXY, over TLS,', true, (ALL_PROXY: string) => ({ ALL_PROXY })],
		[
			'https_proxy before HTTPS_PROXY',
			true,
			(https_proxy: string) => ({ https_proxy, HTTPS_PROXY: 'http://127.0.0.1:1' }),
		],
	])('%s carries the login, the requests and the connection test', async (_name, tls, environment) => {
		const { login, host, run, engine, platform } = await openTold(environment, tls);
		const { error } = await run(count, { credential: login });
		expect(error).toBeUndefined();
		expect(platform.logins.attempted).toBe(1);
		expect(passed).toEqual([host, host]);
		expect(await engine.testCredential(login)).toMatchObject({ status: 'OK' });
		expect(passed).toEqual([host, host, host, host]);
	});

	it.each([
		['the host', () => '127.0.0.1'],
		['the host and its port', (platform: URL) => platform.host],
		['the end of the host, with a dot', () => 'example.com,.0.0.1'],
		['the end of the host, with an asterisk', () => '*.0.0.1'],
		['everything', () => '*'],
	])('NO_PROXY with %s leads past it', async (_name, exception) => {
		const { run } = await openTold((HTTP_PROXY, platform) => ({ HTTP_PROXY, NO_PROXY: exception(platform) }));
		expect((await run(count)).error).toBeUndefined();
		expect(passed).toEqual([]);
	});

	it.each([
		['another port', '127.0.0.1:1'],
		['a range of addresses', '127.0.0.0/8'],
	])('NO_PROXY with %s does not', async (_name, NO_PROXY) => {
		const { run, host } = await openTold((HTTP_PROXY) => ({ HTTP_PROXY, NO_PROXY }));
		expect((await run(count)).error).toBeUndefined();
		expect(passed).toEqual([host]);
	});
});

describe('a private certificate', () => {
	const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
	const file = join(folder, 'our-authority.pem');
	writeFileSync(file, testOnlyCertificate);
	afterAll(() => rmSync(folder, { recursive: true }));
	const openTrusting = useProcesses(1, { NODE_EXTRA_CA_CERTS: file });

	it('is trusted where NODE_EXTRA_CA_CERTS names it, and nowhere else', async () => {
		const bench = await openTrusting({ tls: true });
		const [trusting] = bench.processes;
		if (trusting === undefined) throw new Error('There is no process');
		expect((await trusting.run(count, { credential: bench.login })).error).toBeUndefined();
		expect(await trusting.testCredential(bench.apiKey)).toMatchObject({ status: 'OK' });
		expect((await bench.run(count)).error?.message).toContain("The platform's TLS certificate is not trusted");
	});
});
