/** What n8n shows for an invalid field or credential. What each field refuses is in `refused.test.mts`. */
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { credentialOf } from '../../nodes/DeviceManagement/transport/auth/credential.ts';
import { useBench } from '../../testbed/jest.mts';
import { jsonOf, pairedItemsOf } from '../../testbed/output.mts';
import { bySerialNumber, count, get, getMany, type Parameters, request } from './oneItem.mts';

const bench = useBench();

const VALUE = '={{ $json.value }}';

test('an unknown operation is refused before any request', async () => {
	const { error } = await bench.run({ resource: 'device', operation: 'reboot' }, { input: [{}, {}] });
	expect(error?.message).toBe('The node has no operation "reboot" for the resource "device"');
	expect(error?.description).toMatch(/^[A-Z].{10,}\.$/s);
	expect(bench.platform.requests).toEqual([]);
});

test('a bad value is refused before any request, with the item only if there are several', async () => {
	for (const input of [[{}], [{}, {}]]) {
		const { error } = await bench.run({ ...request, path: '/admin' }, { input });
		expect(error?.message).toBe(`'Path' does not begin with /api${input.length > 1 ? ' [item 0]' : ''}`);
		expect(error).toMatchObject({ context: expect.objectContaining({ itemIndex: 0 }) });
	}
	expect(bench.platform.requests).toEqual([]);
});

describe('under “continue”, only the item with the bad value fails', () => {
	test.each<[field: string, parameters: Parameters, good: unknown, bad: unknown]>([
		['Device', { ...get, device: bySerialNumber(VALUE) }, 'RT99046419', '..'],
		['Filters', { ...count, filters: VALUE }, { name: 'RT' }, undefined],
		['Parallel Requests', { ...count, options: { parallelRequests: VALUE } }, 2, 99],
	])('%s, at any position', async (field, parameters, good, bad) => {
		for (const position of [0, 1, 2]) {
			bench.platform.forget();
			const input = [0, 1, 2].map((index) => ({ value: (index === position ? bad : good) as string }));
			const result = await bench.run(parameters, { input, onError: 'continueRegularOutput' });
			expect(pairedItemsOf(result)).toEqual([0, 1, 2]);
			const errors = jsonOf(result).map(({ error }) => error);
			const [error] = errors.splice(position, 1).map(String);
			expect(error).toContain(`'${field}'`);
			expect(error?.endsWith(` [item ${position}]`)).toBe(true);
			expect(errors).toEqual([undefined, undefined]);
			expect(bench.platform.requests.length).toBe(2);
		}
	});

	test('a credential that can’t be used fails every item and sends nothing', async () => {
		await bench.engine.editCredential(bench.apiKey, { apiKey: ' ' });
		const result = await bench.run(getMany, { input: [{}, {}], onError: 'continueRegularOutput' });
		const error = "'API Key' in the Device Management API credential is empty";
		expect(jsonOf(result)).toMatchObject([0, 1].map((item) => ({ error: `${error} [item ${item}]` })));
		expect(bench.platform.requests).toEqual([]);
	});
});

const HELPFUL = expect.objectContaining({ remedy: expect.stringMatching(/^[A-Z].{10,}\.$/s) });
const LOGIN = { authentication: 'login' };
type Refused = [data: ICredentialDataDecryptedObject, message: string];
test.each<Refused>([
	[{ apiKey: '' }, "'API Key' {} is empty"],
	[{ apiKeyName: ' ' }, "'Key Name' {} is empty"],
	[{ apiKeyName: 'X Key:' }, "'Key Name' {} can't be the name of a header"],
	[{ apiKey: 'key\nX: y' }, "'API Key' or 'Key Prefix' {} has a character that can't be sent"],
	[{ ...LOGIN, loginName: ' ' }, "'Login Name' {} is empty"],
	[{ ...LOGIN, password: '' }, "'Password' {} is empty"],
	[{ ...LOGIN, passwordFormat: 'md5' }, "'Password' {} is not an MD5 value"],
	...['', 'api/user/login', '//elsewhere.example/login', '/', '/login?x=1'].map(
		(loginPath): Refused => [{ ...LOGIN, loginPath }, "'Login Path' {} is not a path"],
	),
])('a credential with %j is refused: %s', (data, message) => {
	const valid = { baseUrl: 'https://a.example', apiKey: 'key', loginName: 'demo', password: 'pass' };
	const refused = { message: message.replace('{}', 'in the credential'), details: HELPFUL };
	expect(() => credentialOf({ ...valid, customSignIn: true, ...data })).toThrow(expect.objectContaining(refused));
});
