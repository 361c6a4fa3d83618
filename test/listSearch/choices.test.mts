import type { INodeParameters } from 'n8n-workflow';

import { useBench } from '../../testbed/jest.mts';
import { type Device, Fleet } from '../../testbed/platform/fleet.mts';
import { nodeType } from '../../testbed/deviceWorkflow.mts';

const bench = useBench();

/** Opens a dropdown, in a rule of the trigger or in the filters of the action node. */
const open = async (method: string, rule?: INodeParameters, filter?: string) => {
	const credential = bench.engine.credentialReference(bench.apiKey);
	const parameters = rule ? { conditions: { rule: [{}, rule] } } : { filters: {} };
	const inRule = { type: `${nodeType}Trigger`, path: 'parameters.conditions.rule[1].to' };
	const field = rule ? inRule : { path: 'parameters.filters.group' };
	return await bench.engine.listSearch(parameters, credential, method, filter, undefined, field);
};
const linesOf = async (...args: Parameters<typeof open>) =>
	(await open(...args)).results.map(({ name, value }) => `${value}: ${name}`);
/** A fleet of these devices, else like the sample devices. */
const have = (...devices: object[]) => {
	bench.platform.fleet = Fleet.seeded({ size: devices.length });
	for (const [index, changes] of devices.entries())
		bench.fleet.update(bench.fleet.at(index).sn, changes as Partial<Device>);
};

const STATUSES = ['1: 1 · usually online (2)', '0: 0 · usually offline (1)', '7: 7 (1)'];
it.each<[method: string, rule: INodeParameters | undefined, lines: string[]]>([
	['searchOnlineStatus', undefined, STATUSES],
	['searchGroups', undefined, ['B: B (1)', 'g1: A · g1 (1)', 'g2: A · g2 (1)', 'g9: g9 (1)']],
	['searchAttributes', {}, ['a.b: a.b (2)', 'c: c (1)']],
	['searchValues', {}, STATUSES],
	['searchValues', { field: 'group' }, ['A: A (2)', 'B: B (1)', 'null: null (1)']],
	[
		'searchValues',
		{ field: 'attributes', attribute: { __rl: true, mode: 'list', value: 'a.b' } },
		['null: null (2)', '1: 1 (1)', 'x y: x y (1)'],
	],
])('%s in a rule with %j lists what the devices have, with the value that it compares', async (method, rule, lines) => {
	have(
		{ onlineStatus: 1, group: { id: 'g1', name: 'A' }, attributes: { 'a.b': 1, c: 'x'.repeat(101) } },
		{ onlineStatus: true, group: { id: 'g2', name: 'A' }, attributes: { 'a.b': ' x y' } },
		{ onlineStatus: 0, group: { id: 'g3', name: 'B' }, attributes: null },
		{ onlineStatus: '7', group: { id: 'g9', name: null }, attributes: {} },
	);
	expect(await linesOf(method, rule)).toEqual(lines.map((line) => line.replace(/\)$/, ' of 4 devices)')));
});

it('reads one page of a fleet of any size, and filters what it lists by the text that was typed', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 1500 });
	const [first] = await linesOf('searchOnlineStatus');
	expect(first).toMatch(/^1: 1 · usually online \(\d+ of the first 1,000 devices\)$/);
	expect(bench.platform.requests.map(({ kind, query }) => [kind, query])).toEqual([['list', { size: '1000' }]]);
	expect(await linesOf('searchOnlineStatus', undefined, ' OFFLINE ')).toEqual([expect.stringMatching(/^0: /)]);
	bench.platform.settings.fault = ({ query }) => (Number(query['size']) > 200 ? { code: 10001 } : undefined);
	expect((await linesOf('searchOnlineStatus'))[0]).toContain(' of the first 200 devices)');
});

it('offers the text that was searched for if none of the devices has it', async () => {
	have({ group: { id: 'g1', name: 'A' } });
	expect(await linesOf('searchGroups', undefined, ' Depot 7 ')).toEqual(['Depot 7: Depot 7 (none of 1 device)']);
	bench.platform.fleet = Fleet.seeded({ size: 1500 });
	expect(await linesOf('searchGroups', undefined, 'x')).toEqual(['x: x (none of the first 1,000 devices)']);
});

it('lists a group by its ID if the filter would also find another group by its name', async () => {
	have({ group: { id: 7, name: 'Hamburg' } }, { group: { id: 9, name: '7' } }, { group: { id: 8, name: 'HAMBURG ' } });
	expect((await open('searchGroups')).results.map(({ value }) => value)).toEqual(['7', '8', '9']);
	have({ group: { id: 7, name: 'Hamburg' } }, { group: { id: 9, name: '7' } });
	expect((await open('searchGroups')).results.map(({ value }) => value)).toEqual(['9', 'Hamburg']);
	// A condition compares names.
	expect((await open('searchValues', { field: 'group' })).results.map(({ value }) => value)).toEqual(['7', 'Hamburg']);
});

const A = { attributes: { a: 1 } };
it.each<[why: string, devices: object[], method: string, rule: INodeParameters | undefined]>([
	['The platform lists no devices', [], 'searchGroups', undefined],
	['None of 1 device has a value here', [{ group: null }], 'searchGroups', undefined],
	['None of 1 device has a value here', [{ attributes: null }], 'searchAttributes', {}],
	['None of 1 device has a value here', [A], 'searchValues', { field: 'attributes', attribute: ' b ' }],
	["'Attribute' is empty", [A], 'searchValues', { field: 'attributes' }],
])('says why it lists nothing: %s', async (message, devices, method, rule) => {
	have(...devices);
	await expect(open(method, rule)).rejects.toMatchObject({ message, description: expect.stringMatching(/./) });
});

it('says what the platform said', async () => {
	bench.platform.settings.fault = () => ({ status: 403 });
	await expect(open('searchGroups')).rejects.toMatchObject({ httpCode: '403', message: expect.stringMatching(/./) });
});
