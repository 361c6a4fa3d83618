import type { OnError } from 'n8n-workflow';

import { credentialOf } from '../../nodes/DeviceManagement/transport/auth/credential.ts';
import { AUTHENTICATION } from '../../nodes/DeviceManagement/transport/auth/credentialForm.ts';
import { codes } from '../../testbed/platform/codes.mts';
import type { EmbeddedPlatform, Fault, PlatformRequest } from '../../testbed/platform/server.mts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { operationNames, operations } from '../../testbed/operations.mts';
import {
	everything,
	filled,
	KEY,
	MD5,
	PASSWORD,
	RENEWED,
	TOKEN,
	TRACES,
	tracesOfWay,
} from '../../testbed/canaries.mts';
import { settled } from '../../testbed/fakeN8n.mts';

const bench = useBench({ fleet: { size: 25 }, loginName: 'demo' });

function expectNoTrace(...values: unknown[]): void {
	const text = values.map(everything).join('\n');
	for (const trace of TRACES) {
		const at = text.indexOf(trace);
		if (at >= 0) throw new Error(`"${trace}" came out: …${text.slice(Math.max(0, at - 300), at + 100)}…`);
	}
}

const inQuery = { authentication: 'apiKey', apiKey: KEY, customSignIn: true, apiKeyIn: 'query', apiKeyName: 'key' };
const asMd5 = { authentication: 'login', password: MD5.toUpperCase(), customSignIn: true, passwordFormat: 'md5' };
/** The ways to sign in as the form offers them, and their variants. */
const ways: Record<string, Record<string, string | boolean>> = {
	...Object.fromEntries(AUTHENTICATION.map(({ name, value }) => [`${name}: the secret`, { authentication: value }])),
	'a key in a query parameter': inQuery,
	'a key in a query parameter without prefix': { ...inQuery, apiKeyPrefix: '' },
	'a stored token': { authentication: 'login' },
	'the MD5 of a password': asMd5,
};
const wayNames = Object.keys(ways);
const LOGINS = ['Login: the secret', 'the MD5 of a password'];

/** A platform that takes all canaries, and a credential that holds them all at once: the other ways', too. */
async function plant(way: string): Promise<string> {
	const { engine, platform } = bench;
	// Every request is answered here; a login gets a canary for a token.
	platform.settings.fault = ({ kind, orderOfKind }) =>
		kind === 'login' ? { code: 0, data: orderOfKind === 1 ? TOKEN : RENEWED } : undefined;
	const data = { ...filled, baseUrl: platform.baseUrl, ...ways[way] };
	return await engine.saveCredential({
		name: 'Canaries',
		type: 'deviceManagementApi',
		data: way === 'a stored token' ? credentialOf(data).withToken(TOKEN).data : data,
	});
}

/** Everything that a user can do with a credential, and what happens if it fails. */
const doings = [...operationNames, 'dropdown', 'test'] as const;
const endings = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
type Doing = (typeof doings)[number];

/** Returns what comes out, and whether it failed. */
async function outcomeOf(doing: Doing, credential: string, onError: OnError): Promise<[failed: boolean, ...unknown[]]> {
	const { engine, run } = bench;
	if (doing === 'test') {
		const tested = await engine.testCredential(credential);
		return [tested.status === 'Error', tested];
	}
	if (doing === 'dropdown') {
		const reference = engine.credentialReference(credential);
		const listed = await settled(engine.listSearch(operations.get, reference, 'searchDevices', 'A-1'));
		return [listed instanceof Error, listed];
	}
	const input = ['A-1', 'B-2'].map((sn) => ({ sn, mark: sn }));
	const parameters = { ...operations[doing], options: { maxRetries: 1 } };
	const { raw, error, data } = await run(parameters, { credential, onError, input });
	const failed = [0, 1].flatMap((output) => data('Devices', output)).filter(({ json }) => 'error' in json);
	// n8n's record of the run: data, errors, hints; as objects and as the JSON that is stored.
	return [error !== undefined || failed.length === input.length, raw, JSON.stringify(raw)];
}

/**
 * The request as an angry server might send it back: as it came, decoded, in JSON, in capitals, in HTML. A message shows only the
 * first 300 characters, so another form with a secret comes first in each case and request.
 */
function echo({ url, headers, query, body }: PlatformRequest, turn: number): string {
	const values = [...Object.values(headers), ...Object.values(query)].flat().map(String);
	const all = [url, JSON.stringify(headers), JSON.stringify(query), JSON.stringify(body ?? null), ...values];
	const forms = [...all, ...all.map((part) => part.toUpperCase()), ...values.map(encodeURIComponent)];
	const withSecrets = forms.filter((form) => TRACES.some((trace) => form.toLowerCase().includes(trace)));
	return [withSecrets[turn % (withSecrets.length || 1)], ...forms].join(' ; ');
}

/** If an operation returns `data` unchanged, an echo in it is the response itself. */
const paged: Doing[] = [...operationNames.filter((name) => !['get', 'request'].includes(name)), 'dropdown'];
type Fail = (said: string, request: PlatformRequest, turn: number) => Fault;
/** How the platform fails, and what of `doings` fails by it; default: all. */
const FAILURES: ReadonlyArray<readonly [failure: string, fail: Fail, among?: readonly Doing[]]> = [
	...[0, 9, 18, 27].map((first): [string, Fail] => [
		`refuses it with one of the nine codes from number ${first} on, and repeats it`,
		(msg, _, turn) => ({ code: codes[(first + (turn % 9)) % codes.length]?.[0] || 4711, msg, data: msg }),
	]),
	['names the token that it refuses', (said) => ({ code: 14101, msg: `invalid token ${said}` })],
	['sends HTTP 401', (body) => ({ status: 401, body, headers: { 'www-authenticate': 'Bearer' } })],
	['sends HTTP 404', (said) => ({ status: 404, body: { code: said, msg: said, message: said, error: said } })],
	['sends HTTP 503', (body) => ({ status: 503, body, headers: { 'retry-after': '0' } })],
	['sends a page', (said) => ({ status: 200, body: `<html>${said}` })],
	['sends something else than an envelope', (said) => ({ status: 200, body: { code: said, [said]: 1 } })],
	['sends something else than a list', (said) => ({ code: 0, data: { content: { [said]: said } } }), paged],
	[
		'repeats the request in the keys of its response',
		(said, { body }) => ({
			code: 0,
			data: { [JSON.stringify(body)]: 1, [MD5]: 2, [MD5.toUpperCase()]: 3, content: said },
		}),
		paged,
	],
	['redirects it', (_, { url }) => ({ status: 302, headers: { location: `https://elsewhere.invalid${url}` } })],
	['drops the connection', () => 'drop'],
	[
		'sends half a response',
		() => (response) => response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
	],
];

/** Each failure meets each way to sign in, and the login of each. A user does something else in each row. */
const CASES = FAILURES.flatMap(([failure, fail, among = doings], row) =>
	[...wayNames.map((way) => ({ what: 'a request', way })), ...LOGINS.map((way) => ({ what: 'the login', way }))].map(
		({ what, way }, column) => {
			const turn = row + column;
			const possible = what === 'a request' ? among : doings;
			const doing = possible[turn % possible.length] ?? 'get';
			return { doing, way, what, failure, fail, turn, onError: endings[turn % endings.length] ?? 'stopWorkflow' };
		},
	),
);

test.each(CASES)(
	'“$doing” with $way shows no secret if the platform gets $what and $failure',
	async ({ doing, way, what, fail, turn, onError }) => {
		hurry();
		const { engine, platform } = bench;
		const credential = await plant(way);
		const { fault: signIn } = platform.settings;
		platform.settings.fault = (request) => {
			if (what === 'the login' && request.kind !== 'login') return undefined;
			const accepted = what === 'the login' ? undefined : signIn?.(request);
			return accepted ?? fail(echo(request, turn + request.order), request, turn + request.order);
		};
		const [failed, ...all] = await outcomeOf(doing, credential, onError);
		expect(failed).toBe(true);
		expectNoTrace(...all, engine.logs, engine.storedCiphertext(credential));
		expectSecretsArrived(way, platform);
	},
);

/** Otherwise nothing could have leaked: each secret of the way is sent, or a stored token instead. */
function expectSecretsArrived(way: string, platform: EmbeddedPlatform): void {
	const arrived = everything(
		platform.requests.map(({ url, headers, body }) => [decodeURIComponent(url), headers, body]),
	);
	const secrets = way === 'a stored token' ? ['zqtokenqzwx'] : tracesOfWay(String(ways[way]?.['authentication']));
	expect(secrets.filter((trace) => !arrived.includes(trace))).toEqual([]);
	expect(secrets).not.toEqual([]);
}

test('nothing appears when the credential is unusable', async () => {
	const byLogin = { authentication: 'login', customSignIn: true };
	for (const changes of [
		{ apiKey: `${KEY}\u0000\n` },
		{ apiKeyName: KEY, customSignIn: true },
		{ ...byLogin, password: PASSWORD, passwordFormat: 'md5' },
		{ ...byLogin, loginPath: PASSWORD },
		{ apiKey: [KEY] },
		{ baseUrl: `http://demo:${encodeURIComponent(PASSWORD)}@127.0.0.1` },
		{ baseUrl: `ftp://${encodeURIComponent(KEY)}` },
	]) {
		const credential = await plant('API Key: the secret');
		await bench.engine.editCredential(credential, changes);
		const result = await bench.run(operations.count, { credential });
		expect(result.error?.message).toMatch(/credential|'Base URL'/);
		expectNoTrace(result.raw, result.error, bench.engine.logs, await bench.engine.testCredential(credential));
		expect(bench.platform.requests).toEqual([]);
	}
});
