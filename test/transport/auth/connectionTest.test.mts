import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';

import { CODE_TABLE } from '../../../scripts/errorsPage.mts';
import type { Bench } from '../../../testbed/bench.mts';
import type { RunResult } from '../../../testbed/engine/engine.mts';
import { useBenches } from '../../../testbed/jest.mts';
import { operations } from '../../../testbed/operations.mts';
import { jsonOf } from '../../../testbed/output.mts';
import type { StartOptions } from '../../../testbed/platform/server.mts';

const open = useBenches();

const ways = ['apiKey', 'login'] as const;
type Way = (typeof ways)[number];
const OK = { status: 'OK', message: 'Connection successful!' };

/** Opens a bench, changes the credential and presses the Test button. */
async function pressTest(way: Way, platform: StartOptions = {}, changes: ICredentialDataDecryptedObject = {}) {
	const bench = await open(platform);
	await bench.engine.editCredential(bench[way], changes);
	return { ...bench, tested: await bench.engine.testCredential(bench[way]) };
}

/** A sentence that says what to do. */
const INSTRUCTION =
	/\. (Ask|Add|Attach|Check|Choose|Copy|Correct|Detach|Enter|Leave|Allow|Lower|Look up|Open|Remove|Set|Try again|Use) /;

function expectFailed({ status, message = '' }: INodeCredentialTestResult, words: RegExp | string): void {
	expect(status).toBe('Error');
	expect(message).toMatch(words);
	expect(message).toMatch(INSTRUCTION);
}

describe('the credential test passes', () => {
	const inQuery = { apiKeyIn: 'query', apiKeyName: 'access key', apiKeyPrefix: 'Key' } as const;
	test('with a key in a query parameter, a slash and a space after the base URL, an empty fleet, and all sizes refused', async () => {
		const { engine, platform, apiKey } = await open({ ...inQuery, pathPrefix: '/tenant-7', fleet: { size: 0 } });
		platform.settings.fault = ({ query }) => ('size' in query ? { code: 10001 } : undefined);
		await engine.editCredential(apiKey, { ...inQuery, customSignIn: true, baseUrl: `${platform.baseUrl}/ ` });
		expect(await engine.testCredential(apiKey)).toEqual(OK);
	});

	test('with one request that has the key, because a proxy may block n8n after one without it', async () => {
		const { tested, platform } = await pressTest('apiKey', {
			fault: ({ headers }) => (headers['authorization'] === undefined ? 'drop' : undefined),
		});
		expect(tested).toEqual(OK);
		expect(platform.requests).toHaveLength(1);
	});
});

describe('the credential test fails', () => {
	test('with a wrong key, and does not speak of a login', async () => {
		const { tested, platform } = await pressTest('apiKey', { deadToken: 401 }, { apiKey: 'wrong' });
		expectFailed(tested, /^The platform rejected the API key or token.*\. Check the credential/);
		expect(tested.message).not.toMatch(/log\s?in/i);
		expect(platform.logins.attempted).toBe(0);
	});

	test('with the reason of a refused login, asking once', async () => {
		const { tested, platform } = await pressTest('login', { fault: () => ({ code: 14202, status: 403 }) });
		const { message = '', remedy = '' } = CODE_TABLE.find(({ code }) => code === 14202) ?? {};
		expectFailed(tested, `The sign-in failed. ${message}`);
		expect(String(tested.message).split(remedy)).toHaveLength(2);
		expect(platform.requests.map(({ kind }) => kind)).toEqual(['login']);
	});

	test('with the reason for every code, for a status, and for a code that is not documented', async () => {
		const { engine, platform, apiKey } = await open();
		const undocumented = { code: 777, message: "doesn't respond like a device management platform" };
		const status = { code: 0, status: 400, message: 'may need https://' };
		for (const { message, ...fault } of [...CODE_TABLE.filter((row) => row.code !== 0), undocumented, status]) {
			platform.settings.fault = () => fault;
			expectFailed(await engine.testCredential(apiKey), message);
		}
	});

	const list = '"data":{"content":[],"totalElements":0}}';
	const wrongCodes = ['"0"', 'null', 'false', '[]', '{}'].map((code) => `{"code":${code},${list}`);
	test.each(['<html>sign in</html>', '', '{"code":0,"data":{}}', `{${list}`, ...wrongCodes])(
		'where the response is not of a platform: %s',
		async (body) => {
			const headers = { 'content-type': body.startsWith('<') ? 'text/html' : 'application/json' };
			expectFailed((await pressTest('apiKey', { fault: () => ({ status: 200, headers, body }) })).tested, /./);
		},
	);

	test('with what is wrong with the credential itself', async () => {
		const { tested } = await pressTest('login', {}, { baseUrl: 'ftp://devices.example.com' });
		expectFailed(tested, "doesn't start with https:// or http://");
	});
});

/** Runs n8n's HTTP Request node with the credential, like a user who needs another endpoint. */
async function httpRequest(
	bench: Bench,
	way: Way,
	helper = 'legacy',
	baseUrl = bench.platform.baseUrl,
): Promise<RunResult> {
	const sign = { authentication: 'predefinedCredentialType', nodeCredentialType: 'deviceManagementApi' };
	const node = {
		name: 'HTTP Request',
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { url: `${baseUrl}/api/version`, ...sign, helper },
		credentials: { deviceManagementApi: { id: bench[way], name: 'the credential' } },
	};
	const nodes = [{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' }, node];
	return await bench.engine.run({
		nodes,
		connections: { Start: { main: [[{ node: node.name, type: 'main', index: 0 }]] } },
	});
}

/** Everything that talks to the platform with a credential, in each way once. */
test.each<[string, Way, (bench: Bench) => Promise<string | undefined>]>([
	['the test', 'apiKey', async ({ engine, apiKey }) => (await engine.testCredential(apiKey)).message],
	['a request', 'login', async ({ run, login }) => (await run(operations.count, { credential: login })).error?.message],
	['the HTTP Request node', 'login', async (bench) => (await httpRequest(bench, 'login')).error?.message],
])("a certificate that is not trusted is refused for %s unless 'Ignore SSL Issues' is on", async (_what, way, talk) => {
	const bench = await open({ tls: true });
	expect(await talk(bench)).toMatch(/certificate|SELF_SIGNED/i);
	expect(bench.platform.requests).toEqual([]);
	await bench.engine.editCredential(bench[way], { allowUnauthorizedCerts: true });
	expect([undefined, OK.message]).toContain(await talk(bench));
	expect(bench.platform.requests).not.toEqual([]);
});

describe.each(['legacy', 'current'])('the HTTP Request node with this credential (%s request function)', (helper) => {
	test('signs in, and again if an expired token is an HTTP 401', async () => {
		const bench = await open({ deadToken: 401 });
		for (const logins of [1, 2]) {
			const result = await httpRequest(bench, 'login', helper);
			expect(jsonOf(result, 'HTTP Request')).toEqual([{ code: 0, msg: 'success', data: '2.6' }]);
			expect(bench.platform.logins.attempted).toBe(logins);
			bench.platform.expireTokens();
		}
	});

	test.each(ways)('sends the credential to no other host, nor after a redirect (%s)', async (way) => {
		const bench = await open();
		const { platform: elsewhere } = await open();
		const { error } = await httpRequest(bench, way, helper, elsewhere.baseUrl);
		expect(error?.message).toMatch(/This credential is for .* only\. [A-Z]/);
		const fault = { status: 307, headers: { location: `${elsewhere.baseUrl}/api/version` } };
		bench.platform.settings.faults = [{ kind: 'other', fault, times: Infinity }];
		await httpRequest(bench, way, helper);
		expect(bench.platform.requestsOf('other').at(-1)?.status).toBe(307);
		expect(elsewhere.requests).toEqual([]);
	});
});
