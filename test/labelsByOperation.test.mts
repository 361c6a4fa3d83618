import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { forgetAccounts } from '../nodes/DeviceManagement/transport/account.ts';
import { hurry, useBench, useServers } from '../testbed/jest.mts';
import { codes } from '../testbed/platform/codes.mts';
import type { Fault } from '../testbed/platform/server.mts';
import { triggerWorkflow, Watch } from '../testbed/watch.mts';
import { labelsOf, quotedIn, WIRE_NAMES } from './form.mts';

/**
 * A remedy that names a field which the chosen operation does not show sends people on a search. Each operation is run into
 * whatever a platform can do to it, and what its messages quote is looked for in the form that it has then.
 */
const bench = useBench({ fleet: { size: 3 } });
const serve = useServers();

const action = new DeviceManagement().description.properties;
const trigger = new DeviceManagementTrigger().description.properties;
const credential = new DeviceManagementApi().properties;

type Words = { message: string; description?: string | null | undefined };

interface Reader {
	name: string;
	form: INodeProperties[];
	/** Runs it; undefined where nothing is said. */
	hear(more?: IDataObject): Promise<Words | undefined>;
}

/** What the form shows when this operation is chosen, whatever else is entered. */
function formOf(chosen: Record<string, string>): INodeProperties[] {
	return action.filter(({ displayOptions }) =>
		['resource', 'operation', 'method'].every((name) => {
			const values = displayOptions?.show?.[name];
			return values === undefined || values.some((value) => value === chosen[name]);
		}),
	);
}

function operation(chosen: { resource: string; operation: string; method?: string }, rest: IDataObject = {}): Reader {
	return {
		name: Object.values(chosen).join(' '),
		form: formOf(chosen),
		hear: async (more) => (await bench.run({ ...chosen, ...rest, options: { maxRetries: 0 }, ...more })).error,
	};
}

const thrownBy = async (run: Promise<unknown>): Promise<Words | undefined> =>
	await run.then(
		() => undefined,
		(error: unknown) => Object(error),
	);

const get = { resource: 'device', operation: 'get', device: { __rl: true, mode: 'sn', value: 'RT1' } };

const readers: readonly Reader[] = [
	operation({ resource: 'device', operation: 'get' }, get),
	operation({ resource: 'device', operation: 'getAll' }, { returnAll: true }),
	operation({ resource: 'device', operation: 'count' }),
	operation({ resource: 'api', operation: 'request', method: 'GET' }, { path: '/api/echo' }),
	operation({ resource: 'api', operation: 'request', method: 'POST' }, { path: '/api/echo', body: '{}' }),
	{
		name: 'the dropdown of Get',
		form: formOf(get as IDataObject as Record<string, string>),
		hear: async () =>
			await thrownBy(bench.engine.listSearch(get, bench.engine.credentialReference(bench.apiKey), 'searchDevices')),
	},
	{
		name: 'the trigger',
		form: trigger,
		hear: async (more) => await thrownBy(new Watch(bench, { options: { maxRetries: 0 }, ...more }).activate()),
	},
	{
		name: 'the trigger’s test event',
		form: trigger,
		hear: async (more) =>
			await thrownBy(
				bench.engine.poll(triggerWorkflow(bench.engine, bench.apiKey, { options: { maxRetries: 0 }, ...more }), { mode: 'manual', staticData: {} }),
			),
	},
];

const faults: Array<[string, Fault]> = [
	...codes.filter(([code]) => code !== 0).map(([code]): [string, Fault] => [`code ${code}`, { code, details: ['alpha', 'beta'] }]),
	['a code that is not documented', { code: 20815 }],
	...[302, 400, 401, 403, 404, 406, 408, 413, 429, 431, 500, 502, 503].map((status): [string, Fault] => [`HTTP ${status}`, { status }]),
	['a dropped connection', 'drop'],
	['half an answer', 'truncate'],
	['a page of a proxy', { status: 200, body: '<html>' }],
	['a payload of another kind', { code: 0, data: 'x' }],
	['no payload', { code: 0 }],
];

/** What a reader quotes that its form does not have. */
function strangersIn({ form }: Reader, { message, description }: Words): string[] {
	const labels = [...labelsOf(form), ...labelsOf(credential)];
	return quotedIn(`${message}. ${description ?? ''}`).filter((quoted) => !labels.includes(quoted) && !WIRE_NAMES.has(quoted));
}

/** Makes a reader speak, and compares what it quotes with what it has. */
async function expectKnown(reader: Reader, what: string, more?: IDataObject): Promise<void> {
	forgetAccounts();
	const words = await reader.hear(more);
	// API Request takes any payload.
	if (words === undefined && reader.name.startsWith('api') && what.includes('payload')) return;
	if (words === undefined) throw new Error(`${reader.name} says nothing to ${what}`);
	expect([what, words.message, words.description, strangersIn(reader, words)]).toEqual([what, words.message, words.description, []]);
}

describe.each(readers)('$name names no field that it does not have', (reader) => {
	test.each(faults)('after %s', async (what, fault) => {
		bench.platform.settings.fault = () => fault;
		await expectKnown(reader, what);
	});

	test('after a time-out', async () => {
		hurry(200);
		bench.platform.settings.fault = () => 'hang';
		await expectKnown(reader, 'a time-out');
	});

	test('after an answer over 64 MB, and where nobody answers', async () => {
		const server = await serve((_request, response) => response.writeHead(200, { 'content-length': '70000000' }).write('{'));
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		await expectKnown(reader, 'an answer over 64 MB');
		// A port that is closed now may be another server's by the next moment; of this one nobody makes use.
		await bench.engine.editCredential(bench.apiKey, { baseUrl: 'http://127.0.0.1:1' });
		await expectKnown(reader, 'a closed port');
	});
});

/** Mistakes in what is entered, for those that have the field. */
const mistakes: ReadonlyArray<[string, IDataObject]> = [
	...['page', 'size', 'sort', '', '__proto__'].map((name): [string, IDataObject] => [
		`filters: the parameter "${name}"`,
		{ filters: { query: { parameter: [{ name, value: '1' }] } } },
	]),
	['filters: an unknown one', { filters: { colour: 'red' } }],
	['filters: an empty one', { filters: { name: '' } }],
	['filters: empty criteria', { filters: { body: '{}' } }],
	['filters: no object', { filters: '={{ 7 }}' }],
	['filters: a comma', { filters: { attributes: { pair: [{ key: 'a', value: '1,2' }] } } }],
	['options: an unknown one', { options: { colour: 'red' } }],
	['options: a number beyond its limits', { options: { timeout: -1 } }],
	['options: no object', { options: '={{ 7 }}' }],
	['output: an unknown one', { output: 'all' }],
	['sort: no name', { sort: { rule: [{ field: 'custom', attribute: '' }] } }],
	['query: no name', { query: { parameter: [{ name: '', value: '1' }] } }],
	['path: with a query', { path: '/api/echo?a=1' }],
	['path: elsewhere', { path: '/admin' }],
	['device: none', { device: { __rl: true, mode: 'sn', value: '={{ "" }}' } }],
	['events: none', { events: [] }],
];

describe.each(readers.filter(({ name }) => !name.includes('dropdown')))('$name names no other field than its own', (reader) => {
	const has = new Set(reader.form.map(({ name }) => name));
	test.each(mistakes.filter(([what]) => has.has(what.split(':')[0] ?? '')))('in %s', async (what, parameters) => {
		await expectKnown(reader, what, parameters);
		expect(bench.platform.requests).toEqual([]);
	});
});

test('a platform that ignores the page, or does not count, is no reason to name a stranger', async () => {
	bench.platform.settings.fault = () => ({
		code: 0,
		data: { content: bench.fleet.devices.slice(0, 2), number: 0, size: 2, totalElements: 500, totalPages: 250 },
	});
	for (const reader of readers.filter(({ name }) => name.includes('getAll') || name === 'the trigger')) {
		await expectKnown(reader, 'a repeated page');
	}
	bench.platform.settings.fault = () => ({ code: 0, data: { content: [] } });
	for (const reader of readers.filter(({ name }) => name.includes('count'))) await expectKnown(reader, 'no total');
});
