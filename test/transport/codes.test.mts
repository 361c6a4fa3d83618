import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { CODE_TABLE } from '../../nodes/DeviceManagement/core/codes.ts';
import { codes } from '../../testbed/platform/codes.mts';
import type { PlatformRequest } from '../../testbed/platform/server.mts';
import type { OnError } from '../../testbed/deviceWorkflow.mts';
import { useBench, useServers } from '../../testbed/jest.mts';
import { type OperationName, operationNames, operations } from '../../testbed/operations.mts';

/** n8n's words for messages; whoever reads one knows already that something went wrong. */
const BANNED = /\b(error|problem|failure|mistake)s?\b/i;

/** Every code of the document but success, with as many details as its message has places; and one it does not list. */
const refusals = [
	...codes
		.filter(([code]) => code !== 0)
		.map(([code, text]) => ({ code: Number(code), details: ['alpha-7', 'beta-8'].slice(0, text.split('%s').length - 1) })),
	{ code: 20815, details: [], msg: 'quota of the tenant is used up' },
];

/** What stands between two details in the platform's message, where it is no more than a mark. */
const between = new Map([
	[10008, ' '],
	[14402, '/'],
	[14408, '-'],
]);

const causes: Record<string, string | undefined> = {
	credential: 'credential-invalid',
	input: 'configuration-invalid',
	'not found': 'configuration-invalid',
};

/** Three items of which the platform refuses the second one, for every operation alike. */
const items = (): IDataObject[] => bench.fleet.devices.map(({ sn }, mark) => ({ sn, mark: String(mark) }));

const isForSecond = ({ path, query }: PlatformRequest) =>
	query['mark'] === '1' || path === `/api/device/sn/${bench.fleet.devices[1]?.sn}`;

const PURPOSES = { get: 'device', getAll: 'list', count: 'count', request: 'read' } as const;

const serve = useServers();
const bench = useBench({ fleet: { size: 3 } });

function expectedMessage({ code, details, msg }: { code: number; details: string[]; msg?: string }): string {
	const row = CODE_TABLE.find((candidate) => candidate.code === code);
	if (row === undefined) return `code ${code}: ${msg}`;
	return details.length === 0 ? row.message : `${row.message}: ${details.join(between.get(code) ?? ', ')}`;
}

const run = async (operation: OperationName, onError: OnError, input = items()) =>
	await bench.run({ ...operations[operation], options: { parallelRequests: 1 } }, { onError, input });

/** What each operation puts out for the three items when nothing is refused. */
const healthy = new Map<string, INodeExecutionData[]>();
beforeAll(async () => {
	for (const operation of operationNames) {
		healthy.set(operation, (await run(operation, 'stopWorkflow')).data('Devices'));
	}
});

describe.each(refusals)('code $code', (refusal) => {
	const { code } = refusal;
	const row = CODE_TABLE.find((candidate) => candidate.code === code);

	beforeEach(() => {
		bench.platform.settings.fault = (request) => (isForSecond(request) ? refusal : undefined);
	});

	test.each(operationNames)('stops %s with its words, its detail and the item', async (operation) => {
		const { error } = await run(operation, 'stopWorkflow');
		expect(error?.message).toContain(`${expectedMessage(refusal)}`);
		expect(error?.message).toMatch(/ \[item 1\]$/);
		expect(error?.message).not.toMatch(BANNED);
		if (row !== undefined) expect(error?.description).toContain(row.remedies?.[PURPOSES[operation]] ?? row.remedy);
		expect(error?.description).not.toBe('');
		expect(error).toMatchObject({ context: { itemIndex: 1, data: { code } } });
		expect(Object(error)['failure']?.cause).toBe(causes[row?.cause ?? 'unknown']);
	});

	test.each(operationNames.flatMap((name) => [[name, 'continueRegularOutput', 0], [name, 'continueErrorOutput', 1]] as const))(
		'is readable in the failed item of %s under %s, and leaves the others alone',
		async (operation, onError, errorOutput) => {
			const result = await run(operation, onError);
			expect(result.error).toBeUndefined();
			const failed = result.data('Devices', errorOutput).filter(({ json }) => 'error' in json);
			const fine = result.data('Devices').filter(({ json }) => !('error' in json));
			for (const { json, pairedItem } of failed) {
				const { item } = Object(pairedItem);
				expect(json['error']).toContain(expectedMessage(refusal));
				expect(json['error']).toContain(`[item ${item}]`);
				expect(json['details']).toMatchObject({ code, httpStatus: 200, description: expect.stringMatching(/./) });
			}
			const failedItems = failed.map(({ pairedItem }) => Object(pairedItem).item);
			expect(failedItems).toEqual([1]);
			expect(fine).toEqual(healthy.get(operation)?.filter(({ pairedItem }) => !failedItems.includes(Object(pairedItem).item)));
			expect(fine.length).toBeGreaterThan(0);
		},
	);
});

describe.each([10007, 10018, 14401])('code %i for Get with If Not Found set to an empty item', (code) => {
	test('gives an empty item, and the others their devices', async () => {
		bench.platform.settings.fault = (request) => (isForSecond(request) ? { code } : undefined);
		const result = await bench.run(
			{ ...operations.get, options: { ifNotFound: 'empty' } },
			{ input: items() },
		);
		expect(result.error).toBeUndefined();
		const [first, second, third] = result.data('Devices');
		expect(second).toEqual({ json: {}, pairedItem: { item: 1 } });
		expect([first?.json['sn'], third?.json['sn']]).toEqual([0, 2].map((index) => bench.platform.fleet.devices[index]?.sn));
	});
});

test.each(['{"code":0,"data":null}', '{"code":0,"msg":"success"}'])(
	'a success without a device (%s) is nothing found for Get',
	async (answer) => {
		const server = await serve((_request, response) => response.end(answer));
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		const found = await bench.run({ ...operations.get, options: { ifNotFound: 'empty' } }, { input: items().slice(0, 1) });
		expect(found.data('Devices')).toEqual([{ json: {}, pairedItem: { item: 0 } }]);
		const stopped = await bench.run(operations.get, { input: items().slice(0, 1) });
		expect(stopped.error?.message).toMatch(/^The platform has no device with this serial number/);
	},
);

test.each(['{"code":0,"data":[]}', '{"code":0,"data":""}', ''])(
	'another answer than a device (%j) is no empty item',
	async (answer) => {
		const server = await serve((_request, response) => response.end(answer));
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		const result = await bench.run({ ...operations.get, options: { ifNotFound: 'empty' } }, { input: items().slice(0, 1) });
		expect(result.error?.message).toMatch(/./);
	},
);

test.each(refusals.filter(({ code }) => ![10007, 10018, 14401].includes(code)))(
	'code $code for Get is no empty item, whatever If Not Found says',
	async ({ code }) => {
		bench.platform.settings.fault = () => ({ code });
		const result = await bench.run(
			{ ...operations.get, options: { ifNotFound: 'empty' } },
			{ input: items().slice(0, 1) },
		);
		expect(result.error?.message).toMatch(/./);
		expect(result.data('Devices')).toEqual([]);
	},
);

test.each(operationNames)('a single item that fails in %s is not numbered', async (operation) => {
	bench.platform.settings.fault = () => ({ code: 10003 });
	const { error } = await run(operation, 'stopWorkflow', items().slice(1, 2));
	expect(error?.message).toBe('The record exists already');
});

test('If Not Found counts for Get alone: a count of nothing that exists fails', async () => {
	bench.platform.settings.fault = () => ({ code: 10007, details: ['group 9'] });
	const result = await bench.run({ ...operations.count, options: { ifNotFound: 'empty' } });
	expect(result.error?.message).toBe('The record does not exist: group 9');
});

test('a code in an HTTP status other than 200 is explained by the code, and the status is kept', async () => {
	bench.platform.settings.fault = () => ({ code: 10005, status: 418 });
	const result = await bench.run(operations.count, { onError: 'continueRegularOutput' });
	expect(result.data('Devices')[0]?.json).toMatchObject({
		error: 'The platform could not run the query',
		details: { code: 10005, httpStatus: 418 },
	});
});

test.each([
	[429, 'rate-limited'],
	[500, 'temporarily-unavailable'],
	[503, 'temporarily-unavailable'],
	[401, 'credential-invalid'],
	[403, 'temporarily-unavailable'],
	[404, 'temporarily-unavailable'],
	[301, 'configuration-invalid'],
	[413, 'configuration-invalid'],
])('HTTP %i without an envelope has the cause %s', async (status, cause) => {
	bench.platform.settings.fault = () => ({ status, headers: { 'retry-after': '0' } });
	const result = await bench.run(operations.count, { onError: 'stopWorkflow' });
	expect(Object(result.error)['failure']).toMatchObject({ cause });
	expect(result.error).toMatchObject({ httpCode: String(status) });
});

/** A proxy's answer during a redeploy must not silence a poll for half an hour, as n8n does for what it takes for permanent. */
test.each([
	[10002, 403, 'temporarily-unavailable'],
	[9999, 404, 'temporarily-unavailable'],
	[9999, 401, 'credential-invalid'],
	[14103, 403, 'credential-invalid'],
	[14201, 404, 'credential-invalid'],
	[10001, 403, 'configuration-invalid'],
	[10007, 404, 'configuration-invalid'],
])('code %i in HTTP %i has the cause %s', async (code, status, cause) => {
	bench.platform.settings.fault = () => ({ code, status });
	const result = await bench.run(operations.count);
	expect(Object(result.error)['failure']).toMatchObject({ cause });
});

test.each([
	[403, 'credential-invalid'],
	[404, 'temporarily-unavailable'],
])('a login that is answered by HTTP %i has the cause %s', async (status, cause) => {
	bench.platform.settings.fault = ({ kind }) => (kind === 'login' ? { status } : undefined);
	const result = await bench.run(operations.count, { credential: bench.login });
	expect(result.error?.message).toMatch(/^Signing in did not work/);
	expect(Object(result.error)['failure']).toMatchObject({ cause });
});

describe('the word Authorization, with which n8n never tries an activation again', () => {
	test.each([
		[10007, ['Authorization group'], 'The record does not exist: … group'],
		[20815, [], 'The platform refused the request with a code that is not documented (code 20815: … is missing)'],
	])('is in the description of code %i, not in the message', async (code, details, message) => {
		bench.platform.settings.fault = () => ({ code, details, ...(code === 20815 ? { msg: 'authorization is missing' } : {}) });
		for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
			const result = await bench.run(operations.count, { onError });
			const failed = Object(result.data('Devices')[0]?.json);
			const said = onError === 'stopWorkflow' ? result.error : { message: failed.error, description: failed.details.description };
			expect(said?.message).toBe(message);
			expect(said?.description).toMatch(/ In full: .*authorization/i);
		}
	});

	test('is not in a message about what was entered either', async () => {
		const filters = { attributes: { pair: [{ key: 'Authorization key', value: 'x' }] } };
		const { error } = await bench.run({ ...operations.count, filters });
		expect(error?.message).toBe('"… key", a key under \'Attributes\', contains a space');
		expect(error?.description).toContain('In full: "Authorization key", a key');
	});
});

test('a message that looks like a system error or markup keeps its own words', async () => {
	bench.platform.settings.fault = () => ({ code: 10007, details: ['ECONNREFUSED ENOENT <b>x</b>'] });
	const result = await bench.run(operations.count);
	expect(result.error?.message).toBe('The record does not exist: ECONNREFUSED ENOENT <b>x</b>');
});

/** What is entered wrongly is refused before anything is sent, by the label of its field in single quotes. */
test.each<[string, OperationName, Record<string, unknown>, string]>([
	['an empty serial number', 'get', { device: { __rl: true, mode: 'sn', value: '={{ $json.missing }}' } }, "'Device'"],
	['a serial number that goes up', 'get', { device: { __rl: true, mode: 'sn', value: '..' } }, "'Device'"],
	['a limit that is none', 'getAll', { returnAll: false, limit: 0.5 }, "'Limit'"],
	['search criteria that are no JSON', 'count', { filters: { body: '{' } }, "'Search Criteria (JSON)'"],
	['search criteria that are no object', 'count', { filters: { body: '[]' } }, "'Search Criteria (JSON)'"],
	['a status that is no number', 'count', { filters: { compositeStatus: 'two' } }, "'Composite Status'"],
	['an attribute value with a comma', 'count', { filters: { attributes: { pair: [{ key: 'a', value: '1,2' }] } } }, "'Attributes'"],
	['a parameter that the node sets', 'count', { filters: { query: { parameter: [{ name: 'page', value: '1' }] } } }, "'Query Parameters'"],
	['a sort without a name', 'getAll', { sort: { rule: [{ field: 'custom', attribute: '', direction: 'asc' }] } }, "'Sort'"],
	['a page size beyond its limit', 'getAll', { options: { pageSize: 0 } }, "'Page Size'"],
	['a time-out beyond its limit', 'count', { options: { timeout: -1 } }, "'Timeout'"],
	['a path outside of the API', 'request', { path: '/admin' }, "'Path'"],
	['a body that is no JSON', 'request', { method: 'POST', body: '{"a":' }, "'Body'"],
])('%s is refused before anything is sent, naming the field', async (_name, operation, parameters, label) => {
	const { error } = await bench.run(
		{ ...operations[operation], ...parameters },
		{ ...(operation === 'get' ? {} : { input: [{ mark: '0' }] }) },
	);
	expect(error?.message).toContain(label);
	expect(error?.message).not.toMatch(BANNED);
	expect(error?.description).toMatch(/./);
	expect(bench.platform.requests).toEqual([]);
});

test('the table has the words of every code of the document, in n8n style', () => {
	expect(CODE_TABLE.map(({ code, text }) => [code, text])).toEqual(codes);
	for (const { message, remedy } of CODE_TABLE) {
		expect(message).not.toMatch(BANNED);
		expect(message).not.toMatch(/[.!]$/);
		expect(message.length).toBeLessThan(80);
		expect(remedy).toMatch(/\.$/);
	}
});
