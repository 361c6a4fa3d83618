/**
 * What n8n shows for an invalid field or credential. What narrows or orders a list, or governs a request, is used or refused: each of
 * these once listed the whole fleet without a word. What each field refuses is in `refused.test.mts`.
 */
import fc from 'fast-check';
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import type { ReadParameter } from '../../nodes/DeviceManagement/fields/check.ts';
import { readFilters } from '../../nodes/DeviceManagement/fields/filters.ts';
import { readSettings } from '../../nodes/DeviceManagement/fields/options.ts';
import { readSort } from '../../nodes/DeviceManagement/fields/sort.ts';
import { OPTION_NAMES } from '../../nodes/DeviceManagement/resources/index.ts';
import { credentialOf } from '../../nodes/DeviceManagement/transport/auth/credential.ts';
import { useBench } from '../../testbed/jest.mts';
import { operationNames, operations, serialNumberItems } from '../../testbed/operations.mts';
import { jsonOf, pairedItemsOf } from '../../testbed/output.mts';
import { runs } from '../../testbed/runs.mts';
import { filterFields } from '../../testbed/form.mts';
import { bySerialNumber, COLLECTIONS, count, get, getMany, type Parameters, request } from '../../testbed/oneItem.mts';

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
		expect(error?.message).toBe(`'Path' doesn't start with /api${input.length > 1 ? ' [item 0]' : ''}`);
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
		const error = "'API Key' in the credential is empty";
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
	[{ ...LOGIN, passwordFormat: 'md5' }, "'Password' {} isn't an MD5 hash"],
	...['', 'api/user/login', '//elsewhere.example/login', '/', '/login?x=1'].map(
		(loginPath): Refused => [{ ...LOGIN, loginPath }, "'Login Path' {} isn't a path"],
	),
])('a credential with %j is refused: %s', (data, message) => {
	const valid = { baseUrl: 'https://a.example', apiKey: 'key', loginName: 'demo', password: 'pass' };
	const refused = { message: message.replace('{}', 'in the credential'), details: HELPFUL };
	expect(() => credentialOf({ ...valid, customSignIn: true, ...data })).toThrow(expect.objectContaining(refused));
});

test.each(COLLECTIONS)(
	'$label of $operation given as a text reaches the node as it is, and is refused',
	async ({ label, name, parameters }) => {
		const result = await bench.run({ ...parameters, [name]: '={{ "harbour" }}' }, { input: [{}, {}] });
		expect(result.error?.message).toBe(`'${label}' is text of 7 characters instead of an object [item 0]`);
		expect(bench.platform.requests).toEqual([]);
	},
);

test.each(operationNames)(
	'%s refuses an unknown option, one of the trigger and a filter, and accepts one of another operation',
	async (name) => {
		const run = async (options: unknown) =>
			await bench.run({ ...operations[name], options }, { input: serialNumberItems(bench, 1) });
		for (const unknown of ['skpi', 'emit', 'forAtLeast', 'tags']) {
			const { error } = await run({ [unknown]: 1 });
			expect(error?.message).toBe(`There is no option "${unknown}" under 'Options'`);
		}
		expect(bench.platform.requests).toEqual([]);
		expect((await run('={{ { skip: 3, ifNotFound: "empty", pageSize: 50 } }}')).error).toBeUndefined();
	},
);

test('a parameter that a saved workflow does not have is empty, but not one whose expression is empty', () => {
	const missing: ReadParameter = (_name, fallback) => fallback;
	const settings = { pageSize: 1000, parallelRequests: 8, timeoutMs: 60_000, maxRetries: 3 };
	expect(readFilters(missing)).toEqual({ body: '{}', query: {} });
	expect(readSort(missing)).toEqual([]);
	expect(readSettings(missing, OPTION_NAMES)).toEqual({ options: {}, ...settings });
	const empty: ReadParameter = () => undefined;
	for (const read of [readFilters, readSort, (one: ReadParameter) => readSettings(one, OPTION_NAMES)]) {
		expect(() => read(empty)).toThrow(Failure);
	}
});

test('any value of an expression for filters narrows the list, or is refused', () => {
	const filter = fc.oneof(fc.anything(), fc.constantFrom('', ' ', '{}', 'x', '{"a":1}', 0, undefined, null));
	const filters = fc.oneof(
		fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true }),
		fc.dictionary(fc.constantFrom(...filterFields.map(({ name }) => name), 'other'), filter),
		fc.json(),
	);
	fc.assert(
		fc.property(filters, (value) => {
			let criteria;
			try {
				criteria = readFilters(() => value);
			} catch (thrown) {
				if (thrown instanceof Failure && thrown.details.kind === 'input') return;
				throw thrown;
			}
			const given = typeof value === 'string' ? JSON.parse(value) : value;
			const narrows = criteria.body !== '{}' || Object.keys({ ...criteria.query, ...criteria.own }).length > 0;
			expect(narrows).toBe(Object.keys(Object(given)).length > 0);
		}),
		runs(2000),
	);
});
