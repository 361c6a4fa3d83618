/** The node as an agent's tool, built like in n8n and called with typical arguments of models. */
import { useBench } from '../../testbed/jest.mts';
import { bySerialNumber, type Parameters } from '../../testbed/oneItem.mts';
import { everyField, filledIn, filterFields } from '../../testbed/form.mts';

const bench = useBench();

/** What n8n's editor writes when a person lets the model fill a field. */
const byAgent = (label: string, type: 'string' | 'number' = 'string') =>
	`={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${label}', \`\`, '${type}') }}`;

const get = { resource: 'device', operation: 'get', device: bySerialNumber(byAgent('Device')) };
const getMany = { resource: 'device', operation: 'getAll', limit: byAgent('Limit', 'number') };
const count = { resource: 'device', operation: 'count' };
const request = { resource: 'api', operation: 'request', path: byAgent('Path') };

/** Every filter of the form, filled by a model: an argument for each field. */
const argument = (path: string) => path.replaceAll('.', '_');
const filters = filledIn(filterFields, (path) => byAgent(argument(path)));
const narrowed = { ...count, filters };
const EMPTY: Arguments = {
	...Object.fromEntries(everyField(filterFields).map(({ path }) => [argument(path), ''])),
	...{ tags: ' ', attributes_pair_key: 'site', query_parameter_name: 'description' },
};

type Arguments = Record<string, string | number | boolean>;
const call = async (parameters: Parameters, args: Arguments) => (await bench.callTool(parameters, [args]))[0] ?? {};

describe('a model may give', () => {
	test('a number as text, a limit beyond the fleet, and arguments that the tool does not have', async () => {
		const limits = [7, 1_000_000_000].map(async (Limit) => await call(getMany, { Limit, Other: 1, device: 'x' }));
		const text = await call({ ...getMany, limit: byAgent('Limit') }, { Limit: '7' });
		const lengths = [...(await Promise.all(limits)), text].map(({ response }) => Object(response).length);
		expect(lengths).toEqual([7, bench.fleet.size, 7]);
	});

	test("'Return All' of API Request", async () => {
		const parameters = { ...request, path: '/api/group/list', returnAll: "={{ $fromAI('All', '', 'boolean') }}" };
		expect((await call(parameters, { All: true })).response).toContainEqual(bench.fleet.at(0).group);
		expect((await call(parameters, { All: false })).response).toMatchObject([{ totalElements: 8 }]);
	});

	test('empty texts for no filter, in a count and in a list', async () => {
		expect(await call(narrowed, EMPTY)).toEqual({ response: [{ count: bench.fleet.size }] });
		expect(bench.platform.requests[0]?.query).toEqual({ size: '1' });
		const { response } = await call({ resource: 'device', operation: 'getAll', returnAll: true, filters }, EMPTY);
		expect(response).toHaveLength(bench.fleet.size);
	});

	test('the text of a filter that people choose from a list', async () => {
		const { group } = bench.fleet.at(0);
		const chosen = (label: string) => ({ __rl: true, mode: 'text', value: byAgent(label) });
		const some = { ...count, filters: { group: chosen('group'), onlineStatus: chosen('onlineStatus') } };
		const online = bench.fleet.devices.filter((device) => device.group.id === group.id && device.onlineStatus === 1);
		const { response } = await call(some, { group: group.name, onlineStatus: '1' });
		expect(response).toEqual([{ count: online.length }]);
		const ofGroup = await call(some, { group: group.name, onlineStatus: '' });
		expect(Object(ofGroup.response)[0].count).toBeGreaterThan(online.length);
	});

	test('some filters, or all of them as one argument', async () => {
		const [tag = ''] = bench.fleet.devices.flatMap(({ tags }) => tags);
		const expected = { response: [{ count: bench.fleet.devices.filter(({ tags }) => tags.includes(tag)).length }] };
		expect(await call(narrowed, { ...EMPTY, tags: tag })).toEqual(expected);
		const all = { filters: JSON.stringify({ tags: tag, name: '' }) };
		expect(await call({ ...count, filters: byAgent('filters') }, all)).toEqual(expected);
	});
});

describe('an unusable value is refused, with what to change', () => {
	const USE_EMPTY = 'Fill it in, or use an empty text for no filter.';
	const [limited, all] = [
		{ ...getMany, limit: byAgent('Limit') },
		{ ...count, filters: byAgent('All') },
	];
	const NO_KEY = { ...EMPTY, attributes_pair_key: '', attributes_pair_value: 'x' };

	test.each<[string, Parameters, Arguments, message: string, remedy: string]>([
		['words for a number', limited, { Limit: 'all' }, "'Limit' must be a whole", 'Enter 1 or more'],
		['a filter that is null', { ...count, filters: { name: '={{ null }}' } }, {}, "'Name' under 'Filters'", USE_EMPTY],
		['only commas for tags', narrowed, { ...EMPTY, tags: ', ,' }, "'Tags' under 'Filters'", USE_EMPTY],
		['empty criteria', narrowed, { ...EMPTY, body: '{}' }, "'Search Criteria (JSON)' under 'Filters'", USE_EMPTY],
		['an attribute without a key', narrowed, NO_KEY, "A name under 'Attributes' is empty", 'Fill it in'],
		['no text for all filters', all, { All: '' }, "'Filters' is text", 'Check the expression'],
	])('%s', async (_name, parameters, args, message, remedy) => {
		const { error } = await call(parameters, args);
		expect(error).toContain(message);
		// Once: n8n puts a description below a message that does not contain it.
		expect(String(error).split(remedy)).toHaveLength(2);
		expect(bench.platform.requests).toEqual([]);
	});

	test('a serial number that no device has, without the words for people about an option', async () => {
		const { error } = await call(get, { Device: 'RT00000000' });
		expect(error).toMatch(/^No device has the serial number RT00000000 \(.*\)\. Check the serial number/);
		expect(error).not.toContain('If Not Found');
	});
});
