import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

import { forgetAccounts } from '../../nodes/DeviceManagement/transport/auth/account.ts';
import { credentialOf } from '../../nodes/DeviceManagement/transport/auth/credential.ts';
import { AUTHENTICATION, fields } from '../../nodes/DeviceManagement/transport/auth/form.ts';
import { codes } from '../../testbed/platform/codes.mts';
import type { OnError } from '../../testbed/deviceWorkflow.mts';
import type { EmbeddedPlatform, Fault, PlatformRequest } from '../../testbed/platform/server.mts';
import { hurry, useBench, useServers } from '../../testbed/jest.mts';
import { operationNames, operations, pagedNames, recordNames } from '../../testbed/operations.mts';
import type { Answer } from '../../testbed/rawServer.mts';
import { settled } from './fakes.mts';

const bench = useBench({ fleet: { size: 25 }, loginName: 'demo' });
const serve = useServers();

/** Unique texts; the first three with characters that look different in a URL, in JSON and in HTML. */
const KEY = `canary-key zqkeyqzwx!'()*~/+=&%41"<é>`;
const HEADER_KEY = `canary-key-zqkeyqzwx!'()*~/+=&%41"<>`;
const PASSWORD = `canary-password zqpassqzwx!'()*~/+=&"<密>`;
const MD5 = createHash('md5').update(PASSWORD, 'utf8').digest('hex');
const TOKEN = 'canary-token.zqtokenqzwx-._~+/==';
const RENEWED = 'canary-renewed.zqrenewedqzwx-._~+/==';

/** A canary in every password field of the form. The required fields are filled, too. */
const CANARIES: Record<string, string> = { apiKey: HEADER_KEY, password: PASSWORD, sessionToken: TOKEN };
const filled: Record<string, string> = {};
for (const { name, typeOptions, required } of fields) {
	if (typeOptions?.password === true) filled[name] = CANARIES[name] ??= `canary-zq${name.toLowerCase()}qzwx`;
	else if (required === true) filled[name] = 'demo';
}

/** What must be found nowhere: the unique part of every canary survives any encoding, the MD5 in either case. */
const TRACES = ['zqrenewedqzwx', MD5, ...Object.values(CANARIES).flatMap((canary) => /zq\w+zwx/.exec(canary) ?? [])];

/** Everything of a value, at any depth: hidden fields, symbols, causes, stacks, prototypes' getters. */
function everything(value: unknown): string {
	return inspect(value, { depth: null, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null });
}

function expectNoTrace(...values: unknown[]): void {
	const text = values.map(everything).join('\n').toLowerCase();
	for (const trace of TRACES) {
		const at = text.indexOf(trace);
		if (at >= 0) throw new Error(`"${trace}" came out: …${text.slice(Math.max(0, at - 300), at + 100)}…`);
	}
}

test('the search finds what is hidden in an error', () => {
	const hidden = Object.defineProperty(new Error('x', { cause: { deep: [{ Authorization: TOKEN }] } }), 'own', {
		value: MD5.toUpperCase(),
		enumerable: false,
	});
	expect(() => expectNoTrace(hidden)).toThrow(/zqtokenqzwx/);
	expect(() => expectNoTrace(new Error('fine'))).not.toThrow();
});

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

/** A platform that takes all canaries, and a credential that holds them all at once: the other ways', too. */
async function plant(way: string): Promise<string> {
	const { engine, platform } = bench;
	platform.forget();
	engine.logs.length = 0;
	forgetAccounts();
	let logins = 0;
	// Every request is answered here; a login gets a canary for a token.
	platform.settings.fault = (request) =>
		request.kind === 'login' ? { code: 0, data: logins++ === 0 ? TOKEN : RENEWED } : undefined;
	const data = { ...filled, baseUrl: platform.baseUrl, ...ways[way] };
	return await engine.saveCredential({
		name: 'Canaries',
		type: 'deviceManagementApi',
		data: way === 'a stored token' ? credentialOf(data).withToken(TOKEN).data : data,
	});
}

const modes = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;

/** Everything that a user can do with a credential. */
const doings = [...operationNames, 'dropdown', 'test'] as const;
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
	const { raw, error, data } = await run(
		{ ...operations[doing], options: { maxRetries: 1 } },
		{ credential, onError, input },
	);
	const failed = [0, 1].flatMap((output) => data('Devices', output)).filter(({ json }) => 'error' in json);
	// n8n's record of the run: data, errors, hints; as objects and as the JSON that is stored.
	return [error !== undefined || failed.length === input.length, raw, JSON.stringify(raw)];
}

let turn = 0;
/** Does one thing with the credential, another one each time, and looks at everything that comes out. */
async function doOne(credential: string, among: readonly Doing[] = doings): Promise<void> {
	const doing = among[turn % among.length] ?? 'get';
	const onError = modes[Math.floor(turn / doings.length) % modes.length] ?? 'stopWorkflow';
	turn++;
	const [failed, ...all] = await outcomeOf(doing, credential, onError);
	expect({ doing, failed }).toEqual({ doing, failed: true });
	expectNoTrace(...all, bench.engine.logs);
	expectSecretsArrived(bench.platform);
}

/** The request as an angry server might send it back: as it came, decoded, in JSON, in capitals, in HTML. */
function echo({ url, headers, query, body }: PlatformRequest): string {
	const parts = [url, JSON.stringify(headers), JSON.stringify(query), JSON.stringify(body ?? null)];
	const values = [...Object.values(headers), ...Object.values(query)].flat().map(String);
	const all = [...parts, ...values];
	const forms = [
		...all,
		...all.map((part) => part.toUpperCase()),
		...values.map(encodeURIComponent),
		...values.map(encodeURI),
		...values.map((value) => encodeURIComponent(value).replaceAll('%2F', '/').replaceAll('%20', '+')),
		...values.map((value) => JSON.stringify(JSON.stringify({ value }))),
	];
	// Another form with a secret comes first each time: a message shows only the first 300 characters.
	const withSecrets = forms.filter((form) => TRACES.some((trace) => form.toLowerCase().includes(trace)));
	return [withSecrets[echoes++ % (withSecrets.length || 1)], ...forms].join(' ; ');
}
let echoes = 0;

const quick = { 'retry-after': '0' };

/** Ways to fail after the request was received. */
const failures: Array<[string, (request: PlatformRequest) => Fault | undefined]> = [
	[
		'every code with the request in its message',
		(request) => ({ code: next(), msg: echo(request), data: echo(request) }),
	],
	[
		'codes whose detail is the sign-in',
		({ headers, query }) => ({
			code: 10007,
			details: [`${headers['authorization'] ?? query['key']} for ${JSON.stringify(query)}`],
		}),
	],
	['an unknown code', (request) => ({ code: 4711, msg: echo(request), data: echo(request) })],
	['a dead token that is named', (request) => ({ code: 14101, msg: `invalid token ${echo(request)}` })],
	['HTTP 401', (request) => ({ status: 401, body: echo(request), headers: { 'www-authenticate': 'Bearer' } })],
	['HTTP 403', (request) => ({ status: 403, body: echo(request) })],
	['HTTP 404', (request) => ({ status: 404, body: { message: echo(request), error: echo(request) } })],
	['HTTP 429', (request) => ({ status: 429, body: echo(request), headers: quick })],
	['HTTP 500', (request) => ({ status: 500, body: { code: echo(request), msg: echo(request) } })],
	['HTTP 503', (request) => ({ status: 503, body: echo(request), headers: quick })],
	['an HTML page', (request) => ({ status: 200, body: `<html>${echo(request)}` })],
	['an envelope that is none', (request) => ({ status: 200, body: { code: echo(request), [echo(request)]: 1 } })],
	['data that is none', (request) => ({ code: 0, data: echo(request) })],
	['content that is none', (request) => ({ code: 0, data: { content: { [echo(request)]: echo(request) } } })],
	['a redirect', ({ url }) => ({ status: 302, headers: { location: `https://elsewhere.invalid${url}` } })],
	['a dropped connection', () => 'drop'],
	['half an answer', () => 'truncate'],
];

let listed = 0;
function next(): number {
	const refusals = codes.map(([code]) => code).filter((code) => code !== 0);
	return refusals[listed++ % refusals.length] ?? -1;
}

/** If an operation returns `data` unchanged, an echo in it is the response itself. */
const AMONG: Readonly<Record<string, readonly Doing[]>> = {
	'data that is none': [...recordNames, 'dropdown', 'test'],
	'content that is none': [...pagedNames, 'dropdown'],
};

/** Each failure meets each way to sign in, and in the next one a user does something else with it. */
test.each(failures)('no secret appears when requests end in %s', async (name, fail) => {
	hurry();
	for (const way of wayNames) {
		const credential = await plant(way);
		const { fault: signIn } = bench.platform.settings;
		bench.platform.settings.fault = (request) => signIn?.(request) ?? fail(request);
		await doOne(credential, AMONG[name]);
	}
	turn++;
});

/** Otherwise nothing could have leaked. */
function expectSecretsArrived(platform: EmbeddedPlatform): void {
	const sent = platform.requests.map(({ url, headers, body }) => [decodeURIComponent(url), headers, body]);
	const arrived = everything(sent).toLowerCase();
	expect(TRACES.filter((trace) => arrived.includes(trace))).not.toEqual([]);
}

const loginFailures: typeof failures = [
	...failures.filter(([name]) => name !== 'data that is none'),
	['a token that no header carries', (request) => ({ code: 0, data: `${echo(request)}\n` })],
	[
		'an answer whose keys are the request',
		({ body }) => ({ code: 0, data: { [JSON.stringify(body)]: 1, [MD5]: 2, [MD5.toUpperCase()]: 3 } }),
	],
];

test.each(loginFailures)('neither the password nor its MD5 appears when the login ends in %s', async (_name, fail) => {
	hurry();
	for (const way of ['Login: the secret', 'the MD5 of a password']) {
		const credential = await plant(way);
		bench.platform.settings.fault = (request) => (request.kind === 'login' ? fail(request) : undefined);
		await doOne(credential);
	}
});

const refused: Answer = (request) => request.socket.destroy();
const user = `demo:${encodeURIComponent(PASSWORD)}`;

test.each<[string, () => Promise<string> | string, RegExp]>([
	['no server listens', () => 'http://127.0.0.1:1', /ECONNREFUSED/],
	['the host is not known', () => 'http://canary.invalid', /ENOTFOUND/],
	['the connection is cut', async () => (await serve(refused)).url, /ECONNRESET/],
	['the server does not speak TLS', async () => (await serve(refused)).url.replace('http:', 'https:'), /EPROTO/],
	['its certificate is not trusted', async () => (await serve(refused, { tls: true })).url, /SELF_SIGNED/],
	['it does not speak HTTP', async () => (await serve(({ socket }) => socket.end('220 mail\r\n'))).url, /HPE_INVALID/],
	['the address is no address', () => 'http://[broken', /is not an address/],
	['the address holds user info', () => `http://${user}@127.0.0.1`, /contains a user name/],
])('nothing appears when %s', async (_name, address, words) => {
	hurry();
	const baseUrl = await address();
	for (const way of wayNames) {
		const credential = await plant(way);
		await bench.engine.editCredential(credential, { baseUrl });
		const result = await bench.run({ ...operations.count, options: { maxRetries: 0 } }, { credential });
		expect(result.error?.message).toMatch(words);
		expectNoTrace(result.raw, result.error, JSON.stringify(result.raw));
		expectNoTrace(await bench.engine.testCredential(credential), bench.engine.logs);
	}
});

test('nothing appears when the credential is unusable', async () => {
	for (const changes of [
		{ apiKey: `${KEY}\u0000\n` },
		{ apiKeyName: `${KEY}`, customSignIn: true },
		{ authentication: 'login', password: `${PASSWORD}`, passwordFormat: 'md5', customSignIn: true },
		{ authentication: 'login', loginPath: `${PASSWORD}`, customSignIn: true },
		{ apiKey: [KEY] },
		{ baseUrl: `ftp://${encodeURIComponent(KEY)}` },
		{ baseUrl: `http://127.0.0.1/?key=${KEY}` },
	]) {
		const credential = await plant('API Key: the secret');
		await bench.engine.editCredential(credential, changes);
		const result = await bench.run(operations.count, { credential });
		expect(result.error?.message).toMatch(/credential/);
		expectNoTrace(result.raw, result.error, bench.engine.logs, await bench.engine.testCredential(credential));
		expect(bench.platform.requests).toEqual([]);
	}
});

test('a redirect to a host that is named like the key does not name it', async () => {
	const { engine, platform, run } = bench;
	const credential = await plant('API Key: the secret');
	await engine.editCredential(credential, { apiKey: 'zqkeyqzwx' });
	platform.settings.fault = () => ({ status: 302, headers: { location: 'http://zqkeyqzwx.invalid/' } });
	const { error, raw } = await run(operations.count, { credential });
	expect(error?.message).toBe('The address responds with a redirect to http://•••.invalid (HTTP 302)');
	expectNoTrace(raw, engine.logs);
});

test('stored data is encrypted', async () => {
	hurry();
	for (const way of wayNames) {
		const credential = await plant(way);
		await bench.run(operations.count, { credential });
		expectNoTrace(bench.engine.storedCiphertext(credential));
	}
});
