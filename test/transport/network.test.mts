import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { TlsOptions } from 'node:tls';

import type { Bench } from '../../testbed/bench.mts';
import { useBenches } from '../../testbed/jest.mts';
import { operations } from '../../testbed/operations.mts';
import { jsonOf } from '../../testbed/output.mts';
import { testOnlyCertificate, testOnlyPrivateKey } from '../../testbed/platform/tls/testOnlyCertificate.mts';

/** What docs/network.md says of n8n's environment holds for every request of the package, the credential's own included. */

const open = useBenches();

describe('a proxy in the environment', () => {
	const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
	const before = { ...process.env };
	const NOWHERE = '127.0.0.1:1';
	/** For a login and for a list. */
	const fault = () => ({ code: 0, data: { token: 't', content: [], totalElements: 7 } });
	const proxy = createServer().listen(0, '127.0.0.1');
	afterAll(() => {
		proxy.close();
		proxy.closeAllConnections();
	});
	afterEach(() => {
		for (const name of NAMES) delete process.env[name];
		Object.assign(process.env, before);
		proxy.removeAllListeners('connect');
	});

	/** Returns the address of a proxy that tunnels every connection to this server. */
	function tunnelTo(url: string): string {
		proxy.on('connect', (_request, socket) => {
			const onward = connect(Number(new URL(url).port), '127.0.0.1', () => {
				socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
				socket.pipe(onward).pipe(socket);
			});
			socket.on('error', () => onward.destroy());
			onward.on('error', () => socket.destroy());
		});
		return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	}

	function setVariables(variables: string): void {
		for (const name of NAMES) delete process.env[name];
		Object.assign(process.env, Object.fromEntries(variables.split(' ').map((variable) => variable.split('='))));
	}

	/** Signs in and counts, by the node and by the connection test, where n8n has only these variables. */
	async function send({ engine, login, run }: Bench, baseUrl: string, variables: string): Promise<void> {
		setVariables(variables);
		await engine.editCredential(login, { baseUrl, allowUnauthorizedCerts: true });
		expect(jsonOf(await run(operations.count, { credential: login }))).toEqual([{ count: 7 }]);
		expect(await engine.testCredential(login)).toMatchObject({ status: 'OK' });
	}

	it.each([
		['http', 'HTTP_PROXY=PROXY'],
		['https', 'ALL_PROXY=PROXY'],
		['https', `https_proxy=PROXY HTTPS_PROXY=http://${NOWHERE}`],
		['http', 'HTTP_PROXY=PROXY NO_PROXY=127.0.0.0/8'],
	])('over %s, the login, the requests and the connection test take the proxy of %s', async (scheme, variables) => {
		const bench = await open({ fault, tls: scheme === 'https' });
		const { baseUrl, requests } = bench.platform;
		const address = scheme === 'https' ? tunnelTo(baseUrl) : baseUrl;
		await send(bench, `${scheme}://${NOWHERE}`, variables.replace('=PROXY', `=${address}`));
		// The connection test uses a token that was issued a moment before.
		expect(requests).toHaveLength(3);
	});

	/** The proxy tunnels nothing, and requires a password. */
	it.each([
		['https', 'HTTPS_PROXY=IT', '(EPROTO)'],
		['https', 'HTTPS_PROXY=https://IT', '(EPROTO)'],
		['http', 'HTTP_PROXY=https://IT', '(EPROTO)'],
		['https', 'HTTPS_PROXY=http://IT', 'requires a user name and password (HTTP 407)'],
		['https', 'HTTPS_PROXY=http://user:pass#word@IT', '(ERR_INVALID_URL)'],
		['https', 'HTTPS_PROXY=http://user:p@ss#word@IT', '(E'],
		['https', 'HTTPS_PROXY=http://user:100%@IT', ''],
		['https', `HTTPS_PROXY=http://${NOWHERE}`, '(ECONNREFUSED)'],
		['http', `HTTP_PROXY=http://${NOWHERE}`, '(ECONNREFUSED)'],
	])('over %s, %s is named as the reason: %s', async (scheme, variables, words) => {
		const { engine, apiKey, run } = await open();
		const { port } = proxy.address() as AddressInfo;
		proxy.on('connect', (_request, socket) => {
			socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
		});
		await engine.editCredential(apiKey, { baseUrl: `${scheme}://${NOWHERE}` });
		setVariables(variables.replace('IT', `127.0.0.1:${port}`));
		const { error } = await run({ ...operations.count, options: { maxRetries: 0 } });
		expect(error?.message).toMatch(/^n8n('s| can't connect to its) proxy/);
		expect(error?.message).toContain(words);
		expect(error?.description).toMatch(/^Check HTTPS_PROXY, /);
	});

	it.each([502, 503, 504])('that responds with HTTP %i for a host it does not know names NO_PROXY', async (status) => {
		const { engine, apiKey, run } = await open();
		proxy.once('request', (_request, response) =>
			response.writeHead(status, { via: '1.1 squid' }).end('<title>x</title>'),
		);
		await engine.editCredential(apiKey, { baseUrl: 'http://platform.internal' });
		setVariables(`HTTP_PROXY=http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
		const { error } = await run({ ...operations.count, options: { maxRetries: 0 } });
		expect(error?.message).toContain(`(HTTP ${status}: x)`);
		expect(error?.description).toContain('check NO_PROXY');
	});
});

test.each<[string, TlsOptions | undefined, remedy: RegExp]>([
	["n8n and the server couldn't agree on a TLS connection", { requestCert: true }, /client certificate/],
	[
		"n8n and the server couldn't agree on a TLS connection",
		{ requestCert: true, maxVersion: 'TLSv1.2' },
		/client certificate/,
	],
	[
		"n8n and the server couldn't agree on a TLS connection",
		{ maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' },
		/ciphers/,
	],
	[
		"n8n and the server couldn't agree on a TLS connection",
		{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
		/old TLS version/,
	],
	["The server doesn't use HTTPS on this port", undefined, /http:\/\//],
])('%s, with a server of %j', async (message, options, remedy) => {
	const certificate = { cert: testOnlyCertificate, key: testOnlyPrivateKey, rejectUnauthorized: true };
	const server = options ? createTlsServer({ ...certificate, ...options }) : createServer();
	await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
	const { engine, login, run } = await open();
	const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
	await engine.editCredential(login, { baseUrl, allowUnauthorizedCerts: true });
	const { error } = await run(operations.count, { credential: login });
	server.close();
	expect(error?.message).toContain(`. ${message} (E`);
	expect(error?.description).toMatch(remedy);
	expect(error?.description?.includes('http://')).toBe(options === undefined);
});
