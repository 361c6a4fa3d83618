import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { useBench } from '../../testbed/jest.mts';
import { jsonOf, pairedItemsOf } from '../../testbed/output.mts';

const bench = useBench();

const bySerialNumber = (value: unknown) => ({ __rl: true, mode: 'sn', value });
const get = { resource: 'device', operation: 'get', device: bySerialNumber('RT1') };
const getMany = { resource: 'device', operation: 'getAll' };
const count = { resource: 'device', operation: 'count' };
const request = { resource: 'api', operation: 'request', path: '/api/version' };

const COMPOSITE_STATUS = "'Composite Status' is not a whole number from -2147483648 to 2147483647";
const VALUE = '={{ $json.value }}';
const LIMIT = "'Limit' is not a whole number of 1 or more";

describe('in n8n, an invalid field is refused before any request', () => {
	it.each([
		{ parameters: { ...get, device: bySerialNumber('..') }, message: "can't be part of an address" },
		{ parameters: { ...getMany, limit: 0 }, message: LIMIT },
		{ parameters: { ...count, filters: { compositeStatus: 0.1 } }, message: COMPOSITE_STATUS },
		{ parameters: { ...request, path: '/admin' }, message: "'Path' does not begin with /api" },
	])('$message', async ({ parameters, message }) => {
		for (const input of [[{}], [{}, {}]]) {
			const { error } = await bench.run(parameters, { input });
			expect(error?.message).toContain(message);
			expect(error?.message.endsWith(' [item 0]')).toBe(input.length > 1);
			expect(error?.description).toMatch(/^[A-Z].{10,}\.$/s);
			expect(error).toMatchObject({ context: expect.objectContaining({ itemIndex: 0 }) });
		}
		expect(bench.platform.requests).toEqual([]);
	});

	it.each([
		{ field: 'Device', parameters: { ...get, device: bySerialNumber('') } },
		{ field: 'Path', parameters: { ...request, path: '' } },
	])('n8n itself asks for an empty $field before it runs anything', async ({ field, parameters }) => {
		await expect(bench.run(parameters)).rejects.toThrow(`Parameter "${field}" is required`);
	});
});

it('a number whose digits all arrive is taken, and so is a longer one as text', async () => {
	for (const [name, value, arrives] of [
		['number', '={{ 9007199254740991 }}', '9007199254740991'],
		['number', '={{ -9007199254740991 }}', '-9007199254740991'],
		['fraction', '={{ 0.5 }}', '0.5'],
		['text', '={{ "89882110000003456789" }}', '89882110000003456789'],
		['text', '89882110000003456789', '89882110000003456789'],
	] as const) {
		bench.platform.forget();
		const { error } = await bench.run({ ...getMany, filters: { query: { parameter: [{ name, value }] } } });
		expect(error).toBeUndefined();
		expect(bench.platform.requests[0]?.query[name]).toBe(arrives);
	}
	bench.platform.forget();
	await bench.run({
		...request,
		method: 'POST',
		path: '/api/echo',
		body: '{"iccid": "89882110000003456789", "n": [9007199254740991, 1e-9, 1.5]}',
	});
	expect(bench.platform.requests[0]?.body).toEqual({ iccid: '89882110000003456789', n: [9007199254740991, 1e-9, 1.5] });
});

describe('under “continue” a bad item costs no other one', () => {
	const cases: ReadonlyArray<[field: string, parameters: Record<string, unknown>, good: unknown, bad: unknown]> = [
		['Device', { ...get, device: bySerialNumber(VALUE) }, 'RT99046419', '..'],
		['Limit', { ...getMany, limit: VALUE }, 1, 0],
		['Composite Status', { ...count, filters: { compositeStatus: VALUE } }, 2, 'x'],
		['Search Criteria (JSON)', { ...count, filters: { body: VALUE } }, '{"compositeStatus": 2}', '{'],
		['Page Size', { ...getMany, limit: 1, options: { pageSize: VALUE } }, 10, 0],
		['Parallel Requests', { ...count, options: { parallelRequests: VALUE } }, 2, 99],
		['Path', { ...request, path: VALUE }, '/api/version', '/other'],
	];

	it.each(cases)('%s, at any position of the bad item', async (field, parameters, good, bad) => {
		for (const position of [0, 1, 2]) {
			const input = [0, 1, 2].map((index) => ({ value: index === position ? bad : good }));
			bench.platform.forget();
			const result = await bench.run(parameters, {
				input: input.map(({ value }) => ({ value: value as string })),
				onError: 'continueRegularOutput',
			});
			expect(pairedItemsOf(result)).toEqual([0, 1, 2]);
			expect(jsonOf(result).map(({ error }) => error)).toEqual(
				[0, 1, 2].map((index) =>
					index === position
						? expect.stringMatching(new RegExp(`'${field.replace(/[()]/g, '\\$&')}'.* \\[item ${position}\\]$`))
						: undefined,
				),
			);
			expect(bench.platform.requests.length).toBe(good === 'RT99046419' ? 1 : 2);
		}
	});

	it('invalid options of an item are reported, even if its device is known from another item', async () => {
		const result = await bench.run(
			{ ...get, device: bySerialNumber('RT99046419'), options: { timeout: '={{ $json.timeout }}' } },
			{ input: [{ timeout: 1000 }, { timeout: 0 }], onError: 'continueRegularOutput' },
		);
		expect(jsonOf(result)).toEqual([
			expect.objectContaining({ sn: 'RT99046419' }),
			expect.objectContaining({ error: "'Timeout (Milliseconds)' is not a whole number from 1 to 3600000 [item 1]" }),
		]);
	});

	it('a credential that can’t be used says so for every item and sends nothing', async () => {
		const credential = await save({ apiKey: ' ' });
		const result = await bench.run(getMany, { credential, input: [{}, {}], onError: 'continueRegularOutput' });
		expect(jsonOf(result).map(({ error }) => error)).toEqual([
			"'API Key' in the Device Management API credential is empty [item 0]",
			"'API Key' in the Device Management API credential is empty [item 1]",
		]);
		expect(bench.platform.requests).toEqual([]);
	});
});

const save = async (data: ICredentialDataDecryptedObject) =>
	await bench.engine.saveCredential({
		name: 'Tried out',
		type: 'deviceManagementApi',
		data: { baseUrl: bench.platform.baseUrl, authentication: 'apiKey', apiKey: bench.platform.apiKey, ...data },
	});
const signIn = (data: ICredentialDataDecryptedObject): ICredentialDataDecryptedObject => ({
	authentication: 'login',
	loginName: bench.platform.loginName,
	password: bench.platform.password,
	...data,
});

describe('the base URL', () => {
	it.each([
		{ form: 'a slash at the end', prefix: '', entered: (origin: string) => `${origin}/` },
		{ form: 'several slashes at the end', prefix: '', entered: (origin: string) => `${origin}///` },
		{ form: 'spaces around it', prefix: '', entered: (origin: string) => `  ${origin}\n` },
		{ form: 'a scheme in capitals', prefix: '', entered: (origin: string) => origin.replace('http', 'HTTP') },
		{ form: 'a path in front of /api', prefix: '/iot/eu', entered: (origin: string) => `${origin}/iot/eu` },
		{ form: 'such a path and a slash at the end', prefix: '/iot/eu', entered: (origin: string) => `${origin}/iot/eu/` },
	])('works with $form, for both ways to sign in', async ({ prefix, entered }) => {
		const origin = bench.platform.baseUrl;
		bench.platform.settings.pathPrefix = prefix;
		for (const data of [{}, signIn({})]) {
			const credential = await save({ ...data, baseUrl: entered(origin) });
			expect(jsonOf(await bench.run(count, { credential }))).toEqual([{ count: 250 }]);
		}
		expect(bench.platform.requests.every(({ url }) => url.startsWith(`${prefix}/api/`))).toBe(true);
	});

	it('that is no address is refused before any request, and shows no password', async () => {
		const baseUrl = 'https://demo:hidden-word@devices.example.com';
		for (const data of [{}, signIn({})]) {
			const result = await bench.run(count, { credential: await save({ ...data, baseUrl }) });
			expect(result.error?.message).toBe("'Base URL' in the credential contains a user name or password");
			expect(JSON.stringify(result.raw)).not.toContain('hidden-word');
		}
		expect(bench.platform.requests).toEqual([]);
	});

	it('with /api at its end says that it belongs before /api', async () => {
		const result = await bench.run(count, { credential: await save({ baseUrl: `${bench.platform.baseUrl}/api` }) });
		expect(result.error?.message).toBe('There is nothing at this address (HTTP 404)');
		expect(result.error?.description).toContain("Check 'Base URL' in the credential");
	});
});

describe('the sign-in', () => {
	const custom = (data: ICredentialDataDecryptedObject) => ({ ...data, customSignIn: true });

	it.each([
		{ field: 'no key', data: () => ({ apiKey: '' }), said: "'API Key' {} is empty" },
		{ field: 'no name for the key', data: () => custom({ apiKeyName: ' ' }), said: "'Key Name' {} is empty" },
		{
			field: 'a name no header can have',
			data: () => custom({ apiKeyName: 'X Key:' }),
			said: "'Key Name' {} can't be the name of a header",
		},
		{
			field: 'a key no header can carry',
			data: () => ({ apiKey: 'secret-key\nX: y' }),
			said: "'API Key' or 'Key Prefix' {} has a character that a header can't contain",
		},
		{ field: 'no login name', data: () => signIn({ loginName: ' ' }), said: "'Login Name' {} is empty" },
		{ field: 'no password', data: () => signIn({ password: '' }), said: "'Password' {} is empty" },
		{
			field: 'a plain password said to be MD5',
			data: () => signIn(custom({ passwordFormat: 'md5' })),
			said: "'Password' {} is not an MD5 value",
		},
		...['api/user/login', '//elsewhere.example/login', 'https://elsewhere.example', '/', '/login?x=1', ''].map(
			(loginPath) => ({
				field: `the login path ${JSON.stringify(loginPath)}`,
				data: () => signIn(custom({ loginPath })),
				said: "'Login Path' {} is not a path",
			}),
		),
	])('$field is refused before any request', async ({ data, said }) => {
		const result = await bench.run(count, { credential: await save(data()) });
		expect(result.error?.message).toBe(said.replace('{}', 'in the Device Management API credential'));
		expect(result.error?.description).toMatch(/^[A-Z].{10,}\.$/s);
		expect(JSON.stringify(result.raw)).not.toMatch(/secret-key|demo-password/);
		expect(bench.platform.requests).toEqual([]);
	});
});

it('an operation that the node does not have is refused by name', async () => {
	const result = await bench.run({ resource: 'device', operation: 'reboot' });
	expect(result.error?.message).toBe('The node has no operation "reboot" for the resource "device"');
	expect(bench.platform.requests).toEqual([]);
});
