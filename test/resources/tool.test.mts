/** The node as an agent's tool, built like in n8n and called with typical arguments of models. */
import { RESOURCES } from '../../nodes/DeviceManagement/resources/index.ts';
import { useBench } from '../../testbed/jest.mts';

const bench = useBench();

/** What n8n's editor writes when a person lets the model fill a field. */
const byModel = (label: string, type: 'string' | 'number' | 'boolean') =>
	`={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${label}', \`\`, '${type}') }}`;

const get = {
	resource: 'device',
	operation: 'get',
	device: { __rl: true, mode: 'sn', value: byModel('Device', 'string') },
	options: {},
};
const getMany = { resource: 'device', operation: 'getAll', limit: byModel('Limit', 'number'), options: {} };
const count = { resource: 'device', operation: 'count', filters: { name: byModel('Name', 'string') }, options: {} };
const request = { resource: 'api', operation: 'request', path: byModel('Path', 'string'), options: {} };

const call = async (parameters: Record<string, unknown>, args: Record<string, string | number | boolean | null>) =>
	(await bench.callTool(parameters, [args]))[0];

describe('small and safe by default', () => {
	test('a list holds 50 devices with ten fields each', async () => {
		const { response } = (await call({ resource: 'device', operation: 'getAll' }, {})) ?? {};
		expect(response).toHaveLength(50);
		for (const device of Array.isArray(response) ? response : []) expect(Object.keys(Object(device))).toHaveLength(10);
	});

	test('a model reads the action as a sentence', () => {
		const { defaults, properties } = bench.engine.packages.getByNameAndVersion(
			'n8n-nodes-device-management.deviceManagement',
			1,
		).description;
		const actions = properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ options = [] }) =>
				options.map((option) => ('action' in option ? `${option.action} in ${defaults.name}` : '')),
			);
		const every = Object.values(RESOURCES).flatMap(({ operations }) => Object.values(operations));
		expect(actions).toEqual(every.map(({ action }) => `${action} in Device Management`));
	});
});

describe('the arguments of a model are used', () => {
	test('a serial number, blanks around it left out', async () => {
		const device = bench.fleet.at(3);
		const expected = { response: [expect.objectContaining({ id: device.id, sn: device.sn })] };
		expect(await call(get, { Device: device.sn })).toEqual(expected);
		expect(await call(get, { Device: ` ${device.sn}\n` })).toEqual(expected);
	});

	test('a number where the tool expects text', async () => {
		const { response } = (await call({ ...getMany, limit: byModel('Limit', 'string') }, { Limit: '7' })) ?? {};
		expect(response).toHaveLength(7);
	});

	test('a limit beyond the fleet lists the fleet', async () => {
		const { response } = (await call(getMany, { Limit: 1_000_000_000 })) ?? {};
		expect(response).toHaveLength(bench.fleet.size);
	});

	test('an empty text means no filter', async () => {
		expect(await call(count, { Name: '' })).toEqual({ response: [{ count: bench.fleet.size }] });
	});

	test('arguments that the tool does not have change nothing', async () => {
		expect(await call(count, { Name: '', limit: 1, device: 'x' })).toEqual({ response: [{ count: bench.fleet.size }] });
	});
});

describe('an unusable value is refused, with what to change', () => {
	const NO_SERIAL_NUMBER = ["The serial number in 'Device' is empty", 'Enter a serial number.'] as const;
	const NO_LIMIT = ["'Limit' is not a whole number of 1 or more", "Enter 1 or more, or turn on 'Return All'."] as const;

	test.each([
		['an empty serial number', get, { Device: '' }, ...NO_SERIAL_NUMBER],
		['a blank serial number', get, { Device: '  ' }, ...NO_SERIAL_NUMBER],
		['two dots', get, { Device: '..' }, "can't be part of an address", 'Enter a serial number.'],
		['nothing for a limit', getMany, { Limit: 0 }, ...NO_LIMIT],
		['less than nothing', getMany, { Limit: -5 }, ...NO_LIMIT],
		['half a device', getMany, { Limit: 2.5 }, ...NO_LIMIT],
		['more than can be counted', getMany, { Limit: 1e300 }, ...NO_LIMIT],
		['words for a number', { ...getMany, limit: byModel('Limit', 'string') }, { Limit: 'all' }, ...NO_LIMIT],
		['another host', request, { Path: 'https://example.com/api/device' }, "'Path'", 'Enter a path of the platform'],
		['an empty path', request, { Path: '' }, "'Path'", 'Enter a path of the platform'],
		[
			'only commas for tags',
			{ ...count, filters: { tags: byModel('Tags', 'string') } },
			{ Tags: ',' },
			"'Tags' under 'Filters' has no value",
			'Fill it in, or use an empty text for no filter.',
		],
	])('%s', async (_name, parameters, args, happened, remedy) => {
		const { error } = (await call(parameters, args)) ?? {};
		expect(error).toContain(happened);
		expect(error).toContain(remedy);
		// Once: n8n puts a description below a message that does not hold it yet.
		expect(String(error).split(remedy)).toHaveLength(2);
		expect(bench.platform.requests).toEqual([]);
	});

	test.each([
		['a missing argument', get, {}, 'Device'],
		['null', get, { Device: null }, 'Device'],
		['a number for a text', get, { Device: 12_345 }, 'Device'],
		['a text for a number', getMany, { Limit: '7' }, 'Limit'],
		['null for a number', getMany, { Limit: null }, 'Limit'],
		['null for a filter', count, { Name: null }, 'Name'],
	])('%s, by n8n itself, which names the argument', async (_name, parameters, args, argument) => {
		const { error } = (await call(parameters, args)) ?? {};
		expect(error).toMatch(/did not match expected schema/);
		expect(error).toContain(argument);
		expect(bench.platform.requests).toEqual([]);
	});

	test('a serial number that no device has', async () => {
		const { error } = (await call(get, { Device: 'RT00000000' })) ?? {};
		expect(error).toMatch(
			/^No device has this serial number \(code 10007: device RT00000000 non-existent\)\. Check the serial number/,
		);
	});

	test('a platform that refuses, with its code', async () => {
		bench.platform.settings.role = 'none';
		const { error } = (await call(count, { Name: '' })) ?? {};
		expect(error).toContain('14103');
	});
});

test('for people the remedy stands below the message alone', async () => {
	const result = await bench.run({ ...get, device: { __rl: true, mode: 'sn', value: 'RT00000000' } });
	expect(result.error?.message).toBe('No device has this serial number (code 10007: device RT00000000 non-existent)');
});
