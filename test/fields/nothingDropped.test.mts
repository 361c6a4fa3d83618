import fc from 'fast-check';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { readFilters } from '../../nodes/DeviceManagement/fields/filters.ts';
import { readSettings } from '../../nodes/DeviceManagement/fields/options.ts';
import { readSort } from '../../nodes/DeviceManagement/fields/sort.ts';
import type { ReadParameter } from '../../nodes/DeviceManagement/fields/values.ts';
import { useBench } from '../../testbed/jest.mts';
import { jsonOf } from '../../testbed/output.mts';

/**
 * Each of these once listed the whole fleet without a word: what narrows or orders a list, or governs a request, is used or
 * refused.
 */

const bench = useBench();

const getMany = { resource: 'device', operation: 'getAll' };
const count = { resource: 'device', operation: 'count' };
const get = { resource: 'device', operation: 'get', device: { __rl: true, mode: 'sn', value: 'RT1' } };
const request = { resource: 'api', operation: 'request', path: '/api/version' };

/** What an expression may give in place of an object, and how a message names it. */
const GIVEN: ReadonlyArray<readonly [string, string]> = [
	['={{ $json.nothing }}', 'nothing'],
	['={{ undefined }}', 'nothing'],
	['={{ null }}', 'null'],
	['={{ "" }}', 'text of 0 characters'],
	['={{ "harbour" }}', 'text of 7 characters'],
	['={{ "[]" }}', 'text of 2 characters'],
	['={{ JSON.stringify("harbour") }}', 'text of 9 characters'],
	['={{ [] }}', 'a list of 0'],
	['={{ [{ name: "harbour" }] }}', 'a list of 1'],
	['={{ 7 }}', 'a number'],
	['={{ false }}', 'a boolean'],
];

describe.each([
	['Filters', 'filters', getMany],
	['Filters', 'filters', count],
	['Sort', 'sort', getMany],
	['Options', 'options', get],
	['Options', 'options', getMany],
	['Options', 'options', count],
	['Options', 'options', request],
	['Query Parameters', 'query', request],
] as const)('%s (%s of %j) as a whole', (label, name, operation) => {
	test.each(GIVEN)('given as %s is refused', async (value, what) => {
		const result = await bench.run({ ...operation, [name]: value }, { input: [{}, {}] });
		expect(result.error?.message).toBe(`'${label}' is ${what} instead of an object [item 0]`);
		expect(result.error?.description).toContain('Check the expression in this field');
		expect(bench.platform.requests).toEqual([]);
	});
});

test('the item whose expression gives nothing is named, and no other one is touched', async () => {
	const result = await bench.run(
		{ ...count, filters: '={{ $json.filters }}' },
		{ input: [{ filters: { name: 'RT' } }, {}, { filters: { name: 'RT' } }], onError: 'continueRegularOutput' },
	);
	expect(jsonOf(result).map(({ error }) => error)).toEqual([undefined, "'Filters' is nothing instead of an object [item 1]", undefined]);
	expect(bench.platform.requests).toHaveLength(2);
});

test('an object, or its JSON text, from an expression is taken', async () => {
	const [device] = bench.platform.fleet.devices;
	const group = [...new Set(bench.platform.fleet.devices.map(({ tags }) => tags[0]))].find((tag) => tag !== undefined);
	for (const filters of [{ tags: group }, { name: device?.sn }]) {
		const [plain] = jsonOf(await bench.run({ ...count, filters }));
		for (const expression of [`={{ ${JSON.stringify(filters)} }}`, `={{ JSON.stringify(${JSON.stringify(filters)}) }}`]) {
			expect(jsonOf(await bench.run({ ...count, filters: expression }))).toEqual([plain]);
		}
	}
	const sort = { rule: [{ field: 'sn', direction: 'asc' }] };
	const sorted = jsonOf(await bench.run({ ...getMany, limit: 5, sort })).map(({ sn }) => sn);
	for (const expression of [`={{ ${JSON.stringify(sort)} }}`, `={{ JSON.stringify(${JSON.stringify(sort)}) }}`]) {
		expect(jsonOf(await bench.run({ ...getMany, limit: 5, sort: expression })).map(({ sn }) => sn)).toEqual(sorted);
	}
	expect(sorted).toEqual(bench.platform.fleet.devices.map(({ sn }) => sn).sort().slice(0, 5));
});

/** Objects that do not say what they seem to say, from an expression as n8n's form can't give them. */
test.each<[string, Record<string, unknown>, string]>([
	['an unknown filter', { filters: '={{ { nmae: "harbour" } }}' }, 'There is no filter "nmae" under \'Filters\''],
	['a filter by its label', { filters: '={{ { "Name": "harbour" } }}' }, 'There is no filter "Name" under \'Filters\''],
	['an unknown filter beside one that is known', { filters: '={{ { name: "RT", toString: 1 } }}' }, 'There is no filter "toString" under \'Filters\''],
	['a known filter without a value', { filters: '={{ { name: $json.nothing } }}' }, "'Name' under 'Filters' has no value"],
	['attributes as key and value', { filters: '={{ { attributes: { site: "x" } } }}' }, "'Attributes' holds a value of the wrong kind"],
	['attributes from an expression that gives nothing', { filters: '={{ { attributes: { pair: $json.nothing } } }}' }, "'Attributes' holds a value of the wrong kind"],
	['query parameters from one', { filters: '={{ { query: { parameter: $json.nothing } } }}' }, "'Query Parameters' holds a value of the wrong kind"],
	['an unknown filter from the form', { filters: { nmae: 'harbour' } }, 'There is no filter "nmae" under \'Filters\''],
	['attributes as text', { filters: '={{ { attributes: "site x" } }}' }, "'Attributes' is text of 6 characters instead of an object"],
	['attributes as the text of an empty object', { filters: '={{ { attributes: "{}" } }}' }, "'Attributes' under 'Filters' has no value"],
	['an attribute with a field too many', { filters: '={{ { attributes: { pair: [{ key: "a", value: "b", operator: "not" }] } } }}' }, "'Attributes' holds a value of the wrong kind"],
	['query parameters as name and value', { filters: '={{ { query: { site: "x" } } }}' }, "'Query Parameters' holds a value of the wrong kind"],
	['empty search criteria', { filters: { body: '{}' } }, "'Search Criteria (JSON)' under 'Filters' has no value"],
	['empty search criteria with a space', { filters: { body: ' { } ' } }, "'Search Criteria (JSON)' under 'Filters' has no value"],
	['an empty object as search criteria', { filters: { body: '={{ ({}) }}' } }, "'Search Criteria (JSON)' under 'Filters' has no value"],
	['an undefined search criterion', { filters: { body: '={{ ({ status: $json.nothing }) }}' } }, "'Search Criteria (JSON)' holds nothing in \"status\""],
	['an undefined criterion beside another', { filters: { body: '={{ ({ a: 1, b: { c: [1, $json.nothing] } }) }}' } }, "'Search Criteria (JSON)' holds nothing in \"b.c.1\""],
	['a criterion that is no number', { filters: { body: '={{ ({ status: Number($json.nothing) }) }}' } }, "'Search Criteria (JSON)' holds nothing in \"status\""],
])('%s is refused', async (_name, parameters, message) => {
	for (const operation of [getMany, count]) {
		const result = await bench.run({ ...operation, ...parameters });
		expect(result.error?.message).toBe(message);
		expect(result.error?.description).toMatch(/^[A-Z].{10,}\.$/s);
		expect(bench.platform.requests).toEqual([]);
	}
});

test.each<[string, string, string]>([
	['rules that are not called so', '={{ { rules: [{ field: "sn" }] } }}', "'Sort' holds a value of the wrong kind"],
	['a rule by itself', '={{ { field: "sn", direction: "asc" } }}', "'Sort' holds a value of the wrong kind"],
	['a rule with a field too many', '={{ { rule: [{ field: "sn", order: "asc" }] } }}', "'Sort' holds a value of the wrong kind"],
	['rules from an expression that gives nothing', '={{ { rule: $json.nothing } }}', "'Sort' holds a value of the wrong kind"],
	['a direction from one', '={{ { rule: [{ field: "sn", direction: $json.nothing }] } }}', "'Sort' holds a value of the wrong kind"],
	['a field from one', '={{ { rule: [{ field: $json.nothing }] } }}', "'Sort' holds a value of the wrong kind"],
	['JSON text of a list', '={{ JSON.stringify([{ field: "sn" }]) }}', "'Sort' is text of 16 characters instead of an object"],
])('a sort of %s is refused', async (_name, sort, message) => {
	const result = await bench.run({ ...getMany, sort });
	expect(result.error?.message).toBe(message);
	expect(bench.platform.requests).toEqual([]);
});

test.each<[string, Record<string, unknown>]>([
	['Get Many', getMany],
	['Count', count],
	['Get', get],
	['Request', request],
])('%s refuses an option that there is not, or only the trigger has, and takes one that only another operation has', async (_name, parameters) => {
	const wrong = await bench.run({ ...parameters, options: '={{ { skpi: 3 } }}' });
	expect(wrong.error?.message).toBe('There is no option "skpi" under \'Options\'');
	expect(bench.platform.requests).toEqual([]);
	for (const name of ['forAtLeast', 'emit']) {
		const stranger = await bench.run({ ...parameters, options: { [name]: 1 } });
		expect(stranger.error?.message).toBe(`There is no option "${name}" under 'Options'`);
	}
	expect(bench.platform.requests).toEqual([]);
	const left = await bench.run({ ...parameters, options: '={{ { skip: 3, ifNotFound: "empty", pageSize: 50 } }}' });
	expect(left.error).toBeUndefined();
});

test.each([
	[get, 'ifNotFound', "'If Not Found' holds a value of the wrong kind"],
	[getMany, 'pageSize', "'Page Size' is not a whole number from 1 to 10000"],
	[count, 'maxRetries', "'Max Retries' is not a whole number from 0 to 10"],
	[request, 'timeout', "'Timeout' is not a whole number from 1 to 3600000"],
	[getMany, 'parallelRequests', "'Parallel Requests' is not a whole number from 1 to 16"],
])('an option of %j given as nothing is refused: %s', async (operation, name, message) => {
	for (const value of ['={{ $json.nothing }}', '={{ null }}']) {
		const result = await bench.run({ ...operation, options: { [name]: value } });
		expect(result.error?.message).toBe(message);
		expect(bench.platform.requests).toEqual([]);
	}
});

test('what n8n does not save, because it is the form’s default, has that default', async () => {
	await bench.run({ ...getMany, sort: { rule: [{}, { field: 'sn' }, { direction: 'asc' }] } });
	expect(bench.platform.requests[0]?.query['sort']).toEqual(['createTime,sn desc', 'createTime asc']);
	bench.platform.forget();
	await bench.run({ ...count, filters: { query: { parameter: [{ name: 'site' }] } } });
	expect(bench.platform.requests[0]?.url).toContain('site=&');
});

test.each(['={{ $json.nothing }}', '={{ null }}'])('a body given as %s is refused, not left out', async (body) => {
	const result = await bench.run({ ...request, method: 'POST', path: '/api/device/list', body });
	expect(result.error?.message).toMatch(/^'Body' is (nothing|null) instead of JSON$/);
	expect(bench.platform.requests).toEqual([]);
});

describe('a workflow that was saved before there was a parameter', () => {
	const reader =
		(parameters: Record<string, unknown>): ReadParameter =>
		(name, fallback) => (Object.hasOwn(parameters, name) ? parameters[name] : fallback);

	test('reads as one that leaves it empty', () => {
		expect(readFilters(reader({}))).toEqual({ body: '{}', query: {} });
		expect(readSort(reader({}))).toEqual([]);
		expect(readSettings(reader({}))).toEqual(readSettings(reader({ options: {} })));
	});

	test('is told from one whose expression gives nothing', () => {
		expect(() => readFilters(reader({ filters: undefined }))).toThrow(Failure);
		expect(() => readSort(reader({ sort: undefined }))).toThrow(Failure);
		expect(() => readSettings(reader({ options: undefined }))).toThrow(Failure);
	});
});

test('a criterion that JSON would empty is refused, a date is not', () => {
	expect(() => readFilters(() => ({ body: { a: new Map([[1, 2]]) } }))).toThrow('holds nothing in "a"');
	expect(readFilters(() => ({ body: { a: new Date(0) } })).body).toBe('{"a":"1970-01-01T00:00:00.000Z"}');
});

test('whatever an expression gives for filters narrows the list, or is refused', () => {
	const filter = fc.oneof(fc.anything(), fc.constantFrom('', ' ', '{}', 'x', '{"a":1}', 0, undefined, null));
	const filters = fc.oneof(
		fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true }),
		fc.dictionary(fc.constantFrom('name', 'tags', 'body', 'compositeStatus', 'attributes', 'query', 'other'), filter),
		fc.json(),
	);
	fc.assert(
		fc.property(filters, (value) => {
			let criteria;
			try {
				criteria = readFilters(() => value);
			} catch (thrown) {
				expect(thrown).toBeInstanceOf(Failure);
				expect(Object(thrown).details.kind).toBe('input');
				return;
			}
			const given = typeof value === 'string' ? JSON.parse(value) : value;
			const narrows = criteria.body !== '{}' || Object.keys(criteria.query).length > 0;
			expect(narrows).toBe(Object.keys(Object(given)).length > 0);
		}),
		{ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 2000) },
	);
});

test('a whole number arrives digit by digit, or is refused', () => {
	const digits = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
	const places = fc.constantFrom<(number: string) => string>(
		(number) => `{"name":${number}}`,
		(number) => `{"tags":["a",${number}]}`,
		(number) => `{"attributes":{"pair":[{"key":"iccid","value":${number}}]}}`,
		(number) => `{"query":{"parameter":[{"name":"iccid","value":${number}}]}}`,
		(number) => `{"body":{"list":[{"iccid":${number}}]}}`,
	);
	fc.assert(
		fc.property(digits, places, (number, place) => {
			const safe = Number.isSafeInteger(Number(number));
			let criteria;
			try {
				criteria = readFilters(() => place(number));
			} catch (thrown) {
				expect(safe).toBe(false);
				expect(Object(thrown).message).toMatch(/^The number in '.*' has more digits than n8n can keep$/);
				return;
			}
			expect(JSON.stringify(criteria)).toMatch(new RegExp(`(?<![\\d-])${number}(?!\\d)`));
		}),
		{ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 2000) },
	);
});
