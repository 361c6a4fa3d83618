import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { CODE_TABLE } from '../../../nodes/DeviceManagement/core/errors/codes.ts';
import type { Fault, StartOptions } from '../../../testbed/platform/server.mts';
import type { RunResult, WorkflowJson } from '../../../testbed/engine/engine.mts';
import type { Bench } from '../../../testbed/bench.mts';
import { useBenches, useServers } from '../../../testbed/jest.mts';
import { operations } from '../../../testbed/operations.mts';
import { jsonOf } from '../../../testbed/output.mts';
import type { Answer } from '../../../testbed/rawServer.mts';

const open = useBenches();
const serve = useServers();

const OK = { status: 'OK', message: 'Connection successful!' };

const ways = ['apiKey', 'login'] as const;

/** Opens a bench, changes the credential and presses the Test button. */
async function pressTest(
	way: (typeof ways)[number],
	{ platform = {}, credential = {} }: { platform?: StartOptions; credential?: ICredentialDataDecryptedObject } = {},
) {
	const bench = await open(platform);
	await bench.engine.editCredential(bench[way], credential);
	return { ...bench, tested: await bench.engine.testCredential(bench[way]) };
}

function rowOf(code: number): (typeof CODE_TABLE)[number] {
	const row = CODE_TABLE.find((one) => one.code === code);
	if (row === undefined) throw new Error(`There is no code ${code}`);
	return row;
}
const reasonOf = (code: number) => rowOf(code).message;
const remedyOf = (code: number) => rowOf(code).remedy;

/** A sentence that says what to do. */
const INSTRUCTION =
	/\. (Ask|Add|Attach|Check|Choose|Copy|Correct|Detach|Enter|Leave|Lift|Lower|Look up|Open|Remove|Set|Try again|Use) /;

describe('the credential test', () => {
	test.each(ways)('passes with the right %s', async (way) => {
		expect((await pressTest(way)).tested).toEqual(OK);
	});

	test('passes with a key that is sent in a query parameter or a header of another name', async () => {
		for (const [apiKeyIn, apiKeyName, apiKeyPrefix] of [
			['query', 'token', ''],
			['query', 'access key', 'Key'],
			['header', 'X-Api-Key', ''],
		] as const) {
			const how = { apiKeyIn, apiKeyName, apiKeyPrefix };
			expect((await pressTest('apiKey', { platform: how, credential: { ...how, customSignIn: true } })).tested).toEqual(
				OK,
			);
		}
	});

	test('passes with an MD5 in place of the password, in capitals too', async () => {
		const { engine, platform, login } = await open();
		await engine.editCredential(login, {
			password: platform.passwordMd5.toUpperCase(),
			passwordFormat: 'md5',
			customSignIn: true,
		});
		expect(await engine.testCredential(login)).toEqual(OK);
	});

	test('passes on an empty fleet', async () => {
		expect((await pressTest('apiKey', { platform: { fleet: { size: 0 } } })).tested).toEqual(OK);
	});

	test.each(['/', '//', ' '])('passes with a base URL that ends in "%s"', async (end) => {
		const { engine, platform, apiKey } = await open({ pathPrefix: '/tenant-7' });
		await engine.editCredential(apiKey, { baseUrl: `${platform.baseUrl}${end}` });
		expect(await engine.testCredential(apiKey)).toEqual(OK);
	});

	test.each(['code', 'status'] as const)(
		'fails with a wrong key, with its reason, on a platform that answers by %s',
		async (deadToken) => {
			const { tested, platform } = await pressTest('apiKey', {
				platform: { deadToken },
				credential: { apiKey: 'wrong' },
			});
			expect(tested.status).toBe('Error');
			expect(tested.message).toMatch(/did not accept the sign-in/);
			expect(platform.logins.attempted).toBe(0);
		},
	);

	test.each<[string, Fault]>([
		['code 14101', { code: 14101 }],
		['code 14102', { code: 14102 }],
		['HTTP 401', { status: 401 }],
	])('does not speak of a login after it has refused a key with %s', async (_name, fault) => {
		const { message = '' } = (await pressTest('apiKey', { platform: { fault: () => fault } })).tested;
		expect(message).toMatch(INSTRUCTION);
		expect(message).not.toMatch(/log\s?in/i);
	});

	test.each([
		[14201, {}],
		[14202, {}],
		[14203, {}],
		[14201, { refusalStatus: 401 }],
		[14202, { refusalStatus: 403 }],
		[14201, { refusalStatus: 503 }],
	] as const)('fails with the reason of a login refused by %i, asking once (%j)', async (refuseLogin, settings) => {
		const { tested, platform } = await pressTest('login', { platform: { refuseLogin, ...settings } });
		expect(tested.status).toBe('Error');
		expect(tested.message).toContain(`The sign-in failed. ${reasonOf(refuseLogin)}`);
		expect(tested.message).toContain(remedyOf(refuseLogin));
		expect(String(tested.message).split(remedyOf(refuseLogin))).toHaveLength(2);
		expect(platform.requests.map(({ kind }) => kind)).toEqual(['login']);
	});

	test.each(['code', 'status'] as const)(
		'passes with an expired stored token, on a platform that answers by %s',
		async (deadToken) => {
			const { engine, platform, login, run } = await open({ deadToken });
			await run(operations.count, { credential: login });
			platform.expireTokens();
			platform.forget();
			expect(await engine.testCredential(login)).toEqual(OK);
			expect(platform.logins.attempted).toBe(1);
		},
	);

	test('gives the reason for every code', async () => {
		const { engine, platform, apiKey } = await open();
		for (const { code } of CODE_TABLE.filter((row) => row.code !== 0)) {
			platform.forget();
			platform.settings.fault = () => ({ code });
			const tested = await engine.testCredential(apiKey);
			expect(tested.status).toBe('Error');
			expect(tested.message).toContain(reasonOf(code));
			expect(tested.message).toMatch(INSTRUCTION);
			expect(platform.requests).toHaveLength(1);
		}
	});

	test.each<[string, Answer]>([
		[
			'an HTML page',
			(_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>'),
		],
		['an empty body', (_request, response) => response.end()],
		[
			'another service',
			(_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"up"}'),
		],
		[
			'an envelope without a list',
			(_request, response) =>
				response.writeHead(200, { 'content-type': 'application/json' }).end('{"code":0,"data":{}}'),
		],
		...['"0"', '"OK"', '""', 'null', 'false', '[]', '{}', undefined].map((code): [string, Answer] => [
			`a list whose code is ${code}`,
			(_request, response) =>
				response
					.writeHead(200, { 'content-type': 'application/json' })
					.end(`{${code === undefined ? '' : `"code":${code},`}"data":{"content":[],"totalElements":0}}`),
		]),
		[
			'a code that is not documented',
			(_request, response) =>
				response.writeHead(200, { 'content-type': 'application/json' }).end('{"code":777,"msg":"x"}'),
		],
		['HTTP 404', (_request, response) => response.writeHead(404).end()],
		['HTTP 500', (_request, response) => response.writeHead(500).end()],
	])('fails where %s answers', async (_name, answer) => {
		const server = await serve(answer);
		for (const way of ways) {
			const { tested } = await pressTest(way, { credential: { baseUrl: server.url } });
			expect(tested.status).toBe('Error');
			expect(tested.message).toMatch(INSTRUCTION);
		}
	});

	test.each([
		['', "'Base URL' in the credential is empty"],
		['devices.example.com', 'does not start with https:// or http://'],
		['ftp://devices.example.com', 'does not start with https:// or http://'],
		['http://user:secret@127.0.0.1:1', 'contains a user name or password'],
		['http://127.0.0.1:1/?x=1', 'contains a ? or a #'],
	])('fails with a message for the base URL "%s"', async (baseUrl, words) => {
		for (const way of ways) {
			const { tested } = await pressTest(way, { credential: { baseUrl } });
			expect(tested.status).toBe('Error');
			expect(tested.message).toContain(words);
			expect(tested.message).toMatch(INSTRUCTION);
			expect(tested.message).not.toContain('secret');
		}
	});

	test.each([
		// n8n itself explains the most frequent codes if our message has one.
		['login', /^The connection to the server was closed unexpectedly/],
		// With a key, n8n's own request fails: the docs say what the code means.
		['apiKey', /^ECONNRESET$/],
	] as const)('fails if the platform does not respond (%s)', async (way, message) => {
		const server = await serve((_request, response) => response.socket?.destroy());
		expect((await pressTest(way, { credential: { baseUrl: server.url } })).tested.message).toMatch(message);
	});

	test('asks once with a key, because a proxy may block n8n after a request without it', async () => {
		const page = JSON.stringify({ code: 0, data: { content: [] } });
		const server = await serve(({ method, headers }, response) =>
			method === 'POST' && headers.authorization !== undefined
				? response.setHeader('content-type', 'application/json').end(page)
				: response.socket?.destroy(),
		);
		expect((await pressTest('apiKey', { credential: { baseUrl: server.url } })).tested).toEqual(OK);
		expect(server.arrived).toHaveLength(1);
	});

	test('does not send its mark along', async () => {
		const { platform } = await pressTest('login');
		for (const { headers } of platform.requests) expect(Object.keys(headers).join()).not.toContain('credential-test');
	});
});

describe('a certificate that is not trusted', () => {
	/** Everything that talks to the platform with a credential. */
	const doings: Array<[string, (bench: Bench, id: string) => Promise<string | undefined>]> = [
		[
			'the test',
			async ({ engine }, id) => {
				const { status, message } = await engine.testCredential(id);
				return status === 'OK' ? undefined : message;
			},
		],
		['a request', async ({ run }, id) => (await run(operations.count, { credential: id })).error?.message],
		[
			'the HTTP Request node',
			async (bench, id) => (await httpRequest(bench, id, `${bench.platform.baseUrl}/api/version`)).error?.message,
		],
	];

	describe.each(ways)('with %s', (way) => {
		test.each(doings)("is refused for %s unless 'Ignore SSL Issues' is on", async (_name, act) => {
			const bench = await open({ tls: true });
			expect(await act(bench, bench[way])).toMatch(/certificate|SELF_SIGNED/i);
			expect(bench.platform.requests).toEqual([]);
			await bench.engine.editCredential(bench[way], { allowUnauthorizedCerts: true });
			expect(await act(bench, bench[way])).toBeUndefined();
			expect(bench.platform.requests.map(({ kind }) => kind)).toHaveLength(way === 'login' ? 2 : 1);
		});
	});
});

describe('the HTTP Request node with this credential', () => {
	const helpers = ['legacy', 'current'] as const;

	test.each(ways.flatMap((way) => helpers.map((helper) => [way, helper] as const)))(
		'signs in by %s (%s request function)',
		async (way, helper) => {
			const bench = await open();
			const result = await httpRequest(bench, bench[way], `${bench.platform.baseUrl}/api/version`, helper);
			expect(jsonOf(result, 'HTTP Request')).toMatchObject([{ code: 0, data: '2.6' }]);
			expect(bench.platform.logins.attempted).toBe(way === 'login' ? 1 : 0);
		},
	);

	test.each(helpers)('signs in again if an expired token is an HTTP 401 (%s request function)', async (helper) => {
		const bench = await open({ deadToken: 'status' });
		const url = `${bench.platform.baseUrl}/api/version`;
		await httpRequest(bench, bench.login, url, helper);
		bench.platform.expireTokens();
		const result = await httpRequest(bench, bench.login, url, helper);
		expect(result.data('HTTP Request')[0]?.json).toMatchObject({ code: 0, data: '2.6' });
		expect(bench.platform.logins.attempted).toBe(2);
	});

	/** Addresses that look like the platform's to a hasty reader, of a person or of a program. */
	const disguises: Array<[string, (elsewhere: URL, platform: URL) => string]> = [
		['another origin', (elsewhere) => `${elsewhere.href}api/version`],
		['another port', (elsewhere, platform) => `http://${platform.hostname}:${elsewhere.port}/api/version`],
		['user info', (elsewhere, platform) => `http://${platform.hostname}@${elsewhere.host}/api/version`],
		['no scheme', (elsewhere) => `//${elsewhere.host}/api/version`],
		['a scheme without slashes', (elsewhere) => `http:${elsewhere.host}/api/version`],
		['a scheme with one slash', (elsewhere) => `http:/${elsewhere.host}/api/version`],
		['backslashes', (elsewhere) => `http:\\\\${elsewhere.host}\\api\\version`],
		['a scheme in capitals and spaces', (elsewhere) => `  HTTP://${elsewhere.host}/api/version`],
		['a tab in the scheme', (elsewhere) => `ht\ttp://${elsewhere.host}/api/version`],
		['another scheme', (elsewhere) => `https://${elsewhere.host}/api/version`],
	];

	test.each(disguises)('never sends the credential to %s', async (_name, disguise) => {
		const bench = await open();
		const elsewhere = await serve((_request, response) => response.end('{}'));
		for (const helper of helpers) {
			for (const way of ways) {
				const url = disguise(new URL(elsewhere.url), new URL(bench.platform.baseUrl));
				const result = await httpRequest(bench, bench[way], url, helper);
				expect(elsewhere.arrived).toEqual([]);
				expect(bench.platform.requestsOf('other')).toEqual([]);
				// Whether n8n's own client would have refused the address is another matter.
				expect(result.error?.message).toContain('This credential is for');
			}
		}
	});

	test.each([301, 307])('does not follow a redirect with HTTP %i', async (status) => {
		const bench = await open();
		const elsewhere = await serve((_request, response) => response.end('{}'));
		for (const helper of helpers) {
			for (const way of ways) {
				bench.platform.forget();
				bench.platform.settings.faults = [
					{ kind: 'other', fault: { status, headers: { location: `${elsewhere.url}/api/version` } }, times: Infinity },
				];
				await httpRequest(bench, bench[way], `${bench.platform.baseUrl}/api/version`, helper);
				expect(elsewhere.arrived).toEqual([]);
				expect(bench.platform.requestsOf('other').length).toBeGreaterThan(0);
			}
		}
	});
});

/** Runs n8n's HTTP Request node with the credential, like a user who needs another endpoint. */
async function httpRequest(
	{ engine }: Bench,
	credential: string,
	url: string,
	helper: 'legacy' | 'current' = 'legacy',
): Promise<RunResult> {
	const workflow: WorkflowJson = {
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{
				name: 'HTTP Request',
				type: 'n8n-nodes-base.httpRequest',
				typeVersion: 4.2,
				parameters: {
					url,
					authentication: 'predefinedCredentialType',
					nodeCredentialType: 'deviceManagementApi',
					helper,
				},
				credentials: { deviceManagementApi: { id: credential, name: 'the credential' } },
			},
		],
		connections: { Start: { main: [[{ node: 'HTTP Request', type: 'main', index: 0 }]] } },
	};
	return await engine.run(workflow);
}
