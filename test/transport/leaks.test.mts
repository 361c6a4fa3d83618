import { forgetAccounts } from '../../nodes/DeviceManagement/transport/auth/account.ts';
import { credentialOf } from '../../nodes/DeviceManagement/transport/auth/credential.ts';
import { AUTHENTICATION } from '../../nodes/DeviceManagement/transport/auth/credentialForm.ts';
import { codes } from '../../testbed/platform/codes.mts';
import type { OnError } from '../../testbed/deviceWorkflow.mts';
import type { EmbeddedPlatform, Fault, PlatformRequest } from '../../testbed/platform/server.mts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { operationNames, operations, recordNames } from '../../testbed/operations.mts';
import { everything, filled, KEY, MD5, PASSWORD, RENEWED, TOKEN, TRACES, tracesOfWay } from '../canaries.mts';
import { settled } from './fakes.mts';

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
async function doOne(way: string, credential: string, among: readonly Doing[] = doings): Promise<void> {
	const doing = among[turn % among.length] ?? 'get';
	const onError = modes[Math.floor(turn / doings.length) % modes.length] ?? 'stopWorkflow';
	turn++;
	const [failed, ...all] = await outcomeOf(doing, credential, onError);
	expect({ doing, failed }).toEqual({ doing, failed: true });
	expectNoTrace(...all, bench.engine.logs, bench.engine.storedCiphertext(credential));
	expectSecretsArrived(way, bench.platform);
}

/** The request as an angry server might send it back: as it came, decoded, in JSON, in capitals, in HTML. */
function echo({ url, headers, query, body }: PlatformRequest): string {
	const values = [...Object.values(headers), ...Object.values(query)].flat().map(String);
	const all = [url, JSON.stringify(headers), JSON.stringify(query), JSON.stringify(body ?? null), ...values];
	const forms = [...all, ...all.map((part) => part.toUpperCase()), ...values.map(encodeURIComponent)];
	// Another form with a secret comes first each time: a message shows only the first 300 characters.
	const withSecrets = forms.filter((form) => TRACES.some((trace) => form.toLowerCase().includes(trace)));
	return [withSecrets[echoes++ % (withSecrets.length || 1)], ...forms].join(' ; ');
}
let echoes = 0;

let listed = 0;
/** The next code that is a refusal, or one that is not documented. */
const refusal = () => codes.map(([code]) => code || 4711)[listed++ % codes.length] ?? -1;

/** Ways to fail after the request was received. */
const failures: Readonly<Record<string, (said: string, request: PlatformRequest) => Fault>> = {
	'every code with the request in its message': (msg) => ({ code: refusal(), msg, data: msg }),
	'a dead token that is named': (said) => ({ code: 14101, msg: `invalid token ${said}` }),
	'HTTP 401': (body) => ({ status: 401, body, headers: { 'www-authenticate': 'Bearer' } }),
	'HTTP 404': (said) => ({ status: 404, body: { code: said, msg: said, message: said, error: said } }),
	'HTTP 503': (body) => ({ status: 503, body, headers: { 'retry-after': '0' } }),
	'an HTML page': (said) => ({ status: 200, body: `<html>${said}` }),
	'an envelope that is none': (said) => ({ status: 200, body: { code: said, [said]: 1 } }),
	'content that is none': (said) => ({ code: 0, data: { content: { [said]: said } } }),
	'a text that no header carries': (said) => ({ code: 0, data: `${said}\n` }),
	'keys that are the request': (said, { body }) => ({
		code: 0,
		data: { [JSON.stringify(body)]: 1, [MD5]: 2, [MD5.toUpperCase()]: 3, content: said },
	}),
	'a redirect': (_, { url }) => ({ status: 302, headers: { location: `https://elsewhere.invalid${url}` } }),
	'a dropped connection': () => 'drop',
	'half an answer': () => 'truncate',
};

/** If an operation returns `data` unchanged, an echo in it is the response itself. */
const pagedNames = operationNames.filter((name) => !['get', 'request'].includes(name));
const AMONG: Readonly<Record<string, readonly Doing[]>> = {
	'a text that no header carries': [...recordNames, 'dropdown', 'test'],
	'content that is none': [...pagedNames, 'dropdown'],
	'keys that are the request': [...pagedNames, 'dropdown'],
};

/** Each failure meets each way to sign in, and the login of each; in the next one a user does something else with it. */
test.each(Object.entries(failures))('no secret appears when requests or the login end in %s', async (name, fail) => {
	hurry();
	for (const way of wayNames) {
		const credential = await plant(way);
		const { settings } = bench.platform;
		const { fault: signIn } = settings;
		settings.fault = (request) => signIn?.(request) ?? fail(echo(request), request);
		await doOne(way, credential, AMONG[name]);
		if (!LOGINS.includes(way)) continue;
		const again = await plant(way);
		settings.fault = (request) => (request.kind === 'login' ? fail(echo(request), request) : undefined);
		await doOne(way, again);
	}
	turn++;
});

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
		{ baseUrl: `http://127.0.0.1/?key=${KEY}` },
	]) {
		const credential = await plant('API Key: the secret');
		await bench.engine.editCredential(credential, changes);
		const result = await bench.run(operations.count, { credential });
		expect(result.error?.message).toMatch(/credential|'Base URL'/);
		expectNoTrace(result.raw, result.error, bench.engine.logs, await bench.engine.testCredential(credential));
		expect(bench.platform.requests).toEqual([]);
	}
});
