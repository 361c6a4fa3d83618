import type { INodeProperties } from 'n8n-workflow';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { CODE_TABLE, explainCode } from '../nodes/DeviceManagement/core/errors/codes.ts';
import { explainStatus } from '../nodes/DeviceManagement/core/errors/statuses.ts';
import { forgetAccounts } from '../nodes/DeviceManagement/transport/auth/account.ts';
import { hurry, useBench, useServers } from '../testbed/jest.mts';
import { type OperationName, operationNames, operations } from '../testbed/operations.mts';
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
	hear(): Promise<Words | undefined>;
}

/** What the form shows with these parameters, as far as they are chosen from a list. */
function formOf(chosen: Record<string, unknown>): INodeProperties[] {
	return action.filter(({ displayOptions }) =>
		['resource', 'operation', 'method'].every((name) => {
			const values = displayOptions?.show?.[name];
			return values === undefined || values.some((value) => value === chosen[name]);
		}),
	);
}

function reader(name: OperationName, more: { method?: string } = {}): Reader {
	const parameters = { ...operations[name], ...more };
	const input = [{ sn: 'RT1' }];
	return {
		name: [name, ...Object.values(more)].join(' '),
		form: formOf(parameters),
		hear: async () => (await bench.run({ ...parameters, options: { maxRetries: 0 } }, { input })).error,
	};
}

const thrownBy = async (run: Promise<unknown>): Promise<Words | undefined> =>
	await run.then(
		() => undefined,
		(error: unknown) => Object(error),
	);

const get = { resource: 'device', operation: 'get' };

const readers: readonly Reader[] = [
	...operationNames.map((name) => reader(name)),
	reader('request', { method: 'POST' }),
	{
		name: 'the dropdown of Get',
		form: formOf(get),
		hear: async () =>
			await thrownBy(bench.engine.listSearch(get, bench.engine.credentialReference(bench.apiKey), 'searchDevices')),
	},
	{
		name: 'the trigger',
		form: trigger,
		hear: async () => await thrownBy(new Watch(bench, { options: { maxRetries: 0 } }).activate()),
	},
	{
		name: 'the trigger’s test event',
		form: trigger,
		hear: async () =>
			await thrownBy(
				bench.engine.poll(triggerWorkflow(bench.engine, bench.apiKey, { options: { maxRetries: 0 } }), {
					mode: 'manual',
					staticData: {},
				}),
			),
	},
];

/** Whether words depend on the purpose of the request; all others quote no field but the credential's. */
const dependOnPurpose = ({ message, remedy }: { message: string; remedy: string }) =>
	/\{(?!outside)/.test(message + remedy);
const codes = CODE_TABLE.map(({ code }) => code).filter((code) => dependOnPurpose(explainCode(code)));
const statuses = Array.from({ length: 500 }, (_, index) => 100 + index).filter((status) =>
	dependOnPurpose(explainStatus(status)),
);

const faults: Array<[string, Fault]> = [
	...codes.map((code): [string, Fault] => [`code ${code}`, { code, details: ['alpha'] }]),
	...statuses.map((status): [string, Fault] => [`HTTP ${status}`, { status }]),
	['a payload of another kind', { code: 0, data: 'x' }],
	['no payload', { code: 0 }],
];

/** What a reader quotes that its form does not have. */
function strangersIn({ form }: Reader, { message, description }: Words): string[] {
	const labels = [...labelsOf(form), ...labelsOf(credential)];
	return quotedIn(`${message}. ${description ?? ''}`).filter(
		(quoted) => !labels.includes(quoted) && !WIRE_NAMES.has(quoted),
	);
}

/** Makes a reader speak, and compares what it quotes with what it has. It quotes `remedy` if it has that field. */
async function expectKnown(reader: Reader, what: string, remedy?: string): Promise<void> {
	forgetAccounts();
	const words = await reader.hear();
	// API Request takes any payload.
	if (words === undefined && reader.name.startsWith('request') && what.includes('payload')) return;
	if (words === undefined) throw new Error(`${reader.name} says nothing to ${what}`);
	expect([what, words.message, words.description, strangersIn(reader, words)]).toEqual([
		what,
		words.message,
		words.description,
		[],
	]);
	if (remedy === undefined || !labelsOf(reader.form).includes(remedy)) return;
	expect([what, quotedIn(words.description ?? '')]).toEqual([what, expect.arrayContaining([remedy])]);
}

describe.each(readers)('$name names no field that it does not have', (reader) => {
	test('with any response of the platform', async () => {
		for (const [what, fault] of faults) {
			bench.platform.settings.fault = () => fault;
			await expectKnown(reader, what);
		}
	});

	test('after a time-out', async () => {
		hurry(200);
		bench.platform.settings.fault = () => 'hang';
		await expectKnown(reader, 'a time-out', 'Page Size');
	});

	test('after a response over 64 MB', async () => {
		const server = await serve((_request, response) =>
			response.writeHead(200, { 'content-length': '70000000' }).write('{'),
		);
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		await expectKnown(reader, 'an answer over 64 MB', 'Page Size');
	});
});
