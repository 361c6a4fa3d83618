import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { message } from '../../testbed/platform/codes.mts';
import type { PlatformRequest } from '../../testbed/platform/server.mts';
import type { OnError } from '../../testbed/deviceWorkflow.mts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { type OperationName, operationNames, operations } from '../../testbed/operations.mts';

/** One code of each cause, the one that only says more by its details, and one that is not documented. */
const refusals = [
	{ code: 10001, cause: 'configuration-invalid', details: ['alpha-7'] },
	{ code: 10003, cause: undefined, details: [] },
	{ code: 10008, cause: undefined, details: ['alpha-7', 'beta-8'] },
	{ code: 14103, cause: 'credential-invalid', details: [] },
	{ code: 14401, cause: 'configuration-invalid', details: [] },
	{ code: 20815, cause: undefined, details: [], msg: 'quota of the tenant is used up' },
];

/** Three items of which the platform refuses the second one, for every operation alike. */
const items = (): IDataObject[] => bench.fleet.devices.map(({ sn }, mark) => ({ sn, mark: String(mark) }));

/** Items run one after the other, with one request each. */
const isForSecond = ({ order }: PlatformRequest) => order === 2;

const bench = useBench({ fleet: { size: 3 } });

const run = async (operation: OperationName, onError: OnError, input = items()) =>
	await bench.run({ ...operations[operation], options: { parallelRequests: 1 } }, { onError, input });

/** What each operation puts out for the three items when nothing is refused. */
const healthy = new Map<string, INodeExecutionData[]>();
beforeAll(async () => {
	for (const operation of operationNames) {
		healthy.set(operation, (await run(operation, 'stopWorkflow')).data('Devices'));
	}
});

describe.each(refusals)('code $code', ({ cause, ...refusal }) => {
	const { code, details, msg = message(code, ...details) } = refusal;
	const expected = `(code ${code}: ${msg}) [item 1]`;

	beforeEach(() => {
		// A list asks again with a smaller page.
		bench.platform.settings.fault = ({ order }) => (order >= 2 ? refusal : undefined);
	});

	test.each(operationNames)('stops %s with its message, its detail and the item', async (operation) => {
		const { error } = await run(operation, 'stopWorkflow');
		expect(error?.message).toMatch(/^[A-Z][\w' ]{9,} \(code /);
		expect(error?.message.endsWith(expected)).toBe(true);
		expect(error?.description).toMatch(/^[A-Z].*\.$/);
		expect(error).toMatchObject({ context: { itemIndex: 1, data: { code } } });
		expect(Object(error)['failure']?.cause).toBe(cause);
	});
});

describe.each([
	['continueRegularOutput', 0],
	['continueErrorOutput', 1],
] as const)('under %s', (onError, errorOutput) => {
	test.each(operationNames)('a refused item of %s says why, and leaves the others alone', async (operation) => {
		bench.platform.settings.fault = (request) => (isForSecond(request) ? { code: 10003 } : undefined);
		const result = await run(operation, onError);
		expect(result.error).toBeUndefined();
		const failed = result.data('Devices', errorOutput).filter(({ json }) => 'error' in json);
		expect(failed).toEqual([
			expect.objectContaining({
				json: expect.objectContaining({
					error: 'The record exists already (code 10003: duplicate record) [item 1]',
					details: { code: 10003, httpStatus: 200, description: expect.stringMatching(/^Use another name/) },
				}),
				pairedItem: expect.objectContaining({ item: 1 }),
			}),
		]);
		const fine = result.data('Devices').filter(({ json }) => !('error' in json));
		expect(fine).toEqual(healthy.get(operation)?.filter(({ pairedItem }) => Object(pairedItem).item !== 1));
		expect(fine.length).toBeGreaterThan(0);
	});
});

test('a code in an HTTP status other than 200 is explained by the code, and the status is kept', async () => {
	bench.platform.settings.fault = () => ({ code: 10005, status: 418 });
	const result = await bench.run(operations.count, { onError: 'continueRegularOutput' });
	expect(result.data('Devices')[0]?.json).toMatchObject({
		error: 'The platform could not run the query (code 10005: query failed)',
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
	hurry();
	bench.platform.settings.fault = () => ({ status });
	const result = await bench.run(operations.count, { onError: 'stopWorkflow' });
	expect(Object(result.error)['failure']).toMatchObject({ cause });
	expect(result.error).toMatchObject({ httpCode: String(status) });
});

/** A proxy's response during a redeploy must not stop polls for half an hour, as n8n does after a permanent error. */
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
	expect(result.error?.message).toMatch(/^The sign-in failed/);
	expect(Object(result.error)['failure']).toMatchObject({ cause });
});

test.each(['ECONNREFUSED ENOENT <b>x</b>', 'authorization/../x'])(
	'a message with %s has it unchanged',
	async (detail) => {
		bench.platform.settings.fault = () => ({ code: 10007, details: [detail] });
		const message = `The record does not exist (code 10007: ${detail} non-existent)`;
		expect((await bench.run(operations.count)).error?.message).toBe(message);
		const result = await bench.run(operations.count, { onError: 'continueRegularOutput' });
		expect(result.data('Devices')[0]?.json).toMatchObject({ error: message });
	},
);
