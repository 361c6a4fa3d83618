import { useBench } from '../../testbed/jest.mts';
import { jsonOf } from '../../testbed/output.mts';
import { everyField, filledIn, filterFields, plainFilters } from '../form.mts';

const bench = useBench();

const count = { resource: 'device', operation: 'count' };
const fromModel = (name: string) => `={{ $fromAI('${name}') }}`;

/** Every filter of the form, filled by a model: an argument for each field. */
const argument = (path: string) => path.replaceAll('.', '_');
const filters = filledIn(filterFields, (path) => fromModel(argument(path)));
const EMPTY = {
	...Object.fromEntries(everyField(filterFields).map(({ path }) => [argument(path), ''])),
	...{ tags: ' ', attributes_pair_key: 'site', query_parameter_name: 'description' },
};

const call = async (parameters: Record<string, unknown>, given: Record<string, string>) =>
	(await bench.callTool(parameters, [given]))[0];
const counted = async (parameters: Record<string, unknown>) => jsonOf(await bench.run(parameters))[0]?.['count'];

describe('filters that a model fills', () => {
	test('with empty texts mean no filter', async () => {
		expect(await call({ ...count, filters }, EMPTY)).toEqual({ response: [{ count: bench.fleet.devices.length }] });
		expect(bench.platform.requests[0]).toMatchObject({ query: { size: '1' } });
		expect(Object.keys(bench.platform.requests[0]?.query ?? {})).toEqual(['size']);
	});

	test.each([
		['tags', 'tags'],
		['name', 'name'],
	] as const)('still narrow the list by the one that was: %s', async (filter, argument) => {
		const [tag] = bench.fleet.devices.flatMap(({ tags }) => tags);
		const value = filter === 'tags' ? String(tag) : String(bench.fleet.devices[3]?.sn);
		const expected = await counted({ ...count, filters: { [filter]: value } });
		expect(expected).toBeLessThan(bench.fleet.devices.length);
		expect(await call({ ...count, filters }, { ...EMPTY, [argument]: value })).toEqual({
			response: [{ count: expected }],
		});
	});

	test('serve a list as they serve a count', async () => {
		const parameters = { resource: 'device', operation: 'getAll', returnAll: true, filters };
		const answer = await call(parameters, EMPTY);
		expect(answer?.['response']).toHaveLength(bench.fleet.devices.length);
	});

	test.each([
		[
			'an attribute without a key',
			filters,
			{ ...EMPTY, attributes_pair_key: '', attributes_pair_value: 'x' },
			"A key under 'Attributes' is empty",
		],
		['a filter that is null', { ...filters, name: '={{ null }}' }, EMPTY, "'Name' under 'Filters' has no value"],
		['only commas', filters, { ...EMPTY, tags: ', ,' }, "'Tags' under 'Filters' has no value"],
		['empty criteria', filters, { ...EMPTY, body: '{}' }, "'Search Criteria (JSON)' under 'Filters' has no value"],
		['a list without tags', { tags: '={{ [] }}' }, {}, "'Tags' under 'Filters' has no value"],
		[
			'an empty text as a whole',
			fromModel('filters'),
			{ filters: '' },
			"'Filters' is text of 0 characters instead of an object",
		],
		['null as a whole', '={{ null }}', {}, "'Filters' is null instead of an object"],
	])('are refused with %s', async (_name, given, call, message) => {
		const [answer] = await bench.callTool({ ...count, filters: given }, [call]);
		expect(JSON.stringify(answer)).toContain(JSON.stringify(message).slice(1, -1));
		expect(bench.platform.requests).toEqual([]);
	});

	test('can also be the whole argument of the model', async () => {
		const [tag] = bench.fleet.devices.flatMap(({ tags }) => tags);
		const expected = await counted({ ...count, filters: { tags: tag } });
		const given = { filters: JSON.stringify({ tags: tag, name: '' }) };
		expect(await call({ ...count, filters: fromModel('filters') }, given)).toEqual({ response: [{ count: expected }] });
	});
});

test.each(plainFilters)('from a workflow, an empty $displayName stays refused', async ({ name, displayName }) => {
	const result = await bench.run({ ...count, filters: { [name]: '' } });
	expect(result.error?.message).toBe(`'${displayName}' under 'Filters' has no value`);
	expect(result.error?.description).toBe('Fill it in, or remove the filter. If it is an expression, check its result.');
});

test('from a workflow, an empty text is a value for a query parameter, but not for an attribute', async () => {
	await bench.run({ ...count, filters: { query: { parameter: [{ name: 'description', value: '' }] } } });
	expect(bench.platform.requests[0]?.url).toContain('description=&');
	const result = await bench.run({ ...count, filters: { attributes: { pair: [{ key: 'site', value: '' }] } } });
	expect(result.error?.message).toBe('The attribute "site" under \'Attributes\' has no value');
});
